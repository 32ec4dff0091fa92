#include "remede/train/identify.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "remede/base/error.h"
#include "remede/base/random.h"
#include "remede/base/threads.h"
#include "remede/data/split.h"
#include "remede/executor/remote/job.h"
#include "remede/model/predict.h"
#include "remede/train/linear_system.h"
#include "remede/train/same_blocks.h"
#include "remede/train/travel.h"

namespace remede {

template <MaybeConst<LevenbergOptions> T>
void fields(T& o, auto&& each) {
  each(o.iterations, o.patience, o.ridge, o.damping, o.most_damping);
}
template <MaybeConst<Identified> T>
void fields(T& i, auto&& each) {
  each(i.parameters, i.loss, i.iterations);
}

namespace {

constexpr std::uint64_t kIdentifyStream = 0x6964656e00000000;  // apart from the other random numbers of a fit
constexpr std::size_t kLeastShare = 256;                       // steps of each recording that is cut into windows
constexpr double kStepCost = 4;  // of a step of validation, in multiplications for each weight of a write
constexpr double kNotRefined = std::numeric_limits<double>::infinity();  // loss

template <typename T>
T draw_one(Random& random, std::initializer_list<T> choices) {
  return *(choices.begin() + random.below(choices.size()));
}

LinearSystemOptions draw(Random& random) {
  LinearSystemOptions options;
  options.arx_order = draw_one(random, {4, 8, 12, 20});
  options.states = draw_one(random, {2, 3, 4, 6, 8});
  options.blend = draw_one(random, {0.3, 0.9});
  options.extra_cells = draw_one(random, {0, 1, 2, 4});
  options.depth = draw_one(random, {0, 0, 0, 1, 1, 2});  // splits stop Levenberg-Marquardt early
  return options;
}

std::size_t recordings_in(const TrainingData& data) {
  return data.training.count() -
         static_cast<std::size_t>(std::count(data.continues.begin(), data.continues.end(), std::uint8_t{1}));
}

// About `steps` of the data: the first windows of each recording, or, of recordings that are not cut into windows,
// some of them, evenly spaced.
TrainingData part_of(const TrainingData& data, std::size_t steps) {
  const Sequences& all = data.training;
  if (all.steps() <= steps) return data;
  const std::size_t recordings = std::max<std::size_t>(1, recordings_in(data));
  const std::size_t least = data.continues.empty() ? all.steps() / recordings : kLeastShare;  // steps of a recording
  const std::size_t stride = std::max<std::size_t>(1, (recordings * least + steps - 1) / steps);
  const std::size_t share = steps / ((recordings + stride - 1) / stride);
  TrainingData part = data;
  part.continues.clear();
  std::vector<std::uint32_t> kept;
  std::size_t position = 0, recording = 0;
  for (std::uint32_t s = 0; s < all.count(); ++s) {
    const bool goes_on = !data.continues.empty() && data.continues[s] != 0;
    if (!goes_on) position = 0;
    recording += s > 0 && !goes_on ? 1 : 0;
    if (recording % stride == 0 && position < share) {
      kept.push_back(s);
      part.continues.push_back(goes_on ? 1 : 0);
    }
    position += all.length(s);
  }
  part.training = select(all, kept);
  return part;
}

std::size_t targets_in(const TrainingData& data) {
  const auto& weight = data.training.weight;
  return static_cast<std::size_t>(std::count_if(weight.begin(), weight.end(), [](float w) { return w > 0; }));
}

struct Refining {
  const TrainingData& data;
  std::size_t fold = 0;
  std::size_t steps = 0;  // IdentifyOptions::steps: peers take the same part of the fold
  int threads = 1;
  const std::function<bool()>& stop;
  Peers* peers = nullptr;
};

void refine_one(Identified& one, const TrainingData& data, const LevenbergOptions& options,
                const std::function<bool()>& stop) {
  LevenbergResult found =
      levenberg(one.parameters, data.training, data.continues, &data.validation, data.fill, options, stop);
  one = {std::move(found.parameters), found.validation_loss, one.iterations + found.iterations};
}

// How many of them, from the first, can be refined with so much work.
std::size_t affordable(const std::vector<Identified>& all, const LevenbergOptions& options, double work,
                       const Refining& how) {
  std::size_t count = 0;
  for (double spent = 0; count < all.size(); ++count) {
    const Shape& shape = all[count].parameters.shape;
    const double validation = kStepCost * static_cast<double>(how.data.validation.steps()) * shape.n_m * shape.n_v();
    spent += (levenberg_work(shape, how.data.training) + validation) * options.iterations;
    if (spent > work) break;
  }
  return count;
}

// Refines those with a start, at most as far as the work allows, and puts the best first.
void refine(std::vector<Identified>& all, const LevenbergOptions& options, double work, const Refining& how) {
  all.resize(affordable(all, options, work, how));
  SharedWork shared;
  shared.count = all.size();
  shared.here = [&](std::size_t i, int) {
    if (!(how.stop && how.stop())) refine_one(all[i], how.data, options, how.stop);
  };
  shared.job = [&](std::size_t i) {
    ByteWriter job = job_of(Job::kRefine);
    job.put(static_cast<std::uint64_t>(how.fold));
    job.put(static_cast<std::uint64_t>(how.steps));
    put_all(job, options);
    put_all(job, all[i]);
    return job.take();
  };
  shared.take = [&](std::size_t i, std::string_view answer) { take_bytes(answer, all[i]); };
  shared.cost = [&](std::size_t i) { return levenberg_work(all[i].parameters.shape, how.data.training); };
  shared.stop = how.stop;
  share(shared, how.threads, how.peers);
  std::erase_if(all, [](const Identified& one) { return !std::isfinite(one.loss); });
  std::stable_sort(all.begin(), all.end(), [](const Identified& a, const Identified& b) { return a.loss < b.loss; });
}

// Recordings that are also begun in the middle, with empty memory.
struct Restarted {
  Sequences data;
  std::vector<std::uint8_t> continues;
};

constexpr std::size_t kPieces = 4;   // of the longest recording; all are begun anew
constexpr std::size_t kWindows = 8;  // of a piece; the first half of them has no weight

// A system that has learned a recording to the end may depend for long on how it began. One that forgets its beginning,
// as the recorded system does, predicts the second half of each piece as well as before.
Restarted restarted(const TrainingData& data) {
  std::size_t longest = 0, length = 0;
  for (std::size_t s = 0; s < data.training.count(); ++s) {
    length = data.training.length(s) + (!data.continues.empty() && data.continues[s] != 0 ? length : 0);
    longest = std::max(longest, length);
  }
  const std::size_t window = std::max<std::size_t>(1, longest / (kPieces * kWindows));
  Restarted all;
  all.data = cut(data.training, window);
  std::size_t source = 0, in_recording = 0;
  for (std::size_t s = 0; s < all.data.count(); ++s) {
    while (source + 1 < data.training.count() && data.training.offset[source + 1] <= all.data.offset[s]) ++source;
    const bool begins =
        all.data.offset[s] == data.training.offset[source] && (data.continues.empty() || data.continues[source] == 0);
    in_recording = begins ? 0 : in_recording + 1;
    const std::size_t in_piece = in_recording % kWindows;
    all.continues.push_back(in_piece == 0 ? 0 : 1);
    if (in_piece < kWindows / 2)
      std::fill(all.data.weight.begin() + all.data.offset[s], all.data.weight.begin() + all.data.offset[s + 1], 0.0F);
  }
  return all;
}

// How much larger a loss is on new data than on those that so many numbers were fitted to: Akaike's final prediction
// error.
double optimism(const Shape& shape, const TrainingData& data) {
  const double targets = static_cast<double>(targets_in(data)) * shape.n_y;
  double numbers = 0;
  for (const Group g : {Group::kOutput, Group::kWrite, Group::kBias, Group::kRate, Group::kLinear})
    numbers += static_cast<double>(shape.size(g));
  return targets > numbers ? (targets + numbers) / (targets - numbers) : std::numeric_limits<double>::infinity();
}

// The recorded inputs in two other orders: backwards, and in blocks. They drive a system to states that the recording
// does not show.
constexpr std::size_t kBlockOrder[] = {5, 2, 7, 0, 4, 1, 6, 3};

// What a system answers to them, (orders, steps, n_y). Several recordings are run as one. Memory begins empty, which is
// right for none of the orders: the first eighth of each is left out.
std::vector<double> answers_elsewhere(const Parameters<float>& parameters, const TrainingData& data) {
  constexpr std::size_t kBlocks = std::size(kBlockOrder);
  const Tree tree = harden(parameters);
  const auto n_x = static_cast<std::size_t>(data.training.n_x);
  const std::size_t steps = data.training.steps(), block = steps / kBlocks;
  std::vector<float> memory(static_cast<std::size_t>(tree.memory_size())), y(static_cast<std::size_t>(tree.n_y));
  std::vector<double> answers;
  const auto run = [&](const auto& source) {  // source(t): the step whose inputs come at step t
    std::fill(memory.begin(), memory.end(), 0.0F);
    for (std::size_t t = 0; t < steps; ++t) {
      step(tree, data.training.x.data() + source(t) * n_x, data.fill.data(), memory.data(), y.data());
      if (t >= block) answers.insert(answers.end(), y.begin(), y.end());
    }
  };
  run([&](std::size_t t) { return steps - 1 - t; });
  run([&](std::size_t t) { return t < kBlocks * block ? kBlockOrder[t / block] * block + t % block : t; });
  return answers;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// Mean squared distance of each system's answers from the median of all, where the inputs come in other orders.
// Infinite where an answer is not finite.
std::vector<double> disagreement(const std::vector<Identified>& all, const Refining& how) {
  std::vector<std::vector<double>> answers(all.size());
  parallel_for(all.size(), how.threads,
               [&](std::size_t i, int) { answers[i] = answers_elsewhere(all[i].parameters, how.data); });
  std::vector<double> distance(all.size(), std::numeric_limits<double>::infinity());
  std::vector<std::size_t> sound;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (std::all_of(answers[i].begin(), answers[i].end(), [](double y) { return std::isfinite(y); })) {
      sound.push_back(i);
      distance[i] = 0;
    }
  const std::size_t count = sound.empty() ? 0 : answers[sound.front()].size();
  std::vector<double> here(sound.size());
  for (std::size_t t = 0; t < count; ++t) {
    for (std::size_t k = 0; k < sound.size(); ++k) here[k] = answers[sound[k]][t];
    const double usual = median(here);
    for (std::size_t k = 0; k < sound.size(); ++k)
      distance[sound[k]] += (here[k] - usual) * (here[k] - usual) / static_cast<double>(count);
  }
  return distance;
}

// Sorts both, lowest first; what is not finite last.
void sort_by(std::vector<double>& judged, std::vector<Identified>& all) {
  std::vector<std::pair<double, std::size_t>> order(all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    order[i] = {std::isfinite(judged[i]) ? judged[i] : std::numeric_limits<double>::infinity(), i};
  std::sort(order.begin(), order.end());
  std::vector<Identified> ordered;
  ordered.reserve(all.size());
  for (const auto& [loss, i] : order) ordered.push_back(std::move(all[i]));
  all = std::move(ordered);
  for (std::size_t i = 0; i < order.size(); ++i) judged[i] = order[i].first;
}

// Best first, judged by the validation data, by how soon a system forgets its beginning, by its size, and by what the
// best of them answer where there are no recordings. The two losses are multiplied: pieces of a slow system begin so
// far off that in a sum the validation loss would count for nothing.
void order_for_new_recordings(std::vector<Identified>& all, std::size_t compared, const Refining& how) {
  const Restarted again = restarted(how.data);
  const bool counts = std::any_of(again.data.weight.begin(), again.data.weight.end(), [](float w) { return w > 0; });
  LevenbergOptions nothing;
  nothing.iterations = 0;
  std::vector<double> judged(all.size());
  parallel_for(all.size(), how.threads, [&](std::size_t i, int) {
    const double loss =
        counts
            ? levenberg(all[i].parameters, again.data, again.continues, nullptr, how.data.fill, nothing).training_loss
            : all[i].loss;
    judged[i] = std::sqrt(all[i].loss * loss) * optimism(all[i].parameters.shape, how.data);
  });
  sort_by(judged, all);
  const auto judgeable = std::count_if(judged.begin(), judged.end(), [](double j) { return std::isfinite(j); });
  std::vector<Identified> best(
      all.begin(), all.begin() + std::min(static_cast<std::ptrdiff_t>(compared), std::ptrdiff_t{judgeable}));
  judged.resize(best.size());
  const std::vector<double> distance = disagreement(best, how);
  for (std::size_t i = 0; i < best.size(); ++i) judged[i] += distance[i];
  sort_by(judged, best);
  std::move(best.begin(), best.end(), all.begin());
}

}  // namespace

std::vector<Identified> identify(const TrainingData& whole, std::uint64_t seed, const IdentifyOptions& options,
                                 int threads, const std::function<bool()>& stop, Peers* peers, std::size_t fold) {
  if (whole.training.value.empty()) return {};
  const TrainingData data = part_of(whole, options.steps);
  if (data.training.steps() < whole.training.steps() && targets_in(data) < options.least_targets) return {};
  std::vector<std::optional<Parameters<float>>> starts(static_cast<std::size_t>(options.starts));
  std::vector<Random> random;
  std::vector<LinearSystemOptions> drawn;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    random.emplace_back(seed, kIdentifyStream + i);
    drawn.push_back(draw(random.back()));
  }
  use_same_blocks();
  LinearSystems systems(data.training, data.continues, data.fill);
  systems.fit(drawn, threads, stop);
  parallel_for(starts.size(), threads, [&](std::size_t i, int) {
    if (!(stop && stop())) starts[i] = systems.start(drawn[i], random[i]);
  });
  // How good a start without splits becomes shows late, and it costs little.
  std::vector<Identified> all, split;
  for (std::optional<Parameters<float>>& start : starts)
    if (start) (start->shape.depth == 0 ? all : split).push_back({std::move(*start), kNotRefined, 0});
  LevenbergOptions first = options.refine;
  first.iterations = options.first_iterations;
  const Refining how{data, fold, options.steps, threads, stop, peers};
  if (affordable(all, options.refine, options.work * 3 / 4, how) < std::min(options.least_starts, all.size()))
    return {};
  refine(split, first, options.work / 4, how);
  if (split.size() > static_cast<std::size_t>(options.survivors))
    split.resize(static_cast<std::size_t>(options.survivors));
  std::move(split.begin(), split.end(), std::back_inserter(all));
  refine(all, options.refine, options.work * 3 / 4, how);
  if (recordings_in(whole) < options.few_recordings) order_for_new_recordings(all, options.compared, how);
  return all;
}

std::string do_refine(ByteReader& job, const std::vector<const TrainingData*>& folds,
                      const std::function<bool()>& stop) {
  const auto fold = job.get<std::uint64_t>();
  if (fold >= folds.size()) fail("{}: expected one of {} folds, got {}", job.where(), folds.size(), fold);
  const auto steps = job.get<std::uint64_t>();
  const auto options = get_all<LevenbergOptions>(job);
  auto one = get_all<Identified>(job);
  job.expect_end();
  const Sequences& training = folds[fold]->training;
  if (!fits_levenberg(one.parameters.shape) || one.parameters.shape.n_x != training.n_x ||
      one.parameters.shape.n_y != training.n_y || one.parameters.values.size() != one.parameters.shape.total())
    fail("{}: expected a system of these data, got another", job.where());
  refine_one(one, part_of(*folds[fold], steps), options, stop);
  return bytes_of(one);
}

}  // namespace remede

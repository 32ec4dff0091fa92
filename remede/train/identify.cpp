#include "remede/train/identify.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "remede/base/error.h"
#include "remede/base/random.h"
#include "remede/base/threads.h"
#include "remede/executor/remote/job.h"
#include "remede/train/linear_system.h"
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
  options.depth = draw_one(random, {0, 1, 1, 2});
  return options;
}

struct Refining {
  const TrainingData& data;
  std::size_t fold = 0;
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

// Refines those with a start, at most as far as the work allows, and puts the best first.
void refine(std::vector<Identified>& all, const LevenbergOptions& options, double work, const Refining& how) {
  std::size_t affordable = 0;
  for (double spent = 0; affordable < all.size(); ++affordable) {
    spent += levenberg_work(all[affordable].parameters.shape, how.data.training) * options.iterations;
    if (spent > work) break;
  }
  all.resize(affordable);
  SharedWork shared;
  shared.count = all.size();
  shared.here = [&](std::size_t i, int) {
    if (!(how.stop && how.stop())) refine_one(all[i], how.data, options, how.stop);
  };
  shared.job = [&](std::size_t i) {
    ByteWriter job = job_of(Job::kRefine);
    job.put(static_cast<std::uint64_t>(how.fold));
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

}  // namespace

std::vector<Identified> identify(const TrainingData& data, std::uint64_t seed, const IdentifyOptions& options,
                                 int threads, const std::function<bool()>& stop, Peers* peers, std::size_t fold) {
  if (data.training.value.empty()) return {};
  std::vector<std::optional<Parameters<float>>> starts(static_cast<std::size_t>(options.starts));
  std::vector<Random> random;
  std::vector<LinearSystemOptions> drawn;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    random.emplace_back(seed, kIdentifyStream + i);
    drawn.push_back(draw(random.back()));
  }
  LinearSystems systems(data.training, data.continues, data.fill);
  systems.fit(drawn, threads, stop);
  parallel_for(starts.size(), threads, [&](std::size_t i, int) {
    if (!(stop && stop())) starts[i] = systems.start(drawn[i], random[i]);
  });
  std::vector<Identified> all;
  for (std::optional<Parameters<float>>& start : starts)
    if (start) all.push_back({std::move(*start), 0.0, 0});
  LevenbergOptions first = options.refine;
  first.iterations = options.first_iterations;
  const Refining how{data, fold, threads, stop, peers};
  refine(all, first, options.work / 2, how);
  if (all.size() > static_cast<std::size_t>(options.survivors)) all.resize(static_cast<std::size_t>(options.survivors));
  refine(all, options.refine, options.work / 2, how);
  return all;
}

std::string do_refine(ByteReader& job, const std::vector<const TrainingData*>& folds,
                      const std::function<bool()>& stop) {
  const auto fold = job.get<std::uint64_t>();
  if (fold >= folds.size()) fail("{}: expected one of {} folds, got {}", job.where(), folds.size(), fold);
  const auto options = get_all<LevenbergOptions>(job);
  auto one = get_all<Identified>(job);
  const Sequences& training = folds[fold]->training;
  if (!fits_levenberg(one.parameters.shape) || one.parameters.shape.n_x != training.n_x ||
      one.parameters.shape.n_y != training.n_y || one.parameters.values.size() != one.parameters.shape.total())
    fail("{}: expected a system of these data, got another", job.where());
  refine_one(one, *folds[fold], options, stop);
  return bytes_of(one);
}

}  // namespace remede

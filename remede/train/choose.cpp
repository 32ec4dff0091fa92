#include "remede/train/choose.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

#include "remede/base/error.h"
#include "remede/base/random.h"
#include "remede/base/threads.h"
#include "remede/executor/remote/job.h"
#include "remede/model/predict.h"
#include "remede/model/size.h"
#include "remede/simplify/simplify.h"
#include "remede/train/improve.h"
#include "remede/train/score.h"

namespace remede {
namespace {

// How long simplifying and exact moves take, in validations of the same data by the engine; measured on the sets of
// docs/real-data.md.
constexpr double kSimplifyCost = 10;
constexpr double kImproveCost = 200;

// Classification: validation sequences with one step of each repeated many times; the repeated steps carry no target.
// Where a task is about what was seen and not about how long ago, a model that holds its memory answers as before.
Sequences stretched(const Sequences& data, const Recipe& recipe) {
  Random random(0, 0x686f6c64);
  Sequences out;
  out.n_x = data.n_x;
  out.n_y = data.n_y;
  for (std::size_t s = 0; s < std::min(data.count(), static_cast<std::size_t>(recipe.hold_sequences)); ++s) {
    const auto begin = data.offset[s], end = data.offset[s + 1];
    if (begin == end) continue;
    const auto chosen = begin + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(end - begin)));
    std::int64_t steps = 0;
    for (auto t = begin; t < end; ++t)
      for (std::int64_t k = t == chosen ? -recipe.hold_repeats : 0; k <= 0; ++k, ++steps) {
        out.x.insert(out.x.end(), data.x.begin() + t * data.n_x, data.x.begin() + (t + 1) * data.n_x);
        out.label.push_back(data.label[static_cast<std::size_t>(t)]);
        out.weight.push_back(k == 0 ? data.weight[static_cast<std::size_t>(t)] : 0.0F);
      }
    out.offset.push_back(out.offset.back() + steps);
  }
  return out;
}

// Which of the regions, that the thresholds on cell k cut it into, a value is in.
int region(const Tree& tree, int k, float value) {
  int above = 0;
  for (std::size_t i = 0; i < tree.feature.size(); ++i)
    if (tree.feature[i] == tree.n_x + k && value >= tree.threshold[i]) ++above;
  return above;
}

double drift(const Model& model, const Sequences& data, const Recipe& recipe) {
  std::int64_t silent = 0, steps = 0;
  for (const Tree& tree : model.trees) {
    std::vector<float> m(static_cast<std::size_t>(tree.memory_size())), before(m),
        y(static_cast<std::size_t>(tree.n_y));
    for (std::size_t s = 0; s < std::min(data.count(), static_cast<std::size_t>(recipe.hold_sequences)); ++s) {
      std::fill(m.begin(), m.end(), 0.0F);
      for (auto t = static_cast<std::size_t>(data.offset[s]); t < static_cast<std::size_t>(data.offset[s + 1]);
           ++t, ++steps) {
        before = m;
        step(tree, data.x.data() + t * static_cast<std::size_t>(data.n_x), model.fill.data(), m.data(), y.data());
        for (int k = 0; k < tree.n_m; ++k)
          if (m[k] != before[k] && region(tree, k, m[k]) == region(tree, k, before[k])) ++silent;
      }
    }
  }
  return static_cast<double>(silent) / static_cast<double>(std::max<std::int64_t>(1, steps));
}

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

void sum_up(Candidate& c, const std::vector<CopyScore>& copies) {
  const auto count = static_cast<double>(copies.size());
  c.units = UnitScores();
  c.fold_loss.clear();
  c.hold = 1;
  c.drift = 0;
  double numbers = 0;
  for (const CopyScore& copy : copies) {
    const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(c.units.loss, copy.units.loss);
    append(c.units.wrong, copy.units.wrong);
    append(c.units.weight, copy.units.weight);
    c.fold_loss.push_back(sum_of(copy.units.loss) / sum_of(copy.units.weight));
    c.hold = std::min(c.hold, copy.hold);
    c.drift += copy.drift / count;
    numbers += static_cast<double>(copy.numbers) / count;
  }
  const double weight = sum_of(c.units.weight);
  c.accuracy = 1.0 - sum_of(c.units.wrong) / weight;
  c.loss = sum_of(c.units.loss) / weight;
  c.numbers = static_cast<std::size_t>(numbers);
}

// Best first: among those as good as the best, those that hold; among those, the fewest numbers; then the rest by their
// score.
void order(std::vector<Candidate>& all, bool classes, double solved, const Recipe& recipe) {
  const auto better = [&](const Candidate& a, const Candidate& b) {
    if (classes && a.accuracy != b.accuracy) return a.accuracy > b.accuracy;
    return a.loss < b.loss;
  };
  std::stable_sort(all.begin(), all.end(), better);
  const UnitScores best = all.front().units;
  const auto end = std::stable_partition(all.begin(), all.end(), [&](const Candidate& c) {
    if (!as_good(c.units.wrong, best.wrong, best.weight, recipe.answers_tie)) return false;
    return (classes && c.loss <= solved) || as_good(c.units.loss, best.loss, best.weight, recipe.losses_tie);
  });
  double hold = 0, least_drift = 1e9;
  for (auto c = all.begin(); c != end; ++c) hold = std::max(hold, c->hold);
  for (auto c = all.begin(); c != end; ++c)
    if (c->hold >= hold - recipe.hold_tie) least_drift = std::min(least_drift, c->drift);
  const auto holds = [&](const Candidate& c) {
    return c.hold >= hold - recipe.hold_tie && c.drift <= least_drift + recipe.drift_tie;
  };
  std::stable_sort(all.begin(), end, [&](const Candidate& a, const Candidate& b) {
    return holds(a) != holds(b) ? holds(a) : a.numbers < b.numbers;
  });
}

// Folds differ in how hard they are: what a copy is worth shows beside the others of its fold.
void keep_copies(std::vector<Candidate>& all) {
  const std::size_t folds = all.front().copies.size();
  std::vector<double> usual(folds), losses(all.size());
  for (std::size_t f = 0; f < folds; ++f) {
    std::transform(all.begin(), all.end(), losses.begin(), [&](const Candidate& c) { return c.fold_loss[f]; });
    std::nth_element(losses.begin(), losses.begin() + static_cast<std::ptrdiff_t>(losses.size() / 2), losses.end());
    usual[f] = losses[losses.size() / 2];
  }
  for (Candidate& c : all)
    for (std::size_t f = 1; f < folds; ++f)
      if (c.fold_loss[f] - usual[f] < c.fold_loss[c.kept] - usual[c.kept]) c.kept = f;
}

}  // namespace

bool as_good(const std::vector<double>& score, const std::vector<double>& best, const std::vector<double>& weight,
             double errors) {
  double difference = 0, total = 0, squares = 0;
  for (std::size_t u = 0; u < weight.size(); ++u) {
    difference += score[u] - best[u];
    total += weight[u];
  }
  if (difference <= 0 || total == 0) return true;
  for (std::size_t u = 0; u < weight.size(); ++u) {
    const double off = score[u] - best[u] - difference / total * weight[u];
    squares += off * off;
  }
  return difference <= errors * std::sqrt(squares);
}

std::size_t stored_numbers(const Model& model) {
  if (model.trees.front().has_laws()) return static_cast<std::size_t>(size_of(model).numbers);
  std::size_t sum = 0;
  for (const Tree& tree : model.trees) {
    sum += 2 * tree.feature.size() + tree.output.size();
    sum += static_cast<std::size_t>(
        std::count_if(tree.linear.begin(), tree.linear.end(), [](float w) { return w != 0.0F; }));
    const auto n_w = static_cast<std::size_t>(tree.n_w());
    for (std::size_t at = 0; at < tree.gate.size(); ++at) {
      if (tree.gate[at] == 0) continue;
      sum += static_cast<std::size_t>(std::count_if(tree.write.begin() + static_cast<std::ptrdiff_t>(at * n_w),
                                                    tree.write.begin() + static_cast<std::ptrdiff_t>((at + 1) * n_w),
                                                    [](float w) { return w != 0.0F; }));
      sum += (tree.bias.empty() ? 0U : 1U) + (tree.blend.empty() ? 0U : 1U);
    }
  }
  return sum;
}

Candidate candidate_of(Model model, const Sequences& validation) {
  CopyScore copy;
  copy.units = score_units(model, validation);
  copy.numbers = stored_numbers(model);
  Candidate c;
  c.trained_nodes = model.node_count();
  sum_up(c, {copy});
  c.copies.push_back(std::move(model));
  return c;
}

Tolerance simplify_tolerance(const Recipe& recipe) {
  Tolerance tolerance;
  tolerance.log_loss = recipe.simplify_log_loss;
  tolerance.loss_share = recipe.simplify_loss_share;
  tolerance.effort = recipe.simplify_effort;
  return tolerance;
}

bool makes_exact_moves(const Config& config, const LeafForm& form) {
  return config.simplify && config.improve.value_or(form.leaf_output == LeafOutput::kConstant);
}

double seconds_of_choice(std::size_t candidates, const LeafForm& best, const std::vector<Prepared>& folds,
                         const Config& config, double validation_seconds) {
  if (!config.simplify) return 0;
  const Prepared& fold = folds.front();
  const double steps = static_cast<double>(fold.training.steps() + fold.validation.steps());
  const double pass = validation_seconds * steps / static_cast<double>(fold.validation.steps());
  const double improved =
      makes_exact_moves(config, best)
          ? static_cast<double>(std::min(static_cast<std::size_t>(config.recipe.improved), candidates))
          : 0.0;
  const int threads = config.threads > 0 ? config.threads : hardware_threads();
  const double work = kSimplifyCost * static_cast<double>(candidates) + kImproveCost * improved;
  return scale_of(config).trials * work * pass * static_cast<double>(folds.size()) / threads;
}

CopyWork::CopyWork(const std::vector<Prepared>& folds, const Config& config)
    : folds_(folds), config_(config), hold_(folds.size()) {
  for (std::size_t f = 0; f < folds.size(); ++f)
    if (classifies(folds[f].objective)) hold_[f] = stretched(folds[f].validation, config.recipe);
}

void CopyWork::work(Model& model, std::size_t fold, bool improves, const std::function<bool()>& stop) const {
  const Prepared& data = folds_[fold];
  const Recipe& recipe = config_.recipe;
  if (improves) {
    if (!makes_exact_moves(config_, model.trees.front().form)) return;
    ImproveOptions options;
    options.passes = recipe.improve_passes;
    options.gain = recipe.improve_gain;
    options.effort = recipe.improve_effort * scale_of(config_).trials;
    options.stop = stop;
    improve(model, data.training, data.validation, options);
  }
  SimplifyOptions options;
  options.exact.drop_inputs = false;  // one set of columns for all candidates
  options.tolerance = simplify_tolerance(recipe);
  options.tolerance.effort *= scale_of(config_).trials;
  options.tolerance.stop = stop;
  if (config_.simplify) model = simplify(model, options, &data.training, &data.validation).model;
}

CopyScore CopyWork::assess(const Model& model, std::size_t fold) const {
  CopyScore c;
  c.units = score_units(model, folds_[fold].validation);
  c.numbers = stored_numbers(model);
  c.drift = drift(model, folds_[fold].validation, config_.recipe);
  if (hold_[fold].steps() > 0) c.hold = score(model, hold_[fold]).accuracy;
  return c;
}

std::string CopyWork::do_job(ByteReader& job, const Model& like, const std::function<bool()>& stop) const {
  const auto fold = job.get<std::uint64_t>();
  if (fold >= folds_.size()) fail("{}: expected one of {} folds, got {}", job.where(), folds_.size(), fold);
  bool improves = false;
  job.get(improves);
  Model model = like;
  get_all(job, model);
  check(model, job.where());
  work(model, fold, improves, stop);
  return bytes_of(model, assess(model, fold));
}

std::vector<Candidate> choose(std::vector<std::vector<Model>> models, const std::vector<Prepared>& folds,
                              const Config& config, double solved, Session* session, double after) {
  const Recipe& recipe = config.recipe;
  const bool classes = models.front().front().classifies();
  const CopyWork copies(folds, config);
  std::vector<Candidate> all(models.size());
  for (std::size_t i = 0; i < models.size(); ++i) {
    all[i].trained_nodes = models[i].front().node_count();
    all[i].copies = std::move(models[i]);
    all[i].finalist = i;
  }
  const auto hurry = [session] { return session != nullptr && session->hurry(); };
  const bool improves = config.simplify && config.improve.value_or(true);
  const std::size_t improved = improves ? std::min(static_cast<std::size_t>(recipe.improved), all.size()) : 0;
  const bool expected = makes_exact_moves(config, all.front().copies.front().trees.front().form);
  const double work =
      static_cast<double>(folds.size()) * (kSimplifyCost * static_cast<double>(all.size()) +
                                           (expected ? kImproveCost * static_cast<double>(improved) : 0.0));
  std::mutex mutex;
  double done = 0;
  const auto advance = [&](double cost) {
    if (session == nullptr) return;
    const std::lock_guard lock(mutex);
    done += cost;
    session->expect_in_phase(std::min(1.0, done / work), 0.0, after);
  };
  // Works on every copy of the first candidates and scores it.
  const auto on_copies = [&](std::size_t candidates, double cost, bool exact_moves) {
    std::vector<std::vector<CopyScore>> scores(candidates, std::vector<CopyScore>(folds.size()));
    const auto model = [&](std::size_t at) -> Model& { return all[at / folds.size()].copies[at % folds.size()]; };
    const auto score_of = [&](std::size_t at) -> CopyScore& { return scores[at / folds.size()][at % folds.size()]; };
    SharedWork shared;
    shared.count = candidates * folds.size();
    shared.here = [&](std::size_t at, int) {
      copies.work(model(at), at % folds.size(), exact_moves, hurry);
      score_of(at) = copies.assess(model(at), at % folds.size());
      advance(cost);
    };
    shared.job = [&](std::size_t at) {
      ByteWriter job = job_of(Job::kCopy);
      job.put(static_cast<std::uint64_t>(at % folds.size()));
      job.put(exact_moves);
      put_all(job, model(at));
      return job.take();
    };
    shared.take = [&](std::size_t at, std::string_view answer) {
      take_bytes(answer, model(at), score_of(at));
      advance(cost);
    };
    shared.cost = [&](std::size_t at) { return static_cast<double>(model(at).node_count()); };
    shared.stop = hurry;
    share(shared, config.threads, session != nullptr ? session->peers() : nullptr);
    for (std::size_t i = 0; i < candidates; ++i) sum_up(all[i], scores[i]);
    order(all, classes, solved, recipe);
  };
  on_copies(all.size(), kSimplifyCost, false);
  if (session != nullptr) session->show_phase("improve");
  if (improves && !hurry()) on_copies(improved, kImproveCost, true);
  keep_copies(all);
  return all;
}

}  // namespace remede

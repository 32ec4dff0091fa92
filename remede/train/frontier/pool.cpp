#include "remede/train/frontier/pool.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "remede/base/error.h"
#include "remede/base/threads.h"
#include "remede/model/ranges.h"
#include "remede/simplify/simplify.h"
#include "remede/train/frontier/fold.h"
#include "remede/train/frontier/recordings.h"

namespace remede::frontier {
namespace {

constexpr double kDefaultStarts = 32;  // of --starts, for which the recipe says the work

// `learned`: the training data, where models are compared on these as well; else nullptr.
void assess_entry(Entry& e, const Sequences& validation, const Sequences* learned) {
  e.size = size_of(e.model);
  e.units = units_of(e.model, validation);
  if (learned != nullptr) add_learned_units(units_of(e.model, *learned), static_cast<double>(e.size.numbers), e.units);
  e.merit = e.units.mean_merit();
}

const Sequences* also_judged_on(const Prepared& data, const Recipe& recipe) {
  return too_short_to_judge(data.training, data.validation, recipe) ? &data.training : nullptr;
}

bool reads_input(const Tree& tree, std::size_t input) {
  const auto reads = [&](const std::vector<float>& weights, int width) {
    for (std::size_t at = input; at < weights.size(); at += static_cast<std::size_t>(width))
      if (weights[at] != 0.0F) return true;
    return false;
  };
  return std::find(tree.feature.begin(), tree.feature.end(), static_cast<std::int32_t>(input)) != tree.feature.end() ||
         reads(tree.linear, tree.n_v()) || reads(tree.write, tree.n_w());
}

// Numbers to as few digits as the data support.
Model rounded_model(const Model& model, const Sequences& training, const Sequences& validation, const Recipe& recipe,
                    const std::function<bool()>& stop) {
  SimplifyOptions options;
  options.exact.drop_inputs = false;
  options.collapse = false;
  options.round_digits = recipe.small_digits;
  options.tolerance.loss_share = options.tolerance.log_loss = recipe.small_rounding_loss;
  options.tolerance.accuracy = recipe.small_rounding_accuracy;
  options.tolerance.stop = stop;
  return simplify(model, options, &training, &validation).model;
}

// Of every number of cells the snapshots that no smaller one beats, sizes well apart.
std::vector<const Snapshot*> worth_finishing(const Problem& problem, const std::vector<Snapshot>& snapshots) {
  std::map<int, std::vector<const Snapshot*>> by_cells;
  for (const Snapshot& s : snapshots) by_cells[s.cells].push_back(&s);
  std::vector<const Snapshot*> all;
  for (auto& [cells, group] : by_cells) {
    std::stable_sort(group.begin(), group.end(),
                     [](const Snapshot* a, const Snapshot* b) { return a->numbers < b->numbers; });
    double least = std::numeric_limits<double>::infinity();
    std::vector<const Snapshot*> kept;
    for (const Snapshot* s : group) {
      const double m = merit(problem, s->validation);
      if (!(m < least)) continue;
      least = m;
      const bool close =
          !kept.empty() && static_cast<double>(s->numbers) <
                               problem.recipe.small_sizes_apart * static_cast<double>(kept.back()->numbers);
      if (close)
        kept.back() = s;
      else
        kept.push_back(s);
    }
    all.insert(all.end(), kept.begin(), kept.end());
  }
  return all;
}

// REQUIRES nothing of the snapshot, which came as bytes.
void check_snapshot(const Problem& problem, const Snapshot& s, const std::string& where) {
  const laws::Parameters& p = s.parameters;
  const auto nodes = static_cast<std::size_t>(p.shape.nodes());
  if (p.shape.depth > laws::kMostDepth || p.shape.n_x != problem.n_x || p.shape.n_y != problem.n_y ||
      p.shape.cells() > laws::kMostLawCells || p.shape.first.size() != p.shape.law.size() ||
      p.values.size() != p.shape.total() || p.used.size() != p.values.size() || s.rates.size() != p.values.size() ||
      p.side.size() != nodes || p.missing_right.size() != nodes)
    fail("{}: expected a small model of these data, got another", where);
}

SimplifyOptions looser_by(double times, const Recipe& recipe, const std::function<bool()>& stop) {
  SimplifyOptions looser;
  looser.exact.drop_inputs = false;
  looser.drop_small = true;
  looser.round_digits = recipe.small_digits;
  looser.tolerance.stop = stop;
  looser.tolerance.effort = recipe.small_version_effort;
  looser.tolerance.accuracy = recipe.small_version_accuracy * times;
  looser.tolerance.log_loss *= times;
  looser.tolerance.loss_share *= times;
  return looser;
}

void make_smaller(Model& model, double times, const Prepared& data, const Config& config,
                  const std::function<bool()>& stop) {
  model = simplify(model, looser_by(times, config.recipe, stop), &data.training, &data.validation).model;
}

// An entry that was worked on elsewhere.
void note_units(Entry& e) {
  e.size = size_of(e.model);
  e.merit = e.units.mean_merit();
}
void take_entry(std::string_view answer, Entry& e) {
  take_bytes(answer, e.model, e.units);
  note_units(e);
}

}  // namespace

std::string do_smaller(ByteReader& job, const Model& like, const Prepared& data, const Config& config,
                       const std::function<bool()>& stop) {
  Entry e;
  e.model = like;
  const auto times = job.get<double>();
  get_all(job, e.model);
  check(e.model, job.where());
  if (times > 0) make_smaller(e.model, times, data, config, stop);
  assess_entry(e, judging_data(data.training, data.validation, config.recipe), also_judged_on(data, config.recipe));
  return bytes_of(e.model, e.units);
}

bool keeps_trends(const Model& model, const std::vector<Trend>& trend) {
  for (std::size_t i = 0; i < trend.size(); ++i)
    for (const Tree& tree : model.trees)
      if (trend[i] != Trend::kAny && reads_input(tree, i)) return false;
  return true;
}

std::vector<Entry> candidate_entries(const std::vector<Candidate>& candidates, const std::vector<Trend>& trend,
                                     const Config& config, const FrontierOptions& options) {
  const Prepared& data = *options.prepared;
  std::vector<std::pair<Entry, double>> wanted;  // with the tolerance of a smaller version
  int finalists = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    Entry e;
    e.model = candidates[i].copies.front();
    e.candidate = i;
    // Models of patterns are learned in several sizes as it is.
    const bool versions = !e.model.trees.front().has_laws() && ++finalists <= config.recipe.small_versions &&
                          config.simplify && size_of(e.model).numbers <= config.recipe.small_versions_numbers;
    if (versions)
      for (const double times : {config.recipe.small_version_1, config.recipe.small_version_2})
        wanted.emplace_back(e, times);
    e.as_found = true;
    wanted.emplace_back(std::move(e), 0);
  }
  const Sequences judging = judging_data(data.training, data.validation, config.recipe);
  SharedWork work;
  work.count = wanted.size();
  work.here = [&](std::size_t i, int) {
    auto& [entry, times] = wanted[i];
    if (times > 0 && !options.stop()) make_smaller(entry.model, times, data, config, options.stop);
    assess_entry(entry, judging, also_judged_on(data, config.recipe));
  };
  work.job = [&](std::size_t i) {
    ByteWriter job = job_of(Job::kSmaller);
    put_all(job, wanted[i].second);
    put_all(job, wanted[i].first.model);
    return job.take();
  };
  work.take = [&](std::size_t i, std::string_view answer) { take_entry(answer, wanted[i].first); };
  work.cost = [&](std::size_t i) {
    return (1 + wanted[i].second) * static_cast<double>(size_of(wanted[i].first.model).numbers);
  };
  work.stop = options.stop;
  share(work, config.threads, options.peers);
  std::vector<Entry> entries;
  for (auto& [entry, times] : wanted)
    if (keeps_trends(entry.model, trend)) entries.push_back(std::move(entry));
  return entries;
}

namespace {

SearchOptions small_search(const Config& config, std::size_t training_steps) {
  const double share = std::min(1.0, config.starts ? *config.starts / kDefaultStarts : scale_of(config).starts);
  SearchOptions search;
  search.seed = static_cast<std::uint64_t>(config.seed);
  search.threads = config.threads;
  search.starts = std::max(2, static_cast<int>(config.recipe.small_starts * share));
  const auto steps = static_cast<double>(training_steps);
  search.work = config.recipe.small_work * share * std::sqrt(std::min(1.0, steps / config.recipe.full_work_steps));
  if (config.updates) search.most_updates = static_cast<std::size_t>(*config.updates);
  return search;
}

}  // namespace

double seconds_of_small_models(const Prepared& data, const std::vector<Trend>& trend, const Config& config,
                               const std::function<bool()>& stop) {
  const Problem problem =
      make_problem(with_class_weights(data.training, config), data.validation, trend, &data.objective, config.recipe);
  SearchOptions search = small_search(config, data.training.steps());
  search.stop = stop;
  return forecast_small_models(problem, search);
}

SmallModels::SmallModels(const Model& like, const std::vector<Trend>& trend, const Config& config,
                         const FrontierOptions& options)
    : config_(config), options_(options) {
  like_.schema = like.schema;
  like_.own_objective = like.own_objective;
  like_.training.settings = like.training.settings;
  const Prepared& data = *options.prepared;
  const Sequences weighted = with_class_weights(data.training, config);
  judging_ = judging_data(data.training, data.validation, config.recipe);
  problem_ = std::make_unique<Problem>(make_problem(weighted, judging_, trend, &data.objective, config.recipe));
}

std::vector<Entry> SmallModels::search() const {
  SearchOptions search = small_search(config_, options_.prepared->training.steps());
  search.peers = options_.peers;
  search.stop = options_.stop;
  search.progress = options_.progress;
  if (options_.worked) search.worked = options_.worked;
  const std::vector<Snapshot> snapshots = search_small_models(*problem_, search);
  const std::vector<const Snapshot*> kept = worth_finishing(*problem_, snapshots);
  std::vector<Entry> entries(kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i) entries[i].snapshot = *kept[i];
  SharedWork work;
  work.count = entries.size();
  work.here = [&](std::size_t i, int) { finish(entries[i], options_.stop); };
  work.job = [&](std::size_t i) {
    ByteWriter job = job_of(Job::kFinish);
    put_all(job, *entries[i].snapshot);
    return job.take();
  };
  work.take = [&](std::size_t i, std::string_view answer) {
    entries[i].model = like_;
    take_bytes(answer, entries[i].snapshot->parameters, entries[i].model, entries[i].units);
    note_units(entries[i]);
  };
  work.cost = [&](std::size_t i) { return static_cast<double>(entries[i].snapshot->numbers); };
  work.stop = options_.stop;
  share(work, config_.threads, options_.peers);
  return entries;
}

// More updates, where they help; the numbers rounded.
void SmallModels::finish(Entry& e, const Stop& stop) const {
  const Prepared& data = *options_.prepared;
  const SearchOptions search = small_search(config_, data.training.steps());
  Learner learner(*problem_, problem_->training, e.snapshot->parameters, e.snapshot->rates, e.snapshot->options,
                  search.seed, e.snapshot->stream);
  learner.advance(std::min(static_cast<std::size_t>(config_.recipe.small_last_updates), search.most_updates), 0.4, 0.01,
                  stop);
  if (merit(*problem_, learner.judge(problem_->validation)) <= merit(*problem_, e.snapshot->validation))
    e.snapshot->parameters = learner.parameters();
  e.model = rounded_model(model_of(e.snapshot->parameters), data.training, data.validation, config_.recipe, stop);
  note_ranges(e.model, data.training);
  assess_entry(e, judging_, also_judged_on(data, config_.recipe));
}

std::string SmallModels::do_job(Job kind, ByteReader& job, const Stop& stop) const {
  const auto seed = static_cast<std::uint64_t>(config_.seed);
  if (kind == Job::kSmallRound) return do_small_round(job, *problem_, seed, stop);
  if (kind == Job::kPrune) return do_prune(job, *problem_, seed, stop);
  Entry e;
  e.snapshot = get_all<Snapshot>(job);
  check_snapshot(*problem_, *e.snapshot, job.where());
  if (kind == Job::kFinish) {
    finish(e, stop);
    return bytes_of(e.snapshot->parameters, e.model, e.units);
  }
  e.model = like_;
  get_all(job, e.model);
  check(e.model, job.where());
  return bytes_of(refit(e, stop));
}

std::vector<std::optional<Model>> SmallModels::refitted(const std::vector<const Entry*>& entries) const {
  std::vector<std::optional<Model>> models(entries.size());
  std::vector<std::size_t> small;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (entries[i]->snapshot) small.push_back(i);
  SharedWork work;
  work.count = small.size();
  work.here = [&](std::size_t i, int) {
    if (!options_.stop()) models[small[i]] = refit(*entries[small[i]], options_.stop);
  };
  work.job = [&](std::size_t i) {
    ByteWriter job = job_of(Job::kRefit);
    put_all(job, *entries[small[i]]->snapshot);
    put_all(job, entries[small[i]]->model);
    return job.take();
  };
  work.take = [&](std::size_t i, std::string_view answer) {
    Model model = like_;
    take_bytes(answer, model);
    models[small[i]] = std::move(model);
  };
  work.cost = [&](std::size_t i) { return static_cast<double>(entries[small[i]]->snapshot->numbers); };
  work.stop = options_.stop;
  share(work, config_.threads, options_.peers);
  return models;
}

Model SmallModels::model_of(const laws::Parameters& parameters) const {
  Model model = like_;
  model.fill = problem_->scaling.x_shift;
  model.trees.push_back(fold_tree(*problem_, parameters));
  check(model, "small model");
  return model;
}

Model SmallModels::refit(const Entry& entry, const Stop& stop) const {
  const Sequences all = thinned(options_.training->sequences, config_.recipe);
  const Sequences weighted = with_class_weights(all, config_);
  const laws::LaneData lanes = lanes_on_scale(*problem_, weighted);
  const Snapshot& s = *entry.snapshot;
  Learner learner(*problem_, lanes, s.parameters, s.rates, s.options, static_cast<std::uint64_t>(config_.seed),
                  s.stream);
  learner.advance(static_cast<std::size_t>(config_.recipe.small_last_updates), 0.4, 0.01, stop);
  Model model = rounded_model(model_of(learner.parameters()), all, all, config_.recipe, stop);
  note_ranges(model, all);
  const bool better = units_of(model, weighted).mean_merit() <= units_of(entry.model, weighted).mean_merit();
  return better ? model : entry.model;
}

}  // namespace remede::frontier

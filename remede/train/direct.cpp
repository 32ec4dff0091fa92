#include "remede/train/direct.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "remede/executor/remote/job.h"
#include "remede/model/size.h"
#include "remede/train/calibrate.h"
#include "remede/train/contexts.h"
#include "remede/train/greedy_tree.h"
#include "remede/train/identify.h"
#include "remede/train/patterns/patterns.h"
#include "remede/train/score.h"
#include "remede/train/search.h"
#include "remede/train/state_merging.h"
#include "remede/train/travel.h"

namespace remede {

template <MaybeConst<GreedyOptions> T>
void fields(T& o, auto&& each) {
  each(o.leaves, o.least_in_leaf, o.inputs, o.resample, o.seed, o.stream);
}
template <MaybeConst<GreedyTree> T>
void fields(T& g, auto&& each) {
  each(g.tree, g.loss, g.wrong);
}

namespace {

constexpr std::size_t kLeastInLeaf[] = {1, 5, 20};  // steps with a target in a leaf of a greedy tree: all are tried

constexpr double kMostSystemNumbers =
    5e5;  // steps times inputs: the regressors of an identification are kept in memory

bool allows(const std::optional<LeafOutput>& given, LeafOutput needed) { return given.value_or(needed) == needed; }

// Options that fix the shape of the tree leave no room for models of another shape.
bool free_shape(const Config& c) {
  return !c.recipe.single_start && !c.depth && c.output_order.value_or(OutputOrder::kZero) == OutputOrder::kZero;
}
bool allows_machine(const Config& c, const Schema& schema) {
  return free_shape(c) && schema.task == Task::kClassification && !c.memory && c.form == FormChoice::kAuto &&
         c.write_rule.value_or(WriteRule::kBlend) == WriteRule::kBlend && c.write_bias.value_or(true) &&
         !c.write_reads && allows(c.leaf_output, LeafOutput::kConstant);
}
bool allows_greedy(const Config& c) {
  return free_shape(c) && c.memory.value_or(0) == 0 && c.form == FormChoice::kAuto && !c.write_rule && !c.write_bias &&
         !c.write_reads && allows(c.leaf_output, LeafOutput::kConstant);
}
bool allows_system(const Config& c, const Schema& schema) {
  return free_shape(c) && schema.task == Task::kRegression && !c.memory && c.form != FormChoice::kPaper &&
         c.write_rule.value_or(WriteRule::kBlend) == WriteRule::kBlend && c.write_bias.value_or(true) &&
         c.write_reads.value_or(WriteReads::kInputsAndMemory) == WriteReads::kInputsAndMemory &&
         allows(c.leaf_output, LeafOutput::kLinear);
}

Model model_of_tree(Tree tree, const Schema& schema, const Prepared& prepared, const Config& config, bool scaled) {
  Model model;
  model.schema = schema;
  model.fill = prepared.fill;
  model.trees.push_back(std::move(tree));
  if (scaled) fold(prepared.scaling, prepared.objective, model.trees.back());
  model.training.settings = settings(config);
  check(model, "trained model");
  return model;
}

std::size_t targets_in(const Sequences& data) {
  return static_cast<std::size_t>(
      std::count_if(data.weight.begin(), data.weight.end(), [](float w) { return w > 0.0F; }));
}

using LearnMachine = std::function<std::optional<SymbolMachine>(const Sequences& training)>;

// A machine for every fold, or nothing. Machines are learned from raw data: symbols have no scale.
std::optional<DirectCandidate> machine_candidate(const Schema& schema, const std::vector<Prepared>& folds,
                                                 const Config& config, const LearnMachine& learn) {
  DirectCandidate candidate;
  double wrong = 0, loss = 0;
  for (const Prepared& fold : folds) {
    const std::optional<SymbolMachine> machine = learn(fold.training);
    if (!machine) return std::nullopt;
    candidate.copies.push_back(model_of_tree(tree_of(*machine), schema, fold, config, false));
    const Score s = score(candidate.copies.back(), fold.validation);
    wrong += (1 - s.accuracy) / static_cast<double>(folds.size());
    loss += s.loss / static_cast<double>(folds.size());
  }
  candidate.wrong = wrong;
  candidate.loss = loss;
  return candidate;
}

// Makes no mistake, and is small: where a machine needs many states, a tree that counts may do with a few numbers, and
// be right for longer sequences as well.
bool is_final(const DirectCandidate& machine, const std::vector<Prepared>& folds, const Recipe& recipe) {
  if (size_of(machine.copies.front()).numbers > recipe.machine_numbers) return false;
  const auto needed = static_cast<std::size_t>(recipe.machine_targets);
  for (std::size_t f = 0; f < folds.size(); ++f)
    if (!folds[f].held_out || targets_in(folds[f].validation) < needed ||
        score(machine.copies[f], folds[f].validation).accuracy < 1 ||
        score(machine.copies[f], folds[f].training).accuracy < 1)
      return false;
  return true;
}

void add_machines(const Schema& schema, const std::vector<Prepared>& folds, const Config& config, DirectModels& found) {
  MergingLimits limits;
  limits.symbols = static_cast<std::size_t>(config.recipe.machine_symbols);
  limits.states = static_cast<std::size_t>(config.recipe.machine_states);
  for (const MergeTest test : {MergeTest::kExact, MergeTest::kStatistical}) {
    std::optional<DirectCandidate> machine = machine_candidate(
        schema, folds, config, [&](const Sequences& training) { return merge_states(training, test, limits); });
    if (!machine) continue;
    found.solved = test == MergeTest::kExact && config.trees == 1 && is_final(*machine, folds, config.recipe);
    found.candidates.push_back(std::move(*machine));
    if (found.solved) return;
  }
  for (const double nats : {config.recipe.machine_nats_1, config.recipe.machine_nats_2}) {
    const ContextLimits of_contexts{limits.symbols, limits.states,
                                    static_cast<std::size_t>(config.recipe.machine_order), nats};
    std::optional<DirectCandidate> machine = machine_candidate(
        schema, folds, config, [&](const Sequences& training) { return learn_contexts(training, of_contexts); });
    if (machine) found.candidates.push_back(std::move(*machine));
  }
}

// One for every fold.
std::vector<GreedyTree> greedy_trees(const std::vector<Prepared>& folds, const GreedyOptions& options) {
  std::vector<GreedyTree> trees;
  trees.reserve(folds.size());
  for (const Prepared& fold : folds) trees.push_back(grow_greedy(fold.data.training, &fold.data.validation, options));
  return trees;
}

DirectCandidate greedy_candidate(const Schema& schema, const std::vector<Prepared>& folds, const Config& config,
                                 const GreedyOptions& options, std::vector<GreedyTree> trees) {
  DirectCandidate candidate;
  candidate.loss = candidate.wrong = 0;
  std::vector<int> leaves;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    GreedyTree& grown = trees[f];
    candidate.loss += grown.loss / static_cast<double>(folds.size());
    candidate.wrong += grown.wrong / static_cast<double>(folds.size());
    leaves.push_back(grown.tree.leaf_count());
    candidate.copies.push_back(model_of_tree(std::move(grown.tree), schema, folds[f], config, true));
  }
  candidate.refit = [&schema, &folds, config, options, leaves](std::size_t kept, const TrainingData& all,
                                                               const Sequences&) {
    GreedyOptions same = options;
    same.leaves = leaves[kept];
    return std::optional(
        model_of_tree(grow_greedy(all.training, nullptr, same).tree, schema, folds[kept], config, true));
  };
  return candidate;
}

void add_greedy_trees(const Schema& schema, const std::vector<Prepared>& folds, const Config& config,
                      const std::function<bool()>& stop, Peers* peers, DirectModels& found) {
  const Sequences& training = folds.front().data.training;
  if (training.n_x == 0 || static_cast<double>(training.steps()) * training.n_x > config.recipe.greedy_numbers) return;
  std::vector<GreedyOptions> plans;
  GreedyOptions options;
  const bool table = training.steps() == training.count();
  options.leaves = table ? config.recipe.greedy_table_leaves : config.recipe.greedy_leaves;
  options.seed = static_cast<std::uint64_t>(config.seed);
  for (const std::size_t least : kLeastInLeaf) {
    options.least_in_leaf = least;
    plans.push_back(options);
  }
  options.least_in_leaf = kLeastInLeaf[0];
  options.inputs = config.recipe.greedy_inputs;
  options.resample = true;
  const std::size_t members =
      config.trees > 1 ? static_cast<std::size_t>(config.recipe.greedy_members) * static_cast<std::size_t>(config.trees)
                       : 0;
  for (std::size_t i = 0; i < members; ++i, ++options.stream) plans.push_back(options);
  std::vector<std::vector<GreedyTree>> trees(plans.size());
  SharedWork work;
  work.count = plans.size();
  work.here = [&](std::size_t i, int) {
    if (!stop()) trees[i] = greedy_trees(folds, plans[i]);
  };
  work.job = [&](std::size_t i) {
    ByteWriter job = job_of(Job::kGreedy);
    put_all(job, plans[i]);
    return job.take();
  };
  work.take = [&](std::size_t i, std::string_view answer) { take_bytes(answer, trees[i]); };
  work.stop = stop;
  share(work, config.threads, peers);
  std::vector<std::optional<DirectCandidate>> grown(plans.size());
  for (std::size_t i = 0; i < plans.size(); ++i)
    if (!trees[i].empty()) grown[i] = greedy_candidate(schema, folds, config, plans[i], std::move(trees[i]));
  const auto better = [&](const DirectCandidate& a, const DirectCandidate& b) {
    return schema.task == Task::kClassification && a.wrong != b.wrong ? a.wrong < b.wrong : a.loss < b.loss;
  };
  // Of the trees that may test everything only the best is offered; the members of a forest all are.
  std::optional<DirectCandidate> best;
  for (std::size_t i = 0; i < grown.size(); ++i) {
    if (!grown[i]) continue;
    if (i >= std::size(kLeastInLeaf))
      found.candidates.push_back(std::move(*grown[i]));
    else if (!best || better(*grown[i], *best))
      best = std::move(*grown[i]);
  }
  if (!best) return;
  // What such a tree gets wrong in very few steps, and nowhere else, depends on events before them.
  const bool events = schema.task == Task::kClassification && best->wrong < config.recipe.event_few_wrong;
  if (!events) found.signal_loss = std::min(found.signal_loss, best->loss);
  found.candidates.push_back(std::move(*best));
}

void add_systems(const Schema& schema, const std::vector<Prepared>& folds, const Config& config,
                 const std::function<bool()>& stop, Peers* peers, DirectModels& found) {
  const Sequences& training = folds.front().training;
  if (training.steps() < static_cast<std::size_t>(config.recipe.system_length) * training.count()) return;
  if (static_cast<double>(folds.front().data.training.steps()) * training.n_x > kMostSystemNumbers) return;
  std::vector<std::vector<Identified>> of_fold;
  std::size_t count = static_cast<std::size_t>(std::max(config.recipe.system_candidates, config.trees));
  for (const Prepared& fold : folds) {
    IdentifyOptions options;
    options.starts = static_cast<int>(scale_of(config).starts * config.recipe.system_starts);
    options.survivors = config.recipe.system_survivors;
    options.first_iterations = config.recipe.system_first_iterations;
    options.refine.iterations = config.recipe.system_iterations;
    options.refine.patience = config.recipe.system_patience;
    options.refine.ridge = config.recipe.system_ridge;
    options.few_recordings = static_cast<std::size_t>(config.recipe.system_few_recordings);
    options.compared = static_cast<std::size_t>(config.recipe.system_compared);
    options.steps = static_cast<std::size_t>(config.recipe.system_steps);
    options.least_targets = static_cast<std::size_t>(config.recipe.system_least_targets);
    options.least_starts = static_cast<std::size_t>(config.recipe.system_least_starts);
    options.work = config.recipe.system_work / static_cast<double>(folds.size());
    of_fold.push_back(identify(fold.data, static_cast<std::uint64_t>(config.seed), options, config.threads, stop, peers,
                               of_fold.size()));
    count = std::min(count, of_fold.back().size());
  }
  for (std::size_t i = 0; i < count; ++i) {
    DirectCandidate candidate;
    std::vector<Identified> systems;
    for (std::size_t f = 0; f < folds.size(); ++f) {
      systems.push_back(std::move(of_fold[f][i]));
      candidate.copies.push_back(model_of_tree(harden(systems[f].parameters), schema, folds[f], config, true));
      candidate.loss += systems[f].loss / static_cast<double>(folds.size());
    }
    candidate.refit = [&schema, &folds, config, systems, stop](std::size_t kept, const TrainingData& all,
                                                               const Sequences&) {
      LevenbergOptions options;
      options.iterations = std::clamp(systems[kept].iterations / 2, 3, config.recipe.system_refit_iterations);
      options.ridge = config.recipe.system_refit_ridge;
      const LevenbergResult again =
          levenberg(systems[kept].parameters, all.training, all.continues, nullptr, all.fill, options, stop);
      return std::optional(model_of_tree(harden(again.parameters), schema, folds[kept], config, true));
    };
    found.signal_loss = std::min(found.signal_loss, candidate.loss);
    found.candidates.push_back(std::move(candidate));
  }
}

bool allows_patterns(const Config& c, const Prepared& data, const Schema& schema) {
  const Recipe& r = c.recipe;
  return !r.single_start && leaves_form_open(c) && !c.increasing && !c.decreasing &&
         data.objective == default_objective(schema.task) &&
         data.training.count() >= static_cast<std::size_t>(r.pattern_sequences) &&
         data.training.steps() >= static_cast<std::size_t>(r.pattern_length) * data.training.count();
}

PatternOptions pattern_options(const Config& config) {
  const Recipe& r = config.recipe;
  PatternOptions options;
  options.drawn = static_cast<int>(r.pattern_drawn * scale_of(config).starts);
  options.speeds = r.pattern_speeds;
  options.fastest = r.pattern_fastest;
  options.slowest = r.pattern_slowest;
  options.stages = r.pattern_stages;
  options.stores = r.pattern_stores;
  options.ramp = r.pattern_ramp;
  options.fastest_collected = r.pattern_fastest_collected;
  options.slowest_collected = r.pattern_slowest_collected;
  options.ridge = r.pattern_ridge;
  options.rows = static_cast<std::size_t>(r.pattern_rows);
  options.table = r.pattern_table;
  options.answered = r.pattern_answered;
  options.work = r.pattern_work;
  options.seed = static_cast<std::uint64_t>(config.seed);
  return options;
}

// Of a model in the units of the file, in those of training.
double scaled_loss(double loss, const Scaling& scaling) {
  double squares = 0;
  for (const float s : scaling.y_scale) squares += static_cast<double>(s) * static_cast<double>(s);
  return squares > 0 ? loss * static_cast<double>(scaling.y_scale.size()) / squares : loss;
}

// The logarithm of a factor for all scores. Only where there are folds, that is, few sequences. A part of what suits
// the folds: their copies have learned from fewer sequences than the model that is saved, which is less often wrong.
double dampening(const std::vector<Model>& copies, const std::vector<Prepared>& folds, const Schema& schema,
                 const Config& config) {
  if (schema.task != Task::kClassification || folds.size() == 1) return 0;
  return config.recipe.pattern_dampened * score_factor(copies, folds, config.threads);
}

// Scales the copies and says how good they are, each on its fold.
void judge_copies(const std::vector<Prepared>& folds, const Config& config, double log_factor, DirectCandidate& c) {
  for (std::size_t f = 0; f < folds.size(); ++f) {
    scale_scores(log_factor, c.copies[f]);
    const Score s = score(c.copies[f], folds[f].validation, config.threads);
    c.loss += scaled_loss(s.loss, folds[f].scaling) / static_cast<double>(folds.size());
    c.wrong -= s.accuracy / static_cast<double>(folds.size());
  }
}

struct PatternCandidate {
  int count;
  DirectCandidate candidate;
};

// One for each of `counts` that all folds support, from as many patterns of each fold.
std::vector<PatternCandidate> pattern_candidates(const Schema& schema, const std::vector<Prepared>& folds,
                                                 const Config& config, const PatternOptions& options,
                                                 const std::vector<int>& counts, const std::function<bool()>& stop) {
  std::vector<DirectCandidate> all(counts.size());
  for (const Prepared& fold : folds) {
    const Sequences training = with_class_weights(fold.training, config);
    std::vector<std::optional<Tree>> trees = learn_patterns(training, fold.fill, counts, options, config.threads, stop);
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::vector<Model>& copies = all[i].copies;
      if (trees[i] && copies.size() == static_cast<std::size_t>(&fold - folds.data()))
        copies.push_back(model_of_tree(std::move(*trees[i]), schema, fold, config, false));
    }
  }
  std::vector<PatternCandidate> candidates;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].copies.size() < folds.size()) continue;
    const double dampened = dampening(all[i].copies, folds, schema, config);
    judge_copies(folds, config, dampened, all[i]);
    all[i].refit = [&schema, &folds, config, options, dampened, count = counts[i], stop](
                       std::size_t kept, const TrainingData&, const Sequences& raw) -> std::optional<Model> {
      std::optional<Tree> again =
          std::move(learn_patterns(raw, folds[kept].fill, std::array{count}, options, config.threads, stop).front());
      if (!again) return std::nullopt;
      Model model = model_of_tree(std::move(*again), schema, folds[kept], config, false);
      scale_scores(dampened, model);
      return model;
    };
    candidates.push_back({counts[i], std::move(all[i])});
  }
  return candidates;
}

}  // namespace

void add_patterns(const Schema& schema, const std::vector<Prepared>& folds, const Config& config,
                  const std::function<bool()>& stop, DirectModels& found) {
  if (!allows_patterns(config, folds.front(), schema)) return;
  std::vector<int> counts;
  for (int count = config.recipe.pattern_least; count <= config.recipe.pattern_most; count *= 2)
    counts.push_back(count);
  // Sums alone, then sums and counts. The other trees of a forest are as large as the best of their kind, from other
  // patterns.
  for (const double counted : {0.0, config.recipe.pattern_counted}) {
    PatternOptions options = pattern_options(config);
    options.counted = counted;
    std::vector<PatternCandidate> first = pattern_candidates(schema, folds, config, options, counts, stop);
    if (first.empty()) return;
    const auto better = [](const PatternCandidate& a, const PatternCandidate& b) {
      return a.candidate.loss < b.candidate.loss;
    };
    const std::vector<int> same = {std::min_element(first.begin(), first.end(), better)->count};
    for (PatternCandidate& c : first) found.candidates.push_back(std::move(c.candidate));
    for (options.stream = 1; options.stream < static_cast<std::uint64_t>(config.trees) && !stop(); ++options.stream)
      for (PatternCandidate& c : pattern_candidates(schema, folds, config, options, same, stop))
        found.candidates.push_back(std::move(c.candidate));
    if (config.recipe.pattern_counted == 0) return;
  }
}

DirectModels learn_directly(const Schema& schema, const std::vector<Prepared>& folds, const Config& config,
                            const std::function<bool()>& stop, Peers* peers) {
  DirectModels found;
  if (folds.front().objective != default_objective(schema.task)) return found;
  if (allows_machine(config, schema) && !stop()) add_machines(schema, folds, config, found);
  if (found.solved) return found;
  if (allows_greedy(config) && !stop()) add_greedy_trees(schema, folds, config, stop, peers, found);
  if (allows_system(config, schema) && !stop()) add_systems(schema, folds, config, stop, peers, found);
  return found;
}

std::string do_greedy(ByteReader& job, const std::vector<Prepared>& folds) {
  const auto options = get_all<GreedyOptions>(job);
  job.expect_end();
  return bytes_of(greedy_trees(folds, options));
}

}  // namespace remede

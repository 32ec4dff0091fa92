// What the starts of the default recipe look like. Two regimes (docs/training.md): `event`, where single steps matter
// and the memory must hold them exactly, and `signal`, where many noisy steps must be averaged.
#include <algorithm>
#include <utility>

#include "remede/base/arithmetic.h"
#include "remede/base/lanes.h"
#include "remede/train/polish.h"
#include "remede/train/search.h"

namespace remede {
namespace {

constexpr std::uint64_t kPlanStream = 0x706c616e00000000;  // plans are drawn apart from the starts' own numbers

template <typename T>
T one_of(Random& random, std::initializer_list<T> choices) {
  return *(choices.begin() + random.below(choices.size()));
}

void jitter(Rates& rates, double spread, Random& random) {
  for (float& rate : rates) rate *= exp(static_cast<float>(spread) * static_cast<float>(random.normal()));
}

int between(Random& random, int low, int high) {
  return low + static_cast<int>(random.below(static_cast<std::uint64_t>(std::max(low, high) - low) + 1));
}

void event_plan(const Recipe& recipe, StartPlan& plan, std::size_t number, Random& random) {
  plan.shape.depth = between(random, recipe.event_depth_low, recipe.event_depth_high);
  plan.shape.n_m = recipe.event_cells;
  LeafForm& form = plan.shape.form;
  form.write_bias = true;
  form.write_rule = number % 2 == 0 ? WriteRule::kAdd : WriteRule::kBlend;
  plan.gradient = {SplitGradient::kSoftsign, static_cast<float>(recipe.event_slope), IndexGradient::kSoftmax,
                   Mix::kParameters};
  plan.validations = static_cast<std::uint64_t>(recipe.event_validations);
}

bool one_in(Random& random, int count) { return random.below(static_cast<std::uint64_t>(count)) == 0; }

void signal_plan(const Config& config, StartPlan& plan, Random& random) {
  const Recipe& recipe = config.recipe;
  plan.shape.depth = between(random, recipe.signal_depth_low, recipe.signal_depth_high);
  plan.shape.n_m = one_of(random, {recipe.signal_cells_low, recipe.signal_cells_middle, recipe.signal_cells_high,
                                   recipe.signal_cells_high});
  LeafForm& form = plan.shape.form;
  form.write_bias = true;
  form.write_rule = WriteRule::kBlend;
  form.leaf_output = LeafOutput::kLinear;
  form.write_reads =
      one_in(random, recipe.signal_inputs_only_one_in) ? WriteReads::kInputs : WriteReads::kInputsAndMemory;
  plan.gradient = {SplitGradient::kSoftsign, static_cast<float>(recipe.signal_slope), IndexGradient::kSoftmax,
                   one_of(random, {Mix::kParameters, Mix::kEffects})};
  plan.scales.write = static_cast<float>(recipe.signal_write_scale);
  plan.scales.rate_mean = static_cast<float>(random.uniform(recipe.signal_blend_low, recipe.signal_blend_high));
  plan.scales.rate_spread = static_cast<float>(recipe.signal_blend_spread);
  if (!config.rate_index) plan.rates[static_cast<int>(Group::kIndex)] = static_cast<float>(recipe.signal_rate_index);
  if (!config.rate_threshold)
    plan.rates[static_cast<int>(Group::kThreshold)] = static_cast<float>(recipe.signal_rate_threshold);
  plan.thresholds_from_data = true;
  plan.average = static_cast<float>(recipe.signal_average);
  if (!one_in(random, recipe.signal_no_shrink_one_in))
    plan.shrink = exp(static_cast<float>(random.uniform(recipe.signal_shrink_low, recipe.signal_shrink_high)));
  plan.validations = static_cast<std::uint64_t>(recipe.signal_validations);
  plan.least_rounds = 3;  // two short ones, and the last
}

void fix(const Config& config, StartPlan& plan) {
  plan.shape.form = fixed_by(config, plan.shape.form);
  plan.gradient = fixed_by(config, plan.gradient);
  if (config.depth) plan.shape.depth = *config.depth;
  if (config.memory) plan.shape.n_m = *config.memory;
}

double mean_length(const Sequences& training) {
  return static_cast<double>(training.steps()) / static_cast<double>(training.count());
}

// About a thousand steps of data in an update: enough for a fair gradient, few enough for many updates. Not fewer than
// the kernels have lanes: those would be idle.
int batch_for(const Config& config, const Sequences& training) {
  if (config.batch) return *config.batch;
  const double length = mean_length(training);
  const double most = config.recipe.batch_most;
  return static_cast<int>(std::clamp(config.recipe.batch_steps / length,
                                     std::min(static_cast<double>(config.recipe.batch_least), most), most));
}

// Of a stage, before more are added. Every tree of the model is a start of its own.
int starts_of(const Config& config) {
  const auto scaled = static_cast<int>(config.recipe.starts * scale_of(config).starts);
  return config.starts.value_or(std::max({1, scaled, config.trees}));
}

// Updates that show so many steps: a signal is learned from many of them. Fewer where sequences are too few to fill the
// lanes, since the time an update takes is that of its longest sequence.
std::uint64_t signal_round(const Recipe& recipe, int batch, const Sequences& training) {
  const double length = mean_length(training);
  const double sequences = std::min(static_cast<double>(batch), static_cast<double>(training.count()));
  const double passes =
      std::max(recipe.signal_passes, recipe.signal_epochs * static_cast<double>(training.count()) / sequences);
  const double updates =
      std::min({recipe.signal_round_steps / (length * sequences), recipe.signal_idle_lane_steps / length, passes});
  return static_cast<std::uint64_t>(std::clamp(updates, recipe.signal_fewest_updates,
                                               std::max(recipe.signal_fewest_updates, recipe.signal_most_updates)));
}

// Whole ones, of which cut() may have made windows.
std::size_t sequences_of(const TrainingData& data) {
  return data.training.count() -
         static_cast<std::size_t>(std::count(data.continues.begin(), data.continues.end(), std::uint8_t{1}));
}

// Updates of an event stage's first round that shows so many steps.
std::uint64_t event_updates(const Recipe& recipe, double steps, double steps_of_update) {
  const auto usual = static_cast<std::uint64_t>(recipe.event_round);
  const auto fewest = std::min(usual, static_cast<std::uint64_t>(recipe.event_fewest_updates));
  return std::clamp(static_cast<std::uint64_t>(steps / steps_of_update), fewest, usual);
}

// A recording that has the lanes for itself takes as long as sixteen, and holds no more events than one.
std::uint64_t event_round(const Recipe& recipe, const Sequences& training) {
  if (training.count() >= kLanes) return static_cast<std::uint64_t>(recipe.event_round);
  return event_updates(recipe, recipe.event_idle_lane_steps, mean_length(training));  // fewer sequences take as long
}

// The cost should grow with the data: with folds, few sequences must not cost more than many.
std::uint64_t scaled_round(const Config& config, std::size_t folds, std::uint64_t updates) {
  const double scale = scale_of(config).updates * (folds > 1 ? config.recipe.fold_round_share : 1.0);
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(static_cast<double>(updates) * scale));
}

// Signals are seldom learned in an event stage: it should not take most of the time. Nor should a stage that long
// sequences make expensive and in which no start does better than a constant, where other forms are tried after it.
void doubt_events(const Config& config, const TrainingData& data, std::size_t folds, double signal_loss,
                  Portfolio& stage) {
  const Recipe& recipe = config.recipe;
  const StartPlan& plan = stage.starts.front();
  const double steps_of_update = mean_length(data.training) * std::max<double>(plan.batch, kLanes);
  const double constant = constant_loss(data.objective, data.validation);
  const bool signals = signal_loss < recipe.event_signal_share * constant;
  const bool others = config.form != FormChoice::kPaper && config.leaf_output != LeafOutput::kConstant;
  const bool expensive = others && static_cast<double>(plan.first_round) * steps_of_update > recipe.event_doubted_steps;
  if (!signals && !expensive) return;
  const std::uint64_t updates =
      scaled_round(config, folds, event_updates(recipe, recipe.event_signal_steps, steps_of_update));
  if (updates >= plan.first_round) return;
  stage.trial = updates;
  stage.lifted = signals ? recipe.event_lifted * signal_loss : recipe.event_doubted_share * constant;
}

// Noise on every value. Where there are more data, starts with noise did not do better on validation data; nor where
// there are only a few recordings, each with an output that follows from its inputs alone.
bool needs_noise(const Recipe& recipe, const TrainingData& data) {
  const Sequences& training = data.training;
  return sequences_of(data) >= static_cast<std::size_t>(recipe.noise_sequences) &&
         std::count_if(training.weight.begin(), training.weight.end(), [](float w) { return w > 0.0F; }) <
             recipe.noise_targets;
}

// An offset for all steps of a sequence: recordings differ from one another by how sensors were mounted, who wore them,
// which engine it was. With few recordings the model overfits, however long they are; a single one does not show how
// much recordings differ. Not if sequences are cut: a window begins with the memory of an earlier epoch, which had
// another offset.
bool needs_offsets(const Recipe& recipe, const TrainingData& data) {
  const std::size_t sequences = data.training.count();
  return data.continues.empty() && sequences >= static_cast<std::size_t>(recipe.offset_sequences_low) &&
         sequences < static_cast<std::size_t>(recipe.offset_sequences_high) &&
         data.training.steps() >= static_cast<std::size_t>(recipe.offset_steps) * sequences;
}

// A start of few updates is cheap: there can be more of them.
int signal_starts(const Config& config, const Sequences& training) {
  const int batch = batch_for(config, training);
  const double length = mean_length(training);
  const double sequences =
      std::max<double>(kLanes, std::min(static_cast<double>(batch), static_cast<double>(training.count())));
  const double steps = static_cast<double>(signal_round(config.recipe, batch, training)) * length * sequences;
  return static_cast<int>(starts_of(config) *
                          std::clamp(config.recipe.signal_quick_start * config.recipe.signal_round_steps / steps, 1.0,
                                     config.recipe.signal_more_starts));
}

// The rates of what a leaf does to the memory, but not those that the user gave.
void scale_memory_rates(const Config& config, double factor, Rates& rates) {
  const std::pair<Group, bool> given[] = {{Group::kGate, config.rate_gate.has_value()},
                                          {Group::kWrite, config.rate_write.has_value()},
                                          {Group::kBias, config.rate_bias.has_value()},
                                          {Group::kRate, config.rate_rate.has_value()}};
  for (const auto& [group, fixed] : given)
    if (!fixed) rates[static_cast<std::size_t>(group)] *= static_cast<float>(factor);
}

// Many sequences allow smaller steps of the memory. The trees of a forest also learn longer from them, and in smaller
// steps from a few recordings of numbers: whoever asks for several trees wants accuracy.
void learn_carefully(const Config& config, const TrainingData& data, Portfolio& stage) {
  const Recipe& recipe = config.recipe;
  const bool many = sequences_of(data) >= static_cast<std::size_t>(recipe.signal_many_sequences);
  const bool few = sequences_of(data) < static_cast<std::size_t>(recipe.signal_few_sequences);
  if (!many && !(few && config.trees > 1 && !classifies(data.objective))) return;
  for (StartPlan& plan : stage.starts) {
    scale_memory_rates(config, recipe.signal_small_memory_rates, plan.rates);
    if (!many || config.trees == 1) continue;
    plan.least_rounds = rounds_of(stage.starts.size(), thinning_of(config), plan.least_rounds) +
                        static_cast<std::uint64_t>(recipe.signal_more_rounds);
  }
}

// --updates and --epochs: all rounds become shorter alike, so that a start that goes all the way keeps to them.
void limit_updates(const Config& config, std::size_t sequences, Portfolio& stage) {
  for (StartPlan& plan : stage.starts) {
    const std::optional<std::uint64_t> most = most_updates(config, sequences, plan.batch);
    if (!most) continue;
    const std::uint64_t planned =
        updates_after(rounds_of(stage.starts.size(), thinning_of(config), plan.least_rounds), plan.first_round) +
        polish_updates(plan);
    plan.budget_share = std::min(1.0, static_cast<double>(*most) / static_cast<double>(planned));
  }
}

// Whether only models whose cells have laws can be what the user asked for: they are small, and keep to trends.
bool wants_laws(const Config& config) {
  if (!leaves_form_open(config) || config.trees > 1 || !config.simplify) return false;
  return (config.numbers && *config.numbers <= config.recipe.laws_only_numbers) || config.increasing ||
         config.decreasing;
}

}  // namespace

bool leaves_form_open(const Config& config) {
  return config.form == FormChoice::kAuto && !config.depth && !config.memory && !config.write_rule &&
         !config.write_reads && !config.write_bias && !config.leaf_output && !config.output_order;
}

std::vector<Portfolio> draw_portfolios(const Config& config, const TrainingData& data, std::size_t folds,
                                       double signal_loss) {
  const Recipe& recipe = config.recipe;
  const Sequences& training = data.training;
  enum class Regime { kEvent, kEventAgain, kSignal };
  std::vector<Regime> regimes = {Regime::kEvent, Regime::kEventAgain, Regime::kSignal};
  if (config.form == FormChoice::kPaper || config.leaf_output == LeafOutput::kConstant)
    regimes = {Regime::kEvent, Regime::kEventAgain};
  if (wants_laws(config)) regimes = {Regime::kEvent};
  if (config.form == FormChoice::kRich || config.leaf_output == LeafOutput::kLinear) regimes = {Regime::kSignal};
  const bool noise = needs_noise(recipe, data), offsets = needs_offsets(recipe, data);
  std::vector<Portfolio> stages;
  std::uint64_t number = 0;
  for (const Regime regime : regimes) {
    Portfolio& stage = stages.emplace_back();
    // A few constants hardly ever give values exactly: in regression a second draw would be for nothing.
    if (regime == Regime::kEventAgain) stage.entry = classifies(data.objective) ? recipe.another_draw : 0.0;
    // The paper's leaf finds its way from fewer starts, and there is no second stage.
    int starts = config.form == FormChoice::kPaper ? static_cast<int>(recipe.papers_leaf_starts * starts_of(config))
                                                   : starts_of(config);
    if (regime == Regime::kSignal) starts = folds == 1 ? signal_starts(config, training) : starts_of(config);
    for (int i = 0; i < starts; ++i, ++number) {
      Random random(static_cast<std::uint64_t>(config.seed), kPlanStream + number);
      StartPlan plan = base_plan(config);
      plan.shape.n_x = training.n_x;
      plan.shape.n_y = outputs_of(data.objective, training.n_y);
      if (regime == Regime::kSignal)
        signal_plan(config, plan, random);
      else
        event_plan(recipe, plan, number, random);
      if (config.form == FormChoice::kPaper) plan.shape.form = LeafForm();
      jitter(plan.rates, recipe.rate_jitter, random);
      fix(config, plan);
      plan.batch = batch_for(config, training);
      plan.first_round = event_round(recipe, training);
      if (regime == Regime::kSignal) {
        plan.first_round = signal_round(recipe, plan.batch, training);
        plan.grown = i < recipe.signal_grown;
        const float size = exp(static_cast<float>(random.uniform(recipe.noise_low, recipe.noise_high)));
        if (noise) plan.noise = size;
        if (noise) plan.polish_rounds = recipe.polish_noise_rounds;
        if (offsets) plan.offset = static_cast<float>(recipe.offset_ratio) * size;
      }
      plan.first_round = scaled_round(config, folds, plan.first_round);
      plan.stream = number;
      stage.starts.push_back(plan);
    }
    if (regime != Regime::kSignal) doubt_events(config, data, folds, signal_loss, stage);
    if (regime == Regime::kSignal) learn_carefully(config, data, stage);
    limit_updates(config, training.count(), stage);
  }
  return stages;
}

}  // namespace remede

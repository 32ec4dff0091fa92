// What the starts of the default recipe look like. Two regimes (docs/training.md): `event`, where single steps matter
// and the memory must hold them exactly, and `signal`, where many noisy steps must be averaged.
#include <algorithm>

#include "remede/base/arithmetic.h"
#include "remede/train/polish.h"
#include "remede/train/search.h"

namespace remede {
namespace {

constexpr std::uint64_t kPlanStream = 0x706c616e00000000;  // plans are drawn apart from the starts' own numbers
constexpr double kSignalSteps = 3e6;                       // of data in the first round of a signal's starts
constexpr double kSignalLength = 4e5;                      // and of one lane
constexpr double kEventLength = 1.5e5;                     // the same for the event stages, where lanes are idle
constexpr std::uint64_t kFewestEventUpdates = 100;         // even so
constexpr double kFoldShare = 0.5;  // of a round's updates where a start is trained once for each of several folds
constexpr double kPromising = 0.3;  // of the loss of a constant answer: other starts will do better still
constexpr std::ptrdiff_t kLittle = 5000;  // targets: fewer are soon known by heart
constexpr std::size_t kSeveral = 20;      // sequences that show that they differ,
constexpr std::size_t kFew = 500;         // and too few to show how,
constexpr std::size_t kSteps = 5;         // on average in each: rows of a table have nothing in common to shift
constexpr double kLanes = 16;             // of the kernels: fewer sequences take as long
constexpr double kMoreStarts = 2;         // at most so many times the signal's starts, where a start is soon trained
constexpr int kStarts = 32;               // of a stage
constexpr int kMostSequences = 32;        // in an update
constexpr int kGrown = 4;                 // of a signal's starts are grown greedily
constexpr float kJitter = 0.7F;           // standard deviation of the logarithm of a rate

template <typename T>
T one_of(Random& random, std::initializer_list<T> choices) {
  return *(choices.begin() + random.below(choices.size()));
}

void jitter(Rates& rates, Random& random) {
  for (float& rate : rates) rate *= exp(kJitter * static_cast<float>(random.normal()));
}

void event_plan(StartPlan& plan, std::size_t number, Random& random) {
  plan.shape.depth = one_of(random, {4, 5, 6});
  plan.shape.n_m = 5;
  LeafForm& form = plan.shape.form;
  form.write_bias = true;
  form.write_rule = number % 2 == 0 ? WriteRule::kAdd : WriteRule::kBlend;
  plan.gradient = {SplitGradient::kSoftsign, 4.0F, IndexGradient::kSoftmax, Mix::kParameters};
}

void signal_plan(StartPlan& plan, Random& random) {
  plan.shape.depth = one_of(random, {0, 1, 2, 3, 4});
  plan.shape.n_m = one_of(random, {8, 12, 16, 16});
  LeafForm& form = plan.shape.form;
  form.write_bias = true;
  form.write_rule = WriteRule::kBlend;
  form.leaf_output = LeafOutput::kLinear;
  form.write_reads = random.below(4) == 0 ? WriteReads::kInputs : WriteReads::kInputsAndMemory;
  plan.gradient = {SplitGradient::kSoftsign, 4.0F, IndexGradient::kSoftmax,
                   one_of(random, {Mix::kParameters, Mix::kEffects})};
  plan.scales.write = 1.0F;
  plan.scales.rate_mean = static_cast<float>(random.uniform(-4.0, 1.0));
  plan.scales.rate_spread = 1.0F;
  plan.thresholds_from_data = true;
  plan.average = 0.02F;
  if (random.below(3) != 0) plan.shrink = exp(static_cast<float>(random.uniform(-5.8, -2.3)));  // .003 .. .1
}

Rates signal_rates() {
  Rates rates = StartPlan().rates;
  rates[static_cast<int>(Group::kIndex)] = 0.01F;
  rates[static_cast<int>(Group::kThreshold)] = 0.02F;
  return rates;
}

void fix(const Config& config, StartPlan& plan) {
  plan.shape.form = fixed_by(config, plan.shape.form);
  plan.gradient = fixed_by(config, plan.gradient);
  if (config.depth) plan.shape.depth = *config.depth;
  if (config.memory) plan.shape.n_m = *config.memory;
}

// About a thousand steps of data in an update: enough for a fair gradient, few enough for many updates. Not fewer than
// the kernels have lanes: those would be idle.
int batch_for(const Config& config, const Sequences& training) {
  if (config.batch) return *config.batch;
  const double length = static_cast<double>(training.steps()) / static_cast<double>(training.count());
  return static_cast<int>(std::clamp(1024.0 / length, kLanes, static_cast<double>(kMostSequences)));
}

// Of a stage, before more are added. Every tree of the model is a start of its own.
int starts_of(const Config& config) {
  const auto scaled = static_cast<int>(kStarts * scale_of(config.effort).starts);
  return config.starts.value_or(std::max(scaled, config.trees));
}

// Updates that show so many steps: a signal is learned from many of them. Fewer where sequences are too few to fill the
// lanes, since the time an update takes is that of its longest sequence.
std::uint64_t signal_round(int batch, const Sequences& training) {
  const double length = static_cast<double>(training.steps()) / static_cast<double>(training.count());
  const double sequences = std::min(static_cast<double>(batch), static_cast<double>(training.count()));
  const double passes = std::max(
      1000.0, 200.0 * static_cast<double>(training.count()) / sequences);  // little data is soon known by heart
  return static_cast<std::uint64_t>(
      std::clamp(std::min({kSignalSteps / (length * sequences), kSignalLength / length, passes}), 400.0, 12000.0));
}

// Whole ones, of which cut() may have made windows.
std::size_t sequences_of(const TrainingData& data) {
  return data.training.count() -
         static_cast<std::size_t>(std::count(data.continues.begin(), data.continues.end(), std::uint8_t{1}));
}

// Updates of an event stage's first round. A recording that has the lanes for itself takes as long as sixteen, and
// holds no more events than one.
std::uint64_t event_round(const Sequences& training) {
  const std::uint64_t usual = StartPlan().first_round;
  if (static_cast<double>(training.count()) >= kLanes) return usual;
  const double length = static_cast<double>(training.steps()) / static_cast<double>(training.count());
  return std::clamp(static_cast<std::uint64_t>(kEventLength / length), kFewestEventUpdates, usual);
}

// Noise on every value. Where there are more data, starts with noise did not do better on validation data; nor where
// there are only a few recordings, each with an output that follows from its inputs alone.
bool needs_noise(const TrainingData& data) {
  const Sequences& training = data.training;
  return sequences_of(data) >= kSeveral &&
         std::count_if(training.weight.begin(), training.weight.end(), [](float w) { return w > 0.0F; }) < kLittle;
}

// An offset for all steps of a sequence: recordings differ from one another by how sensors were mounted, who wore them,
// which engine it was. Few of them are soon known by heart, however long they are; of a single one nothing says by how
// much it could differ. Not where sequences are cut: a window begins with the memory of an earlier epoch, whose offset
// was another.
bool needs_offsets(const TrainingData& data) {
  const std::size_t sequences = data.training.count();
  return data.continues.empty() && sequences >= kSeveral && sequences < kFew &&
         data.training.steps() >= kSteps * sequences;
}

// A start of few updates is cheap: there can be more of them.
int signal_starts(const Config& config, const Sequences& training) {
  const int batch = batch_for(config, training);
  const double length = static_cast<double>(training.steps()) / static_cast<double>(training.count());
  const double sequences =
      std::max(kLanes, std::min(static_cast<double>(batch), static_cast<double>(training.count())));
  const double steps = static_cast<double>(signal_round(batch, training)) * length * sequences;
  return static_cast<int>(starts_of(config) * std::clamp(kSignalSteps / (2 * steps), 1.0, kMoreStarts));
}

// Cost is to grow with the data: folds must not make few sequences dearer than many.
std::uint64_t scaled_round(const Config& config, std::size_t folds, std::uint64_t updates) {
  const double scale = scale_of(config.effort).updates * (folds > 1 ? kFoldShare : 1.0);
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(static_cast<double>(updates) * scale));
}

// --updates and --epochs: all rounds become shorter alike, so that a start that goes all the way keeps to them.
void limit_updates(const Config& config, std::size_t sequences, Portfolio& stage) {
  for (StartPlan& plan : stage.starts) {
    const std::optional<std::uint64_t> most = most_updates(config, sequences, plan.batch);
    if (!most) continue;
    const std::uint64_t planned =
        updates_after(rounds_of(stage.starts.size(), finalists_of(config)), plan.first_round) + polish_updates(plan);
    plan.budget_share = std::min(1.0, static_cast<double>(*most) / static_cast<double>(planned));
  }
}

}  // namespace

std::vector<Portfolio> draw_portfolios(const Config& config, const TrainingData& data, std::size_t folds) {
  const Sequences& training = data.training;
  enum class Regime { kEvent, kEventAgain, kSignal };
  std::vector<Regime> regimes = {Regime::kEvent, Regime::kEventAgain, Regime::kSignal};
  if (config.form == FormChoice::kPaper || config.leaf_output == LeafOutput::kConstant)
    regimes = {Regime::kEvent, Regime::kEventAgain};
  if (config.form == FormChoice::kRich || config.leaf_output == LeafOutput::kLinear) regimes = {Regime::kSignal};
  const bool noise = needs_noise(data), offsets = needs_offsets(data);
  std::vector<Portfolio> stages;
  std::uint64_t number = 0;
  for (const Regime regime : regimes) {
    Portfolio& stage = stages.emplace_back();
    if (regime == Regime::kEventAgain) stage.entry = kPromising;
    // The paper's leaf finds its way from fewer starts, and there is no second stage.
    int starts = config.form == FormChoice::kPaper ? 2 * starts_of(config) : starts_of(config);
    if (regime == Regime::kSignal) starts = folds == 1 ? signal_starts(config, training) : starts_of(config);
    for (int i = 0; i < starts; ++i, ++number) {
      Random random(static_cast<std::uint64_t>(config.seed), kPlanStream + number);
      StartPlan plan;
      plan.shape.n_x = training.n_x;
      plan.shape.n_y = outputs_of(data.objective, training.n_y);
      if (regime == Regime::kSignal)
        signal_plan(plan, random);
      else
        event_plan(plan, number, random);
      if (config.form == FormChoice::kPaper) plan.shape.form = LeafForm();
      plan.rates = rates_of(config, regime == Regime::kSignal ? signal_rates() : plan.rates);
      jitter(plan.rates, random);
      fix(config, plan);
      plan.clip = static_cast<float>(config.clip);
      plan.batch = batch_for(config, training);
      plan.first_round = event_round(training);
      if (regime == Regime::kSignal) {
        plan.first_round = signal_round(plan.batch, training);
        plan.validations = 8;
        plan.grown = i < kGrown;
        const float size = exp(static_cast<float>(random.uniform(-2.3, -0.5)));  // .1 .. .6 spreads of the inputs
        if (noise) plan.noise = size;
        if (offsets) plan.offset = 2 * size;
      }
      plan.first_round = scaled_round(config, folds, plan.first_round);
      plan.seed = static_cast<std::uint64_t>(config.seed);
      plan.stream = number;
      stage.starts.push_back(plan);
    }
    limit_updates(config, training.count(), stage);
  }
  return stages;
}

}  // namespace remede

#include "remede/train/prepare.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "remede/base/error.h"
#include "remede/base/random.h"
#include "remede/data/parts.h"
#include "remede/data/split.h"
#include "remede/train/objective_of.h"

namespace remede {
namespace {

constexpr std::uint64_t kThinning = 0x7468696e;  // seed of which part

std::size_t targets_of(const Sequences& data) {
  return static_cast<std::size_t>(
      std::count_if(data.weight.begin(), data.weight.end(), [](float w) { return w > 0.0F; }));
}

void expect_targets(const Sequences& data, const char* which) {
  if (targets_of(data) == 0) fail("expected {} data with at least one target, got none", which);
}

void expect_same_schema(const Schema& training, const Schema& validation) {
  if (training.inputs != validation.inputs)
    fail("expected validation data with the inputs of the training data ({}), got {}", training.n_x(),
         validation.n_x());
  if (training.task != validation.task || training.classes != validation.classes ||
      training.targets != validation.targets)
    fail("expected validation data with the targets of the training data, got other ones");
}

// The last targets of the only sequence lose their weight; in `validation`, where there is one, the others do.
void hold_out_end(double fraction, Column<float>& training, Column<float>* validation) {
  const auto targets =
      static_cast<std::size_t>(std::count_if(training.begin(), training.end(), [](float w) { return w > 0.0F; }));
  const auto held = static_cast<std::size_t>(std::lround(fraction * static_cast<double>(targets)));
  const std::size_t learned = targets - std::clamp<std::size_t>(held, 1, targets - 1);
  std::size_t seen = 0;
  for (std::size_t t = 0; t < training.size(); ++t) {
    if (training[t] == 0.0F) continue;
    if (seen >= learned) {
      training[t] = 0.0F;
    } else if (validation != nullptr) {
      (*validation)[t] = 0.0F;
    }
    ++seen;
  }
}

// (n_y) Sums of the weights of each class.
std::vector<double> class_weights_of(const Sequences& data) {
  std::vector<double> of_class(static_cast<std::size_t>(data.n_y), 0.0);
  for (std::size_t t = 0; t < data.steps(); ++t)
    if (data.weight[t] > 0.0F) of_class[static_cast<std::size_t>(data.label[t])] += static_cast<double>(data.weight[t]);
  return of_class;
}

// Every class counts the same in all; the mean weight stays what it was.
void balance(const Sequences& counted, std::span<Sequences* const> weighted) {
  const std::vector<double> of_class = class_weights_of(counted);
  const double total = std::accumulate(of_class.begin(), of_class.end(), 0.0);
  const auto present =
      static_cast<double>(std::count_if(of_class.begin(), of_class.end(), [](double n) { return n > 0; }));
  for (Sequences* data : weighted)
    for (std::size_t t = 0; t < data->steps(); ++t) {
      if (data->weight[t] == 0.0F) continue;
      const double here = of_class[static_cast<std::size_t>(data->label[t])];
      if (here > 0) data->weight[t] *= static_cast<float>(total / (present * here));
    }
}

// Where classes have few sequences, those that are held out are of the classes that then seem rare: a model that has
// learned nothing but shares is wrong more often than by chance, and the more so the better it has learned them. Every
// class therefore counts in the training part what it counts in all, if one had kept too little of that. Only where a
// sequence has one label: else classes are not held out alike anyway. The mean weight stays what it was.
void keep_class_shares(const Sequences& all, const Recipe& recipe, Sequences& training) {
  if (!sequence_labels(all)) return;
  const std::vector<double> in_all = class_weights_of(all), here = class_weights_of(training);
  double sum_all = 0, sum_here = 0;  // of the classes that are in the training part
  for (std::size_t c = 0; c < here.size(); ++c)
    if (here[c] > 0) sum_all += in_all[c], sum_here += here[c];
  std::vector<double> factor(here.size(), 1.0);
  double most = 1;
  for (std::size_t c = 0; c < here.size(); ++c) {
    if (here[c] > 0) factor[c] = in_all[c] / sum_all * sum_here / here[c];
    most = std::max(most, factor[c]);
  }
  if (most * recipe.class_share_kept <= 1) return;
  for (std::size_t t = 0; t < training.steps(); ++t)
    if (training.weight[t] > 0.0F)
      training.weight[t] *= static_cast<float>(factor[static_cast<std::size_t>(training.label[t])]);
}

// Sequences too long to learn from at once become windows, each with the memory of the one before it.
void cut_long_ones(const Recipe& recipe, TrainingData& data) {
  const Sequences& whole = data.training;
  std::size_t longest = 0;
  for (std::size_t s = 0; s < whole.count(); ++s) longest = std::max(longest, whole.length(s));
  if (longest <= static_cast<std::size_t>(recipe.long_sequence)) return;
  std::vector<std::uint8_t> first(whole.steps() + 1);
  for (std::size_t s = 0; s < whole.count(); ++s) first[static_cast<std::size_t>(whole.offset[s])] = 1;
  data.training = cut(whole, static_cast<std::size_t>(recipe.window));
  for (std::size_t s = 0; s < data.training.count(); ++s)
    data.continues.push_back(first[static_cast<std::size_t>(data.training.offset[s])] == 0 ? 1 : 0);
}

bool scales_inputs(const Config& config, const Sequences& training) {
  return config.standardise.value_or(!inputs_of_order_one(training));
}

// With fewer the choice would depend on a handful of sequences, or on a few of the classes of whole sequences.
std::size_t fewest_held_out(const Dataset& training, const Recipe& recipe) {
  const auto fewest = static_cast<std::size_t>(recipe.few_held_out);
  const auto classes = training.schema.classes.size();
  return classes > fewest && sequence_labels(training.sequences) ? classes : fewest;
}

// How many times a part is held out: once, or, where that part would be small, until every sequence was (of very many
// parts only the first).
struct Folding {
  std::size_t parts = 1;
  std::size_t folds = 1;  // of these
};
Folding folding_of(const Dataset& training, const Config& config) {
  const double fraction = validation_fraction(config);
  const auto parts = static_cast<std::size_t>(std::lround(1.0 / std::max(fraction, 1e-9)));
  const std::size_t folds = std::min(parts, static_cast<std::size_t>(config.recipe.most_folds));
  const std::size_t count = training.sequences.count();
  const bool few = count < fewest_held_out(training, config.recipe) * folds &&
                   count >= static_cast<std::size_t>(config.recipe.least_in_fold) * parts;
  if (folds < 2 || fraction == 0 || fraction > 0.5 || !few || !training.group.empty()) return {};
  return {parts, folds};
}

// Weights and scales, from the two parts as they stand in the file. Scales are those of `scaled_by`, the training part
// where it is null.
void finish(const Schema& schema, const Config& config, const Shifts& shifts, const Sequences* scaled_by,
            const Scaling* scaling, Prepared& p) {
  expect_targets(p.training, "training");
  expect_targets(p.validation, "validation");
  p.data.training = std::move(p.training);
  p.training = thinned(p.data.training, config.recipe);
  p.validation = thinned(p.validation, config.recipe);
  p.data.validation = p.validation;
  Sequences* both[] = {&p.data.training, &p.data.validation};
  const bool classes = schema.task == Task::kClassification;
  p.objective = objective_of(config, schema);
  check_targets(p.objective, p.data.training);
  check_targets(p.objective, p.data.validation);
  if (classes && config.class_weights == ClassWeights::kBalanced) balance(Sequences(p.data.training), both);
  const Sequences& measured = scaled_by != nullptr ? *scaled_by : p.data.training;
  if (scaling != nullptr) {
    p.scaling = *scaling;
  } else {
    if (config.recipe.quantile_transform && config.standardise.value_or(true))
      p.scaling.x_scores = normal_scores(measured);
    else if (scales_inputs(config, measured))
      scale_inputs(measured, shifts.inputs, p.scaling);
    if (config.standardise.value_or(true)) scale_values(p.objective, measured, shifts.values, p.scaling);
  }
  p.data.objective = p.objective;
  if (uses_scale(p.objective)) p.objective.scale = p.scaling.y_scale;
  for (Sequences* data : both) apply(p.scaling, *data);
  p.data.fill.assign(static_cast<std::size_t>(schema.n_x()), 0.0F);
  p.fill = raw_inputs_of_zero(p.scaling, p.data.fill.size());
  p.data.quantiles = input_quantiles(p.data.training);
  if (config.output_order.value_or(OutputOrder::kZero) == OutputOrder::kZero) cut_long_ones(config.recipe, p.data);
}

}  // namespace

Sequences thinned(const Sequences& all, const Recipe& recipe) {
  const auto judged = static_cast<std::size_t>(recipe.judged_steps);
  if (all.steps() <= judged) return all;
  std::vector<std::uint32_t> order, kept;
  for (std::uint32_t s = 0; s < all.count(); ++s)
    if (std::any_of(all.weight.begin() + all.offset[s], all.weight.begin() + all.offset[s + 1],
                    [](float w) { return w > 0.0F; }))
      order.push_back(s);
  Random(kThinning).shuffle(std::span<std::uint32_t>(order));  // not every so many: files often have a period
  std::size_t steps = 0;
  for (std::size_t i = 0; i < order.size() && (i == 0 || steps + all.length(order[i]) <= judged); ++i) {
    kept.push_back(order[i]);
    steps += all.length(order[i]);
  }
  std::sort(kept.begin(), kept.end());
  return select(all, kept);
}

Sequences with_class_weights(const Sequences& data, const Config& config) {
  Sequences weighted = data;
  Sequences* only[] = {&weighted};
  if (!data.label.empty() && config.class_weights == ClassWeights::kBalanced) balance(data, only);
  return weighted;
}

Prepared prepare(const Dataset& training, const Dataset* validation, const Config& config, const Shifts& shifts,
                 const Scaling* scaling) {
  const Sequences& all = training.sequences;
  expect_targets(all, "training");
  Prepared p;
  if (validation != nullptr) {
    expect_same_schema(training.schema, validation->schema);
    expect_targets(validation->sequences, "validation");
    p.training = all;
    p.validation = validation->sequences;
  } else if (validation_fraction(config) > 0 && all.count() > 1) {
    const Split parts = split(all, validation_fraction(config), static_cast<std::uint64_t>(config.seed));
    p.training = select(all, parts.training);
    p.validation = select(all, parts.validation);
    keep_class_shares(all, config.recipe, p.training);
  } else if (validation_fraction(config) > 0 && targets_of(all) > 1) {
    p.training = p.validation = all;  // both keep all steps, so that the memory is what it would be
    hold_out_end(validation_fraction(config), p.training.weight, &p.validation.weight);
  } else {
    p.training = p.validation = all;
    p.held_out = false;
  }
  finish(training.schema, config, shifts, nullptr, scaling, p);
  return p;
}

std::vector<Prepared> prepare_folds(const Dataset& training, const Dataset* validation, const Config& config,
                                    const Shifts& shifts, const Scaling* scaling) {
  const Sequences& all = training.sequences;
  const Folding folding = validation != nullptr ? Folding() : folding_of(training, config);
  const std::vector<InputCode>& codes = training.schema.codes;
  // The folds' trees may end in one model: they cannot each have learned their own order of words.
  if (folding.folds == 1 || std::any_of(codes.begin(), codes.end(), is_ordered_by_target))
    return {prepare(training, validation, config, shifts, scaling)};
  std::vector<std::vector<std::uint32_t>> dealt =
      deal_folds(training, folding.parts, static_cast<std::uint64_t>(config.seed));
  dealt.resize(folding.folds);
  std::vector<Prepared> prepared;
  std::vector<std::uint8_t> held(all.count());
  for (const std::vector<std::uint32_t>& fold : dealt) {
    std::fill(held.begin(), held.end(), std::uint8_t{0});
    for (const std::uint32_t s : fold) held[s] = 1;
    std::vector<std::uint32_t> learned;
    for (std::uint32_t s = 0; s < held.size(); ++s)
      if (held[s] == 0) learned.push_back(s);
    Prepared& p = prepared.emplace_back();
    p.training = select(all, learned);
    p.validation = select(all, fold);
    keep_class_shares(all, config.recipe, p.training);
    if (targets_of(p.training) == 0 || targets_of(p.validation) == 0)
      return {prepare(training, validation, config, shifts, scaling)};
    finish(training.schema, config, shifts, &all, scaling,
           p);  // one scale for all folds: their trees may end in one model
  }
  return prepared;
}

Dataset encode_for_fit(RawDataset raw, bool validation, const Config& config) {
  Sequences& all = raw.data.sequences;
  const auto many_words = [](const RawInput& input) { return input.words && input.known.size() > kMostIndicators; };
  const bool target_matters = std::any_of(raw.inputs.begin(), raw.inputs.end(), many_words);
  const bool folds = !target_matters && folding_of(raw.data, config).folds > 1;  // then every sequence is learned from
  Code code;
  if (validation || folds || validation_fraction(config) == 0 || targets_of(all) < 2) {
    code = learn_code(raw);
  } else if (all.count() > 1) {
    code = learn_code(raw, split(all, validation_fraction(config), static_cast<std::uint64_t>(config.seed)).training);
  } else {
    Column<float> weight = all.weight;
    hold_out_end(validation_fraction(config), all.weight, nullptr);
    code = learn_code(raw);
    all.weight = std::move(weight);
  }
  return encode(std::move(raw), code);
}

TrainingData everything(const Dataset& training, const Prepared& prepared, const Config& config) {
  TrainingData all;
  all.objective = prepared.data.objective;
  all.training = with_class_weights(training.sequences, config);
  all.fill = prepared.data.fill;
  all.quantiles = prepared.data.quantiles;
  apply(prepared.scaling, all.training);
  if (config.output_order.value_or(OutputOrder::kZero) == OutputOrder::kZero) cut_long_ones(config.recipe, all);
  return all;
}

std::optional<std::uint64_t> most_updates(const Config& config, std::size_t sequences, int batch) {
  if (config.updates) return static_cast<std::uint64_t>(*config.updates);
  if (config.epochs) return static_cast<std::uint64_t>(*config.epochs) * updates_per_epoch(sequences, batch);
  return std::nullopt;
}

EffortScale scale_of(const Config& config) {
  const Recipe& r = config.recipe;
  if (config.effort == Effort::kQuick) return {r.quick_starts, r.quick_updates, r.quick_trials};
  if (config.effort == Effort::kThorough) return {r.thorough_starts, r.thorough_updates, r.thorough_trials};
  return {};
}

double validation_fraction(const Config& config) {
  return config.validation_fraction.value_or(config.recipe.validation_fraction);
}

Budget budget_of(const Config& config, std::size_t sequences) {
  const Recipe& r = config.recipe;
  const int batch = config.batch.value_or(r.batch_most);
  const std::uint64_t epoch = updates_per_epoch(sequences, batch);
  const auto scaled = static_cast<std::uint64_t>(static_cast<double>(r.single_updates) * scale_of(config).updates);
  Budget budget;
  budget.updates = most_updates(config, sequences, batch).value_or(scaled);
  const auto updates = static_cast<double>(budget.updates);
  budget.decay = static_cast<std::uint64_t>(config.decay.value_or(r.single_decay) * updates);
  budget.patience = config.patience ? static_cast<std::uint64_t>(*config.patience)
                                    : static_cast<std::uint64_t>(r.single_patience * updates) + 1;
  budget.validate_every = config.validate_every
                              ? static_cast<std::uint64_t>(*config.validate_every)
                              : std::max<std::uint64_t>(static_cast<std::uint64_t>(r.single_validation), epoch);
  return budget;
}

Rates rates_of(const Config& c) {
  const Recipe& r = c.recipe;
  const double by_group[kGroups] = {c.rate_index.value_or(r.rate_index),   c.rate_threshold.value_or(r.rate_threshold),
                                    c.rate_output.value_or(r.rate_output), c.rate_gate.value_or(r.rate_gate),
                                    c.rate_write.value_or(r.rate_write),   c.rate_bias.value_or(r.rate_bias),
                                    c.rate_rate.value_or(r.rate_rate),     c.rate_linear.value_or(r.rate_linear)};
  Rates rates{};
  std::transform(std::begin(by_group), std::end(by_group), rates.begin(),
                 [](double rate) { return static_cast<float>(rate); });
  return rates;
}

StartPlan base_plan(const Config& config) {
  const Recipe& r = config.recipe;
  const auto f = [](double value) { return static_cast<float>(value); };
  StartPlan plan;
  plan.rates = rates_of(config);
  plan.scales = {f(r.first_index),        f(r.first_threshold),    f(r.first_output), f(r.first_gate),
                 f(r.first_write),        f(r.first_write_memory), f(r.first_bias),   f(r.first_blend),
                 f(r.first_blend_spread), f(r.first_linear)};
  plan.growth = {{f(r.grow_speed_1), f(r.grow_speed_2), f(r.grow_speed_3), f(r.grow_speed_4)},
                 f(r.grow_slope),
                 static_cast<std::size_t>(r.grow_rows),
                 static_cast<std::size_t>(r.grow_numbers),
                 static_cast<std::size_t>(r.grow_leaf_rows),
                 f(r.grow_logit)};
  plan.clip = f(config.clip);
  plan.seed = static_cast<std::uint64_t>(config.seed);
  plan.polish_rounds = r.polish_rounds;
  return plan;
}

}  // namespace remede

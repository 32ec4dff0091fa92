#include "remede/objective/objective.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "remede/base/arithmetic.h"
#include "remede/base/error.h"
#include "remede/objective/plain.h"
#include "remede/objective/rules.h"
#include "remede/objective/truth.h"

namespace remede {
namespace {

constexpr std::string_view kWords[] = {
#define REMEDE_OBJECTIVE(Name, word) word,
#include "remede/objective/objectives.def"
#undef REMEDE_OBJECTIVE
};

const Rules& rules(const Objective& objective) {
  switch (objective.loss) {
#define REMEDE_OBJECTIVE(Name, word) \
  case Loss::k##Name:                \
    return rules_of_##Name();
#include "remede/objective/objectives.def"
#undef REMEDE_OBJECTIVE
  }
  return rules_of_SquaredError();
}

// Of a step whose answer is not a number.
constexpr double kWorstLoss = 1e30;

std::size_t anchor(const Objective& objective) { return scalar::quantile_anchor(objective); }

}  // namespace

std::optional<Loss> loss_of_word(std::string_view word) {
  const auto found = std::find(std::begin(kWords), std::end(kWords), word);
  if (found == std::end(kWords)) return std::nullopt;
  return static_cast<Loss>(found - std::begin(kWords));
}

const Objective& default_objective(Task task) {
  static const Objective of_classes{Loss::kCrossEntropy};
  static const Objective of_values{Loss::kSquaredError};
  return task == Task::kClassification ? of_classes : of_values;
}

Task task_of(const Objective& objective) { return rules(objective).task; }
std::string_view word_of(const Objective& objective) { return kWords[static_cast<std::size_t>(objective.loss)]; }
std::string_view loss_name(const Objective& objective) { return rules(objective).loss_name; }
bool shift_invariant(const Objective& objective) { return rules(objective).shift_invariant; }

void apply_link(const Objective& objective, std::span<float> y) {
  if (y.empty()) return;
  scalar::with_formula(objective, [&](auto formula) {
    decltype(formula)::template link<float>(objective, y.data(), static_cast<int>(y.size()));
  });
}

void add_loss(const Objective& objective, std::span<const float> y, const Truth& truth, double weight, double& sum) {
  rules(objective).add_loss(objective, y, truth, weight, sum);
}

bool is_correct(const Objective& objective, std::span<const float> y, const Truth& truth) {
  return classifies(objective) && std::max_element(y.begin(), y.end()) - y.begin() == truth.label;
}

double squared_error(const Objective& objective, std::span<const float> y, const Truth& truth) {
  const std::span<const float> value = truth.value;
  double sum = 0;
  for (std::size_t k = 0; k < value.size(); ++k) {
    const double error =
        static_cast<double>(y[static_cast<std::size_t>(point_output(objective, static_cast<int>(k)))]) -
        static_cast<double>(value[k]);
    sum += error * error;
  }
  return value.empty() ? 0.0 : sum / static_cast<double>(value.size());
}

Mark mark(const Objective& objective, std::span<const float> y, const Truth& truth) {
  const Rules& r = rules(objective);
  if (r.mark != nullptr) return r.mark(objective, y, truth);
  double loss = 0;
  r.add_loss(objective, y, truth, 1.0, loss);
  return {static_cast<float>(loss < kWorstLoss ? loss : kWorstLoss), false};
}

void LossSum::add(double weight, float worth, float before) {
  if (!probabilities_) {
    sum_ += weight * (static_cast<double>(worth) - static_cast<double>(before));
  } else if (weight != 1.0) {
    sum_ += weight * log(static_cast<double>(before) / static_cast<double>(worth));
  } else {
    product_ *= static_cast<double>(before) / static_cast<double>(worth);
    if (!(product_ > 1e-200 && product_ < 1e200)) fold();
  }
}

double LossSum::take() {
  fold();
  return std::exchange(sum_, 0.0);
}

void LossSum::fold() {
  if (product_ != 1.0) sum_ += log(product_);
  product_ = 1.0;
}

TargetSums::TargetSums(const Objective& objective, int n)
    : sum(static_cast<std::size_t>(n)), values(rules(objective).needs_values ? static_cast<std::size_t>(n) : 0) {}

void add_target(const Objective& objective, const Truth& truth, double weight, TargetSums& to) {
  to.weight += weight;
  if (classifies(objective))
    to.sum[static_cast<std::size_t>(truth.label)] += weight;
  else
    for (std::size_t k = 0; k < to.sum.size(); ++k) to.sum[k] += weight * static_cast<double>(truth.value[k]);
  for (std::size_t k = 0; k < to.values.size(); ++k) to.values[k].emplace_back(truth.value[k], weight);
}

void best_constant(const Objective& objective, const TargetSums& targets, const Smoothing& smoothing,
                   std::span<float> y) {
  rules(objective).best_constant(objective, targets, smoothing, y);
}

double constant_loss(const Objective& objective, const Sequences& data) {
  const Rules& r = rules(objective);
  if (r.constant_loss != nullptr) return r.constant_loss(objective, data);
  TargetSums targets(objective, data.n_y);
  const auto each_target = [&](const auto& visit) {
    for (std::size_t t = 0; t < data.steps(); ++t)
      if (data.weight[t] > 0.0F) visit(truth_at(data, t), static_cast<double>(data.weight[t]));
  };
  each_target([&](const Truth& truth, double w) { add_target(objective, truth, w, targets); });
  std::vector<float> y(static_cast<std::size_t>(outputs_of(objective, data.n_y)));
  best_constant(objective, targets, {}, y);
  apply_link(objective, y);
  double sum = 0;
  each_target([&](const Truth& truth, double w) { add_loss(objective, y, truth, w, sum); });
  return sum / targets.weight;
}

void check(const Objective& objective, Task task, int targets, const std::string& where) {
  if (task_of(objective) != task)
    fail("{}: expected an objective of {}, got {}", where,
         task == Task::kClassification ? "classes (cross-entropy)" : "numbers, not of classes", word_of(objective));
  const auto positive = [](float v) { return v > 0.0F && std::isfinite(v); };
  if (!objective.scale.empty() && (objective.scale.size() != static_cast<std::size_t>(targets) ||
                                   !std::all_of(objective.scale.begin(), objective.scale.end(), positive)))
    fail("{}: expected a positive scale for each of {} targets", where, targets);
  const std::vector<float>& q = objective.quantiles;
  if (objective.loss != Loss::kQuantile) {
    if (!q.empty()) fail("{}: expected quantiles with the objective quantile only, got {}", where, word_of(objective));
    return;
  }
  if (q.empty() || q.size() > kMostQuantiles)
    fail("{}: expected 1 to {} quantiles, got {}", where, kMostQuantiles, q.size());
  for (std::size_t k = 0; k < q.size(); ++k) {
    if (!(q[k] > 0.0F && q[k] < 1.0F)) fail("{}: expected quantiles between 0 and 1, got {}", where, q[k]);
    if (k > 0 && !(q[k] > q[k - 1]))
      fail("{}: expected quantiles in ascending order, got {} after {}", where, q[k], q[k - 1]);
  }
  if (targets != 1) fail("{}: expected one target with the objective quantile, got {}", where, targets);
}

double check_signs(const Objective& objective, const Sequences& data) {
  double most = 0;
  for (std::size_t t = 0; t < data.steps() && target_scale(objective) == TargetScale::kByMean; ++t) {
    if (data.weight[t] == 0.0F) continue;
    for (const float v : truth_at(data, t).value) {
      if (v < 0.0F) fail("expected targets of at least 0 with the objective {}, got {}", word_of(objective), v);
      most = std::max(most, static_cast<double>(v));
    }
  }
  return most;
}

void check_targets(const Objective& objective, const Sequences& data) {
  if (target_scale(objective) == TargetScale::kByMean && check_signs(objective, data) == 0)
    fail("expected some target above 0 with the objective {}, got none", word_of(objective));
}

int outputs_of(const Objective& objective, int targets) {
  return objective.loss == Loss::kQuantile ? static_cast<int>(objective.quantiles.size()) : targets;
}

int target_of(const Objective& objective, int output) { return objective.loss == Loss::kQuantile ? 0 : output; }

int point_output(const Objective& objective, int target) {
  return objective.loss == Loss::kQuantile ? static_cast<int>(anchor(objective)) : target;
}

std::vector<std::string> output_names(const Objective& objective, const std::vector<std::string>& targets) {
  if (objective.loss != Loss::kQuantile) return targets;
  std::vector<std::string> names;
  for (const float q : objective.quantiles) names.push_back(fmt::format("{} q{}", targets.front(), q));
  return names;
}

std::string link_text(const Objective& objective, const std::vector<std::string>& names, int output,
                      const std::string& raw) {
  if (!is_logarithm(objective, output)) return raw;
  if (objective.loss != Loss::kQuantile) return fmt::format("exp({})", raw);
  const bool above = static_cast<std::size_t>(output) > anchor(objective);
  const std::string& inner = names[static_cast<std::size_t>(above ? output - 1 : output + 1)];
  return fmt::format("{} {} exp({})", inner, above ? '+' : '-', raw);
}

bool has_identity_link(const Objective& objective) {
  return !classifies(objective) && target_scale(objective) == TargetScale::kStandardised &&
         objective.loss != Loss::kQuantile;
}

TargetScale target_scale(const Objective& objective) { return rules(objective).scale; }
bool uses_scale(const Objective& objective) { return rules(objective).uses_scale; }

bool is_logarithm(const Objective& objective, int output) {
  if (objective.loss == Loss::kQuantile) return output != point_output(objective, 0);
  return target_scale(objective) == TargetScale::kByMean;
}

std::vector<Figure> objective_figures(const Objective& objective, std::span<const float> outputs,
                                      const Sequences& data) {
  const Rules& r = rules(objective);
  if (r.loss_key.empty()) return {};
  const std::size_t n_y = static_cast<std::size_t>(outputs_of(objective, data.n_y));
  double loss = 0, weight = 0, covered = 0, width = 0;
  for (std::size_t t = 0; t < data.steps(); ++t) {
    const auto w = static_cast<double>(data.weight[t]);
    if (w <= 0) continue;
    const std::span<const float> y = outputs.subspan(t * n_y, n_y);
    const Truth truth = truth_at(data, t);
    weight += w;
    add_loss(objective, y, truth, w, loss);
    if (truth.value[0] >= y.front() && truth.value[0] <= y.back()) covered += w;
    width += w * (static_cast<double>(y.back()) - static_cast<double>(y.front()));
  }
  std::vector<Figure> figures = {{std::string(r.loss_key), std::string(r.loss_name), loss / weight}};
  if (objective.loss == Loss::kQuantile && n_y > 1) {
    const std::vector<float>& q = objective.quantiles;
    figures.push_back({"coverage", fmt::format("coverage of q{} to q{}", q.front(), q.back()), covered / weight});
    figures.push_back({"interval_width", "mean interval width", width / weight});
  }
  return figures;
}

float weighted_quantile(std::vector<std::pair<float, double>>& values, double share) {
  std::sort(values.begin(), values.end());
  double all = 0;
  for (const auto& [value, weight] : values) all += weight;
  double below = 0;
  for (const auto& [value, weight] : values) {
    below += weight;
    if (below >= share * all) return value;
  }
  return values.back().first;
}

}  // namespace remede

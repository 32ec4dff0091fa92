// Classes: softmax of the raw outputs, and the negative logarithm of the true class's probability.
#include "remede/base/arithmetic.h"
#include "remede/objective/rules.h"
#include "remede/objective/truth.h"

namespace remede {
namespace {

void add_log_loss(const Objective&, std::span<const float> y, const Truth& truth, double weight, double& sum) {
  const auto p = static_cast<double>(y[static_cast<std::size_t>(truth.label)]);
  sum -= weight * log(p > kLeastProbability ? p : kLeastProbability);  // NaN counts as the least
}

Mark probability_mark(const Objective& objective, std::span<const float> y, const Truth& truth) {
  constexpr auto kLeast = static_cast<float>(kLeastProbability);
  const float p = y[static_cast<std::size_t>(truth.label)];
  return {p > kLeast ? p : kLeast, p > 0 && is_correct(objective, y, truth)};
}

void log_shares(const Objective&, const TargetSums& targets, const Smoothing& s, std::span<float> y) {
  const double all = targets.weight * (1 + s.part * static_cast<double>(y.size())) + s.total;
  for (std::size_t k = 0; k < y.size(); ++k)
    y[k] = static_cast<float>(log((targets.sum[k] + s.part * targets.weight + s.count) / all));
}

double entropy(const Objective& objective, const Sequences& data) {
  TargetSums targets(objective, data.n_y);
  for (std::size_t t = 0; t < data.steps(); ++t)
    if (data.weight[t] > 0.0F) add_target(objective, truth_at(data, t), static_cast<double>(data.weight[t]), targets);
  double sum = 0;
  for (const double w : targets.sum)
    if (w > 0) sum -= w / targets.weight * log(w / targets.weight);
  return sum;
}

}  // namespace

const Rules& rules_of_CrossEntropy() {
  static constexpr Rules rules = {.task = Task::kClassification,
                                  .loss_name = "log loss",
                                  .scale = TargetScale::kNone,
                                  .shift_invariant = true,
                                  .add_loss = add_log_loss,
                                  .best_constant = log_shares,
                                  .mark = probability_mark,
                                  .constant_loss = entropy};
  return rules;
}

}  // namespace remede

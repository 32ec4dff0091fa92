// Values: the mean over the outputs of squared errors.
#include "remede/objective/rules.h"
#include "remede/objective/truth.h"

namespace remede {
namespace {

constexpr float kWorstError = 1e30F;  // of a step whose answer is not a number

void add_squared_error(const Objective&, std::span<const float> y, const Truth& truth, double weight, double& sum) {
  for (std::size_t k = 0; k < y.size(); ++k) {
    const double error = static_cast<double>(y[k]) - static_cast<double>(truth.value[k]);
    sum += weight * error * error / static_cast<double>(y.size());
  }
}

Mark squared_error_mark(const Objective&, std::span<const float> y, const Truth& truth) {
  float sum = 0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    const float error = y[k] - truth.value[k];
    sum += error * error;
  }
  return {sum < kWorstError ? sum / static_cast<float>(y.size()) : kWorstError, false};
}

void target_means(const Objective&, const TargetSums& targets, const Smoothing&, std::span<float> y) {
  for (std::size_t k = 0; k < y.size(); ++k)
    y[k] = targets.weight > 0 ? static_cast<float>(targets.sum[k] / targets.weight) : 0.0F;
}

double variance(const Objective& objective, const Sequences& data) {
  TargetSums targets(objective, data.n_y);
  for (std::size_t t = 0; t < data.steps(); ++t)
    if (data.weight[t] > 0.0F) add_target(objective, truth_at(data, t), static_cast<double>(data.weight[t]), targets);
  double squares = 0;
  for (std::size_t t = 0; t < data.steps(); ++t)
    for (int k = 0; k < data.n_y; ++k) {
      if (data.weight[t] == 0.0F) continue;
      const double d =
          static_cast<double>(truth_at(data, t).value[k]) - targets.sum[static_cast<std::size_t>(k)] / targets.weight;
      squares += static_cast<double>(data.weight[t]) * d * d / data.n_y;
    }
  return squares / targets.weight;
}

}  // namespace

const Rules& rules_of_SquaredError() {
  static constexpr Rules rules = {.loss_name = "mean squared error",
                                  .add_loss = add_squared_error,
                                  .best_constant = target_means,
                                  .mark = squared_error_mark,
                                  .constant_loss = variance};
  return rules;
}

}  // namespace remede

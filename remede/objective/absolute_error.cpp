// Values: the mean over the outputs of absolute errors. Its best constant is the median, which outliers do not move.
#include <cmath>

#include "remede/objective/rules.h"

namespace remede {
namespace {

void add_absolute_error(const Objective&, std::span<const float> y, const Truth& truth, double weight, double& sum) {
  for (std::size_t k = 0; k < y.size(); ++k)
    sum += weight * std::abs(static_cast<double>(y[k]) - static_cast<double>(truth.value[k])) /
           static_cast<double>(y.size());
}

void medians(const Objective&, const TargetSums& targets, const Smoothing&, std::span<float> y) {
  for (std::size_t k = 0; k < y.size(); ++k) {
    auto values = targets.values[k];
    y[k] = values.empty() ? 0.0F : weighted_quantile(values, 0.5);
  }
}

}  // namespace

const Rules& rules_of_AbsoluteError() {
  static constexpr Rules rules = {.loss_name = "mean absolute error",
                                  .needs_values = true,
                                  .add_loss = add_absolute_error,
                                  .best_constant = medians};
  return rules;
}

}  // namespace remede

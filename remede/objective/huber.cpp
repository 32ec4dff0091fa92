// Values with outliers: squared errors up to the size of the targets (their standard deviation), absolute ones beyond.
#include <algorithm>
#include <cmath>

#include "remede/objective/rules.h"

namespace remede {
namespace {

double knee(const Objective& objective, std::size_t k) {
  return objective.scale.empty() ? 1.0 : static_cast<double>(objective.scale[k]);
}

void add_huber_loss(const Objective& objective, std::span<const float> y, const Truth& truth, double weight,
                    double& sum) {
  for (std::size_t k = 0; k < y.size(); ++k) {
    const double error = std::abs(static_cast<double>(y[k]) - static_cast<double>(truth.value[k]));
    const double inside = std::min(error, knee(objective, k));
    sum += weight * inside * (error - 0.5 * inside) / static_cast<double>(y.size());
  }
}

// From the median, downhill: each step is the mean of the errors, those of outliers cut off.
void huber_centres(const Objective& objective, const TargetSums& targets, const Smoothing&, std::span<float> y) {
  constexpr int kSteps = 100;
  for (std::size_t k = 0; k < y.size(); ++k) {
    auto values = targets.values[k];
    if (values.empty()) {
      y[k] = 0.0F;
      continue;
    }
    double centre = static_cast<double>(weighted_quantile(values, 0.5));
    for (int step = 0; step < kSteps; ++step) {
      double moved = 0;
      for (const auto& [value, weight] : values)
        moved += weight * std::clamp(static_cast<double>(value) - centre, -knee(objective, k), knee(objective, k));
      centre += moved / targets.weight;
    }
    y[k] = static_cast<float>(centre);
  }
}

}  // namespace

const Rules& rules_of_Huber() {
  static constexpr Rules rules = {.loss_name = "Huber loss",
                                  .loss_key = "huber_loss",
                                  .uses_scale = true,
                                  .needs_values = true,
                                  .add_loss = add_huber_loss,
                                  .best_constant = huber_centres};
  return rules;
}

}  // namespace remede

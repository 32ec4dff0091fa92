// Counts and flows, which are not negative: the mean over the outputs of Poisson deviances, with a logarithmic link.
#include <algorithm>

#include "remede/base/arithmetic.h"
#include "remede/objective/rules.h"

namespace remede {
namespace {

constexpr double kLeastMean = 1e-30;  // of an answer: keeps its logarithm finite

void add_deviance(const Objective&, std::span<const float> y, const Truth& truth, double weight, double& sum) {
  for (std::size_t k = 0; k < y.size(); ++k) {
    const double mean = std::max(static_cast<double>(y[k]), kLeastMean);
    const auto value = static_cast<double>(truth.value[k]);
    const double logarithm = value > 0 ? value * log(value / mean) : 0.0;
    sum += weight * 2 * (logarithm - (value - mean)) / static_cast<double>(y.size());
  }
}

// Where nothing but zeros was seen, half an event more than that: nothing is impossible.
void log_means(const Objective&, const TargetSums& targets, const Smoothing&, std::span<float> y) {
  constexpr double kHalfEvent = 0.5;
  for (std::size_t k = 0; k < y.size(); ++k) {
    const double sum = targets.sum[k] > 0 ? targets.sum[k] : kHalfEvent;
    y[k] = targets.weight > 0 ? static_cast<float>(log(sum / targets.weight)) : 0.0F;
  }
}

}  // namespace

const Rules& rules_of_Poisson() {
  static constexpr Rules rules = {.loss_name = "Poisson deviance",
                                  .loss_key = "poisson_deviance",
                                  .scale = TargetScale::kByMean,
                                  .add_loss = add_deviance,
                                  .best_constant = log_means};
  return rules;
}

}  // namespace remede

// Quantiles of one target: the mean over them of pinball losses. Raw outputs are the quantile nearest to the median,
// and the logarithms of the distances from each of the others to its neighbour on that side: quantiles cannot cross.
#include <algorithm>
#include <cmath>

#include "remede/base/arithmetic.h"
#include "remede/objective/plain.h"
#include "remede/objective/rules.h"

namespace remede {
namespace {

void add_pinball_loss(const Objective& objective, std::span<const float> y, const Truth& truth, double weight,
                      double& sum) {
  for (std::size_t k = 0; k < y.size(); ++k) {
    const double above = static_cast<double>(truth.value[0]) - static_cast<double>(y[k]);
    const auto q = static_cast<double>(objective.quantiles[k]);
    sum += weight * std::max(q * above, (q - 1) * above) / static_cast<double>(y.size());
  }
}

void sample_quantiles(const Objective& objective, const TargetSums& targets, const Smoothing&, std::span<float> y) {
  std::fill(y.begin(), y.end(), 0.0F);
  auto values = targets.values[0];
  if (values.empty()) return;
  std::vector<float> answer;
  for (const float q : objective.quantiles) answer.push_back(weighted_quantile(values, static_cast<double>(q)));
  // Where quantiles fall on one value, they are this close together, as a part of the values' size.
  constexpr float kTouching = 1e-6F;
  const float least = kTouching * std::max({std::abs(values.front().first), std::abs(values.back().first), 1e-30F});
  const std::size_t middle = scalar::quantile_anchor(objective);
  y[middle] = answer[middle];
  for (std::size_t k = 0; k < y.size(); ++k)
    if (k != middle) y[k] = log(std::max(k > middle ? answer[k] - answer[k - 1] : answer[k + 1] - answer[k], least));
}

}  // namespace

const Rules& rules_of_Quantile() {
  static constexpr Rules rules = {.loss_name = "pinball loss",
                                  .loss_key = "pinball_loss",
                                  .needs_values = true,
                                  .add_loss = add_pinball_loss,
                                  .best_constant = sample_quantiles};
  return rules;
}

}  // namespace remede

#include "remede/train/calibrate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "remede/base/arithmetic.h"
#include "remede/model/batch.h"
#include "remede/objective/plain.h"
#include "remede/objective/rules.h"

namespace remede {
namespace {

constexpr std::size_t kFewestTargets = 100;  // of which a tenth lies beyond each end of an 80% interval
constexpr float kSteps = 100;                // per unit of the logarithm: numbers stay short
constexpr float kMostFactor = 4;             // either way: beyond, the held-out data are of another kind

}  // namespace

std::vector<float> quantile_factors(const Model& model, const Sequences& held_out, int threads) {
  const Objective& objective = model.objective();
  const auto n_y = static_cast<std::size_t>(model.n_y());
  std::vector<float> logs(n_y, 0.0F);
  if (objective.loss != Loss::kQuantile) return logs;
  const Predictions predictions = predict_batch(model, held_out, threads);
  std::vector<std::size_t> asked;
  for (std::size_t t = 0; t < held_out.steps(); ++t)
    if (held_out.weight[t] > 0.0F) asked.push_back(t);
  if (asked.size() < kFewestTargets) return logs;
  const std::size_t middle = scalar::quantile_anchor(objective);
  const auto answer = [&](std::size_t t, std::size_t k) { return predictions.output[t * n_y + k]; };
  // Outwards from the median: how many of its distances from the quantile before, already scaled, a target is away.
  const auto outwards = [&](std::size_t k, std::size_t before, std::vector<float>& from) {
    std::vector<std::pair<float, double>> ratios;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const float distance = answer(asked[i], k) - answer(asked[i], before);
      if (distance != 0.0F)
        ratios.emplace_back((held_out.value[asked[i]] - from[i]) / distance,
                            static_cast<double>(held_out.weight[asked[i]]));
    }
    const auto share = static_cast<double>(objective.quantiles[k]);
    const float found = ratios.empty() ? 1.0F : weighted_quantile(ratios, k > before ? share : 1 - share);
    const float factor = std::isfinite(found) ? std::clamp(found, 1 / kMostFactor, kMostFactor) : 1.0F;
    logs[k] = std::round(kSteps * log(factor)) / kSteps;
    for (std::size_t i = 0; i < asked.size(); ++i)
      from[i] += exp(logs[k]) * (answer(asked[i], k) - answer(asked[i], before));
  };
  std::vector<float> from(asked.size());
  const auto begin = [&] {
    for (std::size_t i = 0; i < asked.size(); ++i) from[i] = answer(asked[i], middle);
  };
  begin();
  for (std::size_t k = middle + 1; k < n_y; ++k) outwards(k, k - 1, from);
  begin();
  for (std::size_t k = middle; k-- > 0;) outwards(k, k + 1, from);
  return logs;
}

void scale_quantiles(const std::vector<float>& log_factors, Model& model) {
  if (std::all_of(log_factors.begin(), log_factors.end(), [](float f) { return f == 0.0F; })) return;
  for (Tree& tree : model.trees)
    for (std::size_t i = 0; i < tree.output.size(); ++i) tree.output[i] += log_factors[i % log_factors.size()];
}

}  // namespace remede

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

constexpr double kFactorSteps = 20;    // per unit of the logarithm of a factor of scores,
constexpr int kMostFactorSteps = 60;   // which is a twentieth or more
constexpr float kLeastShown = 1e-37F;  // a probability that counts as no less

// What the copies say of the targets that their folds hold out.
struct Said {
  std::size_t n_y = 0;
  std::vector<float> score;         // (targets, n_y) 0 for the highest
  std::vector<std::size_t> answer;  // (targets)
  std::vector<double> weight;       // (targets)
};

void add_said(const Model& copy, const Prepared& fold, int threads, Said& said) {
  std::vector<char> seen(said.n_y, 0);
  for (std::size_t t = 0; t < fold.training.steps(); ++t)
    if (fold.training.weight[t] > 0.0F) seen[static_cast<std::size_t>(fold.training.label[t])] = 1;
  const Sequences& data = fold.validation;
  const Predictions predictions = predict_batch(copy, data, threads);
  for (std::size_t t = 0; t < data.steps(); ++t) {
    const auto answer = static_cast<std::size_t>(data.label[t]);
    if (!(data.weight[t] > 0.0F) || seen[answer] == 0) continue;
    const float* shares = predictions.output.data() + t * said.n_y;
    const float most = *std::max_element(shares, shares + said.n_y);
    for (std::size_t k = 0; k < said.n_y; ++k) said.score.push_back(log(std::max(shares[k], kLeastShown) / most));
    said.answer.push_back(answer);
    said.weight.push_back(static_cast<double>(data.weight[t]));
  }
}

double log_loss(const Said& said, float factor) {
  double loss = 0;
  for (std::size_t r = 0; r < said.answer.size(); ++r) {
    const float* score = said.score.data() + r * said.n_y;
    double sum = 0;
    for (std::size_t k = 0; k < said.n_y; ++k) sum += static_cast<double>(exp(factor * score[k]));
    loss += said.weight[r] * (log(sum) - static_cast<double>(factor * score[said.answer[r]]));
  }
  return loss;
}

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

double score_factor(const std::vector<Model>& copies, std::span<const Prepared> folds, int threads) {
  Said said;
  said.n_y = static_cast<std::size_t>(copies.front().n_y());
  for (std::size_t f = 0; f < folds.size(); ++f) add_said(copies[f], folds[f], threads, said);
  // The loss is a convex function of the factor: once it rises, it rises on.
  double found = 0, least = log_loss(said, 1.0F);
  for (int step = 1; step <= kMostFactorSteps; ++step) {
    const double at = -step / kFactorSteps, loss = log_loss(said, exp(static_cast<float>(at)));
    if (!(loss < least)) break;
    found = at;
    least = loss;
  }
  return found;
}

void scale_scores(double log_factor, Model& model) {
  if (log_factor == 0) return;
  const float factor = exp(static_cast<float>(log_factor));
  for (Tree& tree : model.trees) {
    for (float& v : tree.output) v *= factor;
    for (float& v : tree.cells.linear) v *= factor;
  }
}

}  // namespace remede

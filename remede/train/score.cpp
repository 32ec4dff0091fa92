#include "remede/train/score.h"

#include <algorithm>
#include <cmath>

#include "remede/base/arithmetic.h"
#include "remede/model/batch.h"
#include "remede/objective/truth.h"

namespace remede {

namespace {

constexpr std::size_t kFewSequences = 4;
constexpr std::size_t kUnits = 32;      // wanted then, of
constexpr std::size_t kUnitSteps = 64;  // at most

}  // namespace

UnitScores score_units(const Model& model, const Sequences& data) {
  const Objective& objective = model.objective();
  const bool classes = model.classifies();
  const Predictions predictions = predict_batch(model, data, 1);
  const auto n_y = static_cast<std::size_t>(model.n_y());
  const std::size_t most =
      data.count() < kFewSequences ? std::clamp<std::size_t>(data.steps() / kUnits, 8, kUnitSteps) : data.steps();
  UnitScores units;
  for (std::size_t s = 0; s < data.count(); ++s)
    for (std::size_t t = static_cast<std::size_t>(data.offset[s]), in_unit = 0;
         t < static_cast<std::size_t>(data.offset[s + 1]); ++t, ++in_unit) {
      if (in_unit % most == 0)
        for (std::vector<double>* sums : {&units.loss, &units.wrong, &units.weight}) sums->push_back(0);
      if (data.weight.empty() || data.weight[t] == 0.0F) continue;
      const auto w = static_cast<double>(data.weight[t]);
      const std::span<const float> y(predictions.output.data() + t * n_y, n_y);
      units.weight.back() += w;
      const Truth truth = truth_at(data, t);
      if (classes && !is_correct(objective, y, truth)) units.wrong.back() += w;
      add_loss(objective, y, truth, w, units.loss.back());
    }
  return units;
}

void add_unknown(const UnknownTargets& unknown, Score& score) {
  if (unknown.count == 0) return;
  const double weight = score.weight + unknown.weight;
  score.targets += unknown.count;
  score.accuracy *= score.weight / weight;
  score.loss = (score.loss * score.weight - unknown.weight * log(kLeastProbability)) / weight;
  score.weight = weight;
}

Score score(const Model& model, const Sequences& data, int threads) {
  const Objective& objective = model.objective();
  check_signs(objective, data);
  const Predictions predictions = predict_batch(model, data, threads);
  const auto n_y = static_cast<std::size_t>(model.n_y());
  Score s;
  s.sequences = data.count();
  double correct = 0, squares = 0;
  for (std::size_t t = 0; t < data.steps(); ++t) {
    if (data.weight.empty() || data.weight[t] == 0.0F) continue;
    const auto w = static_cast<double>(data.weight[t]);
    const std::span<const float> y(predictions.output.data() + t * n_y, n_y);
    const Truth truth = truth_at(data, t);
    ++s.targets;
    s.weight += w;
    if (is_correct(objective, y, truth)) correct += w;
    add_loss(objective, y, truth, w, s.loss);
    squares += w * squared_error(objective, y, truth);
  }
  if (s.weight == 0) return s;
  s.accuracy = correct / s.weight;
  s.loss /= s.weight;
  s.rmse = std::sqrt(squares / s.weight);
  return s;
}

}  // namespace remede

#include "remede/train/score.h"

#include <algorithm>
#include <cmath>

#include "remede/base/arithmetic.h"
#include "remede/model/batch.h"

namespace remede {

namespace {

constexpr std::size_t kFewSequences = 4;
constexpr std::size_t kUnits = 32;      // wanted then, of
constexpr std::size_t kUnitSteps = 64;  // at most

}  // namespace

UnitScores score_units(const Model& model, const Sequences& data) {
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
      if (!data.label.empty()) {
        const auto label = static_cast<std::size_t>(data.label[t]);
        if (static_cast<std::size_t>(arg_max(y)) != label) units.wrong.back() += w;
        units.loss.back() -= w * log(std::max(static_cast<double>(y[label]), 1e-15));
      } else {
        for (std::size_t k = 0; k < n_y; ++k) {
          const double error = static_cast<double>(y[k]) - static_cast<double>(data.value[t * n_y + k]);
          units.loss.back() += w * error * error / static_cast<double>(n_y);
        }
      }
    }
  return units;
}

Score score(const Model& model, const Sequences& data, int threads) {
  const Predictions predictions = predict_batch(model, data, threads);
  const auto n_y = static_cast<std::size_t>(model.n_y());
  Score s;
  s.sequences = data.count();
  double weight = 0, correct = 0, log_loss = 0, squares = 0;
  for (std::size_t t = 0; t < data.steps(); ++t) {
    if (data.weight.empty() || data.weight[t] == 0.0F) continue;
    const auto w = static_cast<double>(data.weight[t]);
    const std::span<const float> y(predictions.output.data() + t * n_y, n_y);
    ++s.targets;
    weight += w;
    if (!data.label.empty()) {
      const int label = data.label[t];
      const auto p = static_cast<double>(y[static_cast<std::size_t>(label)]);
      if (arg_max(y) == label) correct += w;
      log_loss -= w * log(std::max(p, 1e-15));
    } else {
      for (std::size_t k = 0; k < n_y; ++k) {
        const double error = static_cast<double>(y[k]) - static_cast<double>(data.value[t * n_y + k]);
        squares += w * error * error / static_cast<double>(n_y);
      }
    }
  }
  s.weight = weight;
  if (weight == 0) return s;
  s.accuracy = correct / weight;
  s.log_loss = log_loss / weight;
  s.rmse = std::sqrt(squares / weight);
  return s;
}

}  // namespace remede

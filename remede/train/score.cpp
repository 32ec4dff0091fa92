#include "remede/train/score.h"

#include <algorithm>
#include <cmath>

#include "remede/base/arithmetic.h"
#include "remede/model/batch.h"

namespace remede {

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
  if (weight == 0) return s;
  s.accuracy = correct / weight;
  s.log_loss = log_loss / weight;
  s.rmse = std::sqrt(squares / weight);
  return s;
}

}  // namespace remede

#include "remede/train/frontier/units.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "remede/base/arithmetic.h"
#include "remede/model/batch.h"

namespace remede::frontier {
namespace {

constexpr std::size_t kBlocks = 20;

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

// (steps) the unit each step belongs to.
std::vector<std::size_t> unit_numbers(const Sequences& data, std::size_t& count) {
  std::vector<std::size_t> unit(data.steps(), 0);
  const auto asked =
      static_cast<std::size_t>(std::count_if(data.weight.begin(), data.weight.end(), [](float w) { return w > 0.0F; }));
  if (data.count() >= kBlocks) {
    for (std::size_t s = 0; s < data.count(); ++s)
      std::fill(unit.begin() + data.offset[s], unit.begin() + data.offset[s + 1], s);
    count = data.count();
    return unit;
  }
  for (std::size_t t = 0, seen = 0; t < unit.size(); ++t) {
    unit[t] = std::min(kBlocks - 1, seen * kBlocks / std::max<std::size_t>(1, asked));
    if (data.weight[t] > 0.0F) ++seen;
  }
  count = kBlocks;
  return unit;
}

}  // namespace

double Units::mean_merit() const { return sum(merit) / sum(weight); }
double Units::mean_shown() const { return sum(shown) / sum(weight); }
double Units::error_of_shown() const {
  const double mean = mean_shown();
  double squares = 0;
  for (std::size_t u = 0; u < shown.size(); ++u)
    squares += (shown[u] - mean * weight[u]) * (shown[u] - mean * weight[u]);
  return std::sqrt(squares) / sum(weight);
}

Units units_of(const Model& model, const Sequences& data) {
  const Predictions predictions = predict_batch(model, data, 1);
  const auto n_y = static_cast<std::size_t>(model.n_y());
  Units units;
  std::size_t count = 0;
  const std::vector<std::size_t> unit = unit_numbers(data, count);
  for (std::vector<double>* sums : {&units.merit, &units.shown, &units.weight}) sums->assign(count, 0.0);
  for (std::size_t t = 0; t < data.steps(); ++t) {
    const auto w = static_cast<double>(data.weight[t]);
    if (w == 0) continue;
    const std::span<const float> y(predictions.output.data() + t * n_y, n_y);
    double shown = 0, merit = 0;
    if (!data.label.empty()) {
      const auto label = static_cast<std::size_t>(data.label[t]);
      shown = static_cast<std::size_t>(arg_max(y)) == label ? 0.0 : 1.0;
      merit = shown - kShareOfLogLoss * log(std::max(static_cast<double>(y[label]), 1e-15));
    } else {
      for (std::size_t k = 0; k < n_y; ++k) {
        const double off = static_cast<double>(y[k]) - static_cast<double>(data.value[t * n_y + k]);
        shown += off * off / static_cast<double>(n_y);
      }
      merit = shown;
    }
    units.shown[unit[t]] += w * shown;
    units.merit[unit[t]] += w * merit;
    units.weight[unit[t]] += w;
  }
  return units;
}

double merit_of_constant(const Sequences& data) {
  const auto n_y = static_cast<std::size_t>(data.n_y);
  double weight = 0;
  std::vector<double> sums(n_y, 0.0), squares(n_y, 0.0);
  for (std::size_t t = 0; t < data.steps(); ++t) {
    const auto w = static_cast<double>(data.weight[t]);
    if (w == 0) continue;
    weight += w;
    if (!data.label.empty()) {
      sums[static_cast<std::size_t>(data.label[t])] += w;
      continue;
    }
    for (std::size_t k = 0; k < n_y; ++k) {
      const auto v = static_cast<double>(data.value[t * n_y + k]);
      sums[k] += w * v;
      squares[k] += w * v * v;
    }
  }
  double merit = 0;
  if (data.label.empty()) {
    for (std::size_t k = 0; k < n_y; ++k)
      merit += (squares[k] / weight - sums[k] / weight * sums[k] / weight) / static_cast<double>(n_y);
    return merit;
  }
  merit = 1 - *std::max_element(sums.begin(), sums.end()) / weight;
  for (const double s : sums)
    if (s > 0) merit -= kShareOfLogLoss * s / weight * log(s / weight);
  return merit;
}

}  // namespace remede::frontier

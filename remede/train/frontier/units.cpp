#include "remede/train/frontier/units.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "remede/model/batch.h"
#include "remede/objective/truth.h"

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
  const Objective& objective = model.objective();
  const auto n_y = static_cast<std::size_t>(model.n_y());
  Units units;
  std::size_t count = 0;
  const std::vector<std::size_t> unit = unit_numbers(data, count);
  for (std::vector<double>* sums : {&units.merit, &units.shown, &units.weight}) sums->assign(count, 0.0);
  for (std::size_t t = 0; t < data.steps(); ++t) {
    const auto w = static_cast<double>(data.weight[t]);
    if (w == 0) continue;
    const std::span<const float> y(predictions.output.data() + t * n_y, n_y);
    const Truth truth = truth_at(data, t);
    double shown = 0, merit = 0;
    if (classifies(objective)) {
      shown = merit = is_correct(objective, y, truth) ? 0.0 : 1.0;
      add_loss(objective, y, truth, kShareOfLogLoss, merit);
    } else {
      add_loss(objective, y, truth, 1.0, merit);
      shown = objective.loss == Loss::kSquaredError ? merit : squared_error(objective, y, truth);
    }
    units.shown[unit[t]] += w * shown;
    units.merit[unit[t]] += w * merit;
    units.weight[unit[t]] += w;
  }
  return units;
}

void add_learned_units(const Units& learned, double numbers, Units& units) {
  constexpr double kHopeless = 1e9;  // as many numbers as targets
  const double targets = sum(learned.weight);
  const double times = targets > numbers ? (targets + numbers) / (targets - numbers) : kHopeless;
  for (std::size_t u = 0; u < learned.weight.size(); ++u) {
    units.merit.push_back(times * learned.merit[u]);
    units.shown.push_back(times * learned.shown[u]);
    units.weight.push_back(learned.weight[u]);
  }
}

double merit_of_constant(const Objective& objective, const Sequences& data) {
  const double loss = constant_loss(objective, data);
  if (!classifies(objective)) return loss;
  TargetSums targets(objective, data.n_y);
  for (std::size_t t = 0; t < data.steps(); ++t)
    if (data.weight[t] > 0.0F) add_target(objective, truth_at(data, t), static_cast<double>(data.weight[t]), targets);
  return 1 - *std::max_element(targets.sum.begin(), targets.sum.end()) / targets.weight + kShareOfLogLoss * loss;
}

}  // namespace remede::frontier

#include "remede/executor/start.h"

#include <algorithm>
#include <cmath>

namespace remede {
namespace {

void draw_uniform(std::span<float> values, float spread, Random& random) {
  const auto s = static_cast<double>(spread);
  for (float& v : values) v = static_cast<float>(random.uniform(-s, s));
}

void draw_normal(std::span<float> values, float mean, float sd, Random& random) {
  for (float& v : values) v = static_cast<float>(static_cast<double>(mean) + static_cast<double>(sd) * random.normal());
}

// Half way between two neighbours of the sorted sample, so that a threshold stands between values and not on one.
float draw_between(const std::vector<float>& sorted, Random& random) {
  const std::size_t at = random.below(sorted.size());
  const float low = sorted[at];
  const auto above = std::upper_bound(sorted.begin() + static_cast<std::ptrdiff_t>(at), sorted.end(), low);
  return above == sorted.end() ? low : low + 0.5F * (*above - low);
}

void draw_writes(Parameters<float>& parameters, const InitialScales& scales, Random& random) {
  const Shape& shape = parameters.shape;
  const float from_inputs = scales.write / std::sqrt(static_cast<float>(std::max(1, shape.n_x)));
  const float from_memory = scales.write_memory / std::sqrt(static_cast<float>(std::max(1, shape.n_m)));
  const auto n_w = static_cast<std::size_t>(shape.n_w());
  const auto n_x = static_cast<std::size_t>(shape.n_x);
  const std::span<float> writes = parameters[Group::kWrite];
  for (std::size_t at = 0; at < writes.size(); at += n_w) {
    draw_normal(writes.subspan(at, n_x), 0.0F, from_inputs, random);
    draw_normal(writes.subspan(at + n_x, n_w - n_x), 0.0F, from_memory, random);
  }
}

}  // namespace

float InputQuantiles::spread(std::size_t input) const {
  const std::vector<float>& sorted = values[input];
  if (sorted.empty()) return 0.0F;
  return 0.5F * (sorted[sorted.size() * 5 / 6] - sorted[sorted.size() / 6]);
}

InputQuantiles input_quantiles(const Sequences& data, std::size_t most) {
  InputQuantiles quantiles;
  const auto n_x = static_cast<std::size_t>(data.n_x);
  const std::size_t every = std::max<std::size_t>(1, data.steps() / std::max<std::size_t>(1, most));
  for (std::size_t f = 0; f < n_x; ++f) {
    std::vector<float>& values = quantiles.values.emplace_back();
    for (std::size_t t = 0; t < data.steps(); t += every)
      if (!std::isnan(data.x[t * n_x + f])) values.push_back(data.x[t * n_x + f]);
    std::sort(values.begin(), values.end());
  }
  quantiles.missing = std::any_of(data.x.begin(), data.x.end(), [](float v) { return std::isnan(v); });
  return quantiles;
}

Parameters<float> initial_parameters(const StartPlan& plan, const InputQuantiles& quantiles, Random& random) {
  const Shape& shape = plan.shape;
  const InitialScales& scales = plan.scales;
  Parameters<float> parameters(shape);
  draw_uniform(parameters[Group::kIndex], scales.index, random);
  draw_uniform(parameters[Group::kThreshold], scales.threshold, random);
  if (plan.thresholds_from_data) {
    const std::span<float> thresholds = parameters[Group::kThreshold];
    const auto n_v = static_cast<std::size_t>(shape.n_v());
    for (std::size_t i = 0; i < thresholds.size(); i += n_v)
      for (std::size_t f = 0; f < quantiles.values.size(); ++f)
        if (!quantiles.values[f].empty()) thresholds[i + f] = draw_between(quantiles.values[f], random);
  }
  draw_normal(parameters[Group::kOutput], 0.0F, scales.output, random);
  draw_uniform(parameters[Group::kGate], scales.gate, random);
  draw_writes(parameters, scales, random);
  draw_normal(parameters[Group::kBias], 0.0F, scales.bias, random);
  draw_normal(parameters[Group::kRate], scales.rate_mean, scales.rate_spread, random);
  draw_normal(parameters[Group::kLinear], 0.0F, scales.linear, random);
  if (quantiles.missing)
    for (std::uint8_t& right : parameters.missing_right) right = static_cast<std::uint8_t>(random.below(2));
  return parameters;
}

}  // namespace remede

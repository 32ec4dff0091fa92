#include "remede/train/frontier/recordings.h"

#include <algorithm>
#include <cmath>

#include "remede/base/random.h"
#include "remede/data/split.h"
#include "remede/executor/laws/lanes.h"

namespace remede::frontier {
namespace {

constexpr std::uint64_t kShiftSeed = 0x736869667473;

// The class of the last target, -1: none.
std::int32_t class_of(const Sequences& data, std::size_t s) {
  for (auto t = static_cast<std::size_t>(data.offset[s + 1]); t-- > static_cast<std::size_t>(data.offset[s]);)
    if (data.weight[t] > 0.0F) return data.label[t];
  return -1;
}

// (n_x) Mean of the values that are there.
std::vector<double> mean_of(const Sequences& data, std::size_t s) {
  const auto n_x = static_cast<std::size_t>(data.n_x);
  std::vector<double> sum(n_x, 0.0), count(n_x, 0.0);
  for (auto at = static_cast<std::size_t>(data.offset[s]) * n_x;
       at < static_cast<std::size_t>(data.offset[s + 1]) * n_x; ++at)
    if (!std::isnan(data.x[at])) sum[at % n_x] += static_cast<double>(data.x[at]), ++count[at % n_x];
  for (std::size_t i = 0; i < n_x; ++i) sum[i] = count[i] > 0 ? sum[i] / count[i] : std::nan("");
  return sum;
}

bool are_recordings(const Sequences& training, const Recipe& recipe) {
  return training.count() >= static_cast<std::size_t>(recipe.offset_sequences_low) &&
         training.count() < static_cast<std::size_t>(recipe.offset_sequences_high) &&
         training.steps() >= static_cast<std::size_t>(recipe.offset_steps) * training.count();
}

}  // namespace

bool are_few(const Sequences& training, const Recipe& recipe) {
  std::size_t longest = 0;
  for (std::size_t s = 0; s < training.count(); ++s) longest = std::max(longest, training.length(s));
  return longest <= laws::kWhole && are_recordings(training, recipe);
}

std::vector<double> spread_of_recordings(const Sequences& data) {
  const auto n_x = static_cast<std::size_t>(data.n_x), n_y = static_cast<std::size_t>(data.n_y);
  std::vector<double> count(n_y * n_x, 0.0), sum(n_y * n_x, 0.0), squares(n_y * n_x, 0.0);
  for (std::size_t s = 0; s < data.count(); ++s) {
    const std::int32_t label = class_of(data, s);
    if (label < 0) continue;
    const std::vector<double> mean = mean_of(data, s);
    for (std::size_t i = 0; i < n_x; ++i) {
      if (std::isnan(mean[i])) continue;
      const std::size_t at = static_cast<std::size_t>(label) * n_x + i;
      count[at] += 1;
      sum[at] += mean[i];
      squares[at] += mean[i] * mean[i];
    }
  }
  std::vector<double> spread(n_x, 0.0);
  for (std::size_t i = 0; i < n_x; ++i) {
    double around = 0, freedom = 0;
    for (std::size_t at = i; at < count.size(); at += n_x) {
      if (count[at] < 2) continue;
      around += std::max(0.0, squares[at] - sum[at] * sum[at] / count[at]);
      freedom += count[at] - 1;
    }
    if (freedom > 0) spread[i] = std::sqrt(around / freedom);
  }
  return spread;
}

bool too_few_to_judge(const Sequences& training, const Sequences& validation, const Recipe& recipe) {
  if (!are_recordings(training, recipe) || training.label.empty()) return false;
  const std::size_t enough = static_cast<std::size_t>(recipe.judged_alone_sequences), held_out = validation.count();
  return held_out < enough || (held_out < static_cast<std::size_t>(training.n_y) && sequence_labels(training));
}

Sequences judging_data(const Sequences& training, const Sequences& validation, const Recipe& recipe) {
  if (!too_few_to_judge(training, validation, recipe)) return validation;
  Sequences all = validation;
  const std::vector<double> spread = spread_of_recordings(training);
  const auto n_x = static_cast<std::size_t>(training.n_x);
  Random random(kShiftSeed);
  for (std::size_t s = 0; s < training.count(); ++s) {
    std::vector<float> shift;
    shift.reserve(spread.size());
    for (const double by : spread) shift.push_back(static_cast<float>(recipe.judging_shift * by * random.normal()));
    const auto begin = static_cast<std::size_t>(training.offset[s]),
               end = static_cast<std::size_t>(training.offset[s + 1]);
    for (std::size_t at = begin * n_x; at < end * n_x; ++at) all.x.push_back(training.x[at] + shift[at % n_x]);
    for (std::size_t t = begin; t < end; ++t)
      all.label.push_back(training.label[t]), all.weight.push_back(training.weight[t]);
    all.offset.push_back(all.offset.back() + static_cast<std::int64_t>(end - begin));
  }
  return all;
}

bool too_short_to_judge(const Sequences& training, const Sequences& validation, const Recipe& recipe) {
  const auto targets = std::count_if(validation.weight.begin(), validation.weight.end(), [](float w) { return w > 0; });
  return training.label.empty() && training.count() < static_cast<std::size_t>(recipe.offset_sequences_low) &&
         validation.count() < static_cast<std::size_t>(recipe.judged_alone_sequences) &&
         targets < recipe.judged_alone_targets;
}

}  // namespace remede::frontier

#include "remede/executor/laws/lanes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace remede::laws {
namespace {

constexpr std::size_t kLeastWindow = 256;  // steps
constexpr std::size_t kMostWindow = 512;
constexpr std::size_t kPart = 512;  // steps of one block when scoring

// Steps [begin, end) of the data in one lane; targets count from `counted` on.
struct Stretch {
  std::size_t begin = 0, end = 0, counted = 0;
  std::int32_t from = kEmpty;
};

LaneData lanes_for(const Sequences& data) {
  LaneData lanes;
  lanes.n_x = data.n_x;
  lanes.objective = default_objective(data.label.empty() ? Task::kRegression : Task::kClassification);
  return lanes;
}

bool any_missing(const Sequences& data) {
  return std::any_of(data.x.begin(), data.x.end(), [](float x) { return std::isnan(x); });
}

void fill_lane(const Sequences& data, const Stretch& stretch, std::size_t lane, Block& block) {
  const auto n_x = static_cast<std::size_t>(data.n_x), n_y = static_cast<std::size_t>(data.n_y);
  for (std::size_t t = stretch.begin; t < stretch.end; ++t) {
    const std::size_t at = t - stretch.begin;
    for (std::size_t i = 0; i < n_x; ++i) {
      const float x = data.x[t * n_x + i];
      block.x[(at * n_x + i) * kLanes + lane] = std::isnan(x) ? 0.0F : x;
      if (std::isnan(x) && !block.missing.empty())
        block.missing[at * n_x + i] = static_cast<std::uint16_t>(block.missing[at * n_x + i] | (1U << lane));
    }
    const float weight = data.weight.empty() || t < stretch.counted ? 0.0F : data.weight[t];
    block.weight[at * kLanes + lane] = weight;
    if (weight == 0.0F) continue;
    if (!data.label.empty()) {
      block.target[at * kLanes + lane] = static_cast<float>(data.label[t]);
      continue;
    }
    for (std::size_t k = 0; k < n_y; ++k) block.target[(at * n_y + k) * kLanes + lane] = data.value[t * n_y + k];
  }
  block.from[lane] = stretch.from;
}

void add_block(const Sequences& data, std::span<const Stretch> stretches, bool missing, LaneData& lanes) {
  Block& block = lanes.blocks.emplace_back();
  for (const Stretch& s : stretches) block.steps = std::max(block.steps, s.end - s.begin);
  const std::size_t values = data.label.empty() ? static_cast<std::size_t>(data.n_y) : 1;
  block.x.assign(block.steps * static_cast<std::size_t>(data.n_x) * kLanes, 0.0F);
  block.target.assign(block.steps * values * kLanes, 0.0F);
  block.weight.assign(block.steps * kLanes, 0.0F);
  if (missing) block.missing.assign(block.steps * static_cast<std::size_t>(data.n_x), 0);
  block.from.assign(kLanes, kEmpty);
  for (std::size_t lane = 0; lane < stretches.size(); ++lane) fill_lane(data, stretches[lane], lane, block);
  for (const float w : block.weight) lanes.weight += static_cast<double>(w);
  for (std::size_t t = 0; t < block.steps; ++t) {
    const float* row = block.weight.data() + t * kLanes;
    if (std::any_of(row, row + kLanes, [](float w) { return w > 0.0F; }))
      block.asked.push_back(static_cast<std::uint32_t>(t));
  }
}

// The numbers of the sequences, longest first, so that the lanes of a block are about as long as one another.
std::vector<std::size_t> by_length(const Sequences& data) {
  std::vector<std::size_t> order(data.count());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t s) { return data.length(s) == 0; });
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return data.length(a) > data.length(b); });
  return order;
}

Stretch whole_sequence(const Sequences& data, std::size_t s) {
  const auto begin = static_cast<std::size_t>(data.offset[s]);
  return {begin, static_cast<std::size_t>(data.offset[s + 1]), begin, kEmpty};
}

void add_whole(const Sequences& data, std::span<const std::size_t> order, bool missing, LaneData& lanes) {
  for (std::size_t at = 0; at < order.size(); at += kLanes) {
    std::vector<Stretch> stretches;
    for (std::size_t i = at; i < std::min(order.size(), at + kLanes); ++i)
      stretches.push_back(whole_sequence(data, order[i]));
    add_block(data, stretches, missing, lanes);
  }
}

std::size_t longest(const Sequences& data) {
  std::size_t most = 0;
  for (std::size_t s = 0; s < data.count(); ++s) most = std::max(most, data.length(s));
  return most;
}

}  // namespace

std::size_t LaneData::steps() const {
  std::size_t sum = 0;
  for (const Block& block : blocks) sum += block.steps;
  return sum;
}

LaneData training_lanes(const Sequences& data) {
  LaneData lanes = lanes_for(data);
  const bool missing = any_missing(data);
  if (longest(data) <= kWhole) {
    add_whole(data, by_length(data), missing, lanes);
    return lanes;
  }
  lanes.whole = false;
  const std::size_t window = std::clamp(data.steps() / kLanes, kLeastWindow, kMostWindow);
  std::vector<Stretch> windows;
  for (std::size_t s = 0; s < data.count(); ++s) {
    const Stretch whole = whole_sequence(data, s);
    for (std::size_t begin = whole.begin; begin < whole.end; begin += window) {
      const auto before = static_cast<std::int32_t>(windows.size()) - 1;
      windows.push_back({begin, std::min(begin + window, whole.end), begin, begin == whole.begin ? kEmpty : before});
    }
  }
  lanes.windows = static_cast<std::int32_t>(windows.size());
  const std::size_t run = (windows.size() + kLanes - 1) / kLanes;  // windows of one lane
  for (std::size_t b = 0; b < run; ++b) {
    std::vector<Stretch> stretches;
    std::vector<std::int32_t> numbers(kLanes, -1);
    for (std::size_t lane = 0; lane < kLanes && lane * run + b < windows.size(); ++lane) {
      stretches.push_back(windows[lane * run + b]);
      numbers[lane] = static_cast<std::int32_t>(lane * run + b);
    }
    add_block(data, stretches, missing, lanes);
    lanes.blocks.back().window = std::move(numbers);
  }
  return lanes;
}

LaneData scoring_lanes(const Sequences& data) {
  LaneData lanes = lanes_for(data);
  const bool missing = any_missing(data);
  const std::vector<std::size_t> order = by_length(data);
  for (std::size_t at = 0; at < order.size(); at += kLanes) {
    const std::size_t most = data.length(order[at]);
    for (std::size_t begin = 0; begin < most; begin += kPart) {
      std::vector<Stretch> stretches;
      for (std::size_t i = at; i < std::min(order.size(), at + kLanes); ++i) {
        Stretch s = whole_sequence(data, order[i]);
        s.begin = std::min(s.begin + begin, s.end);
        s.end = std::min(s.begin + kPart, s.end);
        s.from = begin == 0 ? kEmpty : kCarried;
        stretches.push_back(s);
      }
      add_block(data, stretches, missing, lanes);
    }
  }
  return lanes;
}

LaneData replay_lanes(const Sequences& data, std::size_t steps) {
  LaneData lanes = lanes_for(data);
  const bool missing = any_missing(data);
  if (longest(data) <= kWhole) {
    std::vector<std::size_t> order = by_length(data);
    const std::size_t every = std::max<std::size_t>(1, data.steps() / steps);
    std::vector<std::size_t> some;
    for (std::size_t i = 0; i < order.size(); i += every) some.push_back(order[i]);
    add_whole(data, some, missing, lanes);
    return lanes;
  }
  // Stretches of equal length from all over the data, sixteen to a block, each beginning within one sequence.
  const std::size_t length = std::min(kMostWindow, std::max<std::size_t>(64, steps / kLanes));
  const std::size_t count = std::max<std::size_t>(kLanes, steps / length),
                    apart = std::max(length, data.steps() / count);
  std::vector<Stretch> stretches;
  for (std::size_t s = 0; s < data.count(); ++s) {
    const Stretch whole = whole_sequence(data, s);
    for (std::size_t begin = whole.begin; begin < whole.end; begin += apart) {
      const std::size_t fill_from = begin - std::min(begin - whole.begin, kMostWindow);
      stretches.push_back({fill_from, std::min(begin + length, whole.end), begin, kEmpty});
    }
  }
  for (std::size_t at = 0; at < stretches.size(); at += kLanes)
    add_block(data,
              std::span<const Stretch>(stretches).subspan(at, std::min<std::size_t>(kLanes, stretches.size() - at)),
              missing, lanes);
  return lanes;
}

}  // namespace remede::laws

#include "remede/verify/search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "remede/base/random.h"
#include "remede/verify/candidates.h"

namespace remede {
namespace {

constexpr float kAbsent = std::numeric_limits<float>::quiet_NaN();

// The times since the step before are missing at the first step and there at all others.
bool gaps_fit(const CheckedSystem& system, const StepInput& input, bool first) {
  for (const InputColumn& column : system.columns)
    if (column.gap && std::isnan(input.x[static_cast<std::size_t>(column.inputs[0])]) != first) return false;
  return true;
}

struct Visited {
  Configuration at;
  int parent = -1;
  StepInput by;
};

std::vector<StepInput> way_to(const std::vector<Visited>& visited, int node) {
  std::vector<StepInput> way;
  for (; node > 0; node = visited[static_cast<std::size_t>(node)].parent)
    way.push_back(visited[static_cast<std::size_t>(node)].by);
  std::reverse(way.begin(), way.end());
  return way;
}

std::vector<std::uint32_t> exact_key(const Configuration& at) {
  std::vector<std::uint32_t> key;
  for (const float v : at.slot)
    key.push_back(std::isnan(v) ? 0x7fc00000U : std::bit_cast<std::uint32_t>(v == 0.0F ? 0.0F : v));
  key.insert(key.end(), at.monitor.begin(), at.monitor.end());
  return key;
}

// The regions of all slots, and the monitor.
std::vector<std::uint32_t> region_key(const CheckedSystem& system, const Configuration& at) {
  std::vector<std::uint32_t> key;
  for (std::size_t i = 0; i < at.slot.size(); ++i) {
    const auto& cuts = system.slots[i].cuts;
    if (!cuts.empty())
      key.push_back(std::isnan(at.slot[i]) ? 0xffffffffU : static_cast<std::uint32_t>(region_of(cuts, at.slot[i])));
  }
  key.insert(key.end(), at.monitor.begin(), at.monitor.end());
  return key;
}

// Configurations that agree in their regions: a few of them, and those that go beyond the others in some slot.
struct Bucket {
  std::size_t kept = 0;
  std::vector<float> low, high;

  bool takes(const Configuration& at) {
    constexpr std::size_t kFew = 4, kMost = 4096;
    bool beyond = false;
    if (low.empty()) low = high = at.slot;
    for (std::size_t i = 0; i < at.slot.size(); ++i) {
      if (at.slot[i] < low[i]) low[i] = at.slot[i], beyond = true;
      if (at.slot[i] > high[i]) high[i] = at.slot[i], beyond = true;
    }
    if (kept >= kFew && (!beyond || kept >= kMost)) return false;
    ++kept;
    return true;
  }
};

std::uint64_t step_cost(const CheckedSystem& system) {
  std::uint64_t cost = 20 + system.slots.size() * 4 + system.n_x();
  return cost;
}

}  // namespace

bool has_few_inputs(const CheckedSystem& system) {
  constexpr std::size_t kMostCombinations = 256;
  std::size_t count = 1;
  for (const InputColumn& column : system.columns) {
    if (column.gap) return false;
    for (const InputOption& option : column.options)
      for (const Range& range : option.range)
        if (range.has_numbers() && range.low != range.high) return false;
    std::size_t values = 0;
    for (const InputOption& option : column.options)
      values += 1 + (!option.missing && !column.words && option.range[0].nan && option.range[0].has_numbers() ? 1 : 0);
    if (count * values > kMostCombinations) return false;
    count *= values;
  }
  return true;
}

FoundSequence search_all(const CheckedSystem& system, std::uint64_t most_work) {
  std::vector<std::vector<ColumnValue>> values;
  for (const InputColumn& column : system.columns) {
    values.emplace_back();
    for (std::size_t o = 0; o < column.options.size(); ++o) {
      const Range& range = column.options[o].range[0];
      values.back().push_back({static_cast<int>(o), range.has_numbers() ? range.low : kAbsent});
      if (!column.words && range.nan && range.has_numbers()) values.back().push_back({static_cast<int>(o), kAbsent});
    }
  }
  const std::vector<StepInput> inputs = all_combinations(system, values, 256);
  ConcreteRunner runner(system);
  std::vector<Visited> visited{{runner.start(), -1, {}}};
  std::map<std::vector<std::uint32_t>, int> known{{exact_key(visited[0].at), 0}};
  std::vector<std::size_t> depth{0};
  FoundSequence result;
  const std::uint64_t cost = step_cost(system);
  std::uint64_t work = 0;
  constexpr std::size_t kMostConfigurations = 500000;  // they are kept
  for (std::size_t node = 0; node < visited.size(); ++node) {
    if (visited.size() > kMostConfigurations) return result;
    if (depth[node] > result.depth) result.depth = depth[node];
    for (const StepInput& input : inputs) {
      if ((work += cost) > most_work) return result;
      Configuration at = visited[node].at;
      const Monitor::Outcome outcome = runner.step(input, at);
      if (!outcome.allowed) continue;
      if (!outcome.holds) {
        result.found = result.shortest = true;
        result.sequence = way_to(visited, static_cast<int>(node));
        result.sequence.push_back(input);
        return result;
      }
      const auto [place, is_new] = known.emplace(exact_key(at), static_cast<int>(visited.size()));
      if (!is_new) continue;
      visited.push_back({at, static_cast<int>(node), input});
      depth.push_back(depth[node] + 1);
    }
  }
  result.complete = true;
  for (Visited& one : visited) result.reached.push_back(std::move(one.at));
  return result;
}

FoundSequence search_some(const CheckedSystem& system, std::uint64_t most_work, std::uint64_t seed) {
  constexpr std::size_t kMostTried = 96;  // combinations of inputs for one configuration
  Random random(seed);
  std::vector<std::vector<ColumnValue>> values;
  for (std::size_t c = 0; c < system.columns.size(); ++c) values.push_back(interesting_values(system, c));
  const std::vector<StepInput> all = all_combinations(system, values, kMostTried), extremes = extreme_inputs(system);
  ConcreteRunner runner(system);
  std::vector<Visited> visited{{runner.start(), -1, {}}};
  std::map<std::vector<std::uint32_t>, Bucket> buckets;
  FoundSequence result;
  const std::uint64_t cost = step_cost(system);
  std::uint64_t work = 0;
  const auto attempt = [&](std::size_t node, const StepInput& input) {
    work += cost;
    if (!gaps_fit(system, input, node == 0)) return false;
    Configuration at = visited[node].at;
    const Monitor::Outcome outcome = runner.step(input, at);
    if (!outcome.allowed) return false;
    if (!outcome.holds) {
      result.found = true;
      result.sequence = way_to(visited, static_cast<int>(node));
      result.sequence.push_back(input);
      return true;
    }
    if (buckets[region_key(system, at)].takes(at)) visited.push_back({std::move(at), static_cast<int>(node), input});
    return false;
  };
  for (std::size_t node = 0; node < visited.size() && work < most_work; ++node) {
    if (!all.empty()) {
      for (const StepInput& input : all)
        if (attempt(node, input)) return result;
    } else {
      for (std::size_t i = 0; i < kMostTried; ++i) {
        StepInput input = empty_input(system);
        for (std::size_t c = 0; c < values.size(); ++c)
          if (!values[c].empty()) set_column(system, c, values[c][random.below(values[c].size())], input);
        if (attempt(node, input)) return result;
      }
    }
    for (const StepInput& input : extremes)
      if (attempt(node, input)) return result;
  }
  return result;
}

FoundSequence search_along(const CheckedSystem& system, const std::vector<BoxStep>& way, std::uint64_t most_work,
                           std::uint64_t seed) {
  constexpr std::size_t kBeam = 24, kSamples = 48;
  Random random(seed);
  ConcreteRunner runner(system);
  const std::uint64_t cost = step_cost(system);
  std::uint64_t work = 0;
  std::vector<Visited> visited{{runner.start(), -1, {}}};
  std::vector<int> beam{0};
  FoundSequence result;
  std::vector<std::size_t> first_option;
  std::size_t options = 0;
  for (const InputColumn& column : system.columns) first_option.push_back(options), options += column.options.size();
  const auto sample = [&](const InputRanges& box, std::size_t number) {
    StepInput input = empty_input(system);
    for (std::size_t c = 0; c < system.columns.size(); ++c) {
      const InputColumn& column = system.columns[c];
      std::vector<int> allowed;
      for (std::size_t o = 0; o < column.options.size(); ++o)
        if (box.allowed[first_option[c] + o] != 0) allowed.push_back(static_cast<int>(o));
      if (allowed.empty()) continue;
      const int option = allowed[random.below(allowed.size())];
      const Range range = meet(box.x[static_cast<std::size_t>(column.inputs[0])],
                               column.options[static_cast<std::size_t>(option)].range[0]);
      float value = kAbsent;
      if (range.has_numbers() && !(range.nan && random.below(4) == 0)) {
        const float middle = middle_of(range.low, range.high);
        const auto kind = number < 3 ? number : random.below(4);
        value = kind == 0   ? range.low
                : kind == 1 ? range.high
                : kind == 2 ? middle
                            : range.low + static_cast<float>(random.uniform()) * (range.high - range.low);
        if (!(value >= range.low && value <= range.high)) value = middle;
      }
      set_column(system, c, {option, value}, input);
    }
    return input;
  };
  for (std::size_t t = 0; t < way.size() && !beam.empty(); ++t) {
    std::vector<int> next;
    for (const int node : beam)
      for (std::size_t i = 0; i < kSamples && work < most_work; ++i) {
        work += cost;
        const StepInput input = sample(way[t].x, i);
        if (!gaps_fit(system, input, t == 0)) continue;
        Configuration at = visited[static_cast<std::size_t>(node)].at;
        const Monitor::Outcome outcome = runner.step(input, at);
        if (!outcome.allowed) continue;
        if (!outcome.holds) {
          result.found = true;
          result.sequence = way_to(visited, node);
          result.sequence.push_back(input);
          return result;
        }
        if (at.monitor != way[t].state) continue;
        bool inside = true;
        for (std::size_t s = 0; s < at.slot.size() && inside; ++s) {
          const Range& range = way[t].to.slot[s];
          inside = std::isnan(at.slot[s]) ? range.nan : range.low <= at.slot[s] && at.slot[s] <= range.high;
        }
        if (!inside) continue;
        next.push_back(static_cast<int>(visited.size()));
        visited.push_back({std::move(at), node, input});
      }
    random.shuffle(std::span<int>(next));
    if (next.size() > kBeam) next.resize(kBeam);
    beam = std::move(next);
  }
  return result;
}

std::vector<StepInput> shortened(const CheckedSystem& system, std::vector<StepInput> sequence,
                                 std::uint64_t most_work) {
  ConcreteRunner runner(system);
  const std::uint64_t cost = step_cost(system);
  std::uint64_t work = 0;
  sequence.resize(runner.violation(sequence));
  for (std::size_t size = std::max<std::size_t>(sequence.size() / 2, 1); size > 0; size /= 2)
    for (std::size_t t = 0; t + size <= sequence.size();) {
      work += cost * sequence.size();
      if (work > most_work) return sequence;
      std::vector<StepInput> less = sequence;
      less.erase(less.begin() + static_cast<std::ptrdiff_t>(t), less.begin() + static_cast<std::ptrdiff_t>(t + size));
      const std::size_t end = less.empty() || !gaps_fit(system, less[0], true) ? 0 : runner.violation(less);
      if (end > 0) {
        less.resize(end);
        sequence = std::move(less);
      } else {
        t += size;
      }
    }
  return sequence;
}

}  // namespace remede

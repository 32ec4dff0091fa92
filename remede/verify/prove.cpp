#include "remede/verify/prove.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace remede {
namespace {

// Boxes are kept: so many ranges in all, about 12 bytes each.
constexpr std::size_t kMostRanges = 20000000;
bool too_many(const CheckedSystem& system, std::size_t boxes) {
  return boxes > kMostRanges / (system.slots.size() + system.n_x() + 16);
}

using PlaceKey = std::pair<MonitorState, RegionKey>;

struct Level {
  MemoryBox box;
  MonitorState monitor;
  InputRanges by;
  int parent = -1;
  std::size_t depth = 0;
};

std::vector<BoxStep> box_way(const std::vector<Level>& all, int node) {
  std::vector<BoxStep> way;
  for (; node > 0; node = all[static_cast<std::size_t>(node)].parent) {
    const Level& level = all[static_cast<std::size_t>(node)];
    way.push_back({level.by, level.box, level.monitor});
  }
  std::reverse(way.begin(), way.end());
  return way;
}

// Where widening stops: 0 and the powers of 2, of either sign.
float next_stop(float high) {
  constexpr float kSmallest = 0x1p-20F, kGreatest = 0x1p126F;
  float power = kSmallest;
  if (high > 0.0F) {
    while (power < high && power < kGreatest) power *= 2.0F;
    return power < high ? std::numeric_limits<float>::infinity() : power;
  }
  if (high > -kSmallest) return 0.0F;
  while (power * 2.0F <= -high && power < kGreatest) power *= 2.0F;
  return -power;
}

Range widened(const Range& before, const Range& joined, const Range& limit) {
  Range wide = joined;
  if (joined.high > before.high) wide.high = std::max(joined.high, std::min(next_stop(joined.high), limit.high));
  if (joined.low < before.low) wide.low = std::min(joined.low, std::max(-next_stop(-joined.low), limit.low));
  return wide;
}

class Closure {
 public:
  Closure(const CheckedSystem& system, const InvariantOptions& options)
      : system_(system), options_(options), stepper_(system) {
    stepper_.halvings = options.halvings;
    stepper_.most_work = options.most_work;
  }

  Invariant run() {
    Invariant result;
    any_ = stepper_.any_input();
    stepper_.cut(stepper_.start(), [&](const MemoryBox& box, const RegionKey& region) {
      insert({system_.monitor->start(), region}, box);
    });
    start_ = states_;
    while (!pending_.empty() && !stepper_.exhausted() && !too_many(system_, states_.size())) {
      const std::size_t number = pending_.front();
      pending_.erase(pending_.begin());
      states_[number].pending = false;
      const MemoryBox box = states_[number].box;
      const MonitorState monitor = states_[number].key.first;
      stepper_.step(box, monitor, any_, [&](const Successor& next) {
        if (next.holds) insert({next.state, next.region}, next.to);
      });
    }
    if (pending_.empty() && !stepper_.exhausted()) narrow(result);
    result.work = stepper_.work;
    result.halvings = options_.halvings;
    return result;
  }

 private:
  struct State {
    PlaceKey key;
    MemoryBox box;
    int growths = 0;
    bool pending = false;
  };

  double growth(const MemoryBox& from, const MemoryBox& to) const {
    double sum = 0;
    for (std::size_t i = 0; i < from.slot.size(); ++i) {
      const Range &a = from.slot[i], &b = to.slot[i];
      if (!a.has_numbers() || !b.has_numbers()) continue;
      const double size = std::max({1e-3, std::abs(static_cast<double>(b.low)), std::abs(static_cast<double>(b.high))});
      sum += std::min(1e6, (static_cast<double>(a.low) - b.low + (static_cast<double>(b.high) - a.high)) / size);
    }
    return sum;
  }

  void insert(const PlaceKey& key, const MemoryBox& box) {
    constexpr int kGrowthsBeforeWidening = 3;
    std::vector<std::size_t>& here = places_[key];
    for (const std::size_t number : here)
      if (contains(states_[number].box, box)) return;
    stepper_.work += 4;
    if (here.size() < options_.boxes) {
      here.push_back(states_.size());
      pending_.push_back(states_.size());
      states_.push_back({key, box, 0, true});
      return;
    }
    std::size_t best = here[0];
    double least = std::numeric_limits<double>::infinity();
    for (const std::size_t number : here) {
      const double grown = growth(states_[number].box, join(states_[number].box, box));
      if (grown < least) least = grown, best = number;
    }
    State& state = states_[best];
    MemoryBox joined = join(state.box, box);
    if (++state.growths > kGrowthsBeforeWidening) {
      std::size_t at = 0;
      for (std::size_t i = 0; i < joined.slot.size(); ++i) {
        Range limit = system_.slots[i].limit;
        if (!system_.slots[i].cuts.empty()) {
          const std::size_t region = key.second[at++];
          if (region > system_.slots[i].cuts.size()) continue;
          limit = meet(limit, region_range(system_.slots[i].cuts, region));
        }
        const bool nan = joined.slot[i].nan;
        if (joined.slot[i].has_numbers() && state.box.slot[i].has_numbers())
          joined.slot[i] = widened(state.box.slot[i], joined.slot[i], limit);
        joined.slot[i].nan = nan;
      }
    }
    state.box = joined;
    if (!state.pending) {
      state.pending = true;
      pending_.push_back(best);
    }
  }

  // All steps from all states: whether they stay inside, whether the property can be false, and what of every state is
  // really reached.
  struct Pass {
    bool closed = true;
    std::optional<std::size_t> violation;
    std::vector<std::optional<MemoryBox>> reached;  // (states)
  };
  Pass pass(const std::vector<State>& states) {
    Pass result;
    result.reached.resize(states.size());
    std::map<PlaceKey, std::vector<std::size_t>> places;
    for (std::size_t i = 0; i < states.size(); ++i) places[states[i].key].push_back(i);
    const auto arrive = [&](const PlaceKey& key, const MemoryBox& box) {
      const auto here = places.find(key);
      if (here != places.end())
        for (const std::size_t number : here->second)
          if (contains(states[number].box, box)) {
            auto& reached = result.reached[number];
            reached = reached ? join(*reached, box) : box;
            return;
          }
      result.closed = false;
    };
    for (const State& state : start_) arrive(state.key, state.box);
    for (std::size_t i = 0; i < states.size() && result.closed; ++i)
      stepper_.step(states[i].box, states[i].key.first, any_, [&](const Successor& next) {
        if (!next.holds) {
          if (!result.violation) result.violation = i;
        } else if (result.closed) {
          arrive({next.state, next.region}, next.to);
        }
      });
    return result;
  }

  void narrow(Invariant& result) {
    constexpr int kMostPasses = 40;
    std::vector<State> states = states_;
    for (int i = 0; i < kMostPasses; ++i) {
      const Pass now = pass(states);
      if (stepper_.exhausted() || !now.closed) return;
      result.closed = true;
      result.proved = !now.violation;
      result.stuck = now.violation.value_or(0);
      result.states.clear();
      for (const State& state : states) result.states.push_back({state.box, state.key.first});
      std::vector<State> tighter;
      bool changed = false;
      for (std::size_t s = 0; s < states.size(); ++s) {
        if (!now.reached[s]) {
          changed = true;
          continue;
        }
        changed = changed || !(*now.reached[s] == states[s].box);
        tighter.push_back({states[s].key, *now.reached[s], 0, false});
      }
      if (!changed || (result.proved && i >= 3)) return;
      states = std::move(tighter);
    }
  }

  const CheckedSystem& system_;
  InvariantOptions options_;
  BoxStepper stepper_;
  InputRanges any_;
  std::vector<State> states_, start_;
  std::vector<std::size_t> pending_;
  std::map<PlaceKey, std::vector<std::size_t>> places_;
};

// Cuts the slot of the state that a violation starts from, where one half is free of violations if there is such a cut.
// False: nothing can be cut.
bool refine(CheckedSystem& system, const ProofState& state, int halvings, std::uint64_t most_work,
            std::uint64_t& work) {
  BoxStepper stepper(system);
  stepper.halvings = halvings;
  stepper.most_work = most_work;
  const InputRanges any = stepper.any_input();
  const auto breaks = [&](const MemoryBox& box) {
    bool broken = false;
    stepper.step(box, state.monitor, any, [&](const Successor& next) { broken = broken || !next.holds; });
    return broken;
  };
  std::size_t chosen = SIZE_MAX;
  double best = -1;
  float cut = 0;
  for (std::size_t i = 0; i < state.box.slot.size() && !stepper.exhausted(); ++i) {
    const Range& range = state.box.slot[i];
    if (!range.has_numbers() || range.low == range.high || system.slots[i].cuts.size() > 200) continue;
    MemoryBox low = state.box, high = state.box;
    const float middle = middle_of(range.low, range.high);
    low.slot[i] = {range.low, std::nextafter(middle, -std::numeric_limits<float>::infinity()), range.nan};
    high.slot[i] = {middle, range.high, false};
    const int free = (breaks(low) ? 0 : 1) + (breaks(high) ? 0 : 1);
    const double width =
        std::min(10.0, std::log2(1 + static_cast<double>(range.high) - static_cast<double>(range.low)));
    const double worth = 100 * free + width;
    if (worth > best) best = worth, chosen = i, cut = middle;
  }
  work += stepper.work;
  if (chosen == SIZE_MAX) return false;
  auto& cuts = system.slots[chosen].cuts;
  cuts.push_back(cut);
  sort_cuts(cuts);
  return true;
}

}  // namespace

Levels explore_levels(const CheckedSystem& system, std::uint64_t most_work) {
  BoxStepper stepper(system);
  stepper.most_work = most_work;
  stepper.halvings = 4;
  const InputRanges any = stepper.any_input();
  Levels result;
  std::vector<Level> all;
  std::map<PlaceKey, std::vector<std::size_t>> places;
  const auto insert = [&](const PlaceKey& key, const MemoryBox& box, const InputRanges& by, int parent,
                          std::size_t depth) {
    std::vector<std::size_t>& here = places[key];
    stepper.work += here.size();
    for (const std::size_t number : here)
      if (contains(all[number].box, box)) return;
    here.push_back(all.size());
    all.push_back({box, key.first, by, parent, depth});
  };
  insert({system.monitor->start(), {}}, stepper.start(), any, -1, 0);
  for (std::size_t node = 0; node < all.size() && !stepper.exhausted(); ++node) {
    if (too_many(system, all.size())) stepper.work = most_work + 1;
    result.depth = all[node].depth;
    const MemoryBox box = all[node].box;
    const MonitorState monitor = all[node].monitor;
    const std::size_t depth = all[node].depth + 1;
    stepper.step(box, monitor, any, [&](const Successor& next) {
      if (!result.violation.empty()) return;
      if (next.holds) {
        insert({next.state, next.region}, next.to, next.x, static_cast<int>(node), depth);
        return;
      }
      result.violation = box_way(all, static_cast<int>(node));
      result.violation.push_back({next.x, next.to, next.state});
    });
    if (!result.violation.empty()) break;
  }
  result.work = stepper.work;
  result.proved = result.violation.empty() && !stepper.exhausted();
  if (result.proved) {
    for (Level& level : all) result.reached.push_back({std::move(level.box), std::move(level.monitor)});
  }
  return result;
}

Invariant close_invariant(const CheckedSystem& system, const InvariantOptions& options) {
  return Closure(system, options).run();
}

Invariant find_invariant(CheckedSystem& system, std::uint64_t most_work) {
  constexpr int kMostRounds = 40, kCutWrites = 3;  // the round from which on inputs are cut where writes need it
  std::uint64_t work = 0;
  Invariant best;
  InvariantOptions options;
  for (int round = 0; round < kMostRounds && work < most_work; ++round) {
    options.most_work = std::min(most_work - work, most_work / 4);
    if (round == kCutWrites) cut_at_writes(system);
    options.boxes = round == 0 || round == 2 ? 1 : round == 1 || round == kCutWrites ? 8 : 3;
    options.halvings = round == 0 ? 0 : round == 2 ? 6 : std::min(round, 4);
    Invariant found = close_invariant(system, options);
    work += found.work;
    found.rounds = round + 1;
    const bool usable = found.closed;
    if (found.proved || usable) best = std::move(found);
    if (best.proved) break;
    if (!usable && round > kCutWrites) break;
    if (round >= kCutWrites && best.closed &&
        !refine(system, best.states[best.stuck], options.halvings, most_work / 8, work))
      break;
  }
  best.work = work;
  return best;
}

}  // namespace remede

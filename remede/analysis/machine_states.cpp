#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "remede/analysis/machine_parts.h"
#include "remede/analysis/rows.h"
#include "remede/base/text.h"

namespace remede {
namespace {

std::string letters(std::size_t number) {
  std::string name;
  for (std::size_t n = number + 1; n > 0; n = (n - 1) / 26)
    name.insert(name.begin(), static_cast<char>('A' + (n - 1) % 26));
  return name;
}

std::string range_words(const std::string& name, const SlotRange& r) {
  const std::string low = short_number(r.low, 2), high = short_number(r.high, 2);
  if (low == high) return fmt::format("{} = {}", name, low);
  if (std::isinf(r.low) && std::isinf(r.high)) return fmt::format("any {}", name);
  if (std::isinf(r.low)) return fmt::format("{} < {}", name, high);
  if (std::isinf(r.high)) return fmt::format("{} >= {}", name, low);
  const bool small = r.low > -0.5F && r.high < 0.5F;
  const char* const sign = r.low > 0 ? " positive" : r.high < 0 ? " negative" : small ? " near 0" : "";
  return fmt::format("{}{} ({} to {})", name, sign, low, high);
}

// Does the slot tell any two states apart?
bool telling(const Machine& machine, std::size_t slot) {
  const SlotRange& first = machine.states.front().range[slot];
  return std::any_of(machine.states.begin(), machine.states.end(), [&](const MachineState& s) {
    return s.range[slot].low != first.low || s.range[slot].high != first.high;
  });
}

// Values that lie closer together than this count as one.
constexpr float kClusterWidth = 0.12F;

// The values of a slot, as groups of near ones: centre and share of the steps.
std::vector<std::pair<double, double>> clusters(std::vector<float> values) {
  std::sort(values.begin(), values.end());
  std::vector<std::pair<double, double>> found;
  for (std::size_t i = 0; i < values.size();) {
    std::size_t j = i;
    double sum = 0;
    while (j < values.size() && values[j] - values[i] <= kClusterWidth) sum += static_cast<double>(values[j++]);
    found.emplace_back(sum / static_cast<double>(j - i),
                       static_cast<double>(j - i) / static_cast<double>(values.size()));
    i = j;
  }
  return found;
}

// "moves 10% of the way" of the leaves that write the cell, where the rule is to blend; 0 else.
double typical_blend(const Tree& tree, int k) {
  std::vector<float> shares;
  for (int leaf = 0; leaf < tree.leaf_count(); ++leaf)
    if (!tree.blend.empty() && tree.gate[cell_row(tree, leaf, k)] != 0)
      shares.push_back(tree.blend[cell_row(tree, leaf, k)]);
  if (shares.empty()) return 0;
  std::nth_element(shares.begin(), shares.begin() + static_cast<std::ptrdiff_t>(shares.size() / 2), shares.end());
  return static_cast<double>(shares[shares.size() / 2]);
}

std::string flag_text(const Slot& slot, const std::vector<std::pair<double, double>>& groups) {
  std::vector<std::string> values;
  for (const auto& [centre, share] : groups)
    if (share >= 0.05 || std::abs(centre) < 0.01)
      values.push_back(short_number(std::abs(centre) < 0.005 ? 0.0 : centre, 2));
  return fmt::format("{} is a flag with the values {} (approximately)", slot.name, fmt::join(values, ", "));
}

// Steps by which a slot rises and falls.
struct Moves {
  double up = 0, down = 0, size = 0;
  float most = 0;
};

Moves moves_of(const Experience& e, std::size_t slot) {
  Moves moves;
  for (const ExperienceStep& s : e.steps) {
    if (s.after < 0) continue;
    const float d = e.point(s.after)[slot] - e.point(s.before)[slot];
    if (d > 0) ++moves.up;
    if (d < 0) ++moves.down;
    moves.size += std::abs(static_cast<double>(d));
    moves.most = std::max(moves.most, std::abs(e.point(s.after)[slot]));
  }
  return moves;
}

std::string slot_text(const Model& model, const Experience& e, std::size_t i) {
  constexpr double kMaxAveragingBlend =
      0.5;  // a write that moves less than this keeps more of the past than it takes in
  const Slot& slot = e.slots[i];
  if (slot.cell == kBegun) return fmt::format("{} says whether the sequence has begun", slot.name);
  if (slot.cell < 0) return fmt::format("{} is a sum over the steps", slot.name);
  const Tree& tree = model.trees[static_cast<std::size_t>(slot.tree)];
  if (tree.has_laws()) {
    const bool store = tree.cells.law[static_cast<std::size_t>(slot.cell)] == Law::kStore;
    return fmt::format("{} is a {}", slot.name, store ? "store" : "running average");
  }
  const double blend = typical_blend(tree, slot.cell);
  const auto average = [&] {
    return fmt::format("{} is a moving average: each write moves it {} of the way (it averages about {} writes)",
                       slot.name, percent(blend), short_number(std::ceil(2 / blend), 2));
  };
  if (blend > 0 && blend < kMaxAveragingBlend) return average();
  std::vector<float> values;
  for (const ExperienceStep& s : e.steps) values.push_back(e.point(s.before)[i]);
  const auto groups = clusters(values);
  double in_large = 0;
  std::size_t large = 0;
  for (const auto& [centre, share] : groups)
    if (share >= 0.05) in_large += share, ++large;
  if (large <= 5 && in_large >= 0.8) return flag_text(slot, groups);
  if (blend > 0 && blend < 0.7) return average();
  const Moves moves = moves_of(e, i);
  const double most = std::max(moves.up, moves.down), all = moves.up + moves.down;
  if (tree.form.write_rule == WriteRule::kAdd && moves.most > 2 && all > 0)
    return fmt::format("{} is a counter: it {} by about {} at a time, up to {}", slot.name,
                       most < 0.9 * all        ? "moves"
                       : moves.up > moves.down ? "rises"
                                               : "falls",
                       short_number(moves.size / all, 2), short_number(moves.most, 2));
  return fmt::format("{} holds a continuous value", slot.name);
}

}  // namespace

Grouping group_by_region(const Experience& e) {
  Grouping g;
  std::map<std::vector<int>, int> number;
  for (std::size_t p = 0; p < e.points(); ++p) {
    std::vector<int> region;
    for (std::size_t s = 0; s < e.slots.size(); ++s) {
      const float v = e.point(static_cast<int>(p))[s];
      region.push_back(static_cast<int>(std::upper_bound(e.cuts[s].begin(), e.cuts[s].end(), v) - e.cuts[s].begin()));
    }
    g.state.push_back(number.try_emplace(region, static_cast<int>(number.size())).first->second);
  }
  g.count = static_cast<int>(number.size());
  return g;
}

void name_states(Machine& machine) {
  constexpr std::size_t kMaxParts = 4;
  for (std::size_t s = 0; s < machine.states.size(); ++s) {
    MachineState& state = machine.states[s];
    state.name = letters(s);
    std::vector<std::string> parts;
    bool zero = !machine.slots.empty();
    for (std::size_t i = 0; i < machine.slots.size(); ++i) {
      zero = zero && state.range[i].low == 0 && state.range[i].high == 0;
      if (telling(machine, i) && parts.size() < kMaxParts)
        parts.push_back(range_words(machine.slots[i], state.range[i]));
    }
    state.memory = zero ? "nothing stored" : fmt::format("{}", fmt::join(parts, ", "));
  }
}

void describe_states(Machine& machine, const Experience& e, const std::vector<int>& state) {
  std::vector<std::uint8_t> any(machine.states.size(), 0);
  for (MachineState& s : machine.states) s.range.resize(e.slots.size());
  const auto add = [&](int point) {
    const int s = state[static_cast<std::size_t>(point)];
    if (s < 0) return;
    MachineState& to = machine.states[static_cast<std::size_t>(s)];
    for (std::size_t i = 0; i < e.slots.size(); ++i) {
      const float v = e.point(point)[i];
      SlotRange& r = to.range[i];
      r.low = any[static_cast<std::size_t>(s)] ? std::min(r.low, v) : v;
      r.high = any[static_cast<std::size_t>(s)] ? std::max(r.high, v) : v;
    }
    any[static_cast<std::size_t>(s)] = 1;
  };
  for (const ExperienceStep& s : e.steps) add(s.before);
  name_states(machine);
}

std::vector<std::string> describe_slots(const Model& model, const Experience& e) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < e.slots.size(); ++i) notes.push_back(slot_text(model, e, i));
  return notes;
}

}  // namespace remede

// The machine without data: which regions of the memory can follow which, by interval arithmetic.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "remede/analysis/machine_parts.h"
#include "remede/analysis/rows.h"
#include "remede/analysis/wording.h"
#include "remede/base/arithmetic.h"
#include "remede/base/error.h"
#include "remede/base/text.h"
#include "remede/simplify/range.h"

namespace remede {
namespace {

constexpr std::size_t kMaxRegions = 400;
constexpr int kGrowthsBeforeWidening = 6;  // then a region is taken whole

// Units of work (work.h), measured.
constexpr double kMostWork = 2e9;
constexpr double kWorkOfLeaf = 100, kWorkOfRange = 10, kWorkOfEnd = 100, kWorkOfText = 1000;

void spend_or_fail(WorkLimit& work, double units) {
  work.spend(units);
  if (work.reached())
    fail(
        "machine without data: expected one that can be found within the work limit, got a larger one; give a data "
        "file");
}

using Region = std::vector<int>;  // (slots) the number of the interval between its cuts

struct RegionState {
  Region region;
  std::vector<Range> hull;  // (slots) what can be held there
  int growths = 0;
  bool pending = true;
};

class Search {
 public:
  Search(const Model& model, const Wording& words, const Experience& matters, WorkLimit& work)
      : model_(&model), words_(&words), e_(&matters), work_(&work) {
    for (std::size_t i = 0; i < words.view.nodes.size(); ++i)
      if (words.view.nodes[i].is_leaf())
        leaves_.emplace_back(words.view.nodes[i].leaf(), box_of(*words.tree, words.view, static_cast<int>(i)));
  }

  void run() {
    reach(Region(region_of_zero()), std::vector<Range>(e_->slots.size(), Range::point(0)));
    for (bool any = true; any;) {
      any = false;
      for (std::size_t s = 0; s < states_.size(); ++s) {
        if (!states_[s].pending) continue;
        states_[s].pending = false;
        any = true;
        for (const auto& [leaf, box] : leaves_)
          step(s, leaf, box, [&](const Region& r, const std::vector<Range>& hull) { reach(r, hull); });
      }
    }
  }

  // Calls each(region, hull) for every region that leaf `leaf` can lead to from state s.
  template <typename Each>
  bool step(std::size_t s, int leaf, const std::vector<Range>& leaf_box, Each each) const {
    std::vector<Range> box = leaf_box;
    spend_or_fail(*work_, kWorkOfLeaf + kWorkOfRange * static_cast<double>(box.size()));
    if (!enter(s, box)) return false;
    spend_or_fail(*work_, kWorkOfRange * static_cast<double>(e_->slots.size() * box.size()));
    std::vector<Range> after;
    for (const Slot& slot : e_->slots) after.push_back(slot.cell < 0 ? Range::all() : cell_after(leaf, slot.cell, box));
    std::vector<std::pair<Region, std::vector<Range>>> ends = {{{}, {}}};
    for (std::size_t i = 0; i < after.size(); ++i) {
      std::vector<std::pair<Region, std::vector<Range>>> more;
      for (const auto& [region, hull] : ends)
        for (int r = 0; r <= static_cast<int>(e_->cuts[i].size()); ++r) {
          const Range part = meet(after[i], interval(i, r));
          if (part.empty()) continue;
          more.push_back({region, hull});
          more.back().first.push_back(r);
          more.back().second.push_back(part);
        }
      ends = std::move(more);
      spend_or_fail(*work_, (kWorkOfEnd + kWorkOfRange * static_cast<double>(i)) * static_cast<double>(ends.size()));
      if (ends.size() > kMaxRegions) too_many();
    }
    for (const auto& [region, hull] : ends) each(region, hull);
    return true;
  }

  // Narrows the memory of the box to what state s holds; false where they exclude each other.
  bool enter(std::size_t s, std::vector<Range>& box) const {
    for (std::size_t i = 0; i < e_->slots.size(); ++i) {
      if (e_->slots[i].cell < 0) continue;
      Range& r = box[static_cast<std::size_t>(words_->tree->n_x + e_->slots[i].cell)];
      r = meet(r, states_[s].hull[i]);
      if (r.empty()) return false;
    }
    return true;
  }

  Range interval(std::size_t slot, int number) const {
    const std::vector<float>& cuts = e_->cuts[slot];
    Range r = Range::all();
    if (number > 0) r = right_part(r, cuts[static_cast<std::size_t>(number - 1)], true);
    if (number < static_cast<int>(cuts.size())) r = left_part(r, cuts[static_cast<std::size_t>(number)], true);
    return r;
  }

  int number(const Region& region) const { return number_.at(region); }
  const std::vector<RegionState>& states() const { return states_; }
  const std::vector<std::pair<int, std::vector<Range>>>& leaves() const { return leaves_; }

 private:
  [[noreturn]] static void too_many() {
    fail("expected at most {} regions of memory for a machine without data, got more; give a data file", kMaxRegions);
  }

  Region region_of_zero() const {
    Region r;
    for (const std::vector<float>& c : e_->cuts)
      r.push_back(static_cast<int>(std::upper_bound(c.begin(), c.end(), 0.0F) - c.begin()));
    return r;
  }

  void reach(const Region& region, const std::vector<Range>& hull) {
    const auto [at, is_new] = number_.try_emplace(region, static_cast<int>(states_.size()));
    if (is_new) {
      if (states_.size() >= kMaxRegions) too_many();
      states_.push_back({region, hull, 0, true});
      return;
    }
    RegionState& state = states_[static_cast<std::size_t>(at->second)];
    std::vector<Range> grown;
    for (std::size_t i = 0; i < hull.size(); ++i) grown.push_back(join(state.hull[i], hull[i]));
    if (grown == state.hull) return;
    if (++state.growths > kGrowthsBeforeWidening)
      for (std::size_t i = 0; i < hull.size(); ++i) grown[i] = join(grown[i], widened(i, region[i], state.growths));
    if (grown == state.hull) return;
    state.hull = std::move(grown);
    state.pending = true;
  }

  // First to what the cell can hold at all. That may be off by a rounding, so where it still grows to all of the
  // region, which nothing in it exceeds: the search ends.
  Range widened(std::size_t slot, int number, int growths) const {
    const int cell = e_->slots[slot].cell;
    if (cell < 0 || growths > 2 * kGrowthsBeforeWidening) return interval(slot, number);
    return meet(interval(slot, number), words_->view.memory[static_cast<std::size_t>(cell)]);
  }

  Range cell_after(int leaf, int k, const std::vector<Range>& box) const {
    const Tree& tree = *words_->tree;
    const std::size_t row = cell_row(tree, leaf, k);
    const Range& before = box[static_cast<std::size_t>(tree.n_x + k)];
    if (tree.gate[row] == 0) return before;
    Range sum = Range::point(tree.bias.empty() ? 0.0F : tree.bias[row]);
    for (int f = 0; f < tree.n_w(); ++f) {
      const float w = write_weight(tree, leaf, k, f);
      const Range& v = box[static_cast<std::size_t>(f)];
      if (w != 0) sum = plus_product(sum, w, f < tree.n_x ? filled(v, model_->fill[static_cast<std::size_t>(f)]) : v);
    }
    const Range u = tanh(sum);
    return tree.form.write_rule == WriteRule::kAdd ? add(before, u) : blend(before, u, tree.blend[row]);
  }

  const Model* model_;
  const Wording* words_;
  const Experience* e_;
  WorkLimit* work_;
  std::vector<std::pair<int, std::vector<Range>>> leaves_;  // leaf, and the box (n_v) that reaches it
  std::vector<RegionState> states_;
  std::map<Region, int> number_;
};

// The sum s with tanh(s) = u; beyond what tanh can give, infinite.
double inverse_tanh(double u) {
  if (u <= -1) return -std::numeric_limits<double>::infinity();
  if (u >= 1) return std::numeric_limits<double>::infinity();
  return 0.5 * log((1 + u) / (1 - u));
}

// Where one input alone decides what a cell becomes: the values of it that can lead into `target`.
void narrow(const Tree& tree, int leaf, int k, const Range& before, const Range& target, InputBox& box) {
  const std::size_t row = cell_row(tree, leaf, k);
  if (tree.gate[row] == 0) return;
  int input = -1;
  for (int f = 0; f < tree.n_w(); ++f) {
    if (write_weight(tree, leaf, k, f) == 0) continue;
    if (input >= 0 || f >= tree.n_x) return;
    input = f;
  }
  if (input < 0) return;
  const double share = tree.blend.empty() ? 1.0 : static_cast<double>(tree.blend[row]),
               keep = tree.blend.empty() ? 1.0 : 1.0 - share;
  if (share == 0) return;
  const double bias = tree.bias.empty() ? 0.0 : static_cast<double>(tree.bias[row]);
  const auto w = static_cast<double>(write_weight(tree, leaf, k, input));
  // target.low <= keep m + share tanh(bias + w x) <= target.high for some m in `before`
  double low = (inverse_tanh((target.low - keep * before.high) / share) - bias) / w;
  double high = (inverse_tanh((target.high - keep * before.low) / share) - bias) / w;
  if (w < 0) std::swap(low, high);
  for (InputBound& b : box)
    if (b.input == input) {
      if (std::isfinite(low)) b.low = std::max(b.low, static_cast<float>(low));
      if (std::isfinite(high)) b.high = std::min(b.high, static_cast<float>(high));
    }
}

InputBox bounds_of(const Tree& tree, const std::vector<Range>& box) {
  InputBox bounds;
  for (int f = 0; f < tree.n_x; ++f) {
    const Range& r = box[static_cast<std::size_t>(f)];
    const bool open_above = r.high >= std::numeric_limits<float>::max();
    bounds.push_back({f, r.low <= std::numeric_limits<float>::lowest() ? -kInfinity : r.low,
                      open_above        ? kInfinity
                      : r.has_numbers() ? std::nextafter(r.high, kInfinity)
                                        : std::numeric_limits<float>::lowest()});
  }
  return bounds;
}

int answer_number(Machine& machine, const Wording& words, int leaf) {
  const std::vector<float> p = leaf_probabilities(words, leaf);
  if (!p.empty()) return static_cast<int>(std::max_element(p.begin(), p.end()) - p.begin());
  const std::string name = words.model->schema.task == Task::kRegression ? say_texts(words, leaf).front().substr(4)
                                                                         : fmt::format("leaf {}", leaf);
  const auto at = std::find(machine.outputs.begin(), machine.outputs.end(), name);
  if (at != machine.outputs.end()) return static_cast<int>(at - machine.outputs.begin());
  machine.outputs.push_back(name);
  return static_cast<int>(machine.outputs.size()) - 1;
}

// Adds ways to a machine; ways between the same states with the same answer are one.
class Ways {
 public:
  explicit Ways(Machine& machine) : machine_(&machine) {}
  void add(int from, int to, int output, const InputBox& when) {
    const auto [at, is_new] = number_.try_emplace({from, to, output}, machine_->transitions.size());
    if (is_new) machine_->transitions.push_back({from, to, output, {}, 0});
    machine_->transitions[at->second].when.push_back(when);
  }

 private:
  Machine* machine_;
  std::map<std::array<int, 3>, std::size_t> number_;  // from, to, output
};

void add_transitions(Machine& machine, const Wording& words, const Experience& e, const Search& search) {
  Ways ways(machine);
  for (std::size_t s = 0; s < search.states().size(); ++s)
    for (const auto& [leaf, leaf_box] : search.leaves()) {
      std::vector<Range> box = leaf_box;
      if (!search.enter(s, box)) continue;
      const int output = answer_number(machine, words, leaf);
      search.step(s, leaf, leaf_box, [&, leaf = leaf](const Region& region, const std::vector<Range>&) {
        InputBox when = bounds_of(*words.tree, box);
        for (std::size_t i = 0; i < region.size(); ++i)
          if (e.slots[i].cell >= 0)
            narrow(*words.tree, leaf, e.slots[i].cell, box[static_cast<std::size_t>(words.tree->n_x + e.slots[i].cell)],
                   search.interval(i, region[i]), when);
        ways.add(static_cast<int>(s), search.number(region), output, when);
      });
    }
}

// States with the same ways to the same states are one.
void merge_equal(Machine& machine, WorkLimit& work) {
  struct Way {
    const MachineTransition* transition;
    std::string condition;
  };
  std::vector<std::vector<Way>> from(machine.states.size());
  for (const MachineTransition& t : machine.transitions) {
    spend_or_fail(work, kWorkOfText * static_cast<double>(t.when.size()));
    from[static_cast<std::size_t>(t.from)].push_back({&t, condition_text(machine, t)});
  }
  std::vector<int> group(machine.states.size(), 0);
  for (std::size_t count = 1;;) {
    std::map<std::string, int> number;
    std::vector<int> next(group.size());
    for (std::size_t s = 0; s < group.size(); ++s) {
      std::vector<std::string> ways;
      spend_or_fail(work, kWorkOfText * static_cast<double>(from[s].size()));
      for (const Way& way : from[s])
        ways.push_back(fmt::format("{} {} {}", way.transition->output,
                                   group[static_cast<std::size_t>(way.transition->to)], way.condition));
      std::sort(ways.begin(), ways.end());
      next[s] =
          number.try_emplace(fmt::format("{}|{}", group[s], fmt::join(ways, ";")), static_cast<int>(number.size()))
              .first->second;
    }
    group = std::move(next);
    if (number.size() == count) break;
    count = number.size();
  }
  Machine merged = machine;
  merged.states.clear();
  merged.transitions.clear();
  Ways ways(merged);
  for (std::size_t s = 0; s < group.size(); ++s) {
    const bool first = static_cast<std::size_t>(group[s]) == merged.states.size();
    if (first) merged.states.push_back(machine.states[s]);
    MachineState& into = merged.states[static_cast<std::size_t>(group[s])];
    for (std::size_t i = 0; i < into.range.size(); ++i) {
      into.range[i].low = std::min(into.range[i].low, machine.states[s].range[i].low);
      into.range[i].high = std::max(into.range[i].high, machine.states[s].range[i].high);
    }
    if (!first) continue;
    for (const Way& way : from[s])
      for (const InputBox& w : way.transition->when)
        ways.add(group[s], group[static_cast<std::size_t>(way.transition->to)], way.transition->output, w);
  }
  machine = std::move(merged);
}

}  // namespace

Machine possible_machine(const Model& model, const MachineOptions&) {
  if (model.trees.size() != 1)
    fail("expected a model of one tree for a machine without data, got {}; give a data file", model.trees.size());
  if (model.trees[0].has_laws())
    fail(
        "expected a model whose leaves write its cells for a machine without data, got one whose cells have laws; "
        "give a data file");
  const Wording words = make_wording(model, 0);
  const Experience matters = what_matters(model);
  WorkLimit work(kMostWork);
  Search search(model, words, matters, work);
  search.run();
  Machine machine;
  machine.kind = MachineKind::kPossible;
  for (const std::string& name : model.schema.inputs) machine.inputs.push_back(printable(name));
  for (const Slot& s : matters.slots) machine.slots.push_back(s.name);
  machine.outputs = words.classes;
  for (const RegionState& s : search.states()) {
    MachineState& state = machine.states.emplace_back();
    for (const Range& r : s.hull) state.range.push_back({r.low, r.high});
  }
  add_transitions(machine, words, matters, search);
  for (MachineTransition& t : machine.transitions) {
    t.when = joined_boxes(std::move(t.when), work);
  }
  merge_equal(machine, work);
  for (MachineTransition& t : machine.transitions)
    std::erase_if(t.when, [](const InputBox& b) {
      return std::any_of(b.begin(), b.end(), [](const InputBound& i) { return !(i.low < i.high); });
    });
  name_states(machine);
  return machine;
}

}  // namespace remede

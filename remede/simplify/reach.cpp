#include "remede/simplify/reach.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace remede {

Reach::Reach(const Tree& tree, std::span<const float> fill, const ReachOptions& options)
    : tree_(tree),
      fill_(fill),
      any_input_(options.finite_inputs ? Range::finite() : Range::all()),
      zero_is_none_(options.zero_is_none || tree.has_laws()),
      limit_(tree.has_laws()                             ? kLevelLimit
             : tree.form.write_rule == WriteRule::kBlend ? kBlendLimit
                                                         : kAddLimit),
      leaves_(static_cast<std::size_t>(tree.leaf_count())),
      pack_of_(static_cast<std::size_t>(tree.n_m)) {
  constexpr int kMostLaws = 64;  // following one cell takes a look at all cells before it
  const bool too_many_laws = tree.has_laws() && tree.n_m > kMostLaws;
  std::vector<Range> box(static_cast<std::size_t>(tree.n_v()), Range::all());
  std::fill_n(box.begin(), tree.n_x, any_input_);
  describe_leaves(tree.root(), box);
  cut_cells();
  start(true, options.joint_work);
  if (!search(options.joint_states)) {
    start(false, options.cell_work);
    if (too_many_laws || !search(std::numeric_limits<std::size_t>::max())) start_unknown();
  }
  for (Leaf& leaf : leaves_) leaf.dead = !leaf_open(leaf);
}

void Reach::renumber(std::span<const std::int32_t> from) {
  std::vector<Leaf> leaves;
  for (const std::int32_t leaf : from) leaves.push_back(std::move(leaves_[static_cast<std::size_t>(leaf)]));
  leaves_ = std::move(leaves);
}

// box: (n_v) what the tests on the way down let through; as on entry again when it returns.
void Reach::describe_leaves(std::int32_t child, std::vector<Range>& box) {
  if (child < 0) {
    describe_leaf(~child, box);
    return;
  }
  const auto i = static_cast<std::size_t>(child);
  Range& tested = box[static_cast<std::size_t>(tree_.feature[i])];
  const Range before = tested;
  tested = left_part(before, tree_.threshold[i], tree_.missing_right[i] != 0);
  describe_leaves(tree_.left[i], box);
  tested = right_part(before, tree_.threshold[i], tree_.missing_right[i] != 0);
  describe_leaves(tree_.right[i], box);
  tested = before;
}

void Reach::describe_leaf(int number, const std::vector<Range>& box) {
  Leaf& leaf = leaves_[static_cast<std::size_t>(number)];
  leaf.dead = std::any_of(box.begin(), box.end(), [](const Range& range) { return range.empty(); });
  if (leaf.dead) return;
  leaf.memory.assign(box.begin() + tree_.n_x, box.end());
  for (int i = 0; i < tree_.n_x; ++i)
    if (box[static_cast<std::size_t>(i)] != any_input_) leaf.input.emplace_back(i, box[static_cast<std::size_t>(i)]);
  leaf.written.resize(static_cast<std::size_t>(tree_.n_m));
  for (int k = 0; k < tree_.n_m; ++k) {
    const std::size_t at =
        static_cast<std::size_t>(number) * static_cast<std::size_t>(tree_.n_m) + static_cast<std::size_t>(k);
    const auto weighted = [&](float constant, const float* row) {
      Range sum = Range::point(constant);
      for (int i = 0; i < tree_.n_x; ++i) {
        const auto input = static_cast<std::size_t>(i);
        sum = plus_term(sum, row[i], filled(box[input], fill_[input]));
      }
      return sum;
    };
    const auto cell = static_cast<std::size_t>(k), n_x = static_cast<std::size_t>(tree_.n_x);
    if (tree_.has_laws()) {
      leaf.written[cell] = weighted(tree_.cells.bias[cell], tree_.cells.input.data() + cell * n_x);
      leaf.tap.push_back(weighted(tree_.cells.tap[cell], tree_.cells.tap_input.data() + cell * n_x));
    } else if (tree_.gate[at] != 0) {
      leaf.written[cell] = weighted(tree_.form.write_bias ? tree_.bias[at] : 0.0F,
                                    tree_.write.data() + at * static_cast<std::size_t>(tree_.n_w()));
    }
  }
}

void Reach::cut_cells() {
  cuts_.resize(static_cast<std::size_t>(tree_.n_m));
  for (std::size_t i = 0; i < tree_.feature.size(); ++i)
    if (tree_.feature[i] >= tree_.n_x)
      cuts_[static_cast<std::size_t>(tree_.feature[i] - tree_.n_x)].push_back(tree_.threshold[i]);
  for (auto& cuts : cuts_) {
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  }
}

// Region 0 is below the first threshold, region i from threshold i - 1 on, the last but one above all; the last is NaN.
// Without thresholds there is one region.
Range Reach::region(int cell, std::uint32_t number) const {
  const auto& cuts = cuts_[static_cast<std::size_t>(cell)];
  if (cuts.empty()) return {-limit_, limit_, !tree_.has_laws()};
  if (number > cuts.size()) return {Range::none().low, Range::none().high, true};
  Range bounds{-limit_, limit_, false};
  if (number > 0) bounds.low = std::max(bounds.low, cuts[number - 1]);
  if (number < cuts.size())
    bounds.high = std::min(bounds.high, std::nextafter(cuts[number], -std::numeric_limits<float>::infinity()));
  return bounds;
}

void Reach::start(bool joint, std::size_t work) {
  work_left_ = work;
  packs_.assign(joint && tree_.n_m > 0 ? 1 : static_cast<std::size_t>(tree_.n_m), Pack());
  for (int k = 0; k < tree_.n_m; ++k) {
    pack_of_[static_cast<std::size_t>(k)] = joint ? 0 : static_cast<std::size_t>(k);
    packs_[pack_of_[static_cast<std::size_t>(k)]].cells.push_back(k);
  }
  for (Pack& pack : packs_) reach(pack, std::vector<Range>(pack.cells.size(), Range::point(0.0F)));
}

void Reach::start_unknown() {
  for (Pack& pack : packs_) {
    pack.number.clear();
    pack.states.assign(1, {std::vector<Range>(pack.cells.size(), Range{-limit_, limit_, !tree_.has_laws()}), 0, false});
  }
}

// False when it was given up.
bool Reach::search(std::size_t most_states) {
  for (bool settled = tree_.n_m == 0; !settled;) {
    settled = !search_round(most_states);
    if (work_left_ == 0) return false;
    if (settled || packs_.size() == 1) continue;
    // What one cell can hold opens leaves to the others, and changes writes that read it: look at everything again.
    for (Pack& pack : packs_)
      for (State& state : pack.states) state.pending = true;
  }
  return true;
}

// Follows the states that were not yet, or have grown; whether anything was new.
bool Reach::search_round(std::size_t most_states) {
  bool grown = false;
  std::vector<Range> next;
  for (Leaf& leaf : leaves_) leaf.open = leaf_open(leaf);
  for (Pack& pack : packs_)
    for (std::size_t s = 0; s < pack.states.size(); ++s) {
      if (!pack.states[s].pending) continue;
      pack.states[s].pending = false;
      const State state = pack.states[s];  // a copy: following it may move the states
      for (std::size_t leaf = 0; leaf < leaves_.size() && work_left_ > 0; ++leaf) {
        if (!(leaves_[leaf].open || packs_.size() == 1) || !fits(state, pack, leaves_[leaf])) continue;
        step(pack, state, leaf, next);
        grown = reach(pack, next) || grown;
        if (pack.states.size() > most_states) work_left_ = 0;
      }
    }
  return grown;
}

bool Reach::fits(const State& state, const Pack& pack, const Leaf& leaf) const {
  if (leaf.dead) return false;
  for (std::size_t i = 0; i < pack.cells.size(); ++i)
    if (meet(state.cells[i], leaf.memory[static_cast<std::size_t>(pack.cells[i])]).empty()) return false;
  return true;
}

// Does every pack have a state that fits the leaf?
bool Reach::leaf_open(const Leaf& leaf) const {
  return !leaf.dead && std::all_of(packs_.begin(), packs_.end(), [&](const Pack& pack) {
    return std::any_of(pack.states.begin(), pack.states.end(),
                       [&](const State& state) { return fits(state, pack, leaf); });
  });
}

Range Reach::value_written(std::size_t leaf, int cell, const Pack& pack, const State& state) const {
  Range sum = leaves_[leaf].written[static_cast<std::size_t>(cell)];
  if (tree_.form.write_reads == WriteReads::kInputsAndMemory) {
    const std::size_t at = leaf * static_cast<std::size_t>(tree_.n_m) + static_cast<std::size_t>(cell);
    const float* row = tree_.write.data() + at * static_cast<std::size_t>(tree_.n_w()) + tree_.n_x;
    for (int k = 0; k < tree_.n_m; ++k) {
      const auto inside = std::find(pack.cells.begin(), pack.cells.end(), k);
      const Range held = inside != pack.cells.end() ? state.cells[static_cast<std::size_t>(inside - pack.cells.begin())]
                                                    : cell_at(static_cast<int>(leaf), k);
      sum = plus_term(sum, row[k], held);
    }
  }
  return tanh(sum);
}

// next: (cells of the pack) what they can hold after a step through the leaf.
void Reach::step(const Pack& pack, const State& state, std::size_t leaf, std::vector<Range>& next) const {
  next = state.cells;
  if (tree_.has_laws()) {
    step_by_laws(pack, state, leaf, next);
    return;
  }
  for (std::size_t i = 0; i < pack.cells.size(); ++i) {
    const std::size_t at = leaf * static_cast<std::size_t>(tree_.n_m) + static_cast<std::size_t>(pack.cells[i]);
    if (tree_.gate[at] == 0) continue;
    const Range u = value_written(leaf, pack.cells[i], pack, state);
    next[i] =
        tree_.form.write_rule == WriteRule::kAdd ? add(state.cells[i], u) : blend(state.cells[i], u, tree_.blend[at]);
  }
}

CellRange Reach::step_law(std::size_t leaf, int cell, const Range& level, const std::vector<Range>& outputs) const {
  const Cells& cells = tree_.cells;
  const auto k = static_cast<std::size_t>(cell), n_m = static_cast<std::size_t>(tree_.n_m);
  const float offset = cells.tap_leaf[leaf * n_m + k];
  Range share = Range::point(offset < 0.0F ? 0.0F : 1.0F);
  if (!std::isinf(offset)) {
    const Range sum = plus_term(leaves_[leaf].tap[k], cells.tap_level[k], level);
    share = sigmoid(bounded(plus_term(sum, offset, Range::point(1.0F))));
  }
  Range argument = leaves_[leaf].written[k];
  for (std::size_t j = 0; j < k; ++j) argument = plus_term(argument, cells.earlier[k * n_m + j], outputs[j]);
  argument = bounded(argument);
  if (cells.law[k] == Law::kStore) return step_store(level, argument, share);
  const Range u = cells.law[k] == Law::kAverage ? argument : positive(argument);
  CellRange after = step_average(level, u, share);
  if (cells.first[k] != 0) after.level = after.output = join(after.level, u);
  return after;
}

void Reach::step_by_laws(const Pack& pack, const State& state, std::size_t leaf, std::vector<Range>& next) const {
  std::vector<Range> outputs;
  std::size_t i = 0;  // into the pack, whose cells rise
  for (int k = 0; i < pack.cells.size(); ++k) {
    const bool inside = pack.cells[i] == k;
    const CellRange after = step_law(leaf, k, inside ? state.cells[i] : cell_at(static_cast<int>(leaf), k), outputs);
    outputs.push_back(after.output);
    if (inside) next[i++] = after.level;
  }
}

// The regions that the cell's values in `range` lie in.
void Reach::list_regions(int cell, const Range& range, Regions& regions) const {
  regions.clear();
  const auto& cuts = cuts_[static_cast<std::size_t>(cell)];
  const auto number = [&](float v) {
    return static_cast<std::uint32_t>(std::upper_bound(cuts.begin(), cuts.end(), v) - cuts.begin());
  };
  if (range.has_numbers() || cuts.empty())
    for (std::uint32_t r = number(range.low), last = number(range.high); r <= last; ++r) regions.push_back(r);
  if (range.nan && !cuts.empty()) regions.push_back(static_cast<std::uint32_t>(cuts.size() + 1));
}

// Adds the states that lie in `next`, one for every choice of a region per cell; whether anything was new.
bool Reach::reach(Pack& pack, const std::vector<Range>& next) {
  const std::size_t n = pack.cells.size();
  choices_.resize(std::max(choices_.size(), n));
  for (std::size_t i = 0; i < n; ++i) list_regions(pack.cells[i], next[i], choices_[i]);
  chosen_.assign(n, 0);
  regions_.resize(n);
  part_.resize(n);
  bool grown = false;
  while (work_left_ > 0) {
    --work_left_;
    for (std::size_t i = 0; i < n; ++i) {
      regions_[i] = choices_[i][chosen_[i]];
      part_[i] = meet(next[i], region(pack.cells[i], regions_[i]));
    }
    grown = join_state(pack, regions_, part_) || grown;
    std::size_t i = 0;
    while (i < n && ++chosen_[i] == choices_[i].size()) chosen_[i++] = 0;
    if (i == n) break;
  }
  return grown;
}

bool Reach::join_state(Pack& pack, const Regions& regions, const std::vector<Range>& part) {
  constexpr int kGrowthsBeforeWidening = 4;  // before an interval is widened to its region
  const auto [at, is_new] = pack.number.emplace(regions, pack.states.size());
  if (is_new) {
    pack.states.push_back({part, 0, true});
    return true;
  }
  State& state = pack.states[at->second];
  bool grown = false;
  for (std::size_t i = 0; i < part.size(); ++i) {
    Range joined = join(state.cells[i], part[i]);
    if (joined == state.cells[i]) continue;
    if (state.growths >= kGrowthsBeforeWidening) {
      const Range bounds = region(pack.cells[i], regions[i]);
      if (joined.low < state.cells[i].low) joined.low = bounds.low;
      if (joined.high > state.cells[i].high) joined.high = bounds.high;
    }
    state.cells[i] = joined;
    grown = true;
  }
  if (grown) ++state.growths, state.pending = true;
  return grown;
}

bool Reach::possible(std::span<const Range> memory) const {
  return std::all_of(packs_.begin(), packs_.end(), [&](const Pack& pack) {
    return std::any_of(pack.states.begin(), pack.states.end(), [&](const State& state) {
      for (std::size_t i = 0; i < pack.cells.size(); ++i)
        if (meet(state.cells[i], memory[static_cast<std::size_t>(pack.cells[i])]).empty()) return false;
      return true;
    });
  });
}

Range Reach::cell(int cell) const {
  const Pack& pack = packs_[pack_of_[static_cast<std::size_t>(cell)]];
  const auto i = static_cast<std::size_t>(std::find(pack.cells.begin(), pack.cells.end(), cell) - pack.cells.begin());
  Range held = Range::none();
  for (const State& state : pack.states) held = join(held, state.cells[i]);
  return held;
}

Range Reach::cell_at(int number, int cell) const {
  const Leaf& leaf = leaves_[static_cast<std::size_t>(number)];
  const Pack& pack = packs_[pack_of_[static_cast<std::size_t>(cell)]];
  const auto i = static_cast<std::size_t>(std::find(pack.cells.begin(), pack.cells.end(), cell) - pack.cells.begin());
  Range held = Range::none();
  for (const State& state : pack.states)
    if (fits(state, pack, leaf)) held = join(held, meet(state.cells[i], leaf.memory[static_cast<std::size_t>(cell)]));
  return held;
}

Range Reach::input_at(int number, int input) const {
  for (const auto& [tested, range] : leaves_[static_cast<std::size_t>(number)].input)
    if (tested == input) return filled(range, fill_[static_cast<std::size_t>(input)]);
  return filled(any_input_, fill_[static_cast<std::size_t>(input)]);
}

bool Reach::write_idle(int number, int cell) const {
  const auto leaf = static_cast<std::size_t>(number);
  const std::size_t at = leaf * static_cast<std::size_t>(tree_.n_m) + static_cast<std::size_t>(cell);
  if (tree_.has_laws()) return false;  // a law has no write that could go
  if (tree_.gate[at] == 0 || leaves_[leaf].dead) return true;
  const Pack& pack = packs_[pack_of_[static_cast<std::size_t>(cell)]];
  const auto i = static_cast<std::size_t>(std::find(pack.cells.begin(), pack.cells.end(), cell) - pack.cells.begin());
  return std::all_of(pack.states.begin(), pack.states.end(), [&](const State& state) {
    if (!fits(state, pack, leaves_[leaf])) return true;
    const Range u = value_written(leaf, cell, pack, state);
    const Range held = state.cells[i];
    if (u.nan || held.nan) return false;
    if (tree_.form.write_rule == WriteRule::kAdd) return u.is_zero();
    if (tree_.blend[at] == 0.0F) return true;
    return held.is_point() && u.is_point() && blend(held, u, tree_.blend[at]) == held;
  });
}

}  // namespace remede

#include "remede/verify/step.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "remede/model/predict.h"

namespace remede {
namespace {

constexpr float kBeyond = std::numeric_limits<float>::infinity();
const Range kNothing{kBeyond, -kBeyond, false};

Range only_missing(bool missing) { return {kBeyond, -kBeyond, missing}; }

}  // namespace

BoxStepper::BoxStepper(const CheckedSystem& system) : system_(system), values_(system.two()) {
  std::size_t options = 0;
  for (const InputColumn& column : system.columns) {
    first_option_.push_back(options);
    options += column.options.size();
  }
  constexpr std::size_t kMostEnumerated = 64;  // combinations of options
  std::size_t combinations = 1;
  for (std::size_t c = 0; c < system.columns.size(); ++c) {
    const std::size_t count = system.columns[c].options.size();
    if (count < 2 || combinations * count > kMostEnumerated) continue;
    combinations *= count;
    enumerated_.push_back(c);
  }
  const std::vector<Atom>& atoms = system.monitor->atoms();
  for (std::size_t a = 0; a < atoms.size(); ++a) {
    const Atom& atom = atoms[a];
    const auto number = static_cast<int>(a);
    if (atom.kind == AtomKind::kInput || atom.kind == AtomKind::kMissing) input_atoms_.push_back(number);
    if (atom.kind == AtomKind::kWord) word_atoms_.push_back(number);
    if (atom.kind == AtomKind::kChange) change_atoms_.push_back(number);
    if (atom.kind == AtomKind::kCell) cell_atoms_.push_back(number);
    const bool says = atom.kind == AtomKind::kSays;
    if (!says && atom.kind != AtomKind::kProbability && atom.kind != AtomKind::kAnswer && atom.kind != AtomKind::kEqual)
      continue;
    auto group = std::find_if(groups_.begin(), groups_.end(),
                              [&](const Group& g) { return g.kind == atom.kind && (says || g.index == atom.index); });
    if (group == groups_.end()) group = groups_.insert(groups_.end(), {atom.kind, atom.index, {}, {}});
    group->atoms.push_back(number);
    add_cuts(atom.compare, atom.value, group->cuts);
  }
  for (Group& group : groups_) sort_cuts(group.cuts);
  std::stable_partition(groups_.begin(), groups_.end(),
                        [](const Group& group) { return group.kind == AtomKind::kSays; });
  std::size_t trees = 0;
  for (const ModelPart& part : system.parts) {
    first_tree_.push_back(trees);
    trees += part.model->trees.size();
  }
  leaf_.resize(trees);
  raw_.resize(trees);
  answer_.resize(system.parts.size());
}

MemoryBox BoxStepper::start() const {
  MemoryBox box{std::vector<Range>(system_.slots.size(), Range::point(0.0F)), {}};
  for (std::size_t i = 0; i < system_.slots.size(); ++i)
    if (system_.slots[i].kind == SlotKind::kPrevious) box.slot[i] = only_missing(true);
  if (system_.two()) box.same.assign(system_.slots.size(), 0);
  return box;
}

InputRanges BoxStepper::any_input() const {
  InputRanges x{std::vector<Range>(system_.n_x(), kNothing), {}};
  for (const InputColumn& column : system_.columns)
    for (const InputOption& option : column.options) {
      x.allowed.push_back(1);
      for (std::size_t k = 0; k < column.inputs.size(); ++k) {
        Range& range = x.x[static_cast<std::size_t>(column.inputs[k])];
        range = join(range, option.range[k]);
      }
    }
  return x;
}

// False: nothing is left.
bool BoxStepper::narrow(InputRanges& x, int input, const Range& to) const {
  Range& range = x.x[static_cast<std::size_t>(input)];
  range = meet(range, to);
  if (range.empty()) return false;
  const auto c = static_cast<std::size_t>(system_.column_of[static_cast<std::size_t>(input)]);
  const InputColumn& column = system_.columns[c];
  if (column.options.size() == 1) return true;
  std::vector<Range> hull(column.inputs.size(), kNothing);
  for (std::size_t o = 0; o < column.options.size(); ++o) {
    std::uint8_t& allowed = x.allowed[first_option_[c] + o];
    if (allowed == 0) continue;
    std::vector<Range> left;
    for (std::size_t k = 0; k < column.inputs.size() && allowed != 0; ++k) {
      left.push_back(meet(column.options[o].range[k], x.x[static_cast<std::size_t>(column.inputs[k])]));
      if (left.back().empty()) allowed = 0;
    }
    for (std::size_t k = 0; k < column.inputs.size() && allowed != 0; ++k) hull[k] = join(hull[k], left[k]);
  }
  for (std::size_t k = 0; k < column.inputs.size(); ++k) {
    x.x[static_cast<std::size_t>(column.inputs[k])] = hull[k];
    if (hull[k].empty()) return false;
  }
  return true;
}

bool BoxStepper::narrow(MemoryBox& box, std::size_t slot, const Range& to) const {
  box.slot[slot] = meet(box.slot[slot], to);
  if (box.slot[slot].empty()) return false;
  if (box.same.empty()) return true;
  const Range narrowed = box.slot[slot];
  for (std::size_t i = 0; i < box.slot.size(); ++i)
    if (i != slot && box.same[i] == box.same[slot]) {
      box.slot[i] = meet(box.slot[i], narrowed);
      if (box.slot[i].empty()) return false;
    }
  return true;
}

void BoxStepper::step(const MemoryBox& box, const MonitorState& state, const InputRanges& x, const Found& found) {
  found_ = &found;
  state_ = state;
  halvings_left_ = halvings;
  truth_.assign(system_.monitor->atoms().size(), 0);
  split_inputs(0, box, x);
}

// Every input into the regions that the atoms on it cut; a missing value is a region of its own.
void BoxStepper::split_inputs(std::size_t input, const MemoryBox& box, const InputRanges& x) {
  if (input == system_.n_x()) {
    split_words(0, box, x);
    return;
  }
  const bool asked =
      !system_.extra_cuts[input].empty() || std::any_of(input_atoms_.begin(), input_atoms_.end(), [&](int a) {
        return system_.monitor->atoms()[static_cast<std::size_t>(a)].index == static_cast<int>(input);
      });
  if (!asked) {
    split_inputs(input + 1, box, x);
    return;
  }
  std::vector<float> cuts = system_.input_cuts[input];
  cuts.insert(cuts.end(), system_.extra_cuts[input].begin(), system_.extra_cuts[input].end());
  sort_cuts(cuts);
  for (std::size_t r = 0; r <= cuts.size() + 1; ++r) {
    InputRanges part = x;
    const Range region = r <= cuts.size() ? region_range(cuts, r) : only_missing(true);
    if (!narrow(part, static_cast<int>(input), region)) continue;
    for (const int a : input_atoms_) {
      const Atom& atom = system_.monitor->atoms()[static_cast<std::size_t>(a)];
      if (atom.index != static_cast<int>(input)) continue;
      const bool missing = r > cuts.size();
      const Range& range = part.x[input];
      truth_[static_cast<std::size_t>(a)] =
          atom.kind == AtomKind::kMissing ? (missing ? 1 : 0)
                                          : (!missing && compare_numbers(range.low, atom.compare, atom.value) ? 1 : 0);
    }
    split_inputs(input + 1, box, part);
  }
}

void BoxStepper::split_words(std::size_t number, const MemoryBox& box, const InputRanges& x) {
  if (number == word_atoms_.size()) {
    split_changes(0, box, x);
    return;
  }
  const auto a = static_cast<std::size_t>(word_atoms_[number]);
  const Atom& atom = system_.monitor->atoms()[a];
  const auto c = static_cast<std::size_t>(atom.index);
  const InputColumn& column = system_.columns[c];
  for (const std::uint8_t is : {std::uint8_t{1}, std::uint8_t{0}}) {
    InputRanges part = x;
    bool any = false;
    for (std::size_t o = 0; o < column.options.size(); ++o) {
      const InputOption& option = column.options[o];
      const bool match = atom.word.empty() ? option.missing : !option.missing && option.word == atom.word;
      std::uint8_t& allowed = part.allowed[first_option_[c] + o];
      if (match != (is != 0)) allowed = 0;
      any = any || allowed != 0;
    }
    if (!any) continue;
    bool possible = true;
    for (const int input : column.inputs) {  // the ranges of what is left
      Range hull = kNothing;
      for (std::size_t o = 0; o < column.options.size(); ++o)
        if (part.allowed[first_option_[c] + o] != 0)
          for (std::size_t k = 0; k < column.inputs.size(); ++k)
            if (column.inputs[k] == input) hull = join(hull, column.options[o].range[k]);
      part.x[static_cast<std::size_t>(input)] = meet(part.x[static_cast<std::size_t>(input)], hull);
      possible = possible && !part.x[static_cast<std::size_t>(input)].empty();
    }
    if (!possible) continue;
    truth_[a] = is;
    split_words(number + 1, box, part);
  }
}

// x changes by at most d: previous - d <= x <= previous + d, in float; nothing is said of missing values.
void BoxStepper::split_changes(std::size_t number, const MemoryBox& box, const InputRanges& x) {
  if (number == change_atoms_.size()) {
    split_options(0, box, x);
    return;
  }
  const auto a = static_cast<std::size_t>(change_atoms_[number]);
  const Atom& atom = system_.monitor->atoms()[a];
  const auto input = static_cast<std::size_t>(atom.index);
  const Range before = box.slot[static_cast<std::size_t>(system_.previous[input])];
  const bool free = before.nan || x.x[input].nan;  // either is missing: true
  if (!before.has_numbers()) {
    truth_[a] = 1;
    split_changes(number + 1, box, x);
    return;
  }
  InputRanges near = x;
  const Range reach{before.low - atom.value, before.high + atom.value, x.x[input].nan};
  if (free || narrow(near, atom.index, reach)) {
    truth_[a] = 1;
    split_changes(number + 1, box, free ? x : near);
  }
  const Range& range = x.x[input];
  const bool always_near =
      !range.has_numbers() || (range.high <= before.low + atom.value && range.low >= before.high - atom.value);
  if (!always_near) {
    truth_[a] = 0;
    split_changes(number + 1, box, x);
  }
}

void BoxStepper::split_options(std::size_t number, const MemoryBox& box, const InputRanges& x) {
  if (number == enumerated_.size()) {
    walk(0, 0, system_.parts[0].model->trees[0].root(), box, x);
    return;
  }
  const std::size_t c = enumerated_[number];
  const InputColumn& column = system_.columns[c];
  for (std::size_t o = 0; o < column.options.size(); ++o) {
    if (x.allowed[first_option_[c] + o] == 0) continue;
    InputRanges part = x;
    for (std::size_t other = 0; other < column.options.size(); ++other)
      if (other != o) part.allowed[first_option_[c] + other] = 0;
    if (narrow(part, column.inputs[0], Range::all())) split_options(number + 1, box, part);
  }
}

void BoxStepper::walk(std::size_t p, std::size_t t, std::int32_t node, const MemoryBox& box, const InputRanges& x) {
  if (exhausted()) return;
  const ModelPart& part = system_.parts[p];
  const Tree& tree = part.model->trees[t];
  if (node < 0) {
    leaf_[first_tree_[p] + t] = ~node;
    if (t + 1 < part.model->trees.size())
      walk(p, t + 1, part.model->trees[t + 1].root(), box, x);
    else if (p + 1 < system_.parts.size())
      walk(p + 1, 0, system_.parts[p + 1].model->trees[0].root(), box, x);
    else
      arrive(box, x);
    return;
  }
  ++work;
  std::size_t slot = part.first_slot;
  for (std::size_t before = 0; before < t; ++before) {
    const Tree& other = part.model->trees[before];
    slot += static_cast<std::size_t>(other.memory_size() +
                                     (other.form.output_order == OutputOrder::kFirst ? other.n_y : 0));
  }
  const auto i = static_cast<std::size_t>(node);
  const std::int32_t f = tree.feature[i];
  const bool missing_right = tree.missing_right[i] != 0;
  for (const bool right : {false, true}) {
    const Range side = right ? right_part(Range::all(), tree.threshold[i], missing_right)
                             : left_part(Range::all(), tree.threshold[i], missing_right);
    const std::int32_t child = right ? tree.right[i] : tree.left[i];
    if (f < tree.n_x) {
      InputRanges narrowed = x;
      if (narrow(narrowed, part.input[static_cast<std::size_t>(f)], side)) walk(p, t, child, box, narrowed);
    } else {
      MemoryBox narrowed = box;
      if (narrow(narrowed, slot + static_cast<std::size_t>(f - tree.n_x), side)) walk(p, t, child, narrowed, x);
    }
  }
}

// All leaves are known.
void BoxStepper::arrive(const MemoryBox& box, const InputRanges& x) {
  if (exhausted()) return;
  compute(box, x);
  if (is_ambiguous()) {
    if (halvings_left_ > 0 && halve(box, x)) return;
    ambiguous = true;
  }
  finish(box, x);
}

void BoxStepper::finish(const MemoryBox& box, const InputRanges& x) {
  for (std::size_t i = 0; i < system_.n_x(); ++i)
    if (system_.previous[i] >= 0) after_[static_cast<std::size_t>(system_.previous[i])] = {x.x[i], 0};
  choose(0, box, x);
}

// Every way in which the answers can make the atoms of one group true or false.
std::vector<std::vector<std::uint8_t>> BoxStepper::alternatives(const Group& group) const {
  std::vector<std::vector<std::uint8_t>> all;
  const auto add = [&](const std::function<bool(const Atom&)>& is_true) {
    std::vector<std::uint8_t> truth;
    for (const int a : group.atoms)
      truth.push_back(is_true(system_.monitor->atoms()[static_cast<std::size_t>(a)]) ? 1 : 0);
    if (std::find(all.begin(), all.end(), truth) == all.end()) all.push_back(std::move(truth));
  };
  if (group.kind == AtomKind::kEqual) {
    if (equal_ != 0) add([](const Atom&) { return true; });
    if (equal_ != 1) add([](const Atom&) { return false; });
  } else if (group.kind == AtomKind::kSays) {
    for (std::size_t k = 0; k < says_.size(); ++k)
      if (says_[k] != 0) add([&](const Atom& atom) { return atom.index == static_cast<int>(k); });
  } else {
    const Range range = answer_[0][static_cast<std::size_t>(group.index)];
    if (range.nan) add([](const Atom&) { return false; });
    if (range.has_numbers())
      for (std::size_t r = region_of(group.cuts, range.low); r <= region_of(group.cuts, range.high); ++r) {
        const Range part = meet({range.low, range.high, false}, region_range(group.cuts, r));
        add([&](const Atom& atom) { return compare_numbers(part.low, atom.compare, atom.value); });
      }
  }
  return all;
}

bool BoxStepper::is_ambiguous() const {
  return std::any_of(groups_.begin(), groups_.end(),
                     [&](const Group& group) { return alternatives(group).size() > 1; });
}

void BoxStepper::choose(std::size_t number, const MemoryBox& box, const InputRanges& x) {
  if (number == groups_.size()) {
    conclude(box, x);
    return;
  }
  ++work;
  const Group& group = groups_[number];
  for (const auto& truth : alternatives(group)) {
    for (std::size_t i = 0; i < truth.size(); ++i) truth_[static_cast<std::size_t>(group.atoms[i])] = truth[i];
    const std::vector<Range> before = answer_[0];
    if (group.kind == AtomKind::kSays) suppose_said(group, truth);
    choose(number + 1, box, x);
    answer_[0] = before;
    if (exhausted()) return;
  }
}

// Of one tree, the class that is said has exp(0) = 1 in the sum, whose terms are at most 1: so its probability is at
// least 1 / n, and that of another at most 1/2, rounding and all. Where one is not a number none is, and the first is
// said.
void BoxStepper::suppose_said(const Group& group, const std::vector<std::uint8_t>& truth) {
  const std::size_t n = answer_[0].size();
  if (system_.parts[0].model->trees.size() != 1) return;
  const auto class_of = [&](std::size_t i) {
    return static_cast<std::size_t>(system_.monitor->atoms()[static_cast<std::size_t>(group.atoms[i])].index);
  };
  const auto said = static_cast<std::size_t>(std::find(truth.begin(), truth.end(), 1) - truth.begin());
  std::vector<std::uint8_t> other(n, said < truth.size() ? 1 : 0);  // not said
  for (std::size_t i = 0; i < truth.size(); ++i) other[class_of(i)] = truth[i] == 0 ? 1 : 0;
  const bool first_said = other[0] == 0;  // perhaps
  for (std::size_t k = 0; k < n; ++k) {
    Range& p = answer_[0][k];
    p.nan = p.nan && first_said;
    if (other[k] != 0) p.high = std::min(p.high, 0.5F);
    if (said < truth.size() && k == class_of(said)) p.low = std::max(p.low, 1.0F / static_cast<float>(n));
    if (p.low > p.high) p.low = kBeyond, p.high = -kBeyond;  // only a result that is not a number is left
  }
}

void BoxStepper::conclude(const MemoryBox& box, const InputRanges& x) {
  MemoryBox next{{}, {}};
  for (const Value& value : after_) next.slot.push_back(value.range);
  if (system_.two()) {
    next.same.resize(after_.size());
    for (std::size_t i = 0; i < after_.size(); ++i) {
      next.same[i] = static_cast<int>(i);
      for (std::size_t j = 0; j < i && after_[i].name != 0; ++j)
        if (after_[j].name == after_[i].name) {
          next.same[i] = static_cast<int>(j);
          break;
        }
    }
  }
  cut(next, [&](const MemoryBox& piece, const RegionKey& region) {
    work += 1 + (piece.slot.size() + x.x.size()) / 4;
    for (const int a : cell_atoms_) {
      const Atom& atom = system_.monitor->atoms()[static_cast<std::size_t>(a)];
      const Range& range = piece.slot[static_cast<std::size_t>(atom.index)];
      truth_[static_cast<std::size_t>(a)] =
          range.has_numbers() && compare_numbers(range.low, atom.compare, atom.value) ? 1 : 0;
    }
    MonitorState state = state_;
    const Monitor::Outcome outcome = system_.monitor->step(truth_, state);
    if (outcome.allowed) (*found_)({box, x, leaf_, answer_[0], says_, piece, region, state, outcome.holds});
  });
}

void BoxStepper::cut(const MemoryBox& box, const std::function<void(const MemoryBox&, const RegionKey&)>& found) const {
  const auto next = [&](const auto& self, std::size_t slot, MemoryBox& piece, RegionKey& region) -> void {
    while (slot < box.slot.size() && system_.slots[slot].cuts.empty()) ++slot;
    if (slot == box.slot.size()) {
      found(piece, region);
      return;
    }
    const std::vector<float>& cuts = system_.slots[slot].cuts;
    const Range whole = piece.slot[slot];
    const auto visit = [&](std::size_t number, const Range& part) {
      MemoryBox narrowed = piece;
      if (!narrow(narrowed, slot, part)) return;
      region.push_back(static_cast<std::uint32_t>(number));
      self(self, slot + 1, narrowed, region);
      region.pop_back();
    };
    if (whole.has_numbers())
      for (std::size_t r = region_of(cuts, whole.low); r <= region_of(cuts, whole.high); ++r)
        visit(r, region_range(cuts, r));
    if (whole.nan) visit(cuts.size() + 1, only_missing(true));
  };
  MemoryBox piece = box;
  RegionKey region;
  next(next, 0, piece, region);
}

}  // namespace remede

#include "remede/verify/system.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "remede/base/error.h"
#include "remede/base/text.h"

namespace remede {
namespace {

constexpr float kEndless = std::numeric_limits<float>::infinity();

// The inputs of a model among those of the system, which grows by those it lacks.
std::vector<int> join_inputs(Schema& schema, const Model& model) {
  std::vector<int> input;
  for (const std::string& name : model.schema.inputs) {
    const auto found = std::find(schema.inputs.begin(), schema.inputs.end(), name);
    input.push_back(static_cast<int>(found - schema.inputs.begin()));
    const InputCode* const code = model.schema.code_of(name);
    if (found == schema.inputs.end()) {
      schema.inputs.push_back(name);
      std::erase_if(schema.codes, [&](const InputCode& stale) { return stale.input == name; });
      if (code != nullptr) schema.codes.push_back(*code);
      continue;
    }
    const InputCode* const known = schema.code_of(name);
    if ((code == nullptr) != (known == nullptr) || (code != nullptr && !(*code == *known)))
      fail("expected models that read column {} in the same way, got different codes of words", shown(name));
  }
  return input;
}

void add_tree_slots(const Tree& tree, std::vector<MemorySlot>& slots) {
  for (int k = 0; k < tree.n_m; ++k) {
    MemorySlot slot;
    if (tree.has_laws()) {
      const bool store = tree.cells.law[static_cast<std::size_t>(k)] == Law::kStore;
      slot.kind = store ? SlotKind::kStore : SlotKind::kAverage;
      slot.limit = {store ? 0.0F : -kLevelLimit, kLevelLimit, false};
    } else {
      const bool blends = tree.form.write_rule == WriteRule::kBlend;
      slot.kind = blends ? SlotKind::kBlended : SlotKind::kAdded;
      slot.limit = blends ? Range{-kBlendLimit, kBlendLimit, true} : Range{-kAddLimit, kAddLimit, true};
    }
    for (std::size_t i = 0; i < tree.feature.size(); ++i)
      if (tree.feature[i] == tree.n_x + k) slot.cuts.push_back(tree.threshold[i]);
    sort_cuts(slot.cuts);
    slots.push_back(slot);
  }
  if (tree.memory_size() > tree.n_m) slots.push_back({SlotKind::kFlag, {1.0F}, {0.0F, 1.0F, false}});
  if (tree.form.output_order == OutputOrder::kFirst)
    for (int o = 0; o < tree.n_y; ++o) slots.push_back({SlotKind::kOutput, {}, Range::all()});
}

bool speaks_of_past(const Formula& formula, int node) {
  const FormulaNode& n = formula.nodes[static_cast<std::size_t>(node)];
  return n.op >= Op::kPreviously ||
         std::any_of(n.child.begin(), n.child.end(), [&](int child) { return speaks_of_past(formula, child); });
}

void list_atoms(const Formula& formula, int node, std::vector<int>& atoms) {
  const FormulaNode& n = formula.nodes[static_cast<std::size_t>(node)];
  if (n.op == Op::kAtom) atoms.push_back(n.atom);
  for (const int child : n.child) list_atoms(formula, child, atoms);
}

// The top-level parts of a conjunction.
void split_conjunction(const Formula& formula, int node, std::vector<int>& parts) {
  const FormulaNode& n = formula.nodes[static_cast<std::size_t>(node)];
  if (n.op == Op::kAnd || n.op == Op::kAlways) {
    for (const int child : n.child) split_conjunction(formula, child, parts);
  } else {
    parts.push_back(node);
  }
}

// Truth of a formula about one column where every atom is decided.
bool true_of_option(const Formula& formula, const InputOption& option, const Range& range) {
  const Monitor monitor(formula, {});
  std::vector<std::uint8_t> truth;
  for (const Atom& atom : formula.atoms) {
    if (atom.kind == AtomKind::kWord)
      truth.push_back(atom.word.empty() ? option.missing : !option.missing && option.word == atom.word);
    else if (atom.kind == AtomKind::kMissing)
      truth.push_back(!range.has_numbers() ? 1 : 0);
    else
      truth.push_back(truth_on(range, atom.compare, atom.value) == 1 ? 1 : 0);
  }
  MonitorState state = monitor.start();
  return monitor.step(truth, state).holds;
}

// Of numbers: the pieces between the cuts that the formula allows, neighbours joined.
std::vector<InputOption> allowed_pieces(const Formula& formula, const InputColumn& column) {
  std::vector<float> cuts;
  for (const Atom& atom : formula.atoms)
    if (atom.kind == AtomKind::kInput) add_cuts(atom.compare, atom.value, cuts);
  sort_cuts(cuts);
  const Range missing{kEndless, -kEndless, true};
  std::vector<InputOption> pieces;
  bool may_miss = false;
  for (const InputOption& option : column.options) {
    if (option.range[0].nan && true_of_option(formula, option, missing)) may_miss = true;
    bool joined = false;
    for (std::size_t r = 0; r <= cuts.size(); ++r) {
      const Range piece = meet({option.range[0].low, option.range[0].high, false}, region_range(cuts, r));
      const bool allowed = piece.has_numbers() && true_of_option(formula, option, piece);
      if (allowed && joined)
        pieces.back().range[0].high = piece.high;
      else if (allowed)
        pieces.push_back({"", false, {piece}});
      joined = allowed;
    }
  }
  if (may_miss && !pieces.empty()) pieces[0].range[0].nan = true;
  if (may_miss && pieces.empty()) pieces.push_back({"", true, {missing}});
  return pieces;
}

// Takes an assumption about the values of one column at one step into the column. False: it is of another kind.
bool absorb(const Formula& formula, std::vector<InputColumn>& columns, const std::vector<int>& column_of) {
  if (speaks_of_past(formula, formula.root)) return false;
  int column = -1;
  for (const Atom& atom : formula.atoms) {
    if (atom.kind != AtomKind::kInput && atom.kind != AtomKind::kMissing && atom.kind != AtomKind::kWord) return false;
    const int of = atom.kind == AtomKind::kWord ? atom.index : column_of[static_cast<std::size_t>(atom.index)];
    if ((column >= 0 && of != column)) return false;
    column = of;
  }
  if (column < 0) return false;
  InputColumn& at = columns[static_cast<std::size_t>(column)];
  if (at.words) {
    if (std::any_of(formula.atoms.begin(), formula.atoms.end(),
                    [](const Atom& a) { return a.kind != AtomKind::kWord; }))
      return false;
    std::erase_if(at.options, [&](const InputOption& option) { return !true_of_option(formula, option, {}); });
  } else {
    at.options = allowed_pieces(formula, at);
  }
  if (at.options.empty()) fail("assumption: expected values of {} that are possible, got none", shown(at.name));
  return true;
}

}  // namespace

void add_cuts(Compare compare, float value, std::vector<float>& cuts) {
  const float next = std::nextafter(value, kEndless);
  if (compare == Compare::kAtLeast || compare == Compare::kBelow) cuts.push_back(value);
  if (compare == Compare::kAbove || compare == Compare::kAtMost) cuts.push_back(next);
  if (compare == Compare::kIs || compare == Compare::kIsNot) cuts.insert(cuts.end(), {value, next});
}

void sort_cuts(std::vector<float>& cuts) {
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
}

std::size_t region_of(const std::vector<float>& cuts, float v) {
  return static_cast<std::size_t>(std::upper_bound(cuts.begin(), cuts.end(), v) - cuts.begin());
}

Range region_range(const std::vector<float>& cuts, std::size_t region) {
  return {region == 0 ? -kEndless : cuts[region - 1],
          region == cuts.size() ? kEndless : std::nextafter(cuts[region], -kEndless), false};
}

int truth_on(const Range& range, Compare compare, float value) {
  if (!range.has_numbers()) return 0;
  std::vector<float> cuts;
  add_cuts(compare, value, cuts);
  const std::size_t first = region_of(cuts, range.low), last = region_of(cuts, range.high);
  const bool low = compare_numbers(range.low, compare, value), high = compare_numbers(range.high, compare, value);
  if (low != high || (last > first + 1)) return -1;
  return range.nan && low ? -1 : low ? 1 : 0;
}

bool cut_at_writes(CheckedSystem& system) {
  constexpr float kArguments[] = {-9.0F, -3.0F, -1.0F, -0.25F, 0.0F, 0.25F, 1.0F, 3.0F, 9.0F};
  constexpr std::size_t kMostCuts = 64;  // of one input
  for (const ModelPart& part : system.parts)
    for (const Tree& tree : part.model->trees) {
      const auto n_x = static_cast<std::size_t>(tree.n_x);
      const auto add_row = [&](float constant, const float* row) {
        const auto reads = std::count_if(row, row + n_x, [](float w) { return w != 0.0F; });
        const auto i = static_cast<std::size_t>(std::find_if(row, row + n_x, [](float w) { return w != 0.0F; }) - row);
        if (reads != 1) return;
        auto& cuts = system.extra_cuts[static_cast<std::size_t>(part.input[i])];
        for (const float argument : kArguments) {
          const float cut = (argument - constant) / row[i];
          if (std::isfinite(cut) && cuts.size() < kMostCuts) cuts.push_back(cut);
        }
      };
      for (std::size_t at = 0; at < tree.gate.size(); ++at)
        if (tree.gate[at] != 0)
          add_row(tree.form.write_bias ? tree.bias[at] : 0.0F,
                  tree.write.data() + at * static_cast<std::size_t>(tree.n_w()));
      for (std::size_t k = 0; k < tree.cells.law.size(); ++k) {
        add_row(tree.cells.bias[k], tree.cells.input.data() + k * n_x);
        add_row(tree.cells.tap[k], tree.cells.tap_input.data() + k * n_x);
      }
    }
  bool any = false;
  for (auto& cuts : system.extra_cuts) {
    sort_cuts(cuts);
    any = any || !cuts.empty();
  }
  return any;
}

namespace {

// Trees are walked one below the other: this keeps the walk from running out of stack.
void expect_walkable(const std::vector<const Model*>& models) {
  constexpr std::size_t kMostDepth = 10000;  // of all trees together
  std::size_t sum = 0;
  for (const Model* model : models)
    for (const Tree& tree : model->trees) {
      std::vector<std::size_t> depth(tree.feature.size(), 1);
      std::size_t most = 0;
      for (std::size_t i = 0; i < tree.feature.size(); ++i) {  // children stand behind their parents
        most = std::max(most, depth[i]);
        for (const std::int32_t child : {tree.left[i], tree.right[i]})
          if (child >= 0) depth[static_cast<std::size_t>(child)] = depth[i] + 1;
      }
      sum += most + 1;
    }
  if (sum > kMostDepth) fail("expected trees whose depths sum to at most {} to verify, got {}", kMostDepth, sum);
}

}  // namespace

CheckedSystem::CheckedSystem(std::vector<const Model*> models, const Formula& property,
                             const std::vector<Formula>& assumptions) {
  expect_walkable(models);
  schema = models[0]->schema;
  for (const Model* model : models) {
    ModelPart part{model, join_inputs(schema, *model), slots.size()};
    for (const Tree& tree : model->trees) add_tree_slots(tree, slots);
    parts.push_back(std::move(part));
  }
  columns = all_inputs(schema);
  for (int i = 0; i < schema.n_x(); ++i) column_of.push_back(column_of_input(columns, i));
  std::vector<Formula> watched;
  for (const Formula& assumption : assumptions) {
    std::vector<int> conjuncts;
    split_conjunction(assumption, assumption.root, conjuncts);
    for (const int node : conjuncts) {
      Formula part;  // only this part and its atoms
      std::vector<int> number(assumption.nodes.size(), -1);
      for (std::size_t i = 0; i <= static_cast<std::size_t>(node); ++i) {
        const FormulaNode& from = assumption.nodes[i];
        std::vector<int> child;
        for (const int c : from.child) child.push_back(number[static_cast<std::size_t>(c)]);
        std::vector<int> below;
        list_atoms(assumption, node, below);
        if (from.op == Op::kAtom && std::find(below.begin(), below.end(), from.atom) == below.end())
          number[i] = part.add(Op::kTrue, {});
        else
          number[i] = from.op == Op::kAtom ? part.add_atom(assumption.atoms[static_cast<std::size_t>(from.atom)])
                                           : part.add(from.op, child, from.count);
      }
      part.root = number[static_cast<std::size_t>(node)];
      assumed.push_back(part);
      if (!absorb(part, columns, column_of)) watched.push_back(part);
    }
  }
  monitor = std::make_unique<Monitor>(property, watched);
  input_cuts.resize(n_x());
  extra_cuts.resize(n_x());
  previous.assign(n_x(), -1);
  for (const Atom& atom : monitor->atoms()) {
    const auto i = static_cast<std::size_t>(atom.index);
    if (atom.kind == AtomKind::kInput) add_cuts(atom.compare, atom.value, input_cuts[i]);
    if (atom.kind == AtomKind::kCell) add_cuts(atom.compare, atom.value, slots[i].cuts);
    if (atom.kind == AtomKind::kChange && previous[i] < 0) {
      previous[i] = static_cast<int>(slots.size());
      slots.push_back({SlotKind::kPrevious, {}, Range::finite()});
    }
  }
  for (auto& cuts : input_cuts) sort_cuts(cuts);
  for (MemorySlot& slot : slots) sort_cuts(slot.cuts);
}

}  // namespace remede

#include "remede/simplify/tidy.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>

#include <fmt/format.h>

#include "remede/simplify/edit.h"

namespace remede {
namespace {

std::size_t leaf_cell(const Tree& tree, std::size_t leaf, int cell) {
  return leaf * static_cast<std::size_t>(tree.n_m) + static_cast<std::size_t>(cell);
}

// Feature f as the arithmetic of the leaf sees it.
Range seen_at(const Tree& tree, const Reach& reach, std::size_t leaf, int f) {
  const auto number = static_cast<int>(leaf);
  return f < tree.n_x ? reach.input_at(number, f) : reach.cell_at(number, f - tree.n_x);
}

bool term_idle(float weight, const Range& v, const Reach& reach) {
  return v.is_zero() || (weight == 0.0F && (reach.zero_is_none() || (!v.nan && !v.has_infinity())));
}

bool write_term_idle(const Tree& tree, const Reach& reach, std::size_t leaf, int cell, int f) {
  const std::size_t at = leaf_cell(tree, leaf, cell);
  if (tree.gate[at] == 0 || !reach.leaf_possible(static_cast<int>(leaf))) return true;
  return term_idle(tree.write[at * static_cast<std::size_t>(tree.n_w()) + static_cast<std::size_t>(f)],
                   seen_at(tree, reach, leaf, f), reach);
}

bool linear_term_idle(const Tree& tree, const Reach& reach, std::size_t leaf, int output, int f) {
  if (!reach.leaf_possible(static_cast<int>(leaf))) return true;
  const std::size_t row = leaf * static_cast<std::size_t>(tree.n_y) + static_cast<std::size_t>(output);
  const float constant = tree.output[row];
  // The first-order form adds the sum to a running output that is never -0, so that the sign of a zero is lost anyway.
  const bool starts_at_minus_zero = constant == 0.0F && std::signbit(constant);
  if (starts_at_minus_zero && tree.form.output_order == OutputOrder::kZero && !reach.zero_is_none()) return false;
  return term_idle(tree.linear[row * static_cast<std::size_t>(tree.n_v()) + static_cast<std::size_t>(f)],
                   seen_at(tree, reach, leaf, f), reach);
}

bool any_weight(const std::vector<float>& values, std::size_t first, std::size_t stride) {
  for (std::size_t i = first; i < values.size(); i += stride)
    if (values[i] != 0.0F) return true;
  return false;
}

// Cells with laws: a term whose weight is zero is no term, so that only the weights decide what is read.
bool law_answer_reads(const Tree& tree, int column) {
  const auto width = static_cast<std::size_t>(tree.n_x + 2 * tree.n_m), at = static_cast<std::size_t>(column);
  return any_weight(tree.cells.linear, at, width) || any_weight(tree.cells.leaf_linear, at, width);
}

bool is_linear(const Tree& tree) { return tree.form.leaf_output == LeafOutput::kLinear; }

// Does an answer read feature f: an input, or a cell?
bool linear_reads(const Tree& tree, const Reach& reach, int f) {
  if (tree.has_laws()) return law_answer_reads(tree, f) || (f >= tree.n_x && law_answer_reads(tree, f + tree.n_m));
  if (!is_linear(tree)) return false;
  for (std::size_t leaf = 0; leaf < static_cast<std::size_t>(tree.leaf_count()); ++leaf)
    for (int o = 0; o < tree.n_y; ++o)
      if (!linear_term_idle(tree, reach, leaf, o, f)) return true;
  return false;
}

// Does any write of the cell read feature f?
bool write_reads(const Tree& tree, const Reach& reach, int cell, int f) {
  if (tree.has_laws()) {
    const auto k = static_cast<std::size_t>(cell), n_x = static_cast<std::size_t>(tree.n_x);
    const auto at = static_cast<std::size_t>(f);
    if (f >= tree.n_x) return tree.cells.earlier[k * static_cast<std::size_t>(tree.n_m) + at - n_x] != 0.0F;
    return tree.cells.input[k * n_x + at] != 0.0F || tree.cells.tap_input[k * n_x + at] != 0.0F;
  }
  if (f >= tree.n_w()) return false;
  for (std::size_t leaf = 0; leaf < static_cast<std::size_t>(tree.leaf_count()); ++leaf)
    if (!write_term_idle(tree, reach, leaf, cell, f)) return true;
  return false;
}

bool test_reads(const Tree& tree, int f) {
  return std::find(tree.feature.begin(), tree.feature.end(), f) != tree.feature.end();
}

// (n_m) the cells whose value can matter.
std::vector<bool> live_cells(const Tree& tree, const Reach& reach) {
  std::vector<bool> live(static_cast<std::size_t>(tree.n_m));
  std::vector<int> to_follow;
  const auto mark = [&](int k) {
    live[static_cast<std::size_t>(k)] = true;
    to_follow.push_back(k);
  };
  for (int k = 0; k < tree.n_m; ++k)
    if (test_reads(tree, tree.n_x + k) || linear_reads(tree, reach, tree.n_x + k)) mark(k);
  while (!to_follow.empty()) {
    const int reader = to_follow.back();
    to_follow.pop_back();
    for (int k = 0; k < tree.n_m; ++k)
      if (!live[static_cast<std::size_t>(k)] && write_reads(tree, reach, reader, tree.n_x + k)) mark(k);
  }
  return live;
}

bool input_used(const Tree& tree, const Reach& reach, int input) {
  if (test_reads(tree, input) || linear_reads(tree, reach, input)) return true;
  for (int k = 0; k < tree.n_m; ++k)
    if (write_reads(tree, reach, k, input)) return true;
  return false;
}

std::vector<int> all_of(int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// Cuts the memory's part off the rows of the writes.
void read_inputs_only(Tree& tree) {
  std::vector<float> rows;
  const auto old_width = static_cast<std::ptrdiff_t>(tree.n_w());
  for (auto row = tree.write.begin(); row != tree.write.end(); row += old_width)
    rows.insert(rows.end(), row, row + tree.n_x);
  tree.write = std::move(rows);
  tree.form.write_reads = WriteReads::kInputs;
}

}  // namespace

void canonicalise(Tree& tree) {
  Cells& cells = tree.cells;
  for (std::vector<float>* weights : {&cells.input, &cells.earlier, &cells.tap_input, &cells.tap_level, &cells.tap_leaf,
                                      &cells.linear, &cells.leaf_linear})
    for (float& weight : *weights)
      if (weight == 0.0F) weight = 0.0F;  // the plus sign
  const auto n_w = static_cast<std::size_t>(tree.n_w());
  for (std::size_t at = 0; at < tree.gate.size(); ++at) {
    const bool open = tree.gate[at] != 0;
    const auto settle = [open](float& value) {
      if (!open || value == 0.0F) value = 0.0F;
    };
    for (std::size_t i = 0; i < n_w; ++i) settle(tree.write[at * n_w + i]);
    if (!tree.bias.empty()) settle(tree.bias[at]);
    if (!tree.blend.empty()) settle(tree.blend[at]);
  }
}

bool close_idle_writes(Draft& draft, int t, const Reach& reach) {
  Tree& tree = draft.tree(t);
  if (tree.has_laws()) return false;
  bool changed = false;
  for (int k = 0; k < tree.n_m; ++k) {
    int closed = 0;
    for (std::size_t leaf = 0; leaf < static_cast<std::size_t>(tree.leaf_count()); ++leaf) {
      std::uint8_t& gate = tree.gate[leaf_cell(tree, leaf, k)];
      if (gate == 0 || !reach.write_idle(static_cast<int>(leaf), k)) continue;
      gate = 0;
      if (reach.leaf_possible(static_cast<int>(leaf))) ++closed;
    }
    if (closed == 0) continue;
    draft.note(
        Cause::kIdle, t,
        fmt::format("{} of cell {}", closed == 1 ? "a write" : fmt::format("{} writes", closed), draft.cell(t, k)),
        "the cell is the same before and after", 0);
    changed = true;
  }
  if (changed) canonicalise(tree);
  return changed;
}

// A tap that every leaf holds closed or open has no use for its own numbers.
static bool zero_idle_taps(Draft& draft, int t) {
  Tree& tree = draft.tree(t);
  Cells& cells = tree.cells;
  const auto n_x = static_cast<std::size_t>(tree.n_x), n_m = static_cast<std::size_t>(tree.n_m);
  bool changed = false;
  for (std::size_t k = 0; k < n_m; ++k) {
    bool fixed = true;
    for (std::size_t at = k; at < cells.tap_leaf.size(); at += n_m) fixed = fixed && std::isinf(cells.tap_leaf[at]);
    const std::span<float> inputs = std::span(cells.tap_input).subspan(k * n_x, n_x);
    const bool any = cells.tap[k] != 0.0F || cells.tap_level[k] != 0.0F ||
                     std::any_of(inputs.begin(), inputs.end(), [](float w) { return w != 0.0F; });
    if (!fixed || !any) continue;
    cells.tap[k] = cells.tap_level[k] = 0.0F;
    std::fill(inputs.begin(), inputs.end(), 0.0F);
    draft.note(Cause::kIdle, t, fmt::format("the tap of {}", draft.cell(t, static_cast<int>(k))),
               "every leaf holds it closed or open", 0);
    changed = true;
  }
  return changed;
}

bool zero_idle_weights(Draft& draft, int t, const Reach& reach) {
  Tree& tree = draft.tree(t);
  if (tree.has_laws()) return zero_idle_taps(draft, t);
  int zeroed = 0;
  const auto zero = [&zeroed](float& weight) {
    if (weight == 0.0F) return;
    weight = 0.0F;
    ++zeroed;
  };
  const auto n_w = static_cast<std::size_t>(tree.n_w());
  const auto n_v = static_cast<std::size_t>(tree.n_v());
  for (std::size_t leaf = 0; leaf < static_cast<std::size_t>(tree.leaf_count()); ++leaf) {
    for (int k = 0; k < tree.n_m; ++k)
      for (int f = 0; f < tree.n_w(); ++f) {
        float& weight = tree.write[leaf_cell(tree, leaf, k) * n_w + static_cast<std::size_t>(f)];
        if (weight != 0.0F && write_term_idle(tree, reach, leaf, k, f)) zero(weight);
      }
    for (int o = 0; is_linear(tree) && o < tree.n_y; ++o)
      for (int f = 0; f < tree.n_v(); ++f) {
        const std::size_t row = leaf * static_cast<std::size_t>(tree.n_y) + static_cast<std::size_t>(o);
        float& weight = tree.linear[row * n_v + static_cast<std::size_t>(f)];
        if (weight != 0.0F && linear_term_idle(tree, reach, leaf, o, f)) zero(weight);
      }
  }
  if (zeroed == 0) return false;
  draft.note(Cause::kIdle, t, zeroed == 1 ? "a weight" : fmt::format("{} weights", zeroed),
             "what they weigh is always 0", 0);
  return true;
}

bool drop_unread_cells(Draft& draft, int t, const Reach& reach) {
  const std::vector<bool> live = live_cells(draft.tree(t), reach);
  std::vector<int> kept;
  std::vector<int> kept_names;
  for (int k = 0; k < draft.tree(t).n_m; ++k) {
    if (live[static_cast<std::size_t>(k)]) {
      kept.push_back(k);
      kept_names.push_back(draft.cells[static_cast<std::size_t>(t)][static_cast<std::size_t>(k)]);
    } else {
      draft.note(Cause::kUnread, t, fmt::format("cell {}", draft.cell(t, k)),
                 "no test, linear leaf or kept cell reads it", 0);
    }
  }
  if (kept.size() == live.size()) return false;
  draft.tree(t) = select_features(draft.tree(t), all_of(draft.tree(t).n_x), kept);
  draft.cells[static_cast<std::size_t>(t)] = kept_names;
  return true;
}

// A leaf's own weights go where they are all zero; without cells and weights the tree is an ordinary one.
static bool lower_laws(Draft& draft, int t) {
  Tree& tree = draft.tree(t);
  Cells& cells = tree.cells;
  bool changed = false;
  if (!cells.leaf_linear.empty() && !any_weight(cells.leaf_linear, 0, 1)) {
    cells.leaf_linear.clear();
    draft.note(Cause::kForm, t, "the leaves' own weights", "they are 0 everywhere", 0);
    changed = true;
  }
  if (tree.n_m == 0 && cells.leaf_linear.empty() && !any_weight(cells.linear, 0, 1)) {
    cells = {};
    tree.form.memory = Memory::kWrites;
    changed = true;
  }
  return changed;
}

bool lower_form(Draft& draft, int t, const Reach& reach) {
  Tree& tree = draft.tree(t);
  if (tree.has_laws()) return lower_laws(draft, t);
  const LeafForm before = tree.form;
  const auto lower = [&](const char* what, const char* why) { draft.note(Cause::kForm, t, what, why, 0); };
  if (tree.n_m == 0) {
    const bool had_rule =
        before.write_rule != WriteRule::kAdd || before.write_reads != WriteReads::kInputs || before.write_bias;
    if (had_rule) lower("the options of the writes", "there is no cell to write");
    tree.form.write_rule = WriteRule::kAdd;
    tree.form.write_reads = WriteReads::kInputs;
    tree.form.write_bias = false;
  }
  if (tree.form.write_bias && std::all_of(tree.bias.begin(), tree.bias.end(), [](float b) { return b == 0.0F; })) {
    lower("the bias of the writes", "it is 0 everywhere");
    tree.form.write_bias = false;
    tree.bias.clear();
  }
  if (tree.form.write_reads == WriteReads::kInputsAndMemory) {
    bool used = false;
    for (int k = 0; k < tree.n_m; ++k)
      for (int other = 0; other < tree.n_m; ++other) used = used || write_reads(tree, reach, k, tree.n_x + other);
    if (!used) {
      lower("the memory as something writes read", "no write reads it");
      read_inputs_only(tree);
    }
  }
  if (is_linear(tree)) {
    bool used = false;
    for (int f = 0; f < tree.n_v(); ++f) used = used || linear_reads(tree, reach, f);
    if (!used) {
      lower("the linear part of the leaves", "its weights are 0 everywhere");
      tree.linear.clear();
      tree.form.leaf_output = LeafOutput::kConstant;
    }
  }
  return tree.form != before;
}

bool drop_unused_inputs(Draft& draft, const std::vector<Reach>& reach) {
  Model& model = draft.model;
  std::vector<int> kept;
  for (int i = 0; i < model.n_x(); ++i)
    for (std::size_t t = 0; t < model.trees.size(); ++t)
      if (input_used(model.trees[t], reach[t], i)) {
        kept.push_back(i);
        break;
      }
  if (kept.empty() && model.n_x() > 0)
    kept.push_back(0);  // data without any column could not say how many steps there are
  if (static_cast<int>(kept.size()) == model.n_x()) return false;
  std::vector<bool> is_kept(static_cast<std::size_t>(model.n_x()));
  for (const int i : kept) is_kept[static_cast<std::size_t>(i)] = true;
  for (std::size_t i = 0; i < is_kept.size(); ++i)
    if (!is_kept[i])
      draft.removed.push_back({Cause::kUnused, fmt::format("input {}", model.schema.inputs[i]),
                               "no test, write or linear leaf uses it", 0});
  for (Tree& tree : model.trees) tree = select_features(tree, kept, all_of(tree.n_m));
  std::vector<std::string> names;
  std::vector<float> fill;
  std::vector<SeenRange> ranges;
  std::vector<int> numbers;
  for (const int i : kept) {
    names.push_back(model.schema.inputs[static_cast<std::size_t>(i)]);
    fill.push_back(model.fill[static_cast<std::size_t>(i)]);
    if (!model.input_range.empty()) ranges.push_back(model.input_range[static_cast<std::size_t>(i)]);
    numbers.push_back(draft.inputs[static_cast<std::size_t>(i)]);
  }
  model.schema.inputs = std::move(names);
  model.fill = std::move(fill);
  model.input_range = std::move(ranges);
  draft.inputs = std::move(numbers);
  return true;
}

}  // namespace remede

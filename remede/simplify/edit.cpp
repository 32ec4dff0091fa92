#include "remede/simplify/edit.h"

#include <tuple>
#include <utility>

namespace remede {
namespace {

// Copies rows `from` of `values`, each `width` wide.
template <typename T>
std::vector<T> take_rows(const std::vector<T>& values, std::size_t width, const std::vector<std::int32_t>& from) {
  std::vector<T> rows;
  if (values.empty()) return rows;
  rows.reserve(from.size() * width);
  for (const std::int32_t row : from) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(row) * width);
    rows.insert(rows.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
  }
  return rows;
}

void take_leaves(Tree& tree, const std::vector<std::int32_t>& from) {
  const auto n_m = static_cast<std::size_t>(tree.n_m);
  const auto n_y = static_cast<std::size_t>(tree.n_y);
  tree.output = take_rows(tree.output, n_y, from);
  tree.linear = take_rows(tree.linear, n_y * static_cast<std::size_t>(tree.n_v()), from);
  tree.gate = take_rows(tree.gate, n_m, from);
  tree.write = take_rows(tree.write, n_m * static_cast<std::size_t>(tree.n_w()), from);
  tree.bias = take_rows(tree.bias, n_m, from);
  tree.blend = take_rows(tree.blend, n_m, from);
  tree.cells.tap_leaf = take_rows(tree.cells.tap_leaf, n_m, from);
  tree.cells.leaf_linear =
      take_rows(tree.cells.leaf_linear, n_y * (static_cast<std::size_t>(tree.n_x) + 2 * n_m), from);
}

void take_inner(Tree& tree, const std::vector<std::int32_t>& from) {
  tree.feature = take_rows(tree.feature, 1, from);
  tree.threshold = take_rows(tree.threshold, 1, from);
  tree.missing_right = take_rows(tree.missing_right, 1, from);
  tree.left = take_rows(tree.left, 1, from);
  tree.right = take_rows(tree.right, 1, from);
}

// For each new column its number in the old rows of `old_inputs` inputs and then cells.
std::vector<std::size_t> columns(int old_inputs, std::span<const int> inputs, std::span<const int> cells) {
  std::vector<std::size_t> from;
  for (const int input : inputs) from.push_back(static_cast<std::size_t>(input));
  for (const int cell : cells) from.push_back(static_cast<std::size_t>(old_inputs + cell));
  return from;
}

// The columns `from` of every row of `values`, each `width` wide.
std::vector<float> take_columns(const std::vector<float>& values, std::size_t width,
                                const std::vector<std::size_t>& from) {
  std::vector<float> taken;
  for (std::size_t row = 0; width > 0 && row < values.size() / width; ++row)
    for (const std::size_t column : from) taken.push_back(values[row * width + column]);
  return taken;
}

// Names and ranges of the cells that stay.
void take_notes(Tree& tree, const std::vector<std::int32_t>& cells) {
  tree.cell_name = take_rows(tree.cell_name, 1, cells);
  tree.level_range = take_rows(tree.level_range, 1, cells);
  tree.share_range = take_rows(tree.share_range, 1, cells);
}

// REQUIRES: cells rise, so that what is earlier stays earlier.
Cells take_cells(const Tree& tree, std::span<const int> inputs, std::span<const int> kept) {
  const Cells& all = tree.cells;
  const auto n_x = static_cast<std::size_t>(tree.n_x), n_m = static_cast<std::size_t>(tree.n_m);
  const std::vector<std::int32_t> rows(kept.begin(), kept.end());
  const std::vector<std::size_t> x = columns(tree.n_x, inputs, {}), m = columns(0, {}, kept);
  std::vector<std::size_t> answer = columns(tree.n_x, inputs, kept);
  for (const std::size_t k : m) answer.push_back(n_x + n_m + k);
  Cells cells;
  cells.law = take_rows(all.law, 1, rows);
  cells.bias = take_rows(all.bias, 1, rows);
  cells.input = take_columns(take_rows(all.input, n_x, rows), n_x, x);
  cells.earlier = take_columns(take_rows(all.earlier, n_m, rows), n_m, m);
  cells.tap = take_rows(all.tap, 1, rows);
  cells.tap_input = take_columns(take_rows(all.tap_input, n_x, rows), n_x, x);
  cells.tap_level = take_rows(all.tap_level, 1, rows);
  cells.tap_leaf = take_columns(all.tap_leaf, n_m, m);
  cells.first = take_rows(all.first, 1, rows);
  cells.linear = take_columns(all.linear, n_x + 2 * n_m, answer);
  cells.leaf_linear = take_columns(all.leaf_linear, n_x + 2 * n_m, answer);
  return cells;
}

}  // namespace

void append_inner(const Tree& tree, std::int32_t child, std::vector<std::int32_t>& nodes) {
  child = resolve(tree, child);
  if (child < 0) return;
  nodes.push_back(child);
  append_inner(tree, tree.left[static_cast<std::size_t>(child)], nodes);
  append_inner(tree, tree.right[static_cast<std::size_t>(child)], nodes);
}

void append_leaves(const Tree& tree, std::int32_t child, std::vector<std::int32_t>& leaves) {
  child = resolve(tree, child);
  if (child < 0) {
    leaves.push_back(~child);
    return;
  }
  append_leaves(tree, tree.left[static_cast<std::size_t>(child)], leaves);
  append_leaves(tree, tree.right[static_cast<std::size_t>(child)], leaves);
}

int subtree_size(const Tree& tree, std::int32_t child) {
  child = resolve(tree, child);
  if (child < 0) return 1;
  return 1 + subtree_size(tree, tree.left[static_cast<std::size_t>(child)]) +
         subtree_size(tree, tree.right[static_cast<std::size_t>(child)]);
}

Compacted compact(Tree& tree) {
  std::vector<std::int32_t> inner;
  Compacted result;
  append_inner(tree, tree.root(), inner);
  append_leaves(tree, tree.root(), result.leaf);
  std::vector<std::int32_t> new_inner(static_cast<std::size_t>(tree.inner_count()));
  std::vector<std::int32_t> new_leaf(static_cast<std::size_t>(tree.leaf_count()));
  for (std::size_t i = 0; i < inner.size(); ++i)
    new_inner[static_cast<std::size_t>(inner[i])] = static_cast<std::int32_t>(i);
  for (std::size_t i = 0; i < result.leaf.size(); ++i)
    new_leaf[static_cast<std::size_t>(result.leaf[i])] = static_cast<std::int32_t>(i);
  const auto renumbered = [&](std::int32_t child) {
    child = resolve(tree, child);
    return child >= 0 ? new_inner[static_cast<std::size_t>(child)] : ~new_leaf[static_cast<std::size_t>(~child)];
  };
  std::vector<std::pair<std::int32_t, std::int32_t>> children;
  children.reserve(inner.size());
  for (const std::int32_t i : inner)
    children.emplace_back(renumbered(tree.left[static_cast<std::size_t>(i)]),
                          renumbered(tree.right[static_cast<std::size_t>(i)]));
  take_inner(tree, inner);
  take_leaves(tree, result.leaf);
  for (std::size_t i = 0; i < children.size(); ++i) std::tie(tree.left[i], tree.right[i]) = children[i];
  return result;
}

Tree select_features(const Tree& tree, std::span<const int> inputs, std::span<const int> cells) {
  Tree result = tree;
  result.n_x = static_cast<int>(inputs.size());
  result.n_m = static_cast<int>(cells.size());
  const std::vector<std::size_t> v = columns(tree.n_x, inputs, cells);
  std::vector<std::int32_t> new_feature(static_cast<std::size_t>(tree.n_v()), 0);
  for (std::size_t i = 0; i < v.size(); ++i) new_feature[v[i]] = static_cast<std::int32_t>(i);
  for (std::int32_t& feature : result.feature) feature = new_feature[static_cast<std::size_t>(feature)];

  take_notes(result, {cells.begin(), cells.end()});
  if (tree.has_laws()) {
    result.cells = take_cells(tree, inputs, cells);
    return result;
  }
  const bool reads_memory = tree.form.write_reads == WriteReads::kInputsAndMemory;
  const std::vector<std::size_t> w = columns(tree.n_x, inputs, reads_memory ? cells : std::span<const int>());
  result.linear.clear();
  result.gate.clear();
  result.write.clear();
  result.bias.clear();
  result.blend.clear();
  const auto n_v = static_cast<std::size_t>(tree.n_v());
  const auto n_w = static_cast<std::size_t>(tree.n_w());
  if (!tree.linear.empty())
    for (std::size_t row = 0; row < tree.output.size(); ++row)
      for (const std::size_t column : v) result.linear.push_back(tree.linear[row * n_v + column]);
  for (std::size_t leaf = 0; leaf < static_cast<std::size_t>(tree.leaf_count()); ++leaf)
    for (const int cell : cells) {
      const std::size_t at = leaf * static_cast<std::size_t>(tree.n_m) + static_cast<std::size_t>(cell);
      result.gate.push_back(tree.gate[at]);
      if (!tree.bias.empty()) result.bias.push_back(tree.bias[at]);
      if (!tree.blend.empty()) result.blend.push_back(tree.blend[at]);
      for (const std::size_t column : w) result.write.push_back(tree.write[at * n_w + column]);
    }
  return result;
}

}  // namespace remede

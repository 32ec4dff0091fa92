// Where the parameters of a leaf begin in the arrays of a Tree.
#pragma once

#include <cstddef>
#include <limits>

#include "remede/model/tree.h"

namespace remede {

// Row of (leaf, cell) in gate, bias and blend, and times n_w in write.
inline std::size_t cell_row(const Tree& tree, int leaf, int k) {
  return static_cast<std::size_t>(leaf) * static_cast<std::size_t>(tree.n_m) + static_cast<std::size_t>(k);
}

// Row of (leaf, output) in output, and times n_v in linear.
inline std::size_t output_row(const Tree& tree, int leaf, int o) {
  return static_cast<std::size_t>(leaf) * static_cast<std::size_t>(tree.n_y) + static_cast<std::size_t>(o);
}

// Index of (leaf, cell, feature) in write, and of (leaf, output, feature) in linear.
inline std::size_t write_at(const Tree& tree, int leaf, int k, int feature) {
  return cell_row(tree, leaf, k) * static_cast<std::size_t>(tree.n_w()) + static_cast<std::size_t>(feature);
}
inline std::size_t linear_at(const Tree& tree, int leaf, int o, int feature) {
  return output_row(tree, leaf, o) * static_cast<std::size_t>(tree.n_v()) + static_cast<std::size_t>(feature);
}

// The weight itself; 0 where the form has none.
inline float write_weight(const Tree& tree, int leaf, int k, int feature) {
  return !tree.has_laws() && feature < tree.n_w() ? tree.write[write_at(tree, leaf, k, feature)] : 0.0F;
}
inline float linear_weight(const Tree& tree, int leaf, int o, int feature) {
  return tree.linear.empty() ? 0.0F : tree.linear[linear_at(tree, leaf, o, feature)];
}

// Cells with laws: the weight of column c (inputs, outputs, levels) in answer o of a leaf, the shared one and its own.
inline float law_answer_weight(const Tree& tree, int leaf, int o, int column) {
  const auto width = static_cast<std::size_t>(tree.n_x + 2 * tree.n_m), c = static_cast<std::size_t>(column);
  const Cells& cells = tree.cells;
  const float own = cells.leaf_linear.empty() ? 0.0F : cells.leaf_linear[output_row(tree, leaf, o) * width + c];
  return cells.linear[static_cast<std::size_t>(o) * width + c] + own;
}

// Does answer o of the leaf use the feature (of a cell: what it gives out, or its level)?
inline bool answer_uses(const Tree& tree, int leaf, int o, int feature) {
  if (!tree.has_laws()) return linear_weight(tree, leaf, o, feature) != 0;
  if (law_answer_weight(tree, leaf, o, feature) != 0) return true;
  return feature >= tree.n_x && law_answer_weight(tree, leaf, o, feature + tree.n_m) != 0;
}

// Does the law of cell k use the feature, in what comes in or in its tap? Its own level counts where the tap reads it.
inline bool law_uses(const Tree& tree, int k, int feature) {
  const Cells& c = tree.cells;
  const auto cell = static_cast<std::size_t>(k), n_x = static_cast<std::size_t>(tree.n_x);
  if (feature < tree.n_x) {
    const std::size_t at = cell * n_x + static_cast<std::size_t>(feature);
    return c.input[at] != 0 || c.tap_input[at] != 0;
  }
  const auto other = static_cast<std::size_t>(feature - tree.n_x);
  if (other == cell) return c.tap_level[cell] != 0;
  return c.earlier[cell * static_cast<std::size_t>(tree.n_m) + other] != 0;
}

// Does a step that reaches the leaf change cell k, whatever it holds? An average behind a closed tap stays as it is.
inline bool moves_cell(const Tree& tree, int leaf, int k) {
  const std::size_t row = cell_row(tree, leaf, k);
  if (tree.has_laws())
    return tree.cells.law[static_cast<std::size_t>(k)] == Law::kStore ||
           tree.cells.tap_leaf[row] != -std::numeric_limits<float>::infinity();
  return tree.gate[row] != 0 && (tree.blend.empty() || tree.blend[row] > 0);
}

}  // namespace remede

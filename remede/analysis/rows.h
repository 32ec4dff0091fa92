// Where the parameters of a leaf begin in the arrays of a Tree.
#pragma once

#include <cstddef>

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
  return feature < tree.n_w() ? tree.write[write_at(tree, leaf, k, feature)] : 0.0F;
}
inline float linear_weight(const Tree& tree, int leaf, int o, int feature) {
  return tree.linear.empty() ? 0.0F : tree.linear[linear_at(tree, leaf, o, feature)];
}

}  // namespace remede

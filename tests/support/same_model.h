// Equality to the last bit: -0 differs from 0.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "remede/model/model.h"

namespace remede::test {

template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

inline bool same_cells(const Cells& a, const Cells& b) {
  return a.law == b.law && same_bits(a.bias, b.bias) && same_bits(a.input, b.input) &&
         same_bits(a.earlier, b.earlier) && same_bits(a.tap, b.tap) && same_bits(a.tap_input, b.tap_input) &&
         same_bits(a.tap_level, b.tap_level) && same_bits(a.tap_leaf, b.tap_leaf) && a.first == b.first &&
         same_bits(a.linear, b.linear) && same_bits(a.leaf_linear, b.leaf_linear);
}

inline bool same_tree(const Tree& a, const Tree& b) {
  return a.n_x == b.n_x && a.n_m == b.n_m && a.n_y == b.n_y && a.form == b.form && a.feature == b.feature &&
         same_bits(a.threshold, b.threshold) && a.missing_right == b.missing_right && a.left == b.left &&
         a.right == b.right && same_bits(a.output, b.output) && same_bits(a.linear, b.linear) && a.gate == b.gate &&
         same_bits(a.write, b.write) && same_bits(a.bias, b.bias) && same_bits(a.blend, b.blend) &&
         same_cells(a.cells, b.cells) && a.cell_name == b.cell_name && a.level_range == b.level_range &&
         a.share_range == b.share_range;
}

inline bool same_schema(const Schema& a, const Schema& b) {
  return a.task == b.task && a.inputs == b.inputs && a.targets == b.targets && a.classes == b.classes && a.id == b.id &&
         a.time == b.time;
}

inline bool same_model(const Model& a, const Model& b) {
  if (!same_schema(a.schema, b.schema) || !same_bits(a.fill, b.fill) || a.input_range != b.input_range ||
      a.trees.size() != b.trees.size())
    return false;
  for (std::size_t t = 0; t < a.trees.size(); ++t)
    if (!same_tree(a.trees[t], b.trees[t])) return false;
  return a.training.settings == b.training.settings && same_bits(a.training.training_loss, b.training.training_loss) &&
         same_bits(a.training.validation_loss, b.training.validation_loss);
}

}  // namespace remede::test

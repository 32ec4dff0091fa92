#include "remede/model/cells.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "remede/base/error.h"
#include "remede/model/tree.h"

namespace remede {
namespace {

constexpr int kTogether = 8;  // weights that are looked at in one go

// Whether all of them are zeros, of either sign.
bool are_zeros(const float* weights) {
  std::uint64_t pairs[kTogether / 2], any = 0;
  std::memcpy(pairs, weights, sizeof pairs);
  for (const std::uint64_t pair : pairs) any |= pair;
  return (any & 0x7fffffff7fffffffU) == 0;
}

// sum + the terms of row . v whose weight is not zero. Most are where there are many cells: they are passed over
// together.
template <typename Values>
float add_terms(float sum, const float* row, const Values& v, int count) {
  int i = 0;
  const auto add = [&] {
    if (row[i] != 0.0F) sum = sum + row[i] * v[i];
  };
  while (i + kTogether <= count) {
    if (are_zeros(row + i)) {
      i += kTogether;
      continue;
    }
    for (const int end = i + kTogether; i < end; ++i) add();
  }
  for (; i < count; ++i) add();
  return sum;
}

const float* row_of(const std::vector<float>& array, std::size_t row, int size) {
  return array.data() + row * static_cast<std::size_t>(size);
}

template <typename T>
void check_cell_array(const std::vector<T>& array, std::size_t expected, const char* what, const std::string& where) {
  if (array.size() != expected) fail("{}: expected {} values of cells.{}, got {}", where, expected, what, array.size());
}

void check_cell_numbers(const std::vector<float>& array, const char* what, const std::string& where,
                        bool may_be_infinite = false) {
  for (std::size_t i = 0; i < array.size(); ++i)
    if (std::isnan(array[i]) || (!may_be_infinite && std::isinf(array[i])))
      fail("{}: expected {} values of cells.{}, got {} at {}", where, may_be_infinite ? "no NaN among the" : "finite",
           what, array[i], i);
}

void check_cell_shapes(const Tree& tree, const std::string& where) {
  const Cells& cells = tree.cells;
  const auto count = static_cast<std::size_t>(tree.n_m), n_x = static_cast<std::size_t>(tree.n_x);
  const auto leaves = static_cast<std::size_t>(tree.leaf_count());
  const std::size_t answers = static_cast<std::size_t>(tree.n_y) * (n_x + 2 * count);
  check_cell_array(cells.law, count, "law", where);
  check_cell_array(cells.bias, count, "bias", where);
  check_cell_array(cells.input, count * n_x, "input", where);
  check_cell_array(cells.earlier, count * count, "earlier", where);
  check_cell_array(cells.tap, count, "tap", where);
  check_cell_array(cells.tap_input, count * n_x, "tap_input", where);
  check_cell_array(cells.tap_level, count, "tap_level", where);
  check_cell_array(cells.tap_leaf, leaves * count, "tap_leaf", where);
  check_cell_array(cells.first, count, "first", where);
  check_cell_array(cells.linear, answers, "linear", where);
  check_cell_array(cells.leaf_linear, cells.leaf_linear.empty() ? 0 : leaves * answers, "leaf_linear", where);
}

}  // namespace

bool Cells::any_first() const {
  return std::any_of(first.begin(), first.end(), [](std::uint8_t f) { return f != 0; });
}

float tap_share(const Tree& tree, int leaf, int k, const FilledInputs& x, float level) {
  const Cells& cells = tree.cells;
  const auto at = static_cast<std::size_t>(k);
  const float offset = cells.tap_leaf[static_cast<std::size_t>(leaf) * static_cast<std::size_t>(tree.n_m) + at];
  if (std::isinf(offset)) return offset < 0.0F ? 0.0F : 1.0F;
  float sum = add_terms(cells.tap[at], row_of(cells.tap_input, at, tree.n_x), x, tree.n_x);
  if (cells.tap_level[at] != 0.0F) sum = sum + cells.tap_level[at] * level;
  if (offset != 0.0F) sum = sum + offset;
  return sigmoid(bounded(sum));
}

float cell_argument(const Tree& tree, int k, const FilledInputs& x, const float* outputs) {
  const Cells& cells = tree.cells;
  const auto at = static_cast<std::size_t>(k);
  float sum = add_terms(cells.bias[at], row_of(cells.input, at, tree.n_x), x, tree.n_x);
  sum = add_terms(sum, row_of(cells.earlier, at, tree.n_m), outputs, k);
  return bounded(sum);
}

void step_cells(const Tree& tree, int leaf, const FilledInputs& x, float* memory, float* outputs) {
  const Cells& cells = tree.cells;
  const bool any_first = cells.any_first();
  const bool first_step = any_first && memory[tree.n_m] == 0.0F;
  for (int k = 0; k < tree.n_m; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const float share = tap_share(tree, leaf, k, x, memory[k]);
    const float argument = cell_argument(tree, k, x, outputs);
    outputs[k] = step_cell(cells.law[at], cells.first[at] != 0, first_step, share, argument, memory[k]);
  }
  if (any_first) memory[tree.n_m] = 1.0F;
}

float cell_answer(const Tree& tree, int leaf, int o, const FilledInputs& x, const float* outputs, const float* levels) {
  const Cells& cells = tree.cells;
  const auto at = static_cast<std::size_t>(leaf) * static_cast<std::size_t>(tree.n_y) + static_cast<std::size_t>(o);
  const int width = tree.n_x + 2 * tree.n_m;
  float sum = tree.output[at];
  const auto add_row = [&](const float* row) {
    sum = add_terms(sum, row, x, tree.n_x);
    sum = add_terms(sum, row + tree.n_x, outputs, tree.n_m);
    sum = add_terms(sum, row + tree.n_x + tree.n_m, levels, tree.n_m);
  };
  add_row(row_of(cells.linear, static_cast<std::size_t>(o), width));
  if (!cells.leaf_linear.empty()) add_row(row_of(cells.leaf_linear, at, width));
  return sum;
}

void check_cells(const Tree& tree, const std::string& where) {
  const Cells& cells = tree.cells;
  check_cell_shapes(tree, where);
  check_cell_numbers(cells.bias, "bias", where);
  check_cell_numbers(cells.input, "input", where);
  check_cell_numbers(cells.earlier, "earlier", where);
  check_cell_numbers(cells.tap, "tap", where);
  check_cell_numbers(cells.tap_input, "tap_input", where);
  check_cell_numbers(cells.tap_level, "tap_level", where);
  check_cell_numbers(cells.tap_leaf, "tap_leaf", where, true);
  check_cell_numbers(cells.linear, "linear", where);
  check_cell_numbers(cells.leaf_linear, "leaf_linear", where);
  const auto count = static_cast<std::size_t>(tree.n_m);
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t j = k; j < count; ++j)
      if (cells.earlier[k * count + j] != 0.0F)
        fail("{}: expected cell {} to read earlier cells only, got a weight of cell {}", where, k, j);
    if (cells.law[k] > Law::kPositiveAverage)
      fail("{}: expected a known law of cell {}, got {}", where, k, static_cast<int>(cells.law[k]));
    if (cells.first[k] > 1 || (cells.first[k] != 0 && cells.law[k] == Law::kStore))
      fail("{}: expected `first` to be 0 or 1, and 0 for a store, got {} for cell {}", where,
           static_cast<int>(cells.first[k]), k);
  }
}

}  // namespace remede

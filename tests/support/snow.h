// A hand-built model whose cells have laws: rain and temperature in, a snow store that feeds a soil store, flow out.
#pragma once

#include <cstddef>
#include <vector>

#include "remede/model/model.h"

namespace remede::test {

// Sized arrays, all zero: `cells` stores with taps of one half and an answer of 0.
inline Tree tree_of_laws(int n_x, int cells, int n_y, int inner = 0) {
  Tree tree;
  tree.n_x = n_x;
  tree.n_m = cells;
  tree.n_y = n_y;
  tree.form.memory = Memory::kLaws;
  const auto k = static_cast<std::size_t>(cells), x = static_cast<std::size_t>(n_x), y = static_cast<std::size_t>(n_y);
  const auto leaves = static_cast<std::size_t>(inner) + 1;
  tree.output.resize(leaves * y);
  Cells& c = tree.cells;
  c.law.resize(k, Law::kStore);
  c.bias.resize(k);
  c.input.resize(k * x);
  c.earlier.resize(k * k);
  c.tap.resize(k);
  c.tap_input.resize(k * x);
  c.tap_level.resize(k);
  c.tap_leaf.resize(leaves * k);
  c.first.resize(k);
  c.linear.resize(y * (x + 2 * k));
  return tree;
}

inline Model model_of_snow() {
  Model model;
  model.schema.task = Task::kRegression;
  model.schema.inputs = {"rain", "temp"};
  model.schema.targets = {"flow"};
  model.fill = {0, 0};
  Tree tree = tree_of_laws(2, 2, 1);
  Cells& c = tree.cells;
  c.bias = {3.45F, -2.73F};
  c.input = {0.675F, -0.338F, 0.185F, 0};
  c.earlier = {0, 0, 0.494F, 0};
  c.tap = {-4.5F, -2.6F};
  c.tap_input = {0, 0.1F, 0, 0};
  c.tap_level = {-0.0009F, 0.02F};
  c.linear = {0, 0, 0, 0.79F, 0, 0.05F};
  tree.output = {0.3F};
  model.trees = {tree};
  return model;
}

}  // namespace remede::test

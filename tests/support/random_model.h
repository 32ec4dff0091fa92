// Models of any shape and form, for properties that must hold for all of them. Small numbers, some of them awkward
// (zeros of both signs, huge, tiny); valid by construction: check() accepts every one.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "remede/base/random.h"
#include "remede/data/sequences.h"
#include "remede/model/model.h"

namespace remede::test {

struct RandomModelOptions {
  int most_inputs = 4;      // 1 .. most_inputs
  int most_cells = 4;       // 0 .. most_cells
  int most_outputs = 4;     // 1 .. most_outputs in regression, 2 .. most_outputs in classification
  int most_inner = 12;      // 0 .. most_inner inner nodes, in any shape
  int most_trees = 1;       // 1 .. most_trees
  bool awkward = false;     // numbers such as -0, 1e30 and denormal ones; the outputs may then overflow
  bool laws = true;         // a third of the trees have cells with laws
  bool missing = true;      // missing values may go right, fill may differ from 0
  bool objectives = false;  // also others than the default one
};

inline LeafForm random_form(Random& random, bool laws = false) {
  LeafForm form;
  if (laws && random.below(3) == 0) {
    form.memory = Memory::kLaws;
    form.output_order = random.below(4) == 0 ? OutputOrder::kFirst : OutputOrder::kZero;
    return form;
  }
  form.write_rule = random.below(2) == 0 ? WriteRule::kAdd : WriteRule::kBlend;
  form.write_reads = random.below(2) == 0 ? WriteReads::kInputs : WriteReads::kInputsAndMemory;
  form.write_bias = random.below(2) == 0;
  form.leaf_output = random.below(2) == 0 ? LeafOutput::kConstant : LeafOutput::kLinear;
  form.output_order = random.below(2) == 0 ? OutputOrder::kZero : OutputOrder::kFirst;
  return form;
}

// All 32 forms, by number.
inline LeafForm form_number(unsigned number) {
  LeafForm form;
  form.write_rule = (number & 1U) == 0 ? WriteRule::kAdd : WriteRule::kBlend;
  form.write_reads = (number & 2U) == 0 ? WriteReads::kInputs : WriteReads::kInputsAndMemory;
  form.write_bias = (number & 4U) != 0;
  form.leaf_output = (number & 8U) == 0 ? LeafOutput::kConstant : LeafOutput::kLinear;
  form.output_order = (number & 16U) == 0 ? OutputOrder::kZero : OutputOrder::kFirst;
  return form;
}

inline float random_number(Random& random, bool awkward) {
  if (awkward && random.below(4) == 0) {
    const float numbers[] = {0.0F,
                             -0.0F,
                             1.0F,
                             -1.0F,
                             0.1F,
                             1e30F,
                             -1e-30F,
                             std::numeric_limits<float>::denorm_min(),
                             std::numeric_limits<float>::max(),
                             16777216.0F};
    return numbers[random.below(std::size(numbers))];
  }
  return static_cast<float>(random.normal());
}

// Inner nodes in any shape: each new node takes the place of a random open end; what stays open becomes a leaf.
inline void random_shape(Random& random, int inner, Tree& tree) {
  std::vector<std::pair<int, bool>> open;  // parent, right?
  for (int i = 0; i < inner; ++i) {
    tree.left.push_back(0);
    tree.right.push_back(0);
    if (i > 0) {
      const std::size_t at = random.below(open.size());
      const auto [parent, right] = open[at];
      (right ? tree.right : tree.left)[static_cast<std::size_t>(parent)] = i;
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
    }
    open.emplace_back(i, false);
    open.emplace_back(i, true);
  }
  random.shuffle(std::span<std::pair<int, bool>>(open));
  for (std::size_t leaf = 0; leaf < open.size(); ++leaf) {
    const auto [parent, right] = open[leaf];
    (right ? tree.right : tree.left)[static_cast<std::size_t>(parent)] = ~static_cast<int>(leaf);
  }
}

// A weight: zero often, never -0 (a weight of zero is no term, and files do not keep its sign).
inline float random_weight(Random& random, bool awkward) {
  const float number = random.below(2) == 0 ? 0.0F : random_number(random, awkward);
  return number == 0.0F ? 0.0F : number;
}

inline Cells random_cells(Random& random, const Tree& tree, bool awkward) {
  Cells cells;
  const auto weights = [&](std::vector<float>& to, int count) {
    for (int i = 0; i < count; ++i) to.push_back(random_weight(random, awkward));
  };
  const int width = tree.n_x + 2 * tree.n_m;
  for (int k = 0; k < tree.n_m; ++k) {
    cells.law.push_back(static_cast<Law>(random.below(3)));
    cells.bias.push_back(random_number(random, awkward));
    cells.tap.push_back(random_number(random, awkward));
    cells.first.push_back(cells.law.back() != Law::kStore && random.below(4) == 0 ? 1 : 0);
    weights(cells.input, tree.n_x);
    weights(cells.tap_input, tree.n_x);
    weights(cells.tap_level, 1);
    weights(cells.earlier, k);
    cells.earlier.resize(cells.earlier.size() + static_cast<std::size_t>(tree.n_m - k));
  }
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (int i = 0; i < tree.leaf_count() * tree.n_m; ++i) {
    const auto kind = random.below(6);
    cells.tap_leaf.push_back(kind == 0 ? -kInfinity : kind == 1 ? kInfinity : random_weight(random, awkward));
  }
  weights(cells.linear, tree.n_y * width);
  if (random.below(2) == 0) weights(cells.leaf_linear, tree.leaf_count() * tree.n_y * width);
  return cells;
}

// A cell that is not written has zero weights, as it has after a file.
inline Tree random_tree(Random& random, int n_x, int n_m, int n_y, int inner, const LeafForm& form,
                        bool awkward = false, bool missing = true) {
  Tree tree;
  tree.n_x = n_x;
  tree.n_m = n_m;
  tree.n_y = n_y;
  tree.form = form;
  random_shape(random, inner, tree);
  for (int i = 0; i < inner; ++i) {
    tree.feature.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(n_x + n_m))));
    tree.threshold.push_back(random_number(random, awkward));
    tree.missing_right.push_back(missing ? static_cast<std::uint8_t>(random.below(2)) : 0);
  }
  const auto numbers = [&](std::vector<float>& to, int count) {
    for (int i = 0; i < count; ++i) to.push_back(random_number(random, awkward));
  };
  if (form.memory == Memory::kLaws) {
    numbers(tree.output, (inner + 1) * n_y);
    tree.cells = random_cells(random, tree, awkward);
    return tree;
  }
  for (int leaf = 0; leaf <= inner; ++leaf) {
    numbers(tree.output, n_y);
    if (form.leaf_output == LeafOutput::kLinear) numbers(tree.linear, n_y * (n_x + n_m));
    for (int k = 0; k < n_m; ++k) {
      const bool written = random.below(2) == 1;
      tree.gate.push_back(written ? 1 : 0);
      const auto number = [&] { return written ? random_number(random, awkward) : 0.0F; };
      for (int i = 0; i < tree.n_w(); ++i) tree.write.push_back(number());
      if (form.write_bias) tree.bias.push_back(number());
      if (form.write_rule == WriteRule::kBlend)
        tree.blend.push_back(written ? static_cast<float>(random.uniform()) : 0.0F);
    }
  }
  return tree;
}

inline Schema random_schema(Random& random, const RandomModelOptions& options) {
  Schema schema;
  const auto up_to = [&](int low, int high) {
    return high <= low ? low : low + static_cast<int>(random.below(static_cast<std::uint64_t>(high - low + 1)));
  };
  schema.task = random.below(2) == 0 ? Task::kClassification : Task::kRegression;
  const int n_x = up_to(1, options.most_inputs);
  for (int i = 0; i < n_x; ++i) schema.inputs.push_back(fmt::format("x{}", i + 1));
  if (schema.task == Task::kClassification) {
    schema.targets = {"y"};
    const int classes = up_to(2, options.most_outputs);
    for (int c = 0; c < classes; ++c) schema.classes.push_back(std::to_string(c - 1));
  } else {
    const int values = up_to(1, options.most_outputs);
    for (int o = 0; o < values; ++o) schema.targets.push_back(values == 1 ? "y" : fmt::format("y{}", o + 1));
  }
  if (random.below(2) == 0) schema.id = "sequence";
  if (random.below(2) == 0) schema.time = "step";
  return schema;
}

// One of those that a model of this schema can have.
inline Objective random_objective(Random& random, const Schema& schema) {
  if (schema.task == Task::kClassification) return default_objective(schema.task);
  std::vector<Objective> all = {{Loss::kSquaredError}, {Loss::kAbsoluteError}, {Loss::kPoisson}};
  if (schema.targets.size() == 1) all.push_back({Loss::kQuantile, {0.1F, 0.25F, 0.6F, 0.9F}});
  return all[random.below(all.size())];
}

inline Model random_model(Random& random, const RandomModelOptions& options = {}) {
  Model model;
  model.schema = random_schema(random, options);
  if (options.objectives) {
    const Objective objective = random_objective(random, model.schema);
    if (!(objective == default_objective(model.schema.task))) model.own_objective = objective;
  }
  for (int i = 0; i < model.n_x(); ++i)
    model.fill.push_back(options.missing && random.below(2) == 1 ? random_number(random, options.awkward) : 0.0F);
  const int trees = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(options.most_trees)));
  for (int t = 0; t < trees; ++t) {
    const int n_m = static_cast<int>(random.below(static_cast<std::uint64_t>(options.most_cells) + 1));
    const int inner = static_cast<int>(random.below(static_cast<std::uint64_t>(options.most_inner) + 1));
    LeafForm form = random_form(random, options.laws);
    if (!model.classifies() && !has_identity_link(model.objective())) form.output_order = OutputOrder::kZero;
    model.trees.push_back(
        random_tree(random, model.n_x(), n_m, model.n_y(), inner, form, options.awkward, options.missing));
  }
  return model;
}

// Sequences for a model of n_x inputs: 0 .. most_length steps each, some values missing. No targets.
inline Sequences random_sequences(Random& random, int n_x, int count, int most_length, double missing = 0.1) {
  Sequences sequences;
  sequences.n_x = n_x;
  for (int s = 0; s < count; ++s) {
    const auto length = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most_length) + 1));
    for (std::int64_t i = 0; i < length * n_x; ++i)
      sequences.x.push_back(random.uniform() < missing ? std::numeric_limits<float>::quiet_NaN()
                                                       : static_cast<float>(random.normal()));
    sequences.offset.push_back(sequences.offset.back() + length);
  }
  return sequences;
}

}  // namespace remede::test

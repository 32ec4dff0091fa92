// Models small enough to write down, whose behaviour is known: what the explanations of them must say.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "remede/model/model.h"

namespace remede::test {

struct Write {
  int cell = 0;
  std::vector<float> weights;  // (n_w)
  float bias = 0;
  float blend = 1;
};

// A node with everything below it: a split, or a leaf where `sides` is empty.
struct Part {
  int feature = 0;
  float threshold = 0;
  std::vector<Part> sides;  // left ("no"), right ("yes")

  std::vector<float> output;
  std::vector<Write> writes;
  std::vector<float> linear;  // (n_y, n_v)
};

inline Part split(int feature, float threshold, Part no, Part yes) {
  Part part;
  part.feature = feature;
  part.threshold = threshold;
  part.sides = {std::move(no), std::move(yes)};
  return part;
}

inline Part leaf(std::vector<float> output, std::vector<Write> writes = {}, std::vector<float> linear = {}) {
  Part part;
  part.output = std::move(output);
  part.writes = std::move(writes);
  part.linear = std::move(linear);
  return part;
}

inline void append_leaf(Tree& tree, const Part& part) {
  tree.output.insert(tree.output.end(), part.output.begin(), part.output.end());
  if (tree.form.leaf_output == LeafOutput::kLinear) {
    std::vector<float> linear = part.linear;
    linear.resize(static_cast<std::size_t>(tree.n_y * tree.n_v()));
    tree.linear.insert(tree.linear.end(), linear.begin(), linear.end());
  }
  for (int k = 0; k < tree.n_m; ++k) {
    const Write* write = nullptr;
    for (const Write& w : part.writes)
      if (w.cell == k) write = &w;
    tree.gate.push_back(write ? 1 : 0);
    std::vector<float> weights = write ? write->weights : std::vector<float>{};
    weights.resize(static_cast<std::size_t>(tree.n_w()));
    tree.write.insert(tree.write.end(), weights.begin(), weights.end());
    if (tree.form.write_bias) tree.bias.push_back(write ? write->bias : 0.0F);
    if (tree.form.write_rule == WriteRule::kBlend) tree.blend.push_back(write ? write->blend : 0.0F);
  }
}

// Returns the number of the part, as it stands in left and right.
inline std::int32_t append(Tree& tree, int& leaves, const Part& part) {
  if (part.sides.empty()) {
    append_leaf(tree, part);
    return ~leaves++;
  }
  const auto i = static_cast<std::size_t>(tree.feature.size());
  tree.feature.push_back(part.feature);
  tree.threshold.push_back(part.threshold);
  tree.missing_right.push_back(0);
  tree.left.push_back(0);
  tree.right.push_back(0);
  const std::int32_t left = append(tree, leaves, part.sides[0]);
  tree.left[i] = left;
  const std::int32_t right = append(tree, leaves, part.sides[1]);
  tree.right[i] = right;
  return static_cast<std::int32_t>(i);
}

inline Tree make_tree(int n_x, int n_m, int n_y, const LeafForm& form, const Part& root) {
  Tree tree;
  tree.n_x = n_x;
  tree.n_m = n_m;
  tree.n_y = n_y;
  tree.form = form;
  int leaves = 0;
  append(tree, leaves, root);
  check(tree, "hand-built tree");
  return tree;
}

inline Model make_model(int n_x, int n_m, std::vector<std::string> classes, const LeafForm& form, const Part& root) {
  Model model;
  for (int i = 0; i < n_x; ++i) model.schema.inputs.push_back(fmt::format("x{}", i + 1));
  model.schema.targets = {"y"};
  model.schema.classes = std::move(classes);
  if (model.schema.classes.empty()) model.schema.task = Task::kRegression;
  model.schema.id = "sequence";
  model.schema.time = "step";
  model.fill.assign(static_cast<std::size_t>(n_x), 0.0F);
  model.trees = {make_tree(n_x, n_m, model.n_y(), form, root)};
  check(model, "hand-built model");
  return model;
}

inline std::vector<float> sure(int n, int which) {
  std::vector<float> logits(static_cast<std::size_t>(n), -4.0F);
  logits[static_cast<std::size_t>(which)] = 4.0F;
  return logits;
}

// The first task with one cell, as the paper describes its learned tree: the root asks for the stored sign, a trigger
// brings it out, and only an empty memory is written.
inline Model paper_tree() {
  return make_model(
      1, 1, {"-1", "0", "1"}, {},
      split(1, -0.23F, split(0, 0.5F, leaf(sure(3, 1)), leaf(sure(3, 0))),
            split(0, 0.5F, split(1, 0.13F, leaf(sure(3, 1), {{0, {37.63F}}}), leaf(sure(3, 1))), leaf(sure(3, 2)))));
}

// Says 1 while the number of ones so far, this step included, is odd.
inline Model parity_tree() {
  LeafForm form;
  form.write_bias = true;
  form.write_rule = WriteRule::kBlend;
  return make_model(1, 1, {"0", "1"}, form,
                    split(0, 0.5F, split(1, 0.5F, leaf(sure(2, 0)), leaf(sure(2, 1))),
                          split(1, 0.5F, leaf(sure(2, 1), {{0, {0}, 9}}), leaf(sure(2, 0), {{0, {0}, 0}}))));
}

// Tomita's first language, ones only: a zero latches the cell.
inline Model tomita_1_tree() {
  LeafForm form;
  form.write_bias = true;
  return make_model(
      1, 1, {"no", "yes"}, form,
      split(1, 0.5F, split(0, 0.5F, leaf(sure(2, 0), {{0, {0}, 9}}), leaf(sure(2, 1))), leaf(sure(2, 0))));
}

}  // namespace remede::test

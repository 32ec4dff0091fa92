// Trees written by hand: nested tests and leaves, turned into the arrays of a Tree.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "remede/model/model.h"

namespace remede::test {

// A write of one cell. Weights are for the inputs, then, where the tree's form says so, the cells.
struct Written {
  int cell = 0;
  std::vector<float> weights;
  float bias = 0;
  float blend = 1;
};

struct Grown;
using Branch = std::shared_ptr<const Grown>;

// A leaf (no left side), or a split.
struct Grown {
  int feature = 0;
  float threshold = 0;
  bool missing_right = false;
  Branch left, right;
  std::vector<float> output;
  std::vector<float> linear;
  std::vector<Written> writes;
};

inline Branch leaf(std::vector<float> output, std::vector<Written> writes = {}, std::vector<float> linear = {}) {
  Grown grown;
  grown.output = std::move(output);
  grown.writes = std::move(writes);
  grown.linear = std::move(linear);
  return std::make_shared<const Grown>(std::move(grown));
}

inline Branch split(int feature, float threshold, Branch left, Branch right, bool missing_right = false) {
  Grown grown;
  grown.feature = feature;
  grown.threshold = threshold;
  grown.missing_right = missing_right;
  grown.left = std::move(left);
  grown.right = std::move(right);
  return std::make_shared<const Grown>(std::move(grown));
}

class Grower {
 public:
  Grower(int n_x, int n_m, int n_y, LeafForm form) {
    tree_.n_x = n_x;
    tree_.n_m = n_m;
    tree_.n_y = n_y;
    tree_.form = form;
  }

  Tree grow(const Branch& root) {
    place(root);
    return tree_;
  }

 private:
  std::int32_t place(const Branch& branch) {
    if (branch->left == nullptr) return place_leaf(*branch);
    const auto node = static_cast<std::int32_t>(tree_.feature.size());
    tree_.feature.push_back(branch->feature);
    tree_.threshold.push_back(branch->threshold);
    tree_.missing_right.push_back(branch->missing_right ? 1 : 0);
    tree_.left.push_back(0);
    tree_.right.push_back(0);
    const std::int32_t left = place(branch->left);
    const std::int32_t right = place(branch->right);
    tree_.left[static_cast<std::size_t>(node)] = left;
    tree_.right[static_cast<std::size_t>(node)] = right;
    return node;
  }

  std::int32_t place_leaf(const Grown& grown) {
    tree_.output.insert(tree_.output.end(), grown.output.begin(), grown.output.end());
    if (tree_.form.leaf_output == LeafOutput::kLinear) {
      std::vector<float> linear = grown.linear;
      linear.resize(static_cast<std::size_t>(tree_.n_y * tree_.n_v()));
      tree_.linear.insert(tree_.linear.end(), linear.begin(), linear.end());
    }
    for (int k = 0; k < tree_.n_m; ++k) {
      Written written;
      bool open = false;
      for (const Written& candidate : grown.writes)
        if (candidate.cell == k) written = candidate, open = true;
      written.weights.resize(static_cast<std::size_t>(tree_.n_w()));
      tree_.gate.push_back(open ? 1 : 0);
      tree_.write.insert(tree_.write.end(), written.weights.begin(), written.weights.end());
      if (tree_.form.write_bias) tree_.bias.push_back(written.bias);
      if (tree_.form.write_rule == WriteRule::kBlend) tree_.blend.push_back(written.blend);
    }
    return ~leaves_++;
  }

  Tree tree_;
  std::int32_t leaves_ = 0;
};

// A regression model of one tree: what it answers is seen as it is.
inline Model model_of(const Tree& tree) {
  Model model;
  model.schema.task = Task::kRegression;
  for (int i = 0; i < tree.n_x; ++i) model.schema.inputs.push_back(std::string("x") + std::to_string(i + 1));
  for (int o = 0; o < tree.n_y; ++o) model.schema.targets.push_back(std::string("y") + std::to_string(o + 1));
  model.fill.assign(static_cast<std::size_t>(tree.n_x), 0.0F);
  model.trees = {tree};
  check(model, "grown by hand");
  return model;
}

inline Model grown_model(int n_x, int n_m, const LeafForm& form, const Branch& root) {
  return model_of(Grower(n_x, n_m, static_cast<int>(1), form).grow(root));
}

}  // namespace remede::test

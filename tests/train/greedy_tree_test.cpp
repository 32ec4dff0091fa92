#include "remede/train/greedy_tree.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "remede/base/random.h"
#include "remede/model/predict.h"

namespace remede {
namespace {

// Rows of two inputs; the class tells in which of four boxes they lie.
Sequences boxes(int rows, std::uint64_t seed, double noise = 0) {
  Sequences data;
  data.n_x = 2;
  data.n_y = 4;
  Random random(seed);
  for (int r = 0; r < rows; ++r) {
    const double a = random.uniform(0, 1), b = random.uniform(0, 1);
    data.x.push_back(static_cast<float>(a));
    data.x.push_back(static_cast<float>(b));
    const bool wrong = random.uniform(0, 1) < noise;
    data.label.push_back(wrong ? static_cast<std::int32_t>(random.below(4)) : (a >= 0.3 ? 2 : 0) + (b >= 0.6 ? 1 : 0));
    data.weight.push_back(1.0F);
    data.offset.push_back(r + 1);
  }
  return data;
}

double share_right(const Tree& tree, const Sequences& data) {
  std::vector<float> fill(static_cast<std::size_t>(tree.n_x)), y(static_cast<std::size_t>(tree.n_y));
  double right = 0;
  for (std::size_t t = 0; t < data.steps(); ++t) {
    step(tree, data.x.data() + t * static_cast<std::size_t>(tree.n_x), fill.data(), nullptr, y.data());
    right += arg_max(y) == data.label[t] ? 1 : 0;
  }
  return right / static_cast<double>(data.steps());
}

TEST(GreedyTree, FindsExactThresholds) {
  const Sequences training = boxes(1000, 1), validation = boxes(300, 2);
  const GreedyTree found = grow_greedy(training, &validation, {});
  check(found.tree, "greedy tree");
  EXPECT_EQ(found.tree.leaf_count(), 4);
  EXPECT_GE(share_right(found.tree, boxes(2000, 3)), 0.995);
  EXPECT_LE(found.wrong, 0.01);
}

TEST(GreedyTree, ValidationDataKeepItFromLearningNoise) {
  const Sequences training = boxes(1000, 1, 0.3), validation = boxes(500, 2, 0.3);
  const GreedyTree chosen = grow_greedy(training, &validation, {}), largest = grow_greedy(training, nullptr, {});
  EXPECT_EQ(largest.tree.leaf_count(), 64);
  EXPECT_LE(chosen.tree.leaf_count(), 20);
  const Sequences test = boxes(3000, 3);
  EXPECT_GT(share_right(chosen.tree, test), share_right(largest.tree, test));
  EXPECT_GE(share_right(chosen.tree, test), 0.97);
}

TEST(GreedyTree, MissingValuesLearnTheirSide) {
  for (const bool high : {false, true}) {
    Sequences data = boxes(1000, 4);
    data.n_y = 2;
    Random random(9);
    for (std::size_t t = 0; t < data.steps(); ++t) {
      const bool missing = random.below(4) == 0;
      data.label[t] = missing ? (high ? 1 : 0) : data.x[2 * t] >= 0.5F ? 1 : 0;
      if (missing) data.x[2 * t] = std::numeric_limits<float>::quiet_NaN();
    }
    const GreedyTree found = grow_greedy(data, &data, {});
    EXPECT_EQ(found.tree.leaf_count(), 2);
    EXPECT_EQ(found.wrong, 0.0);
  }
}

TEST(GreedyTree, RegressionLeavesAreMeans) {
  Sequences data;
  data.n_x = 1;
  data.n_y = 2;
  for (int r = 0; r < 100; ++r) {
    data.x.push_back(static_cast<float>(r));
    data.value.push_back(r < 40 ? 1.0F : 3.0F);
    data.value.push_back(r < 40 ? 0.0F : -10.0F);
    data.weight.push_back(r == 99 ? 0.0F : 1.0F);  // a step without a target does not count
    data.offset.push_back(r + 1);
  }
  const GreedyTree found = grow_greedy(data, &data, {});
  ASSERT_EQ(found.tree.leaf_count(), 2);
  EXPECT_EQ(found.tree.threshold[0], 39.5F);
  EXPECT_EQ(found.tree.output, (std::vector<float>{1, 0, 3, -10}));
  EXPECT_NEAR(found.loss, 0, 1e-12);
}

TEST(GreedyTree, KeepsToItsInputsAndItsLeastLeaf) {
  GreedyOptions options;
  options.inputs = 0.5;
  options.least_in_leaf = 100;
  options.resample = true;
  const GreedyTree found = grow_greedy(boxes(1000, 5, 0.2), nullptr, options);
  EXPECT_LE(found.tree.leaf_count(), 10);
  for (const std::int32_t f : found.tree.feature) EXPECT_EQ(f, found.tree.feature[0]);
}

}  // namespace
}  // namespace remede

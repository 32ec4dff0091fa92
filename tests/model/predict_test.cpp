#include "remede/model/predict.h"

#include <bit>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "remede/base/arithmetic.h"
#include "remede/base/error.h"
#include "support/random_model.h"

namespace remede {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

// One inner node: x0 >= 0.5; the left leaf writes nothing, the right one writes cell 0.
Tree two_leaves(const LeafForm& form) {
  Tree tree;
  tree.n_x = 1;
  tree.n_m = 1;
  tree.n_y = 1;
  tree.form = form;
  tree.feature = {0};
  tree.threshold = {0.5F};
  tree.missing_right = {0};
  tree.left = {~0};
  tree.right = {~1};
  tree.output = {10.0F, 20.0F};
  tree.gate = {0, 1};
  tree.write =
      form.write_reads == WriteReads::kInputs ? std::vector<float>{0, 2.0F} : std::vector<float>{0, 0, 2.0F, -3.0F};
  if (form.write_bias) tree.bias = {0, 0.25F};
  if (form.write_rule == WriteRule::kBlend) tree.blend = {0, 0.5F};
  if (form.leaf_output == LeafOutput::kLinear) tree.linear = {1.0F, 2.0F, 3.0F, 4.0F};
  check(tree, "test");
  return tree;
}

TEST(FindLeaf, GoesRightFromTheThresholdOn) {
  Tree tree = two_leaves({});
  const auto leaf = [&](float x) {
    const float m = 0;
    return find_leaf(tree, &x, &m);
  };
  EXPECT_EQ(leaf(0.5F), 1);
  EXPECT_EQ(leaf(std::nextafter(0.5F, 0.0F)), 0);
  EXPECT_EQ(leaf(std::numeric_limits<float>::infinity()), 1);
  EXPECT_EQ(leaf(kMissing), 0);
  tree.missing_right[0] = 1;
  EXPECT_EQ(leaf(kMissing), 1);
}

TEST(FindLeaf, TestsMemoryCells) {
  Tree tree = two_leaves({});
  tree.feature[0] = 1;
  const float x = 9.0F;
  float m = 0.0F;
  EXPECT_EQ(find_leaf(tree, &x, &m), 0);
  m = 0.5F;
  EXPECT_EQ(find_leaf(tree, &x, &m), 1);
}

TEST(Step, ThePapersLeafAddsTanh) {
  const Tree tree = two_leaves({});
  const float x = 0.75F;
  const float fill = 0;
  float m = 0.5F;
  float y = 99.0F;
  EXPECT_EQ(step(tree, &x, &fill, &m, &y), 1);
  EXPECT_EQ(y, 20.0F);
  EXPECT_EQ(m, 0.5F + tanh(1.5F));
}

TEST(Step, AClosedGateLeavesTheCell) {
  const Tree tree = two_leaves({});
  const float x = 0.25F;
  const float fill = 0;
  float m = 0.5F;
  float y = 0;
  EXPECT_EQ(step(tree, &x, &fill, &m, &y), 0);
  EXPECT_EQ(m, 0.5F);
}

TEST(Step, TheRicherFormInOneFormula) {
  const LeafForm form = {WriteRule::kBlend, WriteReads::kInputsAndMemory, true, LeafOutput::kLinear,
                         OutputOrder::kFirst};
  const Tree tree = two_leaves(form);
  const float x = 0.75F;
  const float fill = 0;
  float m = 0.5F;
  float y = 1.0F;
  step(tree, &x, &fill, &m, &y);
  EXPECT_EQ(y, 1.0F + ((20.0F + 3.0F * 0.75F) + 4.0F * 0.5F));
  const float u = tanh((0.25F + 2.0F * 0.75F) + -3.0F * 0.5F);
  EXPECT_EQ(m, 0.5F + 0.5F * (u - 0.5F));
}

TEST(Step, AMissingInputCountsAsFill) {
  LeafForm form;
  form.leaf_output = LeafOutput::kLinear;
  Tree tree = two_leaves(form);
  tree.missing_right[0] = 1;
  const float x = kMissing;
  const float fill = 7.0F;  // above the threshold, yet the split goes by missing_right
  float m = 0;
  float y = 0;
  EXPECT_EQ(step(tree, &x, &fill, &m, &y), 1);
  EXPECT_EQ(y, 20.0F + 3.0F * 7.0F);
  EXPECT_EQ(m, tanh(14.0F));
  tree.missing_right[0] = 0;
  EXPECT_EQ(step(tree, &x, &fill, &m, &y), 0);
}

// Two cells that each take the other's value: the second must see the first as it was.
TEST(Step, EveryWriteReadsTheMemoryBeforeTheStep) {
  Tree tree;
  tree.n_x = 1;
  tree.n_m = 2;
  tree.n_y = 1;
  tree.form.write_rule = WriteRule::kBlend;
  tree.form.write_reads = WriteReads::kInputsAndMemory;
  tree.output = {0};
  tree.gate = {1, 1};
  tree.write = {0, 0, 1, 0, 1, 0};
  tree.blend = {1, 1};
  check(tree, "test");
  const float x = 0;
  const float fill = 0;
  float m[2] = {0.125F, -0.5F};
  float y = 0;
  step(tree, &x, &fill, m, &y);
  EXPECT_FLOAT_EQ(m[0], tanh(-0.5F));
  EXPECT_FLOAT_EQ(m[1], tanh(0.125F));
}

TEST(Softmax, GivesProbabilities) {
  std::vector<float> y = {1.0F, 3.0F, -200.0F};
  apply_link(default_objective(Task::kClassification), y);
  EXPECT_NEAR(y[0] + y[1] + y[2], 1.0, 1e-6);
  EXPECT_NEAR(y[1] / y[0], std::exp(2.0), 1e-5);
  EXPECT_EQ(y[2], 0.0F);
  std::vector<float> large = {1e30F, 1e30F};
  apply_link(default_objective(Task::kClassification), large);
  EXPECT_EQ(large[0], 0.5F);
}

TEST(ArgMax, TakesTheFirstOfEquals) {
  const std::vector<float> y = {1.0F, 2.0F, 2.0F};
  EXPECT_EQ(arg_max(y), 1);
}

TEST(Predict, AForestAveragesProbabilities) {
  Random random(3);
  Model forest = test::random_model(random, {.most_trees = 1});
  while (forest.schema.task != Task::kClassification) forest = test::random_model(random, {.most_trees = 1});
  Model first = forest;
  Model second = forest;
  second.trees[0] = test::random_tree(random, forest.n_x(), 2, forest.n_y(), 5, test::random_form(random));
  forest.trees.push_back(second.trees[0]);
  const Sequences sequences = test::random_sequences(random, forest.n_x(), 4, 9);
  const Predictions a = predict(first, sequences);
  const Predictions b = predict(second, sequences);
  const Predictions both = predict(forest, sequences);
  ASSERT_GT(both.output.size(), 0U);
  for (std::size_t i = 0; i < both.output.size(); ++i) EXPECT_EQ(both.output[i], (a.output[i] + b.output[i]) / 2.0F);
  for (std::size_t t = 0; t < sequences.steps(); ++t) {
    EXPECT_EQ(both.leaf[t], a.leaf[t]);
    EXPECT_EQ(both.leaf[sequences.steps() + t], b.leaf[t]);
  }
}

TEST(Predict, ThreadsDoNotChangeABit) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Random random(seed);
    const Model model =
        test::random_model(random, {.most_trees = 2, .awkward = true, .laws = true, .objectives = true});
    const Sequences sequences = test::random_sequences(random, model.n_x(), 9, 9);
    const Predictions one = predict(model, sequences, 1);
    const Predictions three = predict(model, sequences, 3);
    RC_ASSERT(one.leaf == three.leaf);
    for (std::size_t i = 0; i < one.output.size(); ++i)
      RC_ASSERT(std::bit_cast<std::uint32_t>(one.output[i]) == std::bit_cast<std::uint32_t>(three.output[i]));
  }));
}

TEST(Predict, SequencesOfAnotherWidthAreAnError) {
  Random random(3);
  const Model model = test::random_model(random);
  const Sequences sequences = test::random_sequences(random, model.n_x() + 1, 1, 3);
  EXPECT_THROW(predict(model, sequences), Error);
}

}  // namespace
}  // namespace remede

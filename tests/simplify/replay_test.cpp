#include "remede/simplify/replay.h"

#include <cmath>

#include <gtest/gtest.h>

#include "hostile.h"
#include "remede/base/arithmetic.h"
#include "remede/simplify/edit.h"
#include "two_leaves.h"

namespace remede {
namespace {

Sequences with_targets(Random& random, const Model& model, int count, int most_length) {
  Sequences data = test::random_sequences(random, model.n_x(), count, most_length);
  data.n_y = model.n_y();
  for (std::size_t i = 0; i < data.steps(); ++i) {
    const float weights[] = {0.0F, 1.0F, 1.0F, 0.25F};
    data.weight.push_back(weights[random.below(4)]);
    if (model.schema.task == Task::kClassification)
      data.label.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(model.n_y()))));
    else
      for (int o = 0; o < model.n_y(); ++o) data.value.push_back(static_cast<float>(random.normal()));
  }
  return data;
}

// The same from predict() alone.
Tally tally_of(const Model& model, const Sequences& data) {
  const Predictions predictions = predict(model, data);
  const auto n_y = static_cast<std::size_t>(model.n_y());
  Tally tally;
  for (std::size_t i = 0; i < data.steps(); ++i) {
    const double w = data.weight[i];
    const std::span<const float> y = std::span(predictions.output).subspan(i * n_y, n_y);
    tally.weight += w;
    if (model.schema.task == Task::kClassification) {
      const auto label = static_cast<std::size_t>(data.label[i]);
      tally.correct += static_cast<std::size_t>(arg_max(y)) == label ? w : 0.0;
      if (w > 0) tally.loss += -w * log(std::max(static_cast<double>(y[label]), kLeastProbability));
    } else {
      double sum = 0;
      for (std::size_t o = 0; o < n_y; ++o) sum += std::pow(y[o] - data.value[i * n_y + o], 2);
      tally.loss += w * sum / static_cast<double>(n_y);
    }
  }
  return tally;
}

void expect_near(const Tally& a, const Tally& b) {
  EXPECT_NEAR(a.weight, b.weight, 1e-6);
  EXPECT_NEAR(a.correct, b.correct, 1e-6);
  EXPECT_NEAR(a.loss, b.loss, 1e-4 * (1 + std::abs(b.loss)));
}

// One random edit of tree t: a subtree gives way to one of its sides, a gate is flipped, or a number is changed.
std::vector<std::uint8_t> edit(Random& random, Tree& tree) {
  std::vector<std::uint8_t> touched(static_cast<std::size_t>(tree.leaf_count()));
  std::vector<std::int32_t> inner;
  append_inner(tree, tree.root(), inner);
  const auto leaf = random.below(touched.size());
  if (!inner.empty() && random.below(2) == 0) {
    const std::int32_t node = inner[random.below(inner.size())];
    std::vector<std::int32_t> below;
    append_leaves(tree, node, below);
    for (const std::int32_t l : below) touched[static_cast<std::size_t>(l)] = 1;
    bypass(
        tree, node,
        random.below(2) == 0 ? tree.left[static_cast<std::size_t>(node)] : tree.right[static_cast<std::size_t>(node)]);
  } else if (!tree.gate.empty() && random.below(2) == 0) {
    tree.gate[leaf * static_cast<std::size_t>(tree.n_m) + random.below(static_cast<std::uint64_t>(tree.n_m))] ^= 1U;
    touched[leaf] = 1;
  } else {
    tree.output[leaf * static_cast<std::size_t>(tree.n_y)] += 0.5F;
    touched[leaf] = 1;
  }
  return touched;
}

// What the replay says of an edit is what running everything anew says, also after many edits.
TEST(Replay, ChangesAreThoseOfAFullRun) {
  test::RandomModelOptions shape;
  shape.laws = true;
  shape.most_trees = 3;
  Tolerance any;
  any.accuracy = 1;
  any.log_loss = any.loss_share = 1e30;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Random random(seed);
    Model model = test::random_model(random, shape);
    const Sequences data = with_targets(random, model, 12, 150);
    Replay replay(model, data, any);
    expect_near(replay.tally(), tally_of(model, data));
    for (int round = 0; round < 8; ++round) {
      const auto t = random.below(model.trees.size());
      Tree edited = model.trees[t];
      const std::vector<std::uint8_t> touched = edit(random, edited);
      const Tally before = replay.tally();
      Verdict verdict;
      ASSERT_TRUE(replay.judge(static_cast<int>(t), edited, touched, verdict));
      if (random.below(3) == 0) continue;  // not taken: what is kept must not have changed
      model.trees[t] = edited;
      replay.commit(static_cast<int>(t), edited, touched, random.below(2) == 0);
      const Tally full = tally_of(model, data);
      expect_near(replay.tally(), full);
      EXPECT_NEAR(verdict.correct, full.correct - before.correct, 1e-6) << "seed " << seed;
      EXPECT_NEAR(verdict.loss, full.loss - before.loss, 1e-4 * (1 + std::abs(full.loss))) << "seed " << seed;
    }
  }
}

TEST(Replay, CountsWhoVisitsALeaf) {
  Random random(3);
  const Model model = test::random_model(random);
  const Sequences data = with_targets(random, model, 20, 10);
  const Replay replay(model, data, {});
  const Predictions predictions = predict(model, data);
  for (int leaf = 0; leaf < model.trees[0].leaf_count(); ++leaf) {
    std::size_t visitors = 0;
    for (std::size_t s = 0; s < data.count(); ++s) {
      bool visits = false;
      for (auto i = static_cast<std::size_t>(data.offset[s]); i < static_cast<std::size_t>(data.offset[s + 1]); ++i)
        visits = visits || predictions.leaf[i] == leaf;
      visitors += visits ? 1 : 0;
    }
    EXPECT_EQ(replay.visits(0, leaf), visitors);
  }
}

// An edit that costs one correct step of many is refused, one that costs none is not.
TEST(Replay, AccuracyMustNotFall) {
  Model model = test::two_leaves();
  model.trees[0].output = {0.1F, 0, 0, 0.1F};
  Sequences data;
  data.n_x = 1;
  data.n_y = 2;
  for (int i = 0; i < 1000; ++i) {
    data.x.push_back(i == 500 ? 1.0F : 0.0F);
    data.label.push_back(0);
    data.weight.push_back(1);
    data.offset.push_back(i + 1);
  }
  Tree bypassed = model.trees[0];
  bypass(bypassed, 0, ~0);
  const std::vector<std::uint8_t> touched = {0, 1};
  Verdict verdict;
  EXPECT_TRUE(Replay(model, data, {}).judge(0, bypassed, touched, verdict));
  EXPECT_EQ(verdict.correct, 1);  // the step at 500 was wrong
  data.label[500] = 1;
  verdict = {};
  EXPECT_FALSE(Replay(model, data, {}).judge(0, bypassed, touched, verdict));
  Tolerance one;
  one.accuracy = 0.001;
  EXPECT_TRUE(Replay(model, data, one).judge(0, bypassed, touched, verdict));
}

}  // namespace
}  // namespace remede

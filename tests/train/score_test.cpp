#include "remede/train/score.h"

#include <cmath>

#include <gtest/gtest.h>

#include "remede/model/batch.h"
#include "remede/model/metrics.h"
#include "support/random_model.h"
#include "train/small_data.h"

namespace remede {
namespace {

// One leaf that always answers 2.
Model constant_two() {
  Model model;
  model.schema.task = Task::kRegression;
  model.schema.inputs = {"x"};
  model.schema.targets = {"y"};
  model.fill = {0.0F};
  Tree tree;
  tree.n_x = tree.n_y = 1;
  tree.output = {2.0F};
  model.trees = {tree};
  check(model, "test");
  return model;
}

Sequences weighted_values(std::initializer_list<float> targets, std::initializer_list<float> weights) {
  Sequences s;
  s.n_x = s.n_y = 1;
  s.value = targets;
  s.weight = weights;
  s.x.assign(s.value.size(), 0.0F);
  s.offset.push_back(static_cast<std::int64_t>(s.value.size()));
  return s;
}

// Random targets at three steps out of four.
Sequences with_targets(Sequences data, const Model& model, Random& random) {
  data.n_y = model.n_y();
  for (std::size_t t = 0; t < data.steps(); ++t) {
    data.weight.push_back(random.below(4) == 0 ? 0.0F : static_cast<float>(random.uniform(0.5, 2.0)));
    if (model.schema.task == Task::kClassification)
      data.label.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(model.n_y()))));
    else
      for (int o = 0; o < model.n_y(); ++o) data.value.push_back(static_cast<float>(random.normal()));
  }
  return data;
}

TEST(Score, OfValuesIsTheWeightedRootMeanSquare) {
  // Errors 1, 3 and 5 with weights 1, 3 and 0: (1 + 27) / 4.
  const Score s = score(constant_two(), weighted_values({3, 5, 7}, {1, 3, 0}));
  EXPECT_DOUBLE_EQ(s.rmse, std::sqrt(7.0));
  EXPECT_EQ(s.targets, 2U);
  EXPECT_EQ(s.sequences, 1U);
  EXPECT_DOUBLE_EQ(s.weight, 4.0);
}

TEST(Score, WithoutTargetsIsZeroAndNotUndefined) {
  const Score s = score(constant_two(), weighted_values({3, 5}, {0, 0}));
  EXPECT_EQ(s.targets, 0U);
  EXPECT_EQ(s.weight, 0.0);
  EXPECT_EQ(s.rmse, 0.0);
}

// Training and `remede evaluate` must not give two figures for one model.
TEST(Score, AgreesWithEvaluate) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const Model model = test::random_model(random);
    const Sequences data = with_targets(test::random_sequences(random, model.n_x(), 12, 9), model, random);
    const Score s = score(model, data);
    const Scores all = evaluate(model.objective(), predict_batch(model, data, 1), data);
    EXPECT_EQ(s.sequences, all.sequences);
    EXPECT_EQ(s.targets, all.steps);
    EXPECT_DOUBLE_EQ(s.weight, all.weight);
    if (model.schema.task == Task::kClassification) {
      EXPECT_DOUBLE_EQ(s.accuracy, all.classification.accuracy);
      EXPECT_DOUBLE_EQ(s.loss, all.classification.log_loss);
    } else {
      EXPECT_NEAR(s.rmse, all.regression.overall.rmse, 1e-12 * (1 + s.rmse));
    }
  }
}

TEST(ScoreUnits, AreSequencesWhereThereAreSeveral) {
  Sequences data = testing::regimes(6, 3).sequences;
  Model model = constant_two();
  model.schema.inputs = {"kelvin", "grams"};
  model.fill = {0.0F, 0.0F};
  model.trees[0].n_x = 2;
  const UnitScores units = score_units(model, data);
  ASSERT_EQ(units.loss.size(), 6U);
  double loss = 0, weight = 0;
  for (std::size_t u = 0; u < 6; ++u) {
    EXPECT_DOUBLE_EQ(units.weight[u], 10.0);
    loss += units.loss[u];
    weight += units.weight[u];
  }
  const Score whole = score(model, data);
  EXPECT_NEAR(loss / weight, whole.rmse * whole.rmse, 1e-9 * loss);
}

TEST(ScoreUnits, OfOneLongSequenceAreConsecutiveSteps) {
  std::vector<float> targets(1000, 3.0F);
  Sequences data = weighted_values({}, {});
  data.value = targets;
  data.weight.assign(1000, 1.0F);
  data.x.assign(1000, 0.0F);
  data.offset = {0, 1000};
  const UnitScores units = score_units(constant_two(), data);
  EXPECT_GT(units.loss.size(), 16U) << "enough units to compare two models by";
  double weight = 0;
  for (std::size_t u = 0; u < units.loss.size(); ++u) {
    EXPECT_DOUBLE_EQ(units.loss[u], units.weight[u]) << "each error is 1";
    weight += units.weight[u];
  }
  EXPECT_DOUBLE_EQ(weight, 1000.0);
}

}  // namespace
}  // namespace remede

#include "remede/executor/grow.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "remede/data/split.h"
#include "remede/model/tree.h"
#include "remede/train/score.h"
#include "train/small_data.h"

namespace remede {
namespace {

// Two noisy inputs; the class is whether the slow average of the second is above zero, which no single step shows.
Dataset slow_average(int sequences, std::uint64_t seed, int length = 200) {
  Dataset data;
  data.schema.inputs = {"noise", "signal"};
  data.schema.targets = {"y"};
  data.schema.classes = {"low", "high"};
  Sequences& s = data.sequences;
  s.n_x = 2;
  s.n_y = 2;
  Random random(seed);
  for (int i = 0; i < sequences; ++i) {
    double average = 0;
    for (int t = 0; t < length; ++t) {
      s.x.push_back(static_cast<float>(random.normal()));
      s.label.push_back(average > 0 ? 1 : 0);
      s.weight.push_back(1.0F);
      s.x.push_back(static_cast<float>(random.normal()));
      average += 0.03 * (static_cast<double>(s.x.back()) - average);
    }
    s.offset.push_back(static_cast<std::int64_t>(s.label.size()));
  }
  return data;
}

TrainingData training_of(const Dataset& data) {
  TrainingData training;
  training.objective = default_objective(data.schema.task);
  training.training = training.validation = data.sequences;
  training.fill.assign(static_cast<std::size_t>(data.sequences.n_x), 0.0F);
  training.quantiles = input_quantiles(data.sequences);
  return training;
}

StartPlan rich_plan(const Dataset& data, int depth, int cells) {
  StartPlan plan;
  plan.shape.depth = depth;
  plan.shape.n_x = data.sequences.n_x;
  plan.shape.n_m = cells;
  plan.shape.n_y = data.sequences.n_y;
  plan.shape.form.write_bias = true;
  plan.shape.form.write_rule = WriteRule::kBlend;
  plan.shape.form.leaf_output = LeafOutput::kLinear;
  return plan;
}

Model grown_model(const Dataset& data, const StartPlan& plan) {
  const TrainingData training = training_of(data);
  Random random(1);
  Parameters<float> parameters = initial_parameters(plan, training.quantiles, random);
  grow(training, GrowthOptions(), parameters);
  Model model;
  model.schema = data.schema;
  model.fill = training.fill;
  model.trees.push_back(harden(parameters));
  return model;
}

TEST(Grow, ASlowAverageIsFoundAndKeptInACell) {
  const Dataset data = slow_average(20, 1), fresh = slow_average(20, 2);
  const Model model = grown_model(data, rich_plan(data, 1, 2));
  const Tree& tree = model.trees.front();
  ASSERT_EQ(tree.feature.size(), 1U);
  EXPECT_GE(tree.feature[0], 2) << "expected a test of a cell";
  EXPECT_NEAR(tree.threshold[0], 0.0F, 0.05F);
  EXPECT_GT(score(model, fresh.sequences).accuracy, 0.85);  // nothing was trained
}

TEST(Grow, WithoutMemoryItIsAPlainTree) {
  const Dataset data = testing::regimes(60, 3);
  const Model model = grown_model(data, rich_plan(data, 2, 0));
  EXPECT_EQ(model.trees.front().feature[0], 0);
  EXPECT_NEAR(model.trees.front().threshold[0], 300.0F, 0.5F);
  EXPECT_LT(score(model, testing::regimes(60, 4).sequences).rmse, 150.0);  // the spread of the values is 410
}

TEST(Grow, MissingInputsGoWhereTheTableSawThem) {
  Dataset data = testing::regimes(60, 3);
  for (std::size_t i = 0; i < data.sequences.x.size(); i += 14)
    data.sequences.x[i] = std::numeric_limits<float>::quiet_NaN();
  TrainingData training = training_of(data);
  for (const float fill : {290.0F, 310.0F}) {
    training.fill = {fill, 0.0F};
    Random random(1);
    Parameters<float> parameters = initial_parameters(rich_plan(data, 1, 0), training.quantiles, random);
    grow(training, GrowthOptions(), parameters);
    EXPECT_EQ(harden(parameters).missing_right[0], fill > 300.0F ? 1 : 0);
  }
}

TEST(Grow, WindowsOfALongSequenceKeepTheAveragesOfTheWhole) {
  const Dataset data = slow_average(1, 5, 4000);
  TrainingData whole = training_of(data), windows = whole;
  windows.training = cut(whole.training, 128);
  windows.continues.assign(windows.training.count(), 1);
  windows.continues.front() = 0;
  const StartPlan plan = rich_plan(data, 2, 3);
  Random one(1), two(1);
  Parameters<float> a = initial_parameters(plan, whole.quantiles, one),
                    b = initial_parameters(plan, whole.quantiles, two);
  grow(whole, GrowthOptions(), a);
  grow(windows, GrowthOptions(), b);
  EXPECT_EQ(a.values, b.values);
}

TEST(Grow, OnlyCellsThatCanAverage) {
  Shape shape;
  EXPECT_FALSE(can_grow(shape));  // the paper's cells only add
  shape.form.write_rule = WriteRule::kBlend;
  EXPECT_TRUE(can_grow(shape));
  shape.form.output_order = OutputOrder::kFirst;
  EXPECT_FALSE(can_grow(shape));
  shape = Shape();
  shape.n_m = 0;
  EXPECT_TRUE(can_grow(shape));
}

}  // namespace
}  // namespace remede

// The recipe gradtree from data to model.
#include <cmath>
#include <limits>
#include <optional>

#include <gtest/gtest.h>

#include "remede/model/batch.h"
#include "remede/model/file.h"
#include "remede/train/fit.h"

namespace remede {
namespace {

// Rows of two inputs with heavy tails, the second without effect; the class says whether the first is at least 5.
Dataset skewed_table(int rows, double power = 1.0) {
  Dataset data;
  data.schema.inputs = {"price", "noise"};
  data.schema.targets = {"y"};
  data.schema.classes = {"low", "high"};
  Sequences& s = data.sequences;
  s.n_x = 2;
  s.n_y = 2;
  Random random(4);
  for (int i = 0; i < rows; ++i) {
    const double price = std::exp(3 * random.normal());
    s.x.push_back(static_cast<float>(std::pow(price, power)));
    s.x.push_back(i % 20 == 3 ? std::numeric_limits<float>::quiet_NaN()
                              : static_cast<float>(std::exp(5 * random.normal())));
    s.label.push_back(price >= 5 ? 1 : 0);
    s.weight.push_back(1.0F);
    s.offset.push_back(i + 1);
  }
  return data;
}

Config gradtree(std::int64_t updates) {
  Config config;
  config.recipe = gradtree_recipe();
  config.depth = 3;
  config.updates = updates;
  config.threads = 1;
  return config;
}

TEST(GradTree, ThresholdsAreInTheUnitsOfTheData) {
  const Fit result = fit(skewed_table(600), nullptr, gradtree(1500));
  EXPECT_GE(result.validation.accuracy, 0.98);
  ASSERT_EQ(result.model.trees.size(), 1U);
  const Tree& tree = result.model.trees.front();
  EXPECT_EQ(tree.n_m, 0);
  EXPECT_TRUE(tree.linear.empty());
  ASSERT_FALSE(tree.feature.empty());
  EXPECT_EQ(tree.feature[0], 0);
  EXPECT_NEAR(tree.threshold[0], 5.0F, 1.0F);
  EXPECT_EQ(result.model.training.settings[1].second, "gradtree");
}

// Ranks are all it learns from: a rising function of an input changes no prediction of the rows it was trained on.
TEST(GradTree, ARisingFunctionOfAnInputChangesNothing) {
  Config config = gradtree(300);
  config.validation_fraction = 0;  // validation on the training rows, whose ranks are known
  config.simplify = false;
  const Dataset plain = skewed_table(300), bent = skewed_table(300, 0.2);
  const Model a = fit(plain, nullptr, config).model, b = fit(bent, nullptr, config).model;
  EXPECT_NE(a.trees.front().threshold, b.trees.front().threshold);
  EXPECT_EQ(predict_batch(a, plain.sequences, 1).output, predict_batch(b, bent.sequences, 1).output);
  config.recipe.quantile_transform = false;
  EXPECT_NE(predict_batch(fit(plain, nullptr, config).model, plain.sequences, 1).output,
            predict_batch(fit(bent, nullptr, config).model, bent.sequences, 1).output);
}

TEST(GradTree, ThreadsAndInterruptionsChangeNothing) {
  const Dataset data = skewed_table(200);
  Config config = gradtree(150);
  const std::string whole = to_json(fit(data, nullptr, config).model);
  config.threads = 2;
  EXPECT_EQ(to_json(fit(data, nullptr, config).model), whole);
  std::optional<Checkpoint> last;
  Callbacks callbacks;
  int batches = 0;
  callbacks.stop = [&] { return ++batches > 200; };
  callbacks.checkpoint = [&](const Checkpoint& c) { last = c; };
  config.threads = 1;
  ASSERT_TRUE(fit(data, nullptr, config, callbacks).stopped);
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(to_json(fit(data, nullptr, config, {}, &*last).model), whole);
}

}  // namespace
}  // namespace remede

#include "remede/train/calibrate.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "remede/base/random.h"
#include "remede/model/batch.h"
#include "remede/train/config.h"

namespace remede {
namespace {

// A tree of one leaf that says `answers` for the quantiles .1, .5 and .9.
Model constant_quantiles(float low, float middle, float high) {
  Model model;
  model.schema.task = Task::kRegression;
  model.schema.inputs = {"x"};
  model.schema.targets = {"y"};
  model.fill = {0.0F};
  model.own_objective = Objective{Loss::kQuantile, {0.1F, 0.5F, 0.9F}};
  Tree tree;
  tree.n_x = 1;
  tree.n_y = 3;
  tree.output = {std::log(middle - low), middle, std::log(high - middle)};
  model.trees.push_back(tree);
  return model;
}

// Normal values with a standard deviation of 2 around 3.
Sequences normal_values(std::size_t steps, std::uint64_t seed) {
  Random random(seed);
  Sequences data;
  data.n_x = data.n_y = 1;
  for (std::size_t t = 0; t < steps; ++t) {
    data.x.push_back(0.0F);
    data.value.push_back(static_cast<float>(3 + 2 * random.normal()));
    data.weight.push_back(t % 5 == 0 ? 0.0F : 1.0F);
  }
  data.offset.push_back(static_cast<std::int64_t>(steps));
  return data;
}

double coverage(const Model& model, const Sequences& data) {
  const Predictions said = predict_batch(model, data);
  double inside = 0, all = 0;
  for (std::size_t t = 0; t < data.steps(); ++t) {
    if (data.weight[t] == 0.0F) continue;
    all += 1;
    if (data.value[t] >= said.output[3 * t] && data.value[t] <= said.output[3 * t + 2]) inside += 1;
  }
  return inside / all;
}

TEST(Calibrate, widens_and_narrows_intervals_to_what_they_say) {
  const Sequences held_out = normal_values(4000, 1), fresh = normal_values(4000, 2);
  for (const float width : {1.0F, 6.0F}) {
    Model model = constant_quantiles(3 - width, 3, 3 + 1.5F * width);
    EXPECT_GT(std::abs(coverage(model, fresh) - 0.8), 0.1) << width;
    scale_quantiles(quantile_factors(model, held_out), model);
    EXPECT_NEAR(coverage(model, fresh), 0.8, 0.03) << width;
    const Predictions said = predict_batch(model, fresh);
    EXPECT_EQ(said.output[1], 3.0F);  // the median stays
    EXPECT_NEAR(said.output[0], 3 - 2 * 1.2816, 0.2);
    EXPECT_NEAR(said.output[2], 3 + 2 * 1.2816, 0.2);
  }
}

TEST(Calibrate, leaves_few_targets_and_other_objectives_alone) {
  const Model model = constant_quantiles(2, 3, 4);
  EXPECT_EQ(quantile_factors(model, normal_values(110, 1)), std::vector<float>(3, 0.0F));  // 88 targets
  Model value = constant_quantiles(2, 3, 4);
  value.own_objective.reset();
  value.trees.front().n_y = 1;
  value.trees.front().output = {3.0F};
  EXPECT_EQ(quantile_factors(value, normal_values(4000, 1)), std::vector<float>(1, 0.0F));
}

// A tree of one leaf that always gives its classes these scores.
Model constant_scores(const std::vector<float>& scores) {
  Model model;
  model.schema.inputs = {"x"};
  model.schema.targets = {"y"};
  for (std::size_t k = 0; k < scores.size(); ++k) model.schema.classes.push_back(std::to_string(k));
  model.fill = {0.0F};
  Tree tree;
  tree.n_x = 1;
  tree.n_y = static_cast<int>(scores.size());
  tree.output = scores;
  model.trees.push_back(tree);
  return model;
}

// So many targets of each class, each a sequence of its own.
Sequences of_classes(const std::vector<int>& counts) {
  Sequences data;
  data.n_x = 1;
  data.n_y = static_cast<int>(counts.size());
  for (std::size_t k = 0; k < counts.size(); ++k)
    for (int i = 0; i < counts[k]; ++i) {
      data.x.push_back(0.0F);
      data.label.push_back(static_cast<std::int32_t>(k));
      data.weight.push_back(1.0F);
      data.offset.push_back(static_cast<std::int64_t>(data.x.size()));
    }
  return data;
}

TEST(Calibrate, dampens_scores_that_are_too_sure) {
  Prepared fold;
  fold.training = of_classes({1, 1});
  fold.validation = of_classes({25, 75});
  Model sure = constant_scores({0.0F, 4.0F});
  const double found = score_factor({sure}, {&fold, 1});
  EXPECT_NEAR(found, std::log(std::log(3.0) / 4), 0.026);  // half a step
  scale_scores(found, sure);
  EXPECT_NEAR(sure.trees[0].output[1], std::log(3.0), 0.03);
  EXPECT_EQ(score_factor({constant_scores({0.0F, 0.5F})}, {&fold, 1}), 0) << "scores are never raised";
  EXPECT_NEAR(score_factor({constant_scores({0.0F, -4.0F})}, {&fold, 1}), -3, 1e-9) << "wrong more often than right";
}

TEST(Calibrate, does_not_blame_a_copy_for_classes_it_has_not_seen) {
  Prepared fold;
  fold.training = of_classes({1, 1, 0});
  fold.validation = of_classes({1, 99, 50});
  const Model sure = constant_scores({0.0F, 4.0F, -10.0F});
  EXPECT_EQ(score_factor({sure}, {&fold, 1}), 0);
  fold.training = of_classes({1, 1, 1});
  EXPECT_LT(score_factor({sure}, {&fold, 1}), -1);
}

}  // namespace
}  // namespace remede

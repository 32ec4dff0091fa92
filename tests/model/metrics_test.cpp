#include "remede/model/metrics.h"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "remede/base/error.h"
#include "remede/base/random.h"

namespace remede {
namespace {

// One sequence of steps with these labels; a label of -1 is a step without target.
Sequences labelled(const std::vector<int>& labels, int classes) {
  Sequences s;
  s.n_y = classes;
  s.offset.push_back(static_cast<std::int64_t>(labels.size()));
  for (const int label : labels) {
    s.label.push_back(std::max(label, 0));
    s.weight.push_back(label < 0 ? 0.0F : 1.0F);
  }
  return s;
}

// Figures worked out by hand.
TEST(Evaluate, Classification) {
  const Sequences s = labelled({0, 0, 0, 1, 1, 2, -1}, 4);
  Predictions p;
  p.output = {0.5F,  0.25F, 0.25F, 0,     0.5F,  0.25F, 0.25F, 0,     0.25F, 0.5F, 0.25F, 0, 0.25F, 0.5F,
              0.25F, 0,     0.5F,  0.25F, 0.25F, 0,     0.5F,  0.25F, 0.25F, 0,    0,     0, 1,     0};
  const Scores scores = evaluate(default_objective(Task::kClassification), p, s);
  const ClassificationScores& c = scores.classification;
  EXPECT_EQ(scores.sequences, 1U);
  EXPECT_EQ(scores.steps, 6U);
  EXPECT_DOUBLE_EQ(c.accuracy, 3.0 / 6.0);
  EXPECT_DOUBLE_EQ(c.balanced_accuracy, (2.0 / 3.0 + 1.0 / 2.0 + 0.0) / 3.0);
  EXPECT_DOUBLE_EQ(c.macro_f1, (4.0 / 7.0 + 2.0 / 4.0 + 0.0) / 3.0);
  EXPECT_DOUBLE_EQ(c.log_loss, (3 * std::log(2.0) + 3 * std::log(4.0)) / 6);
  EXPECT_EQ(c.confusion, (std::vector<double>{2, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_DOUBLE_EQ(c.classes[0].precision, 2.0 / 4.0);
  EXPECT_DOUBLE_EQ(c.classes[0].support, 3.0);
  EXPECT_TRUE(std::isnan(c.classes[2].precision));
  EXPECT_TRUE(std::isnan(c.classes[3].recall));
  // pairs in order, ties counting half: 4.5 of 9 for class 0, 5 of 8 for class 1, all tied for class 2
  EXPECT_DOUBLE_EQ(c.auc, ((4 * 1.0 / 2 + 2 * 1 + 0.5) / 9.0 + (3 * 1 + 1 * 0.5 + 3 * 0.5) / 8.0 + 0.5) / 3.0);
}

TEST(Evaluate, WeightsCountAsRepetition) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Random random(seed);
    Sequences weighted = labelled(std::vector<int>(5, 0), 2);
    weighted.label.clear();
    Sequences repeated;
    repeated.n_y = 2;
    Predictions a;
    Predictions b;
    for (std::size_t t = 0; t < 5; ++t) {
      const auto label = static_cast<std::int32_t>(random.below(2));
      const auto times = random.below(4);
      const auto p = static_cast<float>(random.below(5)) / 4.0F;
      weighted.label.push_back(label);
      weighted.weight[t] = static_cast<float>(times);
      a.output.insert(a.output.end(), {p, 1 - p});
      for (std::uint64_t i = 0; i < times; ++i) {
        repeated.label.push_back(label);
        repeated.weight.push_back(1.0F);
        b.output.insert(b.output.end(), {p, 1 - p});
      }
    }
    repeated.offset.push_back(static_cast<std::int64_t>(repeated.label.size()));
    RC_PRE(!repeated.label.empty());
    const auto one = evaluate(default_objective(Task::kClassification), a, weighted).classification;
    const auto two = evaluate(default_objective(Task::kClassification), b, repeated).classification;
    const auto same = [](double x, double y) { return (std::isnan(x) && std::isnan(y)) || std::fabs(x - y) < 1e-12; };
    RC_ASSERT(same(one.accuracy, two.accuracy) && same(one.balanced_accuracy, two.balanced_accuracy));
    RC_ASSERT(same(one.macro_f1, two.macro_f1) && same(one.log_loss, two.log_loss) && same(one.auc, two.auc));
  }));
}

TEST(Evaluate, ClassesThatTheModelDoesNotKnowHaveARowOfTheirOwn) {
  Sequences s = labelled({0, 1, 1, 0}, 2);
  s.weight = {1, 1, 0, 0};
  Predictions p;
  p.output = {0.9F, 0.1F, 0.2F, 0.8F, 0.3F, 0.7F, 0.6F, 0.4F};
  UnknownTargets unknown;
  unknown.count = 2;
  unknown.weight = 3;
  unknown.step = {2, 3};
  unknown.step_weight = {2, 1};
  const Scores all = evaluate(default_objective(Task::kClassification), p, s, unknown);
  EXPECT_EQ(all.steps, 4U);
  const ClassificationScores& c = all.classification;
  EXPECT_EQ(c.unknown, (std::vector<double>{1, 2}));
  EXPECT_EQ(c.unknown_support, 3);
  EXPECT_EQ(c.confusion, (std::vector<double>{1, 0, 0, 1}));
  EXPECT_DOUBLE_EQ(c.accuracy, 0.4);
  EXPECT_TRUE(evaluate(default_objective(Task::kClassification), p, s).classification.unknown.empty());
}

TEST(Evaluate, ImpossibleTruthCostsMuchButNotInfinitely) {
  const Sequences s = labelled({1}, 2);
  Predictions p;
  p.output = {1.0F, 0.0F};
  EXPECT_NEAR(evaluate(default_objective(Task::kClassification), p, s).classification.log_loss, -std::log(1e-15), 1e-9);
  p.output = {NAN, NAN};
  EXPECT_NEAR(evaluate(default_objective(Task::kClassification), p, s).classification.log_loss, -std::log(1e-15), 1e-9);
}

TEST(Evaluate, Regression) {
  Sequences s;
  s.n_y = 2;
  s.offset = {0, 2, 4};
  s.value = {1, 10, 3, 10, 99, 99, 5, 10};
  s.weight = {1, 1, 0, 2};
  Predictions p;
  p.output = {2, 10, 3, 11, 0, 0, 4, 10};
  const Scores scores = evaluate(default_objective(Task::kRegression), p, s);
  EXPECT_EQ(scores.steps, 3U);
  EXPECT_EQ(scores.sequences, 2U);
  const RegressionScores& r = scores.regression;
  EXPECT_DOUBLE_EQ(r.outputs[0].rmse, std::sqrt(3.0 / 4.0));
  EXPECT_DOUBLE_EQ(r.outputs[0].mae, 3.0 / 4.0);
  EXPECT_DOUBLE_EQ(r.outputs[0].r2, 1 - 3.0 / (6.25 + 0.25 + 2 * 2.25));  // the mean is 3.5
  EXPECT_TRUE(std::isnan(r.outputs[1].r2));                               // a constant target
  EXPECT_DOUBLE_EQ(r.overall.rmse, std::sqrt((3.0 + 1.0) / 8.0));
  EXPECT_DOUBLE_EQ(r.overall.mae, (3.0 + 1.0) / 8.0);
  EXPECT_DOUBLE_EQ(r.overall.r2, r.outputs[0].r2);
}

TEST(Evaluate, NothingToScoreIsAnError) {
  EXPECT_THROW(evaluate(default_objective(Task::kClassification), {}, labelled({}, 2)), Error);
  Predictions p;
  p.output = {0, 1};
  EXPECT_THROW(evaluate(default_objective(Task::kClassification), p, labelled({-1}, 2)), Error);
}

TEST(AreaUnderCurve, CountsPairs) {
  EXPECT_DOUBLE_EQ(area_under_curve({{0.1F, 1, false}, {0.9F, 1, true}}), 1.0);
  EXPECT_DOUBLE_EQ(area_under_curve({{0.9F, 1, false}, {0.1F, 1, true}}), 0.0);
  EXPECT_DOUBLE_EQ(area_under_curve({{0.5F, 1, false}, {0.5F, 1, true}}), 0.5);
  EXPECT_DOUBLE_EQ(area_under_curve({{NAN, 1, false}, {0.1F, 1, true}, {0.2F, 3, false}}), 0.25);
  EXPECT_TRUE(std::isnan(area_under_curve({{0.5F, 1, true}})));
}

}  // namespace
}  // namespace remede

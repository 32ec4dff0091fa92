// Every objective: its derivative is that of its loss, its best constant is the best, and what the kernels compute is
// what everything else computes.
#include "remede/objective/objective.h"

#include <cmath>

#include <gtest/gtest.h>

#include "remede/base/error.h"
#include "remede/base/random.h"
#include "remede/objective/plain.h"
#include "remede/objective/truth.h"

namespace remede {
namespace {

const std::vector<Objective>& objectives() {
  static const std::vector<Objective> all = {{Loss::kCrossEntropy},
                                             {Loss::kSquaredError},
                                             {Loss::kAbsoluteError},
                                             {Loss::kHuber},
                                             {Loss::kHuber, {}, {0.5F, 2.0F, 0.1F}},
                                             {Loss::kPoisson},
                                             {Loss::kQuantile, {0.1F, 0.5F, 0.9F}},
                                             {Loss::kQuantile, {0.05F, 0.7F, 0.99F}},
                                             {Loss::kQuantile, {0.25F, 0.75F, 0.8F}}};
  return all;
}

// Raw outputs and a target of a step.
struct Example {
  std::vector<double> y;
  std::vector<float> value;  // (targets), or the number of the class
};

int targets_of(const Objective& objective) { return objective.loss == Loss::kQuantile ? 1 : 3; }

Example random_example(const Objective& objective, Random& random) {
  Example e;
  for (int k = 0; k < 3; ++k) e.y.push_back(random.normal());
  const auto drawn = [&] {
    return objective.loss == Loss::kPoisson ? static_cast<float>(random.below(4)) : static_cast<float>(random.normal());
  };
  if (classifies(objective))
    e.value.push_back(static_cast<float>(random.below(3)));
  else
    for (int k = 0; k < targets_of(objective); ++k) e.value.push_back(drawn());
  return e;
}

Truth truth_of(const Objective& objective, const Example& e) {
  if (classifies(objective)) return {static_cast<std::int32_t>(e.value[0]), {}};
  return {-1, e.value};
}

// The formula of training, in double; y becomes the derivative.
double formula(const Objective& objective, const Example& e, std::vector<double>& y) {
  const std::vector<double> target(e.value.begin(), e.value.end());
  double loss = 0;
  scalar::with_formula(objective, [&](auto f) {
    loss = decltype(f)::run(objective, scalar::Step<double, double>{y.data(), target.data(), static_cast<int>(y.size()),
                                                                    static_cast<int>(target.size()), 1.0})
               .loss;
  });
  return loss;
}

TEST(Objective, TheDerivativeIsThatOfTheLoss) {
  Random random(1);
  for (const Objective& objective : objectives())
    for (int i = 0; i < 50; ++i) {
      const Example e = random_example(objective, random);
      std::vector<double> derivative = e.y;
      formula(objective, e, derivative);
      for (std::size_t k = 0; k < e.y.size(); ++k) {
        std::vector<double> up = e.y, down = e.y;
        up[k] += 1e-6;
        down[k] -= 1e-6;
        const double slope = (formula(objective, e, up) - formula(objective, e, down)) / 2e-6;
        EXPECT_NEAR(derivative[k], slope, 1e-6) << word_of(objective);
      }
    }
}

TEST(Objective, TrainingAndScoresMeanTheSameLoss) {
  Random random(2);
  for (const Objective& objective : objectives())
    for (int i = 0; i < 50; ++i) {
      const Example e = random_example(objective, random);
      std::vector<double> y = e.y;
      const double expected = formula(objective, e, y);
      std::vector<float> answer(e.y.begin(), e.y.end());
      apply_link(objective, answer);
      double loss = 0;
      add_loss(objective, answer, truth_of(objective, e), 2.0, loss);
      EXPECT_NEAR(loss, 2 * expected, 1e-5) << word_of(objective);
      LossSum sum(objective);
      sum.add(2.0, mark(objective, answer, truth_of(objective, e)).worth);
      EXPECT_NEAR(sum.take(), 2 * expected, 1e-5) << word_of(objective);
    }
}

TEST(Objective, NoConstantBeatsTheBestOne) {
  Random random(3);
  for (const Objective& objective : objectives()) {
    Sequences data;
    data.n_x = 0;
    data.n_y = targets_of(objective);
    for (int t = 0; t < 200; ++t) {
      const Example e = random_example(objective, random);
      if (classifies(objective))
        data.label.push_back(static_cast<std::int32_t>(e.value[0]));
      else
        data.value.insert(data.value.end(), e.value.begin(), e.value.end());
      data.weight.push_back(static_cast<float>(random.uniform(0.5, 2.0)));
    }
    data.offset = {0, 200};
    TargetSums targets(objective, data.n_y);
    for (std::size_t t = 0; t < 200; ++t)
      add_target(objective, truth_at(data, t), static_cast<double>(data.weight[t]), targets);
    std::vector<float> best(3);
    best_constant(objective, targets, {}, best);
    const auto mean_loss = [&](std::vector<float> y) {
      apply_link(objective, y);
      double sum = 0;
      for (std::size_t t = 0; t < 200; ++t)
        add_loss(objective, y, truth_at(data, t), static_cast<double>(data.weight[t]), sum);
      return sum / targets.weight;
    };
    EXPECT_NEAR(mean_loss(best), constant_loss(objective, data), 1e-5) << word_of(objective);
    for (std::size_t k = 0; k < best.size(); ++k)
      for (const float off : {-0.1F, 0.1F}) {
        std::vector<float> other = best;
        other[k] += off;
        EXPECT_GE(mean_loss(other), mean_loss(best) - 1e-5) << word_of(objective);
      }
  }
}

TEST(Objective, QuantilesNeverCrossWhateverTheRawOutputs) {
  Random random(4);
  for (int i = 0; i < 2000; ++i) {
    const Objective objective{Loss::kQuantile, {0.1F, 0.3F, 0.5F, 0.7F, 0.9F}};
    std::vector<float> y;
    for (int k = 0; k < 5; ++k)
      y.push_back(static_cast<float>(random.normal() * std::pow(10.0, random.uniform(-3, 3))));
    apply_link(objective, y);
    for (std::size_t k = 0; k < y.size(); ++k) ASSERT_TRUE(std::isfinite(y[k]));
    for (std::size_t k = 1; k < y.size(); ++k) ASSERT_LE(y[k - 1], y[k]);
  }
}

TEST(Objective, PoissonAnswersArePositiveAndFinite) {
  for (const float raw : {-1e30F, -200.0F, -80.0F, 0.0F, 3.0F, 90.0F, 1e30F}) {
    std::vector<float> y = {raw};
    apply_link({Loss::kPoisson}, y);
    EXPECT_GT(y[0], 0.0F) << raw;
    EXPECT_TRUE(std::isfinite(y[0])) << raw;
  }
}

TEST(Objective, CountsAreNotNegative) {
  Sequences data;
  data.n_x = 1;
  data.n_y = 1;
  data.x = {0, 0};
  data.value = {0, 0};
  data.weight = {1, 1};
  data.offset = {0, 2};
  EXPECT_EQ(check_signs({Loss::kPoisson}, data), 0.0);
  EXPECT_ANY_THROW(check_targets({Loss::kPoisson}, data)) << "nothing to learn";
  data.value = {-5, 3};
  EXPECT_ANY_THROW(check_signs({Loss::kPoisson}, data));
  EXPECT_NO_THROW(check_signs({Loss::kSquaredError}, data));
  data.weight[0] = 0;
  EXPECT_EQ(check_signs({Loss::kPoisson}, data), 3.0);
}

TEST(Objective, SaysWhatDoesNotFit) {
  const auto refused = [](const Objective& objective, Task task, int targets) {
    try {
      check(objective, task, targets, "m.json");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused({Loss::kPoisson}, Task::kRegression, 2), "");
  EXPECT_EQ(refused({Loss::kPoisson}, Task::kClassification, 1),
            "m.json: expected an objective of classes (cross-entropy), got poisson");
  EXPECT_EQ(refused({Loss::kCrossEntropy}, Task::kRegression, 1),
            "m.json: expected an objective of numbers, not of classes, got cross-entropy");
  EXPECT_EQ(refused({Loss::kQuantile, {0.5F, 0.1F}}, Task::kRegression, 1),
            "m.json: expected quantiles in ascending order, got 0.1 after 0.5");
  EXPECT_EQ(refused({Loss::kQuantile, {0.5F, 1.0F}}, Task::kRegression, 1),
            "m.json: expected quantiles between 0 and 1, got 1");
  EXPECT_EQ(refused({Loss::kQuantile, {}}, Task::kRegression, 1), "m.json: expected 1 to 32 quantiles, got 0");
  EXPECT_EQ(refused({Loss::kQuantile, {0.5F}}, Task::kRegression, 2),
            "m.json: expected one target with the objective quantile, got 2");
  EXPECT_EQ(refused({Loss::kSquaredError, {0.5F}}, Task::kRegression, 1),
            "m.json: expected quantiles with the objective quantile only, got squared-error");
  Sequences counts;
  counts.n_y = 1;
  counts.value = {1.0F, -0.5F};
  counts.weight = {1.0F, 0.0F};
  counts.offset = {0, 2};
  check_targets({Loss::kPoisson}, counts);  // the second carries no target
  counts.weight[1] = 1.0F;
  EXPECT_THROW(check_targets({Loss::kPoisson}, counts), Error);
  counts.value = {0.0F, 0.0F};
  EXPECT_THROW(check_targets({Loss::kPoisson}, counts), Error);
}

TEST(Objective, CoverageCountsWhatLiesInTheInterval) {
  Sequences data;
  data.n_y = 1;
  data.value = {0.0F, 1.0F, 2.0F, 3.0F};
  data.weight = {1.0F, 1.0F, 2.0F, 0.0F};
  data.offset = {0, 4};
  const std::vector<float> said = {1, 2, 3, 0, 1, 1, 1, 2, 3, 0, 0, 0};
  const auto figures = objective_figures({Loss::kQuantile, {0.1F, 0.5F, 0.9F}}, said, data);
  ASSERT_EQ(figures.size(), 3U);
  EXPECT_EQ(figures[0].name, "pinball_loss");
  EXPECT_EQ(figures[1].name, "coverage");
  EXPECT_DOUBLE_EQ(figures[1].value, 0.75);
  EXPECT_DOUBLE_EQ(figures[2].value, (2.0 + 1.0 + 4.0) / 4);
}

TEST(Objective, AnImpossibleClassHasAFiniteLoss) {
  const Objective objective = default_objective(Task::kClassification);
  const std::vector<float> never = {0.0F, 1.0F}, lost = {std::nanf(""), 1.0F};
  for (const std::vector<float>& p : {never, lost}) {
    double sum = 0;
    add_loss(objective, p, {0, {}}, 1.0, sum);
    EXPECT_NEAR(sum, -std::log(kLeastProbability), 1e-9);
    LossSum marks(objective);
    marks.add(1.0, mark(objective, p, {0, {}}).worth);
    EXPECT_NEAR(marks.take(), -std::log(kLeastProbability), 1e-5);
  }
}

}  // namespace
}  // namespace remede

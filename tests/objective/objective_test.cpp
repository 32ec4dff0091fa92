// Every objective: its derivative is that of its loss, its best constant is the best, and what the kernels compute is
// what everything else computes.
#include "remede/objective/objective.h"

#include <cmath>

#include <gtest/gtest.h>

#include "remede/base/random.h"
#include "remede/objective/plain.h"

namespace remede {
namespace {

const std::vector<Objective>& objectives() {
  static const std::vector<Objective> all = {{Loss::kCrossEntropy}, {Loss::kSquaredError}};
  return all;
}

// Raw outputs and a target of a step.
struct Example {
  std::vector<double> y;
  std::vector<float> value;  // (targets), or the number of the class
};

Example random_example(const Objective& objective, Random& random) {
  Example e;
  for (int k = 0; k < 3; ++k) e.y.push_back(random.normal());
  if (classifies(objective))
    e.value.push_back(static_cast<float>(random.below(3)));
  else
    for (int k = 0; k < 3; ++k) e.value.push_back(static_cast<float>(random.normal()));
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
    data.n_y = 3;
    for (int t = 0; t < 200; ++t) {
      const Example e = random_example(objective, random);
      if (classifies(objective))
        data.label.push_back(static_cast<std::int32_t>(e.value[0]));
      else
        data.value.insert(data.value.end(), e.value.begin(), e.value.end());
      data.weight.push_back(static_cast<float>(random.uniform(0.5, 2.0)));
    }
    data.offset = {0, 200};
    TargetSums targets(3);
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
        EXPECT_GE(mean_loss(other), mean_loss(best) - 1e-6) << word_of(objective);
      }
  }
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

#include "remede/executor/entmax.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "executor/random_setting.h"
#include "remede/executor/plain.h"

namespace remede {
namespace {

// entmax-1.5 by its definition: max(0, z / 2 - tau)^2 with the tau, found by bisection, at which the sum is 1.
std::vector<double> entmax(const std::vector<double>& logits) {
  double low = -1e6, high = 1e6;
  std::vector<double> p(logits.size());
  for (int i = 0; i < 200; ++i) {
    const double tau = 0.5 * (low + high);
    double sum = 0;
    for (std::size_t f = 0; f < p.size(); ++f) {
      const double above = std::max(0.5 * logits[f] - tau, 0.0);
      sum += p[f] = above * above;
    }
    (sum > 1 ? low : high) = tau;
  }
  return p;
}

std::vector<double> random_logits(Random& random, double spread) {
  std::vector<double> logits(1 + random.below(12));
  for (double& z : logits) z = spread * random.normal();
  return logits;
}

TEST(entmax, roots_are_those_of_the_definition) {
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    const std::vector<double> logits = random_logits(random, i % 3 == 0 ? 0.01 : i % 3 == 1 ? 1.0 : 50.0);
    const std::vector<double> want = entmax(logits);
    std::vector<double> root(logits.size());
    entmax_roots<double>(logits, root);
    const std::vector<float> single(logits.begin(), logits.end());
    std::vector<float> single_root(single.size());
    entmax_roots<float>(single, single_root);
    for (std::size_t f = 0; f < root.size(); ++f) {
      EXPECT_NEAR(root[f] * root[f], want[f], 1e-12);
      EXPECT_NEAR(static_cast<double>(single_root[f]) * static_cast<double>(single_root[f]), want[f], 1e-5);
    }
  }
}

TEST(entmax, features_far_below_the_best_get_nothing) {
  const std::vector<double> logits = {3, 0, 2.5};
  std::vector<double> root(3);
  entmax_roots<double>(logits, root);
  EXPECT_EQ(root[1], 0);
  EXPECT_GT(root[0], root[2]);
  EXPECT_GT(root[2], 0);
}

// finish() of the plain form: the derivative of sum(weight * entmax(logits)) by the logits, against finite differences.
TEST(entmax, gradient_of_the_logits_is_that_of_finite_differences) {
  Random random(2);
  GradientForm form;
  form.index = IndexGradient::kEntmax;
  for (int i = 0; i < 100; ++i) {
    const std::vector<double> logits = random_logits(random, 1.0);
    Parameters<double> p(Shape{1, static_cast<int>(logits.size()), 0, 2, {}}), gradient(p.shape);
    std::copy(logits.begin(), logits.end(), p[Group::kIndex].begin());
    for (double& d : gradient[Group::kIndex]) d = random.normal();
    const std::vector<double> weight(gradient[Group::kIndex].begin(), gradient[Group::kIndex].end());
    PlainTree<double>(p, form, default_objective(Task::kClassification), {}).finish(gradient);
    for (std::size_t f = 0; f < logits.size(); ++f) {
      constexpr double kStep = 1e-5;
      const auto moved = [&](double by) {
        std::vector<double> z = logits;
        z[f] += by;
        const std::vector<double> q = entmax(z);
        double sum = 0;
        for (std::size_t k = 0; k < q.size(); ++k) sum += weight[k] * q[k];
        return sum;
      };
      EXPECT_NEAR(gradient[Group::kIndex][f], (moved(kStep) - moved(-kStep)) / (2 * kStep), 2e-5);
    }
  }
}

}  // namespace
}  // namespace remede

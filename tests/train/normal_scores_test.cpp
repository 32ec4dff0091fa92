#include "remede/train/normal_scores.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "remede/base/random.h"
#include "remede/executor/parameters.h"
#include "remede/executor/start.h"
#include "remede/model/predict.h"
#include "remede/train/scaling.h"

namespace remede {
namespace {

TEST(NormalScores, QuantilesAreThoseOfTheNormalDistribution) {
  for (int i = 1; i < 10000; ++i) {
    const double share = i / 10000.0;
    EXPECT_NEAR(0.5 * std::erfc(-normal_quantile(share) / std::sqrt(2.0)), share, 1e-9);
  }
  EXPECT_NEAR(normal_quantile(1e-9), -5.99780701, 1e-7);
}

// Heavy tails, ties, an integer column, a constant one.
std::vector<float> column(int kind, std::size_t n) {
  Random random(static_cast<std::uint64_t>(kind) + 1);
  std::vector<float> values(n);
  for (float& v : values) {
    const double z = random.normal();
    v = static_cast<float>(kind == 0 ? std::exp(4 * z) : kind == 1 ? std::floor(2 * z) : kind == 2 ? 3.5 : 1e-6 * z);
  }
  return values;
}

TEST(NormalScores, WhatIsTransformedIsNearlyNormal) {
  const std::vector<float> values = column(0, 5000);
  const NormalScores scores(values);
  double sum = 0, squares = 0, third = 0;
  for (const float v : values) {
    const auto s = static_cast<double>(scores(v));
    sum += s;
    squares += s * s;
    third += s * s * s;
  }
  EXPECT_NEAR(sum / 5000, 0, 0.01);
  EXPECT_NEAR(squares / 5000, 1, 0.02);
  EXPECT_NEAR(third / 5000, 0, 0.05);
  EXPECT_TRUE(std::isnan(scores(std::numeric_limits<float>::quiet_NaN())));
}

TEST(NormalScores, RiseAndAreMappedBackExactly) {
  for (int kind = 0; kind < 4; ++kind) {
    const std::vector<float> values = column(kind, 3000);
    const NormalScores scores(values, 200);
    Random random(9);
    for (int i = 0; i < 2000; ++i) {
      const auto threshold = static_cast<float>(3 * random.normal());
      const float raw = scores.raw_of(threshold);
      const float near[] = {raw, std::nextafter(raw, -1e30F), std::nextafter(raw, 1e30F), values[random.below(3000)],
                            static_cast<float>(random.uniform(-1e3, 1e3))};
      for (const float x : near) ASSERT_EQ(x >= raw, scores(x) >= threshold) << kind << " " << x << " " << threshold;
    }
    const float largest = std::numeric_limits<float>::max();
    EXPECT_LE(scores(-largest), scores(values[0]));
    EXPECT_GE(scores(largest), scores(values[0]));
    EXPECT_TRUE(std::isfinite(scores(largest)));
  }
}

// A static tree on transformed inputs and the folded one on raw inputs reach the same leaf for every row.
TEST(NormalScores, FoldedTreesAreExact) {
  Sequences raw;
  raw.n_x = 3;
  raw.n_y = 2;
  std::vector<std::vector<float>> columns;
  for (const int kind : {0, 1, 3}) columns.push_back(column(kind, 2000));
  for (std::size_t t = 0; t < 2000; ++t) {
    for (const auto& c : columns) raw.x.push_back(t % 50 == 7 ? std::numeric_limits<float>::quiet_NaN() : c[t]);
    raw.label.push_back(0);
    raw.weight.push_back(1.0F);
    raw.offset.push_back(static_cast<std::int64_t>(t + 1));
  }
  Scaling scaling;
  scaling.x_scores = normal_scores(raw);
  Sequences scaled = raw;
  apply(scaling, scaled);
  StartPlan plan;
  plan.shape = {6, 3, 0, 2, {}};
  plan.thresholds_from_data = true;  // thresholds between neighbouring values: the hardest case
  Random random(3);
  const Tree tree = harden(initial_parameters(plan, input_quantiles(scaled), random));
  Tree folded = tree;
  fold(scaling, default_objective(Task::kClassification), folded);
  const std::vector<float> zero(3, 0.0F), fill = raw_inputs_of_zero(scaling, 3);
  std::vector<int> reached(64);
  for (std::size_t t = 0; t < 2000; ++t) {
    float y[2], y_folded[2];
    const int leaf = step(tree, scaled.x.data() + 3 * t, zero.data(), nullptr, y);
    ASSERT_EQ(leaf, step(folded, raw.x.data() + 3 * t, fill.data(), nullptr, y_folded)) << t;
    reached[static_cast<std::size_t>(leaf)] = 1;
  }
  EXPECT_GT(std::count(reached.begin(), reached.end(), 1), 20);
  EXPECT_NEAR(scaling.x_scores[1](fill[1]), 0, 1e-6);
}

}  // namespace
}  // namespace remede

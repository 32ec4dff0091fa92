#include "remede/executor/start.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "train/small_data.h"

namespace remede {
namespace {

StartPlan rich_plan() {
  StartPlan plan;
  plan.shape = {
      6, 4, 9, 3, {WriteRule::kBlend, WriteReads::kInputsAndMemory, true, LeafOutput::kLinear, OutputOrder::kZero}};
  return plan;
}

double deviation(std::span<const float> values) {
  double sum = 0, squares = 0;
  for (const float v : values) {
    sum += static_cast<double>(v);
    squares += static_cast<double>(v) * static_cast<double>(v);
  }
  const double mean = sum / static_cast<double>(values.size());
  return std::sqrt(squares / static_cast<double>(values.size()) - mean * mean);
}

float largest(std::span<const float> values) {
  float most = 0;
  for (const float v : values) most = std::max(most, std::abs(v));
  return most;
}

TEST(Start, DrawsEveryGroupAtItsScale) {
  const StartPlan plan = rich_plan();
  Random random(1);
  const Parameters<float> p = initial_parameters(plan, {}, random);
  EXPECT_LE(largest(p[Group::kIndex]), 0.05F);
  EXPECT_GT(largest(p[Group::kIndex]), 0.04F);
  EXPECT_LE(largest(p[Group::kThreshold]), 0.5F);
  EXPECT_LE(largest(p[Group::kGate]), 0.5F);
  EXPECT_NEAR(deviation(p[Group::kOutput]), 0.05, 0.01);
  EXPECT_NEAR(deviation(p[Group::kBias]), 0.5, 0.1);
  EXPECT_NEAR(deviation(p[Group::kRate]), 1.5, 0.2);
  EXPECT_EQ(largest(p[Group::kLinear]), 0.0F);
  std::vector<float> inputs, memory;
  for (std::size_t i = 0; i < p[Group::kWrite].size(); ++i)
    (i % 13 < 4 ? inputs : memory).push_back(p[Group::kWrite][i]);
  EXPECT_NEAR(deviation(inputs), 5.0 / 2, 0.2);
  EXPECT_NEAR(deviation(memory), 0.3 / 3, 0.01);
}

TEST(Start, OtherStreamsGiveOtherStarts) {
  const StartPlan plan = rich_plan();
  Random a(1, 0), same(1, 0), b(1, 1);
  const auto first = initial_parameters(plan, {}, a), again = initial_parameters(plan, {}, same);
  EXPECT_EQ(first.values, again.values);
  EXPECT_NE(first.values, initial_parameters(plan, {}, b).values);
}

TEST(Start, ThresholdsFromDataStandBetweenItsValues) {
  Sequences data;
  data.n_x = 2;
  const float missing = std::numeric_limits<float>::quiet_NaN();
  data.x = {100, missing, 200, missing, 300, missing, missing, missing};
  data.offset = {0, 4};
  const InputQuantiles quantiles = input_quantiles(data);
  ASSERT_EQ(quantiles.values[0], (std::vector<float>{100, 200, 300}));
  EXPECT_TRUE(quantiles.values[1].empty());
  StartPlan plan;
  plan.shape = {6, 2, 1, 3, {}};
  plan.thresholds_from_data = true;
  Random random(5);
  const Parameters<float> p = initial_parameters(plan, quantiles, random);
  int between = 0;
  for (std::size_t i = 0; i < p[Group::kThreshold].size(); i += 3) {
    const float t = p[Group::kThreshold][i];
    EXPECT_TRUE(t == 150 || t == 250 || t == 300) << t;
    between += t == 150 || t == 250 ? 1 : 0;
    EXPECT_LE(std::abs(p[Group::kThreshold][i + 1]), 0.5F) << "an input that is always missing has no quantiles";
    EXPECT_LE(std::abs(p[Group::kThreshold][i + 2]), 0.5F) << "a cell starts near zero";
  }
  EXPECT_GT(between, 20);
  const auto right = std::count(p.missing_right.begin(), p.missing_right.end(), 1);
  EXPECT_GT(right, 10) << "each split draws where missing values go";
  EXPECT_LT(right, 53);
}

TEST(Start, QuantilesLookAtABoundedSample) {
  const Dataset data = testing::fixed_delay(1000, 1);
  const InputQuantiles quantiles = input_quantiles(data.sequences, 100);
  EXPECT_LE(quantiles.values[0].size(), 110U);
  EXPECT_GE(quantiles.values[0].size(), 90U);
  EXPECT_TRUE(std::is_sorted(quantiles.values[0].begin(), quantiles.values[0].end()));
}

}  // namespace
}  // namespace remede

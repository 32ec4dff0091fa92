#include "remede/executor/blur.h"

#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "train/small_data.h"

namespace remede {
namespace {

// 150 sequences of two inputs, the second a hundred times the first.
TrainingData material() {
  TrainingData data;
  data.training = testing::fixed_delay(150, 1).sequences;
  Sequences& s = data.training;
  s.n_x = 2;
  s.x.clear();
  for (std::size_t t = 0; t < s.steps(); ++t)
    for (const float unit : {1.0F, 100.0F}) s.x.push_back(unit * static_cast<float>(t % 601) / 100.0F);
  s.x[7] = std::numeric_limits<float>::quiet_NaN();
  data.quantiles = input_quantiles(s);
  return data;
}

std::vector<std::uint32_t> all_of(const TrainingData& data) {
  std::vector<std::uint32_t> numbers(data.training.count());
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

StartPlan plan(float noise, float offset) {
  StartPlan plan;
  plan.noise = noise;
  plan.offset = offset;
  return plan;
}

// What was added to input f, step by step; a missing value is left out.
std::vector<double> added(const Sequences& blurred, const TrainingData& data, std::size_t f) {
  std::vector<double> d;
  for (std::size_t i = f; i < blurred.x.size(); i += 2)
    if (!std::isnan(blurred.x[i]))
      d.push_back(static_cast<double>(blurred.x[i]) - static_cast<double>(data.training.x[i]));
  return d;
}

double deviation(const std::vector<double>& values) {
  double squares = 0;
  for (const double v : values) squares += v * v;
  return std::sqrt(squares / static_cast<double>(values.size()));
}

TEST(Blur, NoiseIsAsLargeAsPlannedNewInEveryEpochAndLeavesTheRestAlone) {
  const TrainingData data = material();
  Blur blur(plan(0.1F, 0.0F), data);
  const Sequences first = blur.batch(all_of(data), 1);
  EXPECT_EQ(first.label, data.training.label);
  EXPECT_EQ(first.weight, data.training.weight);
  EXPECT_EQ(first.offset, data.training.offset);
  EXPECT_TRUE(std::isnan(first.x[7]));
  for (const std::size_t f : {0U, 1U})
    EXPECT_NEAR(deviation(added(first, data, f)) / static_cast<double>(data.quantiles.spread(f)), 0.1, 0.01);
  EXPECT_NE(blur.batch(all_of(data), 2).x[8], first.x[8]);
  EXPECT_EQ(blur.batch(all_of(data), 1).x[8], first.x[8]) << "a resumed start sees the same";
}

TEST(Blur, AnOffsetIsSharedByTheStepsOfASequence) {
  TrainingData data = material();
  std::fill(data.training.x.begin(), data.training.x.end(), 0.0F);
  Blur blur(plan(0.0F, 0.1F), data);
  const Sequences first = blur.batch(all_of(data), 1);
  const auto of = [&](std::size_t s, std::size_t t, std::size_t f) {
    return first.x[(static_cast<std::size_t>(first.offset[s]) + t) * 2 + f];
  };
  std::vector<double> offsets;
  for (std::size_t s = 0; s < 150; ++s) {
    offsets.push_back(static_cast<double>(of(s, 0, 0)));
    for (std::size_t t = 0; t < first.length(s); ++t)
      for (const std::size_t f : {0U, 1U}) EXPECT_EQ(of(s, t, f), of(s, 0, f));
  }
  EXPECT_NE(of(2, 0, 0), of(3, 0, 0));
  EXPECT_NE(of(3, 0, 1), 0.0F);
  EXPECT_NEAR(deviation(offsets) / static_cast<double>(data.quantiles.spread(0)), 0.1, 0.015);
  EXPECT_NE(blur.batch(all_of(data), 2).x, first.x);
}

TEST(Blur, ASequenceLooksTheSameInWhateverBatch) {
  const TrainingData data = material();
  Blur blur(plan(0.2F, 0.3F), data);
  const std::vector<std::uint32_t> some = {17, 3, 99};
  const Sequences whole = blur.batch(all_of(data), 5), part = blur.batch(some, 5);
  EXPECT_EQ(part.x, select(whole, some).x);
  EXPECT_EQ(part.label, select(whole, some).label);
}

TEST(Blur, SeveralValuesToPredictStayWithTheirSteps) {
  TrainingData data = material();
  Sequences& s = data.training;
  s.label.clear();
  for (std::size_t i = 0; i < s.steps() * 3; ++i) s.value.push_back(static_cast<float>(i));
  Blur blur(plan(0.1F, 0.1F), data);
  const std::vector<std::uint32_t> some = {17, 3, 99};
  for (int again = 0; again < 2; ++again) {
    const Sequences part = blur.batch(some, 1), expected = select(s, some);
    EXPECT_TRUE(part.label.empty());
    EXPECT_EQ(part.value, expected.value);
    EXPECT_EQ(part.offset, expected.offset);
    EXPECT_EQ(part.n_y, 3);
    blur.release();
  }
}

TEST(Blur, StartsDrawTheirOwn) {
  const TrainingData data = material();
  StartPlan other = plan(0.1F, 0.0F);
  other.stream = 1;
  EXPECT_NE(Blur(other, data).batch(all_of(data), 1).x[0], Blur(plan(0.1F, 0.0F), data).batch(all_of(data), 1).x[0]);
}

}  // namespace
}  // namespace remede

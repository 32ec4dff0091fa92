#include "remede/simplify/range.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "remede/base/arithmetic.h"
#include "remede/base/random.h"

namespace remede {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool holds(const Range& range, float v) { return std::isnan(v) ? range.nan : range.low <= v && v <= range.high; }

float any_float(Random& random) {
  switch (random.below(6)) {
    case 0:
      return static_cast<float>(random.normal());
    case 1:
      return static_cast<float>(random.normal()) * 1e38F;
    case 2:
      return static_cast<float>(random.normal()) * 1e-42F;
    case 3:
      return random.below(2) == 0 ? kInfinity : -kInfinity;
    case 4:
      return random.below(2) == 0 ? 0.0F : -0.0F;
    default:
      return static_cast<float>(random.below(5)) - 2.0F;
  }
}

// A range and some of what it holds: its ends, and values between.
struct Sample {
  Range range;
  std::vector<float> members;
};

Sample sample(Random& random, float least = -kInfinity, float most = kInfinity) {
  const auto draw = [&] { return std::fmin(std::fmax(any_float(random), least), most); };
  float low = draw();
  float high = random.below(4) == 0 ? low : draw();
  if (low > high) std::swap(low, high);
  Sample result{{low, high, random.below(4) == 0}, {low, high}};
  for (int i = 0; i < 6; ++i) {
    const float v = draw();
    if (v >= low && v <= high) result.members.push_back(v);
    const float between = low + (high - low) * static_cast<float>(random.uniform());
    if (between >= low && between <= high) result.members.push_back(between);
  }
  if (result.range.nan) result.members.push_back(std::numeric_limits<float>::quiet_NaN());
  return result;
}

TEST(Range, SumsHoldWhatTheArithmeticGives) {
  Random random(1);
  for (int round = 0; round < 20000; ++round) {
    const Sample sum = sample(random);
    const Sample v = sample(random);
    float weight = any_float(random);
    if (!std::isfinite(weight)) weight = 0.0F;
    const Range result = plus_product(sum.range, weight, v.range);
    for (const float s : sum.members)
      for (const float x : v.members)
        ASSERT_TRUE(holds(result, s + weight * x))
            << s << " + " << weight << " * " << x << " in " << result.low << " .. " << result.high;
  }
}

TEST(Range, AnEndlessSumCanBeNaN) {
  const Range far{-kInfinity, -kInfinity, false};
  EXPECT_TRUE(plus_product(far, 1.0F, {0.0F, kInfinity, false}).nan);
  EXPECT_TRUE(plus_product(far, -1.0F, {-kInfinity, 0.0F, false}).nan);
  EXPECT_FALSE(plus_product(far, 1.0F, {-kInfinity, 0.0F, false}).nan);
  EXPECT_TRUE(plus_product(Range::point(0.0F), 0.0F, Range::all()).nan);
  EXPECT_FALSE(plus_product(Range::point(0.0F), 0.0F, {-1.0F, 1.0F, false}).nan);
}

TEST(Range, TanhHoldsWhatTheArithmeticGives) {
  Random random(2);
  for (int round = 0; round < 20000; ++round) {
    const Sample x = sample(random);
    const Range result = tanh(x.range);
    EXPECT_TRUE(!result.has_numbers() || (result.low >= -1.0F && result.high <= 1.0F));
    for (const float v : x.members) ASSERT_TRUE(holds(result, tanh(v))) << v;
  }
  // Close by: where tanh is not monotone by a rounding, the range must be wide enough.
  for (int round = 0; round < 200000; ++round) {
    const auto low = static_cast<float>(random.uniform(-9.5, 9.5));
    float v = low;
    for (int i = 0; i < 5; ++i) v = std::nextafter(v, kInfinity);
    ASSERT_TRUE(holds(tanh(Range{low, std::nextafter(v, kInfinity), false}), tanh(v))) << v;
  }
}

TEST(Range, WritesHoldWhatTheArithmeticGives) {
  Random random(3);
  for (int round = 0; round < 20000; ++round) {
    const Sample u = sample(random, -1.0F, 1.0F);
    const Sample m = sample(random, -kAddLimit, kAddLimit);
    const Range sum = add(m.range, u.range);
    for (const float mv : m.members)
      for (const float uv : u.members) ASSERT_TRUE(holds(sum, mv + uv)) << mv << " + " << uv;
    const Sample b = sample(random, -kBlendLimit, kBlendLimit);
    const float shares[] = {0.0F, 1.0F, 1e-7F, 0.999999F, static_cast<float>(random.uniform())};
    const float share = shares[random.below(5)];
    const Range moved = blend(b.range, u.range, share);
    for (const float mv : b.members)
      for (const float uv : u.members)
        ASSERT_TRUE(holds(moved, mv + share * (uv - mv))) << mv << " to " << uv << " by " << share;
  }
}

// What lets a bounded cell decide a test: however long it is written, it stays within.
TEST(Range, CellsStayWithinTheirLimits) {
  float sum = kAddLimit;
  for (int i = 0; i < 10; ++i) sum += 1.0F;
  EXPECT_EQ(sum, kAddLimit);
  Random random(4);
  float m = 0.0F;
  Range range = Range::point(0.0F);
  for (int i = 0; i < 200000; ++i) {
    const float share = random.below(2) == 0 ? 1.0F : static_cast<float>(random.uniform());
    const float u = random.below(2) == 0 ? 1.0F : static_cast<float>(random.uniform(0.3, 1.0));
    m = m + share * (u - m);
    range = join(range, blend(range, {0.3F, 1.0F, false}, share));
    ASSERT_TRUE(holds(range, m));
  }
  EXPECT_GE(range.low, 0.0F);
  EXPECT_LE(range.high, kBlendLimit);
}

TEST(Range, TestsSendEveryValueToOneSide) {
  Random random(5);
  for (int round = 0; round < 20000; ++round) {
    const Sample v = sample(random);
    const auto threshold = static_cast<float>(random.below(3)) - 1.0F;
    const bool missing_right = random.below(2) == 0;
    const Range left = left_part(v.range, threshold, missing_right);
    const Range right = right_part(v.range, threshold, missing_right);
    for (const float x : v.members) {
      const bool goes_right = std::isnan(x) ? missing_right : x >= threshold;
      EXPECT_EQ(holds(right, x), goes_right);
      EXPECT_EQ(holds(left, x), !goes_right);
    }
  }
}

}  // namespace
}  // namespace remede

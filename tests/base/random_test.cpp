#include "remede/base/random.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace remede {
namespace {

// Answers worked out by another program in another language. Data sets and models depend on them: they never change.
TEST(Random, GivesTheSameNumbersEverywhere) {
  Random first(1);
  EXPECT_EQ(first.bits(), 0x704560ced7cc0501ULL);
  EXPECT_EQ(first.bits(), 0x4eef90036c89c53aULL);
  EXPECT_EQ(first.bits(), 0xdce05af2ba1364d7ULL);
  Random second(1, 1);
  EXPECT_EQ(second.bits(), 0xd33cac18ac5184afULL);
  EXPECT_EQ(second.bits(), 0xda0fb9f6b5dac101ULL);
  EXPECT_EQ(second.bits(), 0x12c315b4c0a2cf07ULL);
  Random third(42, 7);
  EXPECT_EQ(third.uniform(), 0.9449600605486091);
  EXPECT_EQ(third.normal(), 2.2266405391706035);
  EXPECT_EQ(third.normal(), 0.019985633686771524);
  EXPECT_EQ(third.below(1000), 333U);
}

TEST(Random, UniformHasItsMoments) {
  Random random(2);
  double sum = 0;
  double squares = 0;
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    const double u = random.uniform(-1.0, 3.0);
    ASSERT_GE(u, -1.0);
    ASSERT_LT(u, 3.0);
    sum += u;
    squares += u * u;
  }
  EXPECT_NEAR(sum / n, 1.0, 0.02);  // 8 standard errors
  EXPECT_NEAR(squares / n - (sum / n) * (sum / n), 16.0 / 12.0, 0.03);
}

TEST(Random, NormalHasItsMoments) {
  Random random(3);
  double moments[5] = {};
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    const double v = random.normal();
    double power = 1;
    for (double& m : moments) {
      m += power / n;
      power *= v;
    }
  }
  EXPECT_NEAR(moments[1], 0.0, 0.02);
  EXPECT_NEAR(moments[2], 1.0, 0.03);
  EXPECT_NEAR(moments[3], 0.0, 0.08);
  EXPECT_NEAR(moments[4], 3.0, 0.2);
}

TEST(Random, BelowIsEven) {
  Random random(4);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) ++counts[random.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 600);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random.below(1), 0U);
}

TEST(Random, StreamsDiffer) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 30; ++seed)
    for (std::uint64_t stream = 0; stream < 30; ++stream) seen.insert(Random(seed, stream).bits());
  EXPECT_EQ(seen.size(), 900U);
}

TEST(Random, ShuffleKeepsEverything) {
  Random random(5);
  std::vector<int> values(100);
  std::iota(values.begin(), values.end(), 0);
  const std::vector<int> before = values;
  random.shuffle(std::span<int>(values));
  EXPECT_NE(values, before);
  std::sort(values.begin(), values.end());
  EXPECT_EQ(values, before);
}

TEST(Random, TheStateIsTheWholeState) {
  Random random(6);
  random.normal();
  Random copy(99);
  copy.set_state(random.state());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(copy.normal(), random.normal());
}

}  // namespace
}  // namespace remede

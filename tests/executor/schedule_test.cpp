#include "remede/executor/schedule.h"

#include <cmath>

#include <gtest/gtest.h>

namespace remede {
namespace {

TEST(Schedule, CosineIsWithinItsBound) {
  for (int i = 0; i <= 1000; ++i)
    EXPECT_NEAR(cos_pi(i / 1000.0), std::cos(3.14159265358979323846 * i / 1000.0), 1e-9) << i;
}

TEST(Schedule, IsConstantUntilItDecays) {
  Schedule schedule;
  EXPECT_FALSE(schedule.decays());
  EXPECT_EQ(schedule.factor(0), 1.0F);
  EXPECT_EQ(schedule.factor(1'000'000'000), 1.0F);
}

TEST(Schedule, FallsAlongACosineToZero) {
  const Schedule schedule = {100, 50};
  EXPECT_EQ(schedule.end(), 150U);
  EXPECT_EQ(schedule.factor(99), 1.0F);
  EXPECT_FLOAT_EQ(schedule.factor(100), 1.0F);
  EXPECT_FLOAT_EQ(schedule.factor(125), 0.5F);
  for (std::uint64_t u = 100; u < 150; ++u) EXPECT_GT(schedule.factor(u), schedule.factor(u + 1)) << u;
  EXPECT_EQ(schedule.factor(150), 0.0F);
  EXPECT_EQ(schedule.factor(1000), 0.0F);
}

TEST(Schedule, ADecayOfNoLengthEndsAtOnce) {
  const Schedule schedule = {10, 0};
  EXPECT_EQ(schedule.end(), 10U);
  EXPECT_EQ(schedule.factor(10), 0.0F);
}

}  // namespace
}  // namespace remede

#include "remede/base/arithmetic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "remede/base/random.h"

namespace remede {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Calls test(x) for about two million finite floats of both signs, evenly spread over their bit patterns.
template <typename Test>
void for_many_floats(const Test& test) {
  for (std::uint32_t bits = 0; bits < 0x7f800000U; bits += 2003) {
    const auto x = std::bit_cast<float>(bits);
    test(x);
    test(-x);
  }
}

// FNV-1a over the bits of f at i * step for i = -4000 .. 4000.
template <typename Function>
std::uint64_t fingerprint(double step, const Function& f) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (int i = -4000; i <= 4000; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(f(static_cast<float>(i * step)));
    for (int shift = 0; shift < 32; shift += 8) hash = (hash ^ ((bits >> shift) & 255U)) * 0x100000001b3ULL;
  }
  return hash;
}

TEST(Tanh, IsWithinItsBound) {
  double worst = 0;
  for_many_floats([&](float x) {
    const double exact = std::tanh(static_cast<double>(x));
    const double error = std::fabs(static_cast<double>(tanh(x)) - exact);
    worst = std::max(worst, error);
    if (std::fabs(x) >= std::numeric_limits<float>::min()) worst = std::max(worst, error / std::fabs(exact));
    ASSERT_LE(std::fabs(tanh(x)), 1.0F);
  });
  EXPECT_LT(worst, 4e-7);
  EXPECT_GT(worst, 1e-7);  // else the stated bound could be tightened
}

TEST(Tanh, Saturates) {
  EXPECT_EQ(tanh(9.0F), 1.0F);
  EXPECT_EQ(tanh(-9.0F), -1.0F);
  EXPECT_EQ(tanh(kInfinity), 1.0F);
  EXPECT_EQ(tanh(-kInfinity), -1.0F);
  EXPECT_EQ(tanh(0.0F), 0.0F);
  EXPECT_TRUE(std::isnan(tanh(kNaN)));
}

TEST(Exp, IsWithinItsBound) {
  double worst = 0;
  for_many_floats([&](float x) {
    if (x < -87.0F || x > 88.0F) return;
    const double exact = std::exp(static_cast<double>(x));
    worst = std::max(worst, std::fabs(static_cast<double>(exp(x)) - exact) / exact);
  });
  EXPECT_LT(worst, 2e-7);
}

TEST(Exp, EndsWhereItSays) {
  EXPECT_EQ(exp(0.0F), 1.0F);
  EXPECT_GT(exp(-87.0F), 0.0F);
  EXPECT_EQ(exp(std::nextafter(-87.0F, -100.0F)), 0.0F);
  EXPECT_EQ(exp(-kInfinity), 0.0F);
  EXPECT_TRUE(std::isfinite(exp(88.0F)));
  EXPECT_EQ(exp(1e30F), exp(88.0F));
  EXPECT_EQ(exp(kInfinity), exp(88.0F));
  EXPECT_TRUE(std::isnan(exp(kNaN)));
}

TEST(Sigmoid, IsWithinItsBound) {
  double worst = 0;
  for_many_floats([&](float x) {
    if (x < -87.0F) return;
    const double exact = 1.0 / (1.0 + std::exp(-static_cast<double>(x)));
    worst = std::max(worst, std::fabs(static_cast<double>(sigmoid(x)) - exact) / exact);
  });
  EXPECT_LT(worst, 2e-7);
  EXPECT_EQ(sigmoid(0.0F), 0.5F);
  EXPECT_EQ(sigmoid(-1000.0F), 0.0F);
  EXPECT_EQ(sigmoid(1000.0F), 1.0F);
  EXPECT_TRUE(std::isnan(sigmoid(kNaN)));
}

TEST(Log, IsWithinItsBound) {
  Random random(3);
  double worst = 0;
  const auto compare = [&](double x) {
    if (x == 1.0) return;
    const double exact = std::log(x);
    worst = std::max(worst, std::fabs((log(x) - exact) / exact));
  };
  for (int i = 0; i < 200000; ++i) {
    compare(random.uniform() + 1e-300);
    compare(1.0 + random.uniform(-1e-3, 1e-3));
    compare(random.uniform(0.5, 2.0));
    compare(std::bit_cast<double>(0x0010000000000000ULL + random.below(0x7fe0000000000000ULL)));  // any normal one
  }
  EXPECT_LT(worst, 1e-14);
  EXPECT_EQ(log(1.0), 0.0);
}

// The bits themselves, worked out by another program in another language: no compiler and no machine may change them.
TEST(Arithmetic, GivesTheSameBitsEverywhere) {
  EXPECT_EQ(fingerprint(0.0025, [](float x) { return tanh(x); }), 0x5f6f24249bf63035ULL);
  EXPECT_EQ(fingerprint(0.022, [](float x) { return exp(x); }), 0x3401ec397c14bd40ULL);
}

}  // namespace
}  // namespace remede

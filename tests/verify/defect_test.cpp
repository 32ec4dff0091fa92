// How far our exp, tanh and sigmoid fall back where the true functions rise: what ranges are widened by.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include <gtest/gtest.h>

#include "remede/base/arithmetic.h"
#include "remede/base/random.h"
#include "remede/verify/values.h"

namespace remede::test {
namespace {

float of_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }

// The largest relative fall below an earlier value, over the floats from bits `first` to `last`, which have one sign.
template <typename F>
double worst_fall(F f, std::uint32_t first, std::uint32_t last, bool negative) {
  float top = -std::numeric_limits<float>::infinity();
  double worst = 0;
  for (std::uint64_t i = first; i <= last; ++i) {
    const auto bits = static_cast<std::uint32_t>(negative ? (last - (i - first)) | 0x80000000U : i);
    const float y = f(of_bits(bits));
    if (y < top)
      worst = std::max(worst, (static_cast<double>(top) - static_cast<double>(y)) / std::abs(static_cast<double>(top)));
    top = std::max(top, y);
  }
  return worst;
}

struct Falls {
  double exp = 0, tanh = 0, sigmoid = 0;
};

void look(std::uint32_t first, std::uint32_t last, bool negative, Falls& falls) {
  falls.exp = std::max(falls.exp, worst_fall([](float x) { return exp(x); }, first, last, negative));
  falls.tanh = std::max(falls.tanh, worst_fall([](float x) { return tanh(x); }, first, last, negative));
  falls.sigmoid = std::max(falls.sigmoid, worst_fall([](float x) { return sigmoid(x); }, first, last, negative));
}

constexpr std::uint32_t kInfinityBits = 0x7f800000U;
constexpr double kTanhFall = 6e-7, kSigmoidFall = 1.2e-7;  // docs/verify.md; ranges are widened by 1e-6

TEST(Defect, InWindows) {
  Random random(1);
  Falls falls;
  constexpr std::uint32_t kWindow = 20000;
  for (int i = 0; i < 60; ++i) {
    const auto at = static_cast<std::uint32_t>(random.below(kInfinityBits - kWindow));
    look(at, at + kWindow, i % 2 == 0, falls);
  }
  const std::uint32_t worst = std::bit_cast<std::uint32_t>(6.1298F);
  for (int i = 0; i < 60; ++i) {
    const auto at = static_cast<std::uint32_t>(0x3a000000U + random.below(0x42b00000U - 0x3a000000U));  // 0.0005 .. 88
    look(at, at + kWindow, i % 2 == 0, falls);
  }
  look(worst, worst + kWindow, false, falls);
  EXPECT_EQ(falls.exp, 0);
  EXPECT_LE(falls.tanh, kTanhFall);
  EXPECT_GT(falls.tanh, 3e-7);  // the window has one of the largest
  EXPECT_LE(falls.sigmoid, kSigmoidFall);
}

TEST(DefectLong, OverAllFloats) {
  Falls falls;
  for (const bool negative : {false, true}) look(0, kInfinityBits, negative, falls);
  std::printf("largest fall over all floats: exp %g, tanh %g, sigmoid %g\n", falls.exp, falls.tanh, falls.sigmoid);
  EXPECT_EQ(falls.exp, 0);
  EXPECT_LE(falls.tanh, kTanhFall);
  EXPECT_LE(falls.sigmoid, kSigmoidFall);
}

// A range holds the value at every member.
TEST(Defect, RangesHoldTheirValues) {
  Random random(2);
  Values values(false);
  for (int round = 0; round < 20000; ++round) {
    const auto draw = [&] { return static_cast<float>(random.normal() * (random.below(2) == 0 ? 1.0 : 12.0)); };
    float low = draw(), high = round % 3 == 0 ? low * 1.00001F : draw();
    if (low > high) std::swap(low, high);
    const Value x{{low, high, false}, 0};
    const Range t = values.tanh(x).range, s = values.share(x).range;
    for (int i = 0; i < 8; ++i) {
      const float v = std::clamp(low + static_cast<float>(random.uniform()) * (high - low), low, high);
      ASSERT_TRUE(t.low <= tanh(v) && tanh(v) <= t.high) << low << " " << v << " " << high;
      ASSERT_TRUE(s.low <= sigmoid(v) && sigmoid(v) <= s.high) << low << " " << v << " " << high;
    }
    const float share = static_cast<float>(random.uniform()), m = draw(), u = tanh(draw());
    const Value cell{{std::min(m, 0.5F), std::max(m, 0.5F), false}, 0},
        to{{std::min(u, 0.1F), std::max(u, 0.1F), false}, 0};
    const Range blended = values.blended(cell, to, share).range;
    if (std::abs(m) > 1.0F) continue;  // REQUIRES of blend
    const float after = m + share * (u - m);
    ASSERT_TRUE(blended.low <= after && after <= blended.high);
  }
}

}  // namespace
}  // namespace remede::test

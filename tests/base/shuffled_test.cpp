#include "remede/base/shuffled.h"

#include <vector>

#include <gtest/gtest.h>

namespace remede {
namespace {

TEST(Shuffled, EveryNumberHasAPlaceOfItsOwn) {
  for (const std::uint64_t n : {1U, 2U, 3U, 17U, 64U, 1000U, 4097U}) {
    const Shuffled order(n, 7);
    std::vector<bool> taken(n);
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t place = order.place(i);
      ASSERT_LT(place, n);
      EXPECT_FALSE(taken[place]) << n;
      taken[place] = true;
    }
  }
}

TEST(Shuffled, SeedsGiveOtherOrdersAndNoPlaceIsFavoured) {
  constexpr std::uint64_t kCount = 1000;
  std::uint64_t same = 0, low = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    same += Shuffled(kCount, 1).place(i) == Shuffled(kCount, 2).place(i) ? 1 : 0;
    low += i < kCount / 2 && Shuffled(kCount, 1).place(i) < kCount / 2 ? 1 : 0;
  }
  EXPECT_LT(same, 10U);
  EXPECT_NEAR(static_cast<double>(low), 250.0, 60.0);
}

}  // namespace
}  // namespace remede

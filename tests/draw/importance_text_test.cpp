#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "remede/analysis/importance.h"

namespace remede {
namespace {

LookBack holding(int cells) {
  LookBack look;
  for (int k = 0; k < cells; ++k)
    look.averages.push_back(
        {"m" + std::to_string(k + 1), 0, k, k == 0 ? std::numeric_limits<double>::infinity() : 2.0 * k});
  return look;
}

TEST(ImportanceText, NamesAFewCellsAndSumsUpMany) {
  EXPECT_EQ(look_back_sentence(holding(3)),
            "Half of what m1 holds is never gone, of m2 after 2 steps, of m3 after 4 steps.");
  EXPECT_EQ(look_back_sentence(holding(11)),
            "Half of what a cell holds is gone after 2 to 20 steps. 1 of 11 cells loses nothing.");
}

}  // namespace
}  // namespace remede

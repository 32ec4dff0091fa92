// Which differences between two models' scores count.
#include "remede/train/choose.h"

#include <gtest/gtest.h>

namespace remede {
namespace {

TEST(AsGood, OneWrongAnswerMoreIsATieTwoAreNot) {
  const std::vector<double> weight(1000, 1.0), best(1000, 0.0);
  std::vector<double> score = best;
  score[3] = 1;
  EXPECT_TRUE(as_good(score, best, weight, 1.1));
  score[500] = 1;
  EXPECT_FALSE(as_good(score, best, weight, 1.1));
}

TEST(AsGood, ALowerScoreIsAsGood) {
  const std::vector<double> weight(10, 1.0), best(10, 2.0), score(10, 1.0);
  EXPECT_TRUE(as_good(score, best, weight, 0.0));
}

TEST(AsGood, ASmallDifferenceEverywhereCounts) {
  const std::vector<double> weight(10, 1.0), best(10, 2.0), score(10, 2.01);
  EXPECT_FALSE(as_good(score, best, weight, 1.0));
}

TEST(AsGood, ADifferenceThatGoesBothWaysDoesNot) {
  const std::vector<double> weight(10, 1.0), best(10, 2.0);
  std::vector<double> score(10);
  for (std::size_t i = 0; i < score.size(); ++i) score[i] = i % 2 == 0 ? 3.0 : 1.1;
  EXPECT_TRUE(as_good(score, best, weight, 0.5));
}

}  // namespace
}  // namespace remede

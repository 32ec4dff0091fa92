#include "remede/data/split.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "data/same_dataset.h"
#include "data/source.h"
#include "remede/data/tasks.h"

namespace remede {
namespace {

using testing::error_of;

// Sequences of these lengths; input = number of the step, label = step modulo 2.
Sequences numbered(const std::vector<std::size_t>& lengths) {
  Sequences all;
  all.n_x = 1;
  all.n_y = 2;
  for (const std::size_t length : lengths) all.offset.push_back(all.offset.back() + static_cast<std::int64_t>(length));
  for (std::size_t t = 0; t < all.steps(); ++t) {
    all.x.push_back(static_cast<float>(t));
    all.label.push_back(static_cast<std::int32_t>(t % 2));
    all.weight.push_back(1.0F);
  }
  return all;
}

RC_GTEST_PROP(SplitParts, AreDisjointWholeAndOfTheRightSize, (std::uint64_t seed)) {
  const auto count = *rc::gen::inRange<std::size_t>(0, 200);
  const std::array<double, 3> shares = {0.6, 0.2, 0.2};
  const auto parts = split_parts(count, shares, seed);
  RC_ASSERT(parts.size() == 3U);
  std::set<std::uint32_t> all;
  std::size_t sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    RC_ASSERT(std::is_sorted(parts[i].begin(), parts[i].end()));
    RC_ASSERT(std::abs(static_cast<double>(parts[i].size()) - shares[i] * static_cast<double>(count)) <= 1.5);
    if (count >= 3) RC_ASSERT(!parts[i].empty());
    all.insert(parts[i].begin(), parts[i].end());
    sum += parts[i].size();
  }
  RC_ASSERT(sum == count);
  RC_ASSERT(all.size() == count);
  RC_ASSERT(split_parts(count, shares, seed) == parts);
}

TEST(SplitParts, TheSeedDecides) {
  const std::array<double, 2> shares = {0.5, 0.3};
  EXPECT_NE(split_parts(100, shares, 1), split_parts(100, shares, 2));
  EXPECT_EQ(split_parts(10000, std::array<double, 3>{0.6, 0.2, 0.2}, 1)[0].size(), 6000U);
  EXPECT_EQ(error_of([] {
              split_parts(10, std::array<double, 2>{0.8, 0.3}, 1);
            }),
            "expected shares of the data that sum to at most 1, got 1.1");
  EXPECT_EQ(error_of([] {
              split_parts(10, std::array<double, 2>{0.8, 0.0}, 1);
            }),
            "expected positive shares of the data, got 0");
}

TEST(Split, KeepsSequencesWhole) {
  const Sequences all = numbered({3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Split parts = split(all, 0.3, 5);
  EXPECT_EQ(parts.training.size(), 7U);
  EXPECT_EQ(parts.validation.size(), 3U);
  std::vector<std::uint32_t> both = parts.training;
  both.insert(both.end(), parts.validation.begin(), parts.validation.end());
  std::sort(both.begin(), both.end());
  std::vector<std::uint32_t> expected(10);
  std::iota(expected.begin(), expected.end(), 0U);
  EXPECT_EQ(both, expected);
  EXPECT_EQ(split(all, 0.01, 5).validation.size(), 1U);
  EXPECT_EQ(split(all, 0.99, 5).training.size(), 1U);
}

TEST(Split, RefusesWhatCannotBeSplit) {
  EXPECT_EQ(error_of([] { split(numbered({100}), 0.2, 1); }), "expected at least two sequences to split, got 1");
  EXPECT_EQ(error_of([] {
              split(numbered({1, 1}), 0.0, 1);
            }),
            "expected a share of validation data between 0 and 1, got 0");
  EXPECT_EQ(error_of([] {
              split(numbered({1, 1}), 1.0, 1);
            }),
            "expected a share of validation data between 0 and 1, got 1");
}

// One label per sequence: classes of 900, 90 and 10 sequences keep their proportions.
TEST(Split, KeepsTheProportionsOfClasses) {
  Sequences all = numbered(std::vector<std::size_t>(1000, 2));
  for (std::size_t s = 0; s < 1000; ++s) {
    const std::int32_t label = s % 100 == 99 ? 2 : s % 10 == 0 && s < 900 ? 1 : 0;
    all.label[2 * s] = 0;
    all.weight[2 * s] = 0.0F;
    all.label[2 * s + 1] = label;
  }
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Split parts = split(all, 0.2, seed);
    std::map<std::int32_t, int> count;
    for (const std::uint32_t s : parts.validation) ++count[all.label[2 * s + 1]];
    EXPECT_NEAR(count[0], 180, 1);
    EXPECT_NEAR(count[1], 18, 1);
    EXPECT_NEAR(count[2], 2, 1);
    EXPECT_EQ(parts.training.size() + parts.validation.size(), 1000U);
  }
  EXPECT_NE(split(all, 0.2, 1).validation, split(all, 0.2, 2).validation);
}

RC_GTEST_PROP(Cut, KeepsEveryStepInOrder, ()) {
  const auto lengths = *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 50));
  const auto most = *rc::gen::inRange<std::size_t>(1, 20);
  const Sequences all = numbered(lengths);
  const Sequences pieces = cut(all, most);
  RC_ASSERT(pieces.x == all.x);
  RC_ASSERT(pieces.label == all.label);
  RC_ASSERT(pieces.weight == all.weight);
  for (std::size_t p = 0; p < pieces.count(); ++p) RC_ASSERT(pieces.length(p) <= most);
  for (const std::int64_t offset : all.offset)  // no piece reaches over the end of a sequence
    RC_ASSERT(std::find(pieces.offset.begin(), pieces.offset.end(), offset) != pieces.offset.end());
}

TEST(Cut, MakesPiecesOfNearlyEqualLength) {
  const Sequences pieces = cut(numbered({10, 3}), 4);
  EXPECT_EQ(pieces.offset, (std::vector<std::int64_t>{0, 4, 7, 10, 13}));
}

TEST(SplitByTime, LaterStepsAreForValidation) {
  const TimeSplit parts = split_by_time(numbered({10, 1, 4}), 0.25);
  EXPECT_EQ(parts.training.offset, (std::vector<std::int64_t>{0, 7, 8, 11}));
  EXPECT_EQ(parts.validation.offset, (std::vector<std::int64_t>{0, 3, 4}));
  EXPECT_EQ(parts.validation.x, (std::vector<float>{7, 8, 9, 14}));
  EXPECT_EQ(parts.training.n_y, 2);
}

}  // namespace
}  // namespace remede

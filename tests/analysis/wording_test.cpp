// Tests of categories in the user's own words.
#include "remede/analysis/wording.h"

#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "remede/analysis/cells.h"
#include "two_leaves.h"

namespace remede {
namespace {

// One test of one input, with nothing to say.
Model one_test(const InputCode& code, float threshold) {
  Model model = test::two_leaves(threshold);
  model.schema.inputs = {code.input};
  model.schema.codes = {code};
  check(model, "test");
  return model;
}

InputCode indicator() {
  InputCode code;
  code.input = "wind = NW";
  code.column = "wind";
  code.words = {"NW"};
  code.values = {1.0F};
  code.other = 0.0F;
  return code;
}

InputCode ordered() {
  InputCode code;
  code.input = code.column = "shop";
  code.words = {"c", "a", "b"};
  code.values = {0.0F, 1.0F, 2.0F};
  return code;
}

TEST(HalfLife, IsLongForTheSmallestShares) {
  EXPECT_NEAR(half_life(0.5), 1, 1e-12);
  EXPECT_NEAR(half_life(1e-3), 692.8, 0.1);
  EXPECT_NEAR(half_life(1e-20) * 1e-20, 0.6931, 1e-4) << "not minus infinity";
  EXPECT_EQ(half_life(1), 0);
  EXPECT_TRUE(std::isinf(half_life(0)) && half_life(0) > 0);
}

TEST(Wording, AnIndicatorReadsAsTheWordItStandsFor) {
  const Model model = one_test(indicator(), 0.3F);
  const Wording words = make_wording(model, 0);
  EXPECT_EQ(test_text(words, 0), "wind = NW");
  EXPECT_EQ(side_text(words, 0, false), "wind is not NW");
}

TEST(Wording, AnOrderedColumnReadsAsTheWordsOfItsSide) {
  const Model model = one_test(ordered(), 0.5F);
  const Wording words = make_wording(model, 0);
  EXPECT_EQ(test_text(words, 0), "shop in {a, b}");
  EXPECT_EQ(side_text(words, 0, false), "shop = c");
  const Model never = one_test(ordered(), 7.0F);
  EXPECT_EQ(test_text(make_wording(never, 0), 0), "shop is no known word");
}

// Ranks of seven words: at the root 3 pass; below "yes" 2 of them, below "no" 3 of 4.
Model tests_of_ranks(std::uint8_t missing_right) {
  Model model = test::two_leaves(4.0F);
  InputCode code;
  code.input = code.column = "event";
  for (int w = 0; w < 7; ++w) {
    code.words.push_back(fmt::format("e{}", w));
    code.values.push_back(static_cast<float>(w));
  }
  model.schema.inputs = {code.input};
  model.schema.codes = {code};
  Tree& tree = model.trees[0];
  tree.feature = {0, 0, 0};
  tree.threshold = {4.0F, 5.0F, 1.0F};
  tree.missing_right = {missing_right, 0, 0};
  tree.left = {2, ~0, ~2};
  tree.right = {1, ~1, ~3};
  tree.output = {1, 0, 0, 1, 2, 0, 0, 2};
  check(model, "test");
  return model;
}

TEST(Wording, ATestNamesTheWordsThatCanStillCome) {
  const Model model = tests_of_ranks(0);
  const Wording words = make_wording(model, 0);
  EXPECT_EQ(test_text(words, 0), "event in {e4, e5, e6}");
  EXPECT_EQ(test_text(words, 1), "event is not e4") << "a missing value cannot come here";
  EXPECT_EQ(test_text(words, 2), "event is neither e0 nor missing");
  const Model right = tests_of_ranks(1);
  const Wording words_right = make_wording(right, 0);
  EXPECT_EQ(test_text(words_right, 0), "event in {e4, e5, e6} or missing");
  EXPECT_EQ(test_text(words_right, 1), "event in {e5, e6}");
  EXPECT_EQ(test_text(words_right, 2), "event is not e0");
}

}  // namespace
}  // namespace remede

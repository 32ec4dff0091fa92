// Tests of categories in the user's own words.
#include "remede/analysis/wording.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace remede

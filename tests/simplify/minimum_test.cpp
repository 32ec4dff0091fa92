// Trees grown by hand with known redundancy: each must shrink to its known minimum, by exact steps alone, and behave
// the same.
#include <gtest/gtest.h>

#include "grow.h"
#include "hostile.h"
#include "remede/simplify/simplify.h"
#include "support/same_model.h"
#include "support/snow.h"

namespace remede {
namespace {

using test::Branch;
using test::grown_model;
using test::leaf;
using test::split;

constexpr float kBig = 1e6F;  // a write of this weight and an input not near 0 saturates

Simplified shrink(const Model& model, const SimplifyOptions& options = {}) {
  const Simplified small = simplify(model, options, nullptr, nullptr);
  check(small.model, "simplified");
  Random random(1);
  const Sequences data = test::hostile_sequences(random, model, 200, 30);
  EXPECT_EQ(test::count_differences(predict(model, data).output,
                                    predict(small.model, select_inputs(data, small.inputs)).output),
            0U);
  return small;
}

int nodes(const Simplified& small, Cause cause) {
  int sum = 0;
  for (const Removal& removal : small.removed) sum += removal.cause == cause ? removal.nodes : 0;
  return sum;
}

int count(const Simplified& small, Cause cause) {
  int sum = 0;
  for (const Removal& removal : small.removed) sum += removal.cause == cause ? 1 : 0;
  return sum;
}

const LeafForm kPaper;

LeafForm with_bias() {
  LeafForm form;
  form.write_bias = true;
  return form;
}

LeafForm blending() {
  LeafForm form = with_bias();
  form.write_rule = WriteRule::kBlend;
  return form;
}

TEST(Minimum, TestsThatContradictTheTestsAbove) {
  const Branch inner = split(0, 0.7F, leaf({1}), leaf({2}));  // on the right of x >= 1: always right
  const Model model = grown_model(1, 0, kPaper, split(0, 1.0F, leaf({0}), inner, false));
  const Simplified small = shrink(model);
  EXPECT_EQ(small.nodes_after, 3);
  EXPECT_EQ(nodes(small, Cause::kContradicted), 2);
}

TEST(Minimum, AMissingValueMayPassWhereNoNumberCan) {
  // A missing x goes right at the first test and left at the second: no number takes that way.
  const Branch inner = split(0, 0.7F, leaf({1}), leaf({2}), false);
  const Model model = grown_model(1, 0, kPaper, split(0, 1.0F, leaf({0}), inner, true));
  EXPECT_EQ(shrink(model).nodes_after, 5);
}

TEST(Minimum, EqualSides) {
  const Branch same = split(0, 0.0F, leaf({1}), leaf({2}));
  const Model model = grown_model(2, 0, kPaper, split(1, 0.5F, same, split(0, 0.0F, leaf({1}), leaf({2}))));
  const Simplified small = shrink(model);
  EXPECT_EQ(small.nodes_after, 3);
  EXPECT_EQ(nodes(small, Cause::kAlike), 4);
  EXPECT_EQ(small.inputs, std::vector<int>{0});  // x2 is gone with its test
  EXPECT_EQ(small.model.schema.inputs, std::vector<std::string>{"x1"});
}

TEST(Minimum, SidesThatDifferOnlyWhereTheyAreNotReached) {
  // x >= 0 is asked to no avail: what is below 0 is below 1 as well.
  const Model model = grown_model(1, 0, kPaper, split(0, 0.0F, leaf({1}), split(0, 1.0F, leaf({1}), leaf({2}))));
  EXPECT_EQ(shrink(model).nodes_after, 3);
}

TEST(Minimum, ATestThatBothSidesBeginWith) {
  const Model model = grown_model(2, 0, kPaper,
                                  split(0, 0.0F, split(1, 0.0F, leaf({1}), leaf({2})),  //
                                        split(1, 0.0F, leaf({1}), leaf({3}))));
  EXPECT_EQ(shrink(model).nodes_after, 5);
}

TEST(Minimum, ACellThatIsNeverWritten) {
  const Model model =
      grown_model(1, 2, kPaper, split(1, 0.5F, split(0, 0.0F, leaf({1}), leaf({2})), leaf({3}, {{1, {1.0F}}})));
  const Simplified small = shrink(model);
  EXPECT_EQ(small.nodes_after, 3);
  EXPECT_EQ(small.model.trees[0].n_m, 0);
  EXPECT_EQ(nodes(small, Cause::kImpossible), 2);
  EXPECT_EQ(count(small, Cause::kUnread), 2);
}

// The cell starts at 0 and only ever grows: x >= 1 makes the write at least tanh(1).
TEST(Minimum, ACellThatOnlyGrows) {
  const Branch ask = split(1, -0.5F, leaf({9}), split(1, 0.5F, leaf({1}), leaf({2})));
  const Model model = grown_model(1, 1, kPaper, split(0, 1.0F, ask, leaf({0}, {{0, {1.0F}}})));
  const Simplified small = shrink(model);
  EXPECT_EQ(small.nodes_after, 5);
  EXPECT_EQ(nodes(small, Cause::kImpossible), 2);
}

// Blending keeps a cell within what is written to it.
TEST(Minimum, ABlendedCellIsBounded) {
  const Branch ask = split(1, 1.01F, split(1, -1.01F, leaf({9}), leaf({1})), leaf({2}));
  const Model model = grown_model(1, 1, blending(), split(0, 0.0F, ask, leaf({0}, {{0, {3.0F}, 0.5F, 0.1F}})));
  EXPECT_EQ(shrink(model).nodes_after, 3);
  LeafForm adding = with_bias();  // the same with addition is not
  EXPECT_EQ(shrink(grown_model(1, 1, adding, split(0, 0.0F, ask, leaf({0}, {{0, {3.0F}, 0.5F}})))).nodes_after, 5);
}

// Both cells are set by the same leaf, and only together: no state has one without the other.
TEST(Minimum, CellsThatAreOnlyEverSetTogether) {
  const Branch set = leaf({0}, {{0, {}, kBig}, {1, {}, kBig}});
  const Branch ask = split(1, 0.5F, split(2, 0.5F, leaf({1}), leaf({2})), split(2, 0.5F, leaf({3}), leaf({4})));
  SimplifyOptions finite;
  finite.exact.reach.finite_inputs = true;  // 0 * inf would be NaN
  const Model model = grown_model(1, 2, with_bias(), split(0, 0.0F, ask, set));
  EXPECT_EQ(simplify(model, finite, nullptr, nullptr).nodes_after, 5);
}

TEST(Minimum, WritesThatChangeNothing) {
  SimplifyOptions finite;
  finite.exact.reach.finite_inputs = true;
  const Model idle = grown_model(1, 1, kPaper, split(1, 0.5F, leaf({1}, {{0, {0.0F}}}), leaf({2}, {{0, {1.0F}}})));
  const Simplified small = simplify(idle, finite, nullptr, nullptr);
  EXPECT_EQ(small.nodes_after, 1);  // never written, so never above 0.5
  EXPECT_EQ(small.model.trees[0].n_m, 0);
  // With infinite inputs 0 * inf is NaN, and a NaN in the cell goes left like 0: nothing but the split may go.
  EXPECT_EQ(shrink(idle).nodes_after, 1);
  const Model read =
      grown_model(1, 1, kPaper, split(1, 0.5F, leaf({1}, {{0, {0.0F}}}), leaf({2}, {{0, {1.0F}}}), true));
  EXPECT_EQ(shrink(read).nodes_after, 3);
}

TEST(Minimum, CellsThatNothingReads) {
  // m2 is read by m1's write alone, m1 by nothing; m3 is tested.
  LeafForm form;
  form.write_reads = WriteReads::kInputsAndMemory;
  const Model model = grown_model(
      1, 3, form, split(3, 0.5F, leaf({1}, {{0, {0, 0, 1, 0}}, {1, {1, 0, 0, 0}}, {2, {1, 0, 0, 0}}}), leaf({2})));
  SimplifyOptions finite;
  finite.exact.reach.zero_is_none = true;
  const Simplified small = simplify(model, finite, nullptr, nullptr);
  EXPECT_EQ(small.model.trees[0].n_m, 1);
  EXPECT_EQ(small.model.trees[0].form.write_reads, WriteReads::kInputs);
  ASSERT_EQ(count(small, Cause::kUnread), 2);
  for (const Removal& removal : small.removed) EXPECT_NE(removal.what, "cell m3");
}

TEST(Minimum, OptionsThatNoLeafUses) {
  LeafForm rich = blending();
  rich.leaf_output = LeafOutput::kLinear;
  rich.write_reads = WriteReads::kInputsAndMemory;
  const Model model = grown_model(1, 1, rich, split(0, 0.0F, leaf({1}), leaf({2})));
  const Simplified small = shrink(model);  // infinite inputs times the zeros of the linear part: that stays
  EXPECT_EQ(small.model.trees[0].form.leaf_output, LeafOutput::kLinear);
  EXPECT_FALSE(small.model.trees[0].form.write_bias);
  SimplifyOptions finite;
  finite.exact.reach.finite_inputs = true;
  EXPECT_EQ(simplify(model, finite, nullptr, nullptr).model.trees[0].form, LeafForm());
}

// Everything at once: a sign memory with a contradicted branch, an unreachable one, a doubled one, an idle cell and a
// spare input.
TEST(Minimum, AllKindsTogether) {
  const auto answer = [] { return split(2, 0.0F, leaf({-1}), leaf({1})); };                        // the sign of m1
  const Branch store = leaf({0}, {{0, {kBig, 0.0F}, 0.0F, 1.0F}, {1, {1.0F, 0.0F}, 0.0F, 0.5F}});  // m2 is never read
  const Branch asked = split(2, 1.5F, answer(), leaf({7}));                                        // m1 never exceeds 1
  const Branch doubled = split(0, 0.25F, asked, answer());  // the same on both sides
  const Branch stored = split(1, -3.0F, leaf({8}), store);  // x2 < -3 contradicts x2 >= 0
  const Model model = grown_model(2, 2, blending(), split(1, 0.0F, doubled, stored));
  EXPECT_EQ(model.node_count(), 13);
  const Simplified small = shrink(model);
  EXPECT_EQ(small.nodes_after, 5);
  EXPECT_EQ(small.model.trees[0].n_m, 1);
  EXPECT_EQ(nodes(small, Cause::kContradicted), 2);
  EXPECT_EQ(nodes(small, Cause::kImpossible), 2);
  EXPECT_EQ(nodes(small, Cause::kAlike), 4);
  const std::string text = summary(small);
  EXPECT_NE(
      text.find("removed 8 of 13 nodes: 2 contradicted by the tests above, 2 for values that the memory never holds, "
                "4 with equivalent sides"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("never read: cell m2"), std::string::npos) << text;
}

TEST(Minimum, InputsStayWhenAskedTo) {
  const Model model = grown_model(2, 0, kPaper, split(0, 0.0F, leaf({1}), leaf({2})));
  SimplifyOptions options;
  options.exact.drop_inputs = false;
  EXPECT_EQ(shrink(model, options).model.n_x(), 2);
  EXPECT_EQ(shrink(model).model.n_x(), 1);
  EXPECT_EQ(shrink(grown_model(2, 0, kPaper, leaf({1}))).model.n_x(),
            1);  // one stays, for the steps must come from somewhere
}

// Cells with laws: a cell that nothing reads, a split that changes nothing, and a branch for levels that a store never
// has all go; what is left is the snow and the soil.
TEST(Minimum, OfLawsIsWhatIsRead) {
  Model model = test::model_of_snow();
  const Cells& c = model.trees[0].cells;
  Tree wide = test::tree_of_laws(2, 4, 1, 2);
  Cells& w = wide.cells;
  const std::size_t at[] = {1, 3};  // where snow and soil stand; cells 0 and 2 are read by nobody but cell 0 by cell 2
  for (std::size_t k = 0; k < 2; ++k) {
    w.bias[at[k]] = c.bias[k];
    w.tap[at[k]] = c.tap[k];
    w.tap_level[at[k]] = c.tap_level[k];
    for (std::size_t i = 0; i < 2; ++i) {
      w.input[at[k] * 2 + i] = c.input[k * 2 + i];
      w.tap_input[at[k] * 2 + i] = c.tap_input[k * 2 + i];
    }
    w.linear[2 + at[k]] = c.linear[2 + k];
    w.linear[6 + at[k]] = c.linear[4 + k];
  }
  w.earlier[3 * 4 + 1] = c.earlier[2];
  w.earlier[2 * 4 + 0] = 1;
  w.input[0] = w.input[2 * 2] = 1;
  wide.feature = {3, 0};  // the snow below 0, never; then rain, with leaves that do the same
  wide.threshold = {0, 1};
  wide.missing_right = {0, 0};
  wide.left = {~0, ~1};
  wide.right = {1, ~2};
  wide.output = {7, 0.3F, 0.3F};
  Model wider = model;
  wider.trees = {wide};
  const Simplified small = simplify(wider, {}, nullptr, nullptr);
  EXPECT_EQ(small.model.trees[0].n_m, 2);
  EXPECT_EQ(small.model.trees[0].inner_count(), 0);
  EXPECT_TRUE(test::same_tree(small.model.trees[0], model.trees[0]));
}

}  // namespace
}  // namespace remede

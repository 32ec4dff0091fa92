#include "remede/simplify/exact.h"

#include <array>

#include <gtest/gtest.h>

#include "hostile.h"
#include "remede/base/error.h"
#include "remede/simplify/simplify.h"

namespace remede {
namespace {

using test::count_differences;
using test::hostile_sequences;
using test::redundant_model;

// How much the exact steps removed over many models, so that a step that never fires is noticed.
struct Removed {
  int models = 0;
  int smaller = 0;
  int nodes_before = 0;
  int nodes_after = 0;
  std::array<int, kCauses> by_cause = {};
};

void expect_same_predictions(std::uint64_t seed, const test::RandomModelOptions& shape, const SimplifyOptions& options,
                             Removed& removed) {
  Random random(seed);
  const Model model = redundant_model(random, shape);
  ASSERT_NO_THROW(check(model, "before"));
  const Simplified small = simplify(model, options, nullptr, nullptr);
  ASSERT_NO_THROW(check(small.model, "after")) << "seed " << seed;
  EXPECT_LE(small.nodes_after, small.nodes_before);
  int noted = 0;
  for (const Removal& removal : small.removed) {
    EXPECT_TRUE(is_exact(removal.cause)) << removal.what;
    noted += removal.nodes;
    ++removed.by_cause[static_cast<std::size_t>(removal.cause)];
  }
  EXPECT_EQ(noted, small.nodes_before - small.nodes_after) << "seed " << seed;
  const Sequences data = hostile_sequences(random, model, 24, 40);
  const Predictions before = predict(model, data);
  const Predictions after = predict(small.model, select_inputs(data, small.inputs));
  EXPECT_EQ(count_differences(before.output, after.output), 0U) << "seed " << seed;
  ++removed.models;
  removed.smaller += small.nodes_after < small.nodes_before ? 1 : 0;
  removed.nodes_before += small.nodes_before;
  removed.nodes_after += small.nodes_after;
}

// The promise of issue 4: 1,000 random trees with random writes of every form, and more shapes besides.
TEST(Exact, KeepsEveryBitOfRandomTrees) {
  test::RandomModelOptions shape;
  shape.laws = true;
  shape.most_inner = 31;
  Removed removed;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    shape.awkward = seed % 3 == 0;
    shape.most_inputs = seed % 2 == 0 ? 1 : 3;
    expect_same_predictions(seed, shape, {}, removed);
  }
  EXPECT_GT(removed.smaller, removed.models / 2);
  for (const Cause cause : {Cause::kContradicted, Cause::kImpossible, Cause::kAlike, Cause::kUnread, Cause::kIdle,
                            Cause::kUnused, Cause::kForm})
    EXPECT_GT(removed.by_cause[static_cast<std::size_t>(cause)], 20) << name(cause);
}

TEST(Exact, KeepsEveryBitOfForests) {
  test::RandomModelOptions shape;
  shape.laws = true;
  shape.most_trees = 4;
  Removed removed;
  for (std::uint64_t seed = 0; seed < 100; ++seed) expect_same_predictions(5000 + seed, shape, {}, removed);
}

// The searches that know less must not be wrong either.
TEST(Exact, KeepsEveryBitWhenTheSearchGivesUp) {
  test::RandomModelOptions shape;
  shape.laws = true;
  shape.most_inner = 31;
  SimplifyOptions options;
  Removed removed;
  options.exact.reach.joint_work = 5;
  for (std::uint64_t seed = 0; seed < 200; ++seed) expect_same_predictions(6000 + seed, shape, options, removed);
  options.exact.reach.cell_work = 20;
  for (std::uint64_t seed = 0; seed < 200; ++seed) expect_same_predictions(7000 + seed, shape, options, removed);
}

}  // namespace
}  // namespace remede

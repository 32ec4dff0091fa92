#include "remede/draw/trace.h"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "remede/base/error.h"
#include "remede/data/tasks.h"
#include "remede/model/predict.h"
#include "support/hand_built.h"
#include "support/random_model.h"

namespace remede {
namespace {

using testing::HasSubstr;

Trace of_the_papers_tree() {
  const std::vector<float> x = {0.4F, 0, 0, 1};
  return trace(test::paper_tree(), x);
}

TEST(Trace, FollowsThePapersTree) {
  const Trace t = of_the_papers_tree();
  ASSERT_EQ(t.steps.size(), 4U);
  const TreeStep& first = t.steps[0].trees[0];
  ASSERT_EQ(first.path.size(), 3U);  // m1, x1, m1
  EXPECT_EQ(first.path[0].feature, 1);
  EXPECT_TRUE(first.path[0].right);
  EXPECT_EQ(first.path[0].written_at, -1) << "nothing was written before the first step";
  EXPECT_FLOAT_EQ(first.path[0].margin(), 0.23F);
  EXPECT_EQ(first.before[0], 0.0F);
  EXPECT_NEAR(first.after[0], 1, 1e-4);
  EXPECT_TRUE(first.written[0]);
  const TreeStep& last = t.steps[3].trees[0];
  EXPECT_FALSE(last.written[0]);
  EXPECT_EQ(last.path[0].written_at, 0) << "what it reads was written in the first step";
  ASSERT_EQ(last.reads.size(), 1U);
  EXPECT_EQ(last.reads[0].use, ReadUse::kTest);
  EXPECT_EQ(last.reads[0].written_at, 0);
  EXPECT_EQ(arg_max(t.steps[3].output), 2);
}

TEST(Trace, TheDecidingTestIsTheOneThatWouldHaveChangedTheAnswer) {
  const Trace t = of_the_papers_tree();
  const TreeStep& idle = t.steps[1].trees[0];  // m1 >= -0.23, x1 < 0.5, m1 >= 0.13: says 0
  EXPECT_FALSE(idle.path[0].pivotal) << "the other side says 0 as well";
  EXPECT_TRUE(idle.path[1].pivotal) << "a trigger would have been answered";
  EXPECT_FALSE(idle.path[2].pivotal);
  EXPECT_EQ(idle.decided, 1);
  const TreeStep& trigger = t.steps[3].trees[0];
  EXPECT_TRUE(trigger.path[0].pivotal);
  EXPECT_TRUE(trigger.path[1].pivotal);
  EXPECT_EQ(trigger.decided, 1);
}

TEST(Trace, GivesTheBitsOfThePredictor) {
  for (unsigned seed = 0; seed < 64; ++seed) {
    Random random(11, seed);
    test::RandomModelOptions options;
    options.most_trees = 3;
    options.awkward = seed % 4 == 3;
    const Model model = test::random_model(random, options);
    const Sequences data = test::random_sequences(random, model.n_x(), 1, 30);
    const Trace t = trace(model, data.x);
    const Predictions p = predict(model, data);
    ASSERT_EQ(t.steps.size(), data.steps());
    for (std::size_t i = 0; i < t.steps.size(); ++i) {
      for (std::size_t o = 0; o < t.steps[i].output.size(); ++o) {
        const float expected = p.output[i * t.steps[i].output.size() + o], got = t.steps[i].output[o];
        if (!std::isnan(expected)) {
          ASSERT_EQ(std::bit_cast<std::uint32_t>(got), std::bit_cast<std::uint32_t>(expected)) << seed;
        }
      }
      for (std::size_t tree = 0; tree < model.trees.size(); ++tree)
        ASSERT_EQ(t.steps[i].trees[tree].leaf, p.leaf[tree * data.steps() + i]) << seed;
    }
  }
}

TEST(Trace, AWriteIsWhatLaterReadsName) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    Random random(12, seed);
    const Model model = test::random_model(random);
    const Sequences data = test::random_sequences(random, model.n_x(), 1, 30);
    const Trace t = trace(model, data.x);
    for (std::size_t i = 0; i < t.steps.size(); ++i)
      for (const MemoryRead& r : t.steps[i].trees[0].reads) {
        const auto cell = static_cast<std::size_t>(r.cell);
        EXPECT_EQ(std::bit_cast<std::uint32_t>(r.value),
                  std::bit_cast<std::uint32_t>(t.steps[i].trees[0].before[cell]));
        for (int s = static_cast<int>(i) - 1; s > r.written_at; --s)
          EXPECT_FALSE(t.steps[static_cast<std::size_t>(s)].trees[0].written[cell]);
        if (r.written_at >= 0) {
          EXPECT_TRUE(t.steps[static_cast<std::size_t>(r.written_at)].trees[0].written[cell]);
        }
      }
  }
}

TEST(Trace, TableSaysWhereAReadCameFrom) {
  Dataset data = generate("fixed-delay", {.sequences = 3});
  const Model model = test::paper_tree();
  const std::string table = trace_table(model, trace(model, data, 1));
  EXPECT_THAT(table, HasSubstr("m1 from step 0"));
  EXPECT_THAT(table, HasSubstr("target"));
  EXPECT_THAT(table, HasSubstr("0 -> "));
  EXPECT_THAT(table, HasSubstr("x1 >= 0.5*"));
  EXPECT_EQ(table.find('\x1b'), std::string::npos);
  EXPECT_THAT(trace_table(model, trace(model, data, 1), true), HasSubstr("\x1b["));
}

// Ten stores that never lose anything; the answer reads the last two.
TEST(Trace, TableShowsTheCellsThatMoveTheAnswer) {
  constexpr std::size_t kCells = 10;
  Tree tree;
  tree.n_x = tree.n_y = 1;
  tree.n_m = static_cast<int>(kCells);
  tree.form.memory = Memory::kLaws;
  tree.output = {0.0F};
  Cells& c = tree.cells;
  c.law.assign(kCells, Law::kStore);
  c.bias.assign(kCells, 0.0F);
  c.input.assign(kCells, 1.0F);
  c.earlier.assign(kCells * kCells, 0.0F);
  c.tap.assign(kCells, 0.0F);
  c.tap_input.assign(kCells, 0.0F);
  c.tap_level.assign(kCells, 0.0F);
  c.tap_leaf.assign(kCells, -std::numeric_limits<float>::infinity());
  c.first.assign(kCells, 0);
  c.linear.assign(1 + 2 * kCells, 0.01F);
  c.linear[0] = 0.0F;
  c.linear[2 * kCells - 1] = c.linear[2 * kCells] = 1.0F;
  Model model;
  model.schema.inputs = {"x1"};
  model.schema.targets = {"y"};
  model.schema.task = Task::kRegression;
  model.fill = {0.0F};
  model.trees = {tree};
  check(model, "stores");
  const std::string table = trace_table(model, trace(model, std::vector<float>{1, 2, 3}));
  EXPECT_THAT(table, HasSubstr("m10"));
  EXPECT_THAT(table, HasSubstr("m9"));
  EXPECT_THAT(table, HasSubstr("m4"));
  EXPECT_THAT(table, Not(HasSubstr("m5")));
  EXPECT_THAT(table, HasSubstr("6 of 10 cells are shown: those that move the answer most here."));
}

TEST(Trace, JsonHoldsEveryStep) {
  const Dataset data = generate("fixed-delay", {.sequences = 3});
  const Model model = test::paper_tree();
  const auto json = nlohmann::ordered_json::parse(trace_json(model, trace(model, data, 2)));
  ASSERT_EQ(json["steps"].size(), 7U);
  EXPECT_EQ(json["steps"][0]["name"], "0");
  EXPECT_EQ(json["steps"][6]["trees"][0]["reads"][0]["written_at"], 0) << "counted from 0";
  EXPECT_TRUE(json["steps"][0]["trees"][0]["path"][0]["written_at"].is_null());
}

TEST(Trace, SequencesAreFoundByIdThenByNumber) {
  Dataset data = generate("fixed-delay", {.sequences = 3});
  data.ids = {};
  for (const char* const id : {"a", "3", "b"}) data.ids.push_back(id);
  EXPECT_EQ(find_sequence(data, "b"), 2U);
  EXPECT_EQ(find_sequence(data, "3"), 1U) << "an id comes before a number";
  EXPECT_EQ(find_sequence(data, "1"), 0U);
  EXPECT_THROW(find_sequence(data, "4"), Error);
  EXPECT_THROW(find_sequence(data, "0"), Error);
  EXPECT_THROW(find_sequence(data, "c"), Error);
}

TEST(Trace, WrongIsOnlyWhatHasATargetAndMissesIt) {
  TraceStep step;
  step.output = {0.2F, 0.8F};
  EXPECT_FALSE(is_wrong(step));
  step.has_target = true;
  step.label = 0;
  EXPECT_TRUE(is_wrong(step));
  step.label = 1;
  EXPECT_FALSE(is_wrong(step));
}

}  // namespace
}  // namespace remede

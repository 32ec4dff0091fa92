#include "remede/train/paper.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "train/small_data.h"

namespace remede {
namespace {

TrainingData paper_data() {
  TrainingData data;
  data.training = testing::fixed_delay(100, 1, 1).sequences;
  data.validation = testing::fixed_delay(50, 2, 1).sequences;
  data.fill = {0.0F};
  data.quantiles = input_quantiles(data.training);
  return data;
}

StartPlan paper_plan() {
  StartPlan plan;
  plan.shape = {2, 1, 1, 3, {}};
  return plan;
}

SearchResult run_single(const TrainingData& data, const Budget& budget, const Callbacks& callbacks = {},
                        const std::string& resume = "", StartPlan plan = paper_plan(), int restarts = 1) {
  Session session(callbacks, Checkpoint(), resume);
  Config config;
  config.threads = 1;
  config.recipe.restarts = restarts;
  return train_single(plan, data, budget, config, session);
}

TEST(Paper, ItsPlanIsThePapersUnlessTheConfigurationSaysOtherwise) {
  const Schema schema = testing::fixed_delay(1, 1).schema;
  const StartPlan paper = single_plan(Config(), schema, LeafForm(), GradientForm());
  EXPECT_EQ(paper.shape.depth, 6);
  EXPECT_EQ(paper.shape.n_m, 5);
  EXPECT_EQ(paper.shape.n_x, 1);
  EXPECT_EQ(paper.shape.n_y, 3);
  EXPECT_EQ(paper.shape.form, LeafForm());
  Config config;
  config.depth = 2;
  config.memory = 1;
  config.write_bias = true;
  config.seed = 7;
  const StartPlan mine = single_plan(config, schema, LeafForm(), GradientForm());
  EXPECT_EQ(mine.shape.depth, 2);
  EXPECT_EQ(mine.shape.n_m, 1);
  EXPECT_TRUE(mine.shape.form.write_bias);
  EXPECT_EQ(mine.seed, 7U);
}

TEST(Paper, TrainsToTheEndOfItsBudgetAndKeepsTheBest) {
  std::vector<std::uint64_t> updates;
  std::vector<std::string> phases;
  Callbacks callbacks;
  callbacks.progress = [&](const Progress& p) {
    updates.push_back(p.updates);
    phases.push_back(p.phase);
  };
  const TrainingData data = paper_data();
  const SearchResult result = run_single(data, {100, 40, 1000, 20}, callbacks);
  EXPECT_EQ(updates, (std::vector<std::uint64_t>{20, 40, 60, 80, 100}));
  EXPECT_EQ(phases, (std::vector<std::string>{"start", "start", "decay", "decay", "decay"}));
  ASSERT_EQ(result.finalists.size(), 1U);
  const Finalist& only = result.finalists[0][0];
  EXPECT_EQ(only.loss, *std::min_element(only.validation_curve.begin(), only.validation_curve.end()));
  EXPECT_FALSE(result.stopped);
}

TEST(Paper, DecaysEarlyWhenNothingGetsBetter) {
  StartPlan still = paper_plan();
  still.rates = {};  // nothing moves, so no validation is better than the first
  std::uint64_t last = 0;
  Callbacks callbacks;
  callbacks.progress = [&](const Progress& p) { last = p.updates; };
  run_single(paper_data(), {10000, 20, 60, 20}, callbacks, "", still);
  EXPECT_EQ(last, 80U) << "60 updates of patience and 20 of decay";
}

// Each start is what it is without the others; patience of each ends when it does.
TEST(Paper, RestartsAreStartsOfTheirOwn) {
  const TrainingData data = paper_data();
  const Budget budget{200, 40, 60, 20};
  const SearchResult three = run_single(data, budget, {}, "", paper_plan(), 3);
  ASSERT_EQ(three.finalists.size(), 3U);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(three.finalists[k][0].plan.stream, k);
  EXPECT_NE(three.finalists[0][0].parameters.values, three.finalists[1][0].parameters.values);
  EXPECT_EQ(three.finalists[0][0].parameters.values, run_single(data, budget).finalists[0][0].parameters.values);
  EXPECT_EQ(three.finalists[1][0].parameters.values,
            run_single(data, budget, {}, "", paper_plan(), 2).finalists[1][0].parameters.values);
}

TEST(Paper, RestartsStoppedAndResumedEndTheSame) {
  const TrainingData data = paper_data();
  const Budget budget{100, 40, 60, 20};
  const SearchResult whole = run_single(data, budget, {}, "", paper_plan(), 2);
  for (const int batches : {1, 25, 90, 150}) {
    int asked = 0;
    std::string state;
    Callbacks callbacks;
    callbacks.stop = [&] { return ++asked > batches; };
    callbacks.checkpoint = [&](const Checkpoint& c) { state = c.state; };
    ASSERT_TRUE(run_single(data, budget, callbacks, "", paper_plan(), 2).stopped);
    const SearchResult rest = run_single(data, budget, {}, state, paper_plan(), 2);
    for (std::size_t k = 0; k < 2; ++k)
      EXPECT_EQ(rest.finalists[k][0].parameters.values, whole.finalists[k][0].parameters.values) << batches;
  }
}

TEST(Paper, StoppedAndResumedItEndsTheSame) {
  const TrainingData data = paper_data();
  const Budget budget{100, 40, 1000, 20};
  const SearchResult whole = run_single(data, budget);
  for (const int batches : {1, 7, 60, 99}) {
    int asked = 0;
    std::string state;
    Callbacks callbacks;
    callbacks.stop = [&] { return ++asked > batches; };
    callbacks.checkpoint = [&](const Checkpoint& c) { state = c.state; };
    ASSERT_TRUE(run_single(data, budget, callbacks).stopped);
    const SearchResult rest = run_single(data, budget, {}, state);
    EXPECT_EQ(rest.finalists[0][0].parameters.values, whole.finalists[0][0].parameters.values) << batches;
    EXPECT_EQ(rest.finalists[0][0].validation_curve, whole.finalists[0][0].validation_curve) << batches;
  }
}

}  // namespace
}  // namespace remede

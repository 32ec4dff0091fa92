#include "remede/train/search.h"

#include <algorithm>
#include <optional>

#include <gtest/gtest.h>

#include "remede/base/error.h"
#include "train/small_data.h"

namespace remede {
namespace {

TrainingData search_data(int sequences = 120) {
  TrainingData data;
  data.training = testing::fixed_delay(sequences, 1, 1).sequences;
  data.validation = testing::fixed_delay(60, 2, 1).sequences;
  data.fill = {0.0F};
  data.quantiles = input_quantiles(data.training);
  return data;
}

// Starts that differ in their streams only. Streams number the starts of all stages.
Portfolio small_portfolio(int starts, std::uint64_t first_stream = 0, std::uint64_t updates = 20) {
  Portfolio p;
  for (int i = 0; i < starts; ++i) {
    StartPlan plan;
    plan.shape = {2, 1, 1, 3, {}};
    plan.shape.form.write_bias = true;
    plan.first_round = updates;
    plan.validations = 2;
    plan.stream = first_stream + static_cast<std::uint64_t>(i);
    p.starts.push_back(plan);
  }
  return p;
}

SearchResult run_search(const std::vector<Portfolio>& stages, const TrainingData& data, const Callbacks& callbacks = {},
                        const std::string& resume = "", int threads = 1) {
  Config config;
  config.threads = threads;
  Session session(callbacks, Checkpoint(), resume);
  return search(config, stages, {&data}, session);
}

std::vector<std::uint64_t> streams(const SearchResult& result) {
  std::vector<std::uint64_t> all;
  for (const auto& finalist : result.finalists) all.push_back(finalist.front().plan.stream);
  return all;
}

TEST(Search, KeepsAtMostSixtyFourOfManyStarts) {
  const Thinning thinning = thinning_of(Config());
  EXPECT_EQ(survivors_of(1024, thinning), 64U);
  EXPECT_EQ(survivors_of(100, thinning), 50U);
  EXPECT_EQ(survivors_of(5, thinning), 4U);
  EXPECT_EQ(survivors_of(3, thinning), 3U);
  EXPECT_EQ(survivors_of(300, {100, 64}), 100U) << "every tree of a forest is a finalist";
  EXPECT_EQ(rounds_of(1024, thinning, 2), rounds_of(128, thinning, 2));
}

TEST(Search, HalvesTheStartsAndReturnsTheFinalistsBestFirst) {
  const TrainingData data = search_data();
  std::vector<double> done;
  Callbacks callbacks;
  callbacks.progress = [&](const Progress& p) { done.push_back(p.done); };
  const SearchResult result = run_search({small_portfolio(9)}, data, callbacks);
  ASSERT_EQ(result.finalists.size(), 4U);
  EXPECT_FALSE(result.stopped);
  for (std::size_t i = 0; i + 1 < 4; ++i)
    EXPECT_LE(result.finalists[i].front().loss, result.finalists[i + 1].front().loss);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.size(), 3U) << "9 starts, 5, and the last round with falling rates for 4";
  EXPECT_LT(done.back(), 1.0) << "the choice is still to come";
}

TEST(Search, AFinalistIsItsBestSnapshot) {
  const TrainingData data = search_data();
  for (const auto& finalist : run_search({small_portfolio(4)}, data).finalists) {
    const std::vector<double>& curve = finalist.front().validation_curve;
    EXPECT_EQ(finalist.front().loss, *std::min_element(curve.begin(), curve.end()));
  }
}

TEST(Search, EveryFoldHasItsOwnCopyOfAStart) {
  const TrainingData one = search_data(), other = search_data(80);
  Config config;
  config.threads = 1;
  const Callbacks none;
  Session session(none, Checkpoint(), "");
  const SearchResult result = search(config, {small_portfolio(3)}, {&one, &other}, session);
  ASSERT_EQ(result.finalists.size(), 3U);
  double before = 0;
  for (const auto& copies : result.finalists) {
    ASSERT_EQ(copies.size(), 2U);
    EXPECT_NE(copies[0].parameters.values, copies[1].parameters.values);
    const double mean = (copies[0].loss + copies[1].loss) / 2;
    EXPECT_GE(mean, before) << "starts are ordered by their mean loss over the folds";
    before = mean;
  }
}

TEST(Search, AStageIsPassedOverWhereNothingSoFarIsGoodEnoughForIt) {
  const TrainingData data = search_data();
  std::vector<Portfolio> stages = {small_portfolio(2, 0), small_portfolio(2, 2), small_portfolio(2, 4)};
  stages[1].entry = 0;  // no loss is below 0
  std::vector<std::uint64_t> seen = streams(run_search(stages, data));
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{0, 1, 4, 5}));
}

TEST(Search, ASolvedStageIsTheLast) {
  TrainingData data = search_data();
  for (Sequences* part : {&data.training, &data.validation})  // the answer is the sign of the input: a stump solves it
    for (std::size_t t = 0; t < part->steps(); ++t) part->label[t] = part->x[t] < 0 ? 0 : 2;
  Portfolio first = small_portfolio(6, 0, 400);
  for (StartPlan& plan : first.starts) plan.thresholds_from_data = true;
  const SearchResult result = run_search({first, small_portfolio(2, 6)}, data);
  ASSERT_LE(result.finalists.front().front().loss, solved_loss(data.objective, data.validation));
  for (const std::uint64_t stream : streams(result)) EXPECT_LT(stream, 6U);
}

TEST(Search, AStageInDoubtIsShortUntilAStartDoesFarBetter) {
  const TrainingData data = search_data();
  const auto updates = [&](double lifted) {
    Portfolio stage = small_portfolio(9);
    stage.trial = 5;
    stage.lifted = lifted;
    std::vector<std::uint64_t> ends;
    Callbacks callbacks;
    callbacks.progress = [&](const Progress& p) { ends.push_back(p.updates); };
    run_search({stage}, data, callbacks);
    return ends;
  };
  EXPECT_EQ(updates(0.0), (std::vector<std::uint64_t>{5, 10, 20}));
  EXPECT_EQ(updates(1e9), (std::vector<std::uint64_t>{5, 20, 40, 80})) << "the first round goes on with all starts";
}

TEST(Search, FinishesWhenNoStartImproves) {
  const TrainingData data = search_data();
  const auto rounds = [&](float rate) {
    Portfolio stage = small_portfolio(9);
    for (StartPlan& plan : stage.starts) {
      plan.least_rounds = 6;
      plan.rates.fill(rate);
    }
    int count = 0;
    Callbacks callbacks;
    callbacks.progress = [&](const Progress&) { ++count; };
    run_search({stage}, data, callbacks);
    return count;
  };
  EXPECT_EQ(rounds(0.0F), 3) << "9 starts, 5, and the last";
  EXPECT_GT(rounds(0.05F), 3);
}

TEST(Search, SameResultForAnyNumberOfThreads) {
  const TrainingData data = search_data();
  const std::vector<Portfolio> stages = {small_portfolio(6), small_portfolio(3, 6)};
  const SearchResult one = run_search(stages, data), three = run_search(stages, data, {}, "", 3);
  ASSERT_EQ(streams(one), streams(three));
  for (std::size_t i = 0; i < one.finalists.size(); ++i)
    EXPECT_EQ(one.finalists[i].front().parameters.values, three.finalists[i].front().parameters.values);
}

TEST(Search, StoppedAndResumedItEndsTheSame) {
  const TrainingData data = search_data();
  const std::vector<Portfolio> stages = {small_portfolio(6), small_portfolio(3, 6)};
  const SearchResult whole = run_search(stages, data);
  for (const int batches : {1, 130, 300, 700}) {
    int asked = 0;
    std::string state;
    Callbacks callbacks;
    callbacks.stop = [&] { return ++asked > batches; };
    callbacks.checkpoint = [&](const Checkpoint& c) { state = c.state; };
    const SearchResult first = run_search(stages, data, callbacks);
    if (!first.stopped) continue;
    const SearchResult rest = run_search(stages, data, {}, state);
    ASSERT_EQ(streams(rest), streams(whole)) << "stopped after " << batches;
    EXPECT_EQ(rest.finalists[0][0].parameters.values, whole.finalists[0][0].parameters.values);
  }
}

TEST(Search, RefusesTheStateOfAnotherSearch) {
  const TrainingData data = search_data();
  std::string state;
  Callbacks callbacks;
  int asked = 0;
  callbacks.stop = [&] { return ++asked > 30; };
  callbacks.checkpoint = [&](const Checkpoint& c) { state = c.state; };
  run_search({small_portfolio(3, 10)}, data, callbacks);
  ASSERT_FALSE(state.empty());
  EXPECT_THROW(run_search({small_portfolio(3)}, data, {}, state), Error);
  EXPECT_THROW(run_search({small_portfolio(3, 10)}, data, {}, state.substr(0, state.size() / 2)), Error);
}

}  // namespace
}  // namespace remede

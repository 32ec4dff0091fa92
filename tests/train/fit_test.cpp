#include "remede/train/fit.h"

#include <atomic>
#include <limits>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "remede/base/error.h"
#include "remede/data/tasks.h"
#include "remede/model/batch.h"
#include "remede/model/file.h"
#include "remede/model/size.h"
#include "remede/simplify/simplify.h"
#include "remede/train/prepare.h"
#include "remede/train/score.h"
#include "train/small_data.h"

namespace remede {
namespace {

using ::testing::HasSubstr;

Config quick() {
  Config config;
  config.recipe = paper_recipe();
  config.depth = 3;
  config.memory = 2;
  config.updates = 120;
  config.validate_every = 25;
  config.threads = 1;
  return config;
}

// The default recipe with few starts, as long as it takes.
Config small_search() {
  Config config;
  config.depth = 3;
  config.memory = 2;
  config.starts = 4;
  config.threads = 1;
  return config;
}

// Runs a fit that is killed after every `every` batches and each time resumed from its checkpoint by a fresh call.
Fit fit_in_pieces(const Dataset& data, const Config& config, int every, int& pieces) {
  std::optional<Checkpoint> last;
  for (pieces = 1;; ++pieces) {
    int batches = 0;
    Callbacks callbacks;
    callbacks.stop = [&] { return batches >= every; };
    callbacks.checkpoint_due = [&] { return ++batches >= every; };
    callbacks.checkpoint = [&](const Checkpoint& c) { last = checkpoint_from_bytes(to_bytes(c), "test"); };
    const Checkpoint from = last.value_or(Checkpoint());
    Fit result = fit(data, nullptr, config, callbacks, last ? &from : nullptr);
    if (!result.stopped) return result;
  }
}

TEST(Fit, TheModelHasTheInputsOfItsData) {
  Dataset data = testing::fixed_delay(60, 4);
  Sequences& s = data.sequences;
  std::vector<float> wide;
  for (const float x : s.x) wide.insert(wide.end(), {7.0F, x, 7.0F});  // constants: no split can use them
  s.x = wide;
  s.n_x = 3;
  data.schema.inputs = {"before", "x1", "after"};
  const Fit result = fit(data, nullptr, quick());
  EXPECT_EQ(result.model.schema.inputs, data.schema.inputs);
  const Model published = without_unused_inputs(result.model);
  ASSERT_EQ(published.schema.inputs.size(), 1U);
  const int kept = published.schema.inputs.front() == "x1" ? 1 : 0;  // one is kept where the tree reads none
  EXPECT_EQ(predict_batch(published, select_inputs(s, {kept}), 1).output, predict_batch(result.model, s, 1).output);
}

TEST(Fit, LearnsADelayFarAboveTheNaiveGuess) {
  Config config = quick();
  config.depth = 4;
  config.memory = 3;
  config.updates = 3000;
  config.write_bias = true;
  config.split_gradient = SplitGradient::kSoftsign;
  config.slope = 4;
  const Fit result = fit(testing::fixed_delay(1500, 4), nullptr, config);
  const Score test = score(result.model, testing::fixed_delay(500, 5).sequences);
  EXPECT_EQ(test.targets, 2500U);
  EXPECT_GT(test.accuracy, 0.97);  // without memory at most .9
  EXPECT_NEAR(result.validation.accuracy, test.accuracy, 0.03);
  EXPECT_EQ(result.trained_nodes, 31);
  EXPECT_FALSE(result.stopped);
  EXPECT_EQ(result.model.training.training_loss.size(), result.model.training.validation_loss.size());
}

TEST(Fit, LearnsAStaticTableAndRegressionOnRawNumbers) {
  Config config = quick();
  config.memory = 0;
  config.updates = 1500;
  config.rate_threshold = 0.02;
  config.leaf_output = LeafOutput::kLinear;
  const Dataset test = testing::regimes(40, 9);
  const Fit result = fit(testing::regimes(200, 8), nullptr, config);
  EXPECT_EQ(result.model.trees.front().n_m, 0);
  EXPECT_LT(score(result.model, test.sequences).rmse, 120.0);  // the spread of the values is 410
}

TEST(Fit, TheNumberOfThreadsChangesNoByte) {
  const Dataset data = testing::fixed_delay(300, 1);
  for (const bool paper : {true, false}) {
    Config config = paper ? quick() : small_search();
    config.batch = 64;
    std::string first;
    for (const int threads : {1, 2, 3}) {
      config.threads = threads;
      const std::string json = to_json(fit(data, nullptr, config).model);
      if (first.empty()) first = json;
      EXPECT_EQ(json, first) << threads << " threads";
    }
  }
}

// How many trees are asked for does not change the first of them.
TEST(Fit, TheFirstOfSeveralTreesIsTheSameHoweverManyThereAre) {
  for (const int sequences : {40, 120}) {  // with folds and without
    const Dataset data = testing::regimes(sequences, 3);
    Config config;
    config.starts = 4;
    config.updates = 1000;
    config.threads = 1;
    config.leaf_output = LeafOutput::kLinear;
    config.trees = 2;
    config.recipe.forest_most_loss = config.recipe.forest_errors = 100;  // every finalist is a member
    Model two = fit(data, nullptr, config).model;
    config.trees = 4;
    Model four = fit(data, nullptr, config).model;
    ASSERT_GT(four.trees.size(), 1U);
    two.trees.resize(1);
    four.trees.resize(1);
    const Sequences fresh = testing::regimes(20, 4).sequences;
    EXPECT_EQ(predict_batch(four, fresh, 1).output, predict_batch(two, fresh, 1).output) << sequences;
  }
}

TEST(Fit, FoldsNoiseAndGrownStartsEndInTheSameBytes) {
  Dataset data = testing::regimes(40, 3);
  data.sequences.x[5] = std::numeric_limits<float>::quiet_NaN();
  Config config;
  config.leaf_output = LeafOutput::kLinear;
  config.starts = 3;
  config.trees = 3;
  config.threads = 1;
  const std::string whole = to_json(fit(data, nullptr, config).model);
  config.threads = 3;
  EXPECT_EQ(to_json(fit(data, nullptr, config).model), whole);
  config.threads = 1;
  std::optional<Checkpoint> last;
  Callbacks callbacks;
  int rounds = 0;
  callbacks.checkpoint_due = [] { return true; };
  callbacks.checkpoint = [&](const Checkpoint& c) {
    if (++rounds == 2) last = checkpoint_from_bytes(to_bytes(c), "test");
  };
  fit(data, nullptr, config, callbacks);
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(to_json(fit(data, nullptr, config, {}, &*last).model), whole);
}

TEST(Fit, TreesOfDifferentFoldsTakeAMissingInputForTheSame) {
  const std::vector<Prepared> folds = prepare_folds(testing::regimes(40, 3), nullptr, Config(), {true, true});
  ASSERT_EQ(folds.size(), 5U);
  for (const Prepared& fold : folds) EXPECT_EQ(fold.fill, folds.front().fill);
}

// Two sequences of each of many classes: what is held out is the half of its class, and a model that has learned how
// often classes occur takes it for any other. Chance is .02; before classes kept their shares it was .03.
TEST(Fit, ManyClassesOfTwoSequencesAreToldApart) {
  const Dataset training = testing::colours(52, 2, 1, 150), test = testing::colours(52, 5, 2, 150);
  Config config;
  config.starts = 1;
  config.updates = 20;
  config.threads = 1;
  const Fit found = fit(training, nullptr, config);
  EXPECT_GE(score(found.model, test.sequences).accuracy, 0.12);
}

TEST(Fit, TheSeedChangesTheModel) {
  const Dataset data = testing::fixed_delay(100, 1);
  Config config = quick();
  const std::string one = to_json(fit(data, nullptr, config).model);
  EXPECT_EQ(one, to_json(fit(data, nullptr, config).model));
  config.seed = 2;
  EXPECT_NE(one, to_json(fit(data, nullptr, config).model));
}

TEST(Fit, InterruptedAgainAndAgainEndsInTheSameBytes) {
  const Dataset data = testing::fixed_delay(100, 1);
  Config config = quick();
  config.patience = 30;
  const std::string whole = to_json(fit(data, nullptr, config).model);
  for (const int every : {7, 24, 25, 26, 90}) {
    int pieces = 0;
    EXPECT_EQ(to_json(fit_in_pieces(data, config, every, pieces).model), whole)
        << "killed every " << every << " batches";
    EXPECT_GT(pieces, 1);
  }
}

// The default recipe goes on from its last whole round, so it is interrupted once.
TEST(Fit, TheDefaultRecipeInterruptedAndResumedEndsInTheSameBytes) {
  const Dataset data = testing::fixed_delay(100, 1);
  const Config config = small_search();
  const std::string whole = to_json(fit(data, nullptr, config).model);
  for (const int stop_after : {1, 300, 1500, 2500, 20000, 60000}) {
    std::optional<Checkpoint> kept;
    int batches = 0;
    Callbacks callbacks;
    callbacks.stop = [&] { return ++batches > stop_after; };
    callbacks.checkpoint = [&](const Checkpoint& c) { kept = c; };
    const Fit stopped = fit(data, nullptr, config, callbacks);
    ASSERT_EQ(stopped.stopped, kept.has_value());
    if (kept) {
      EXPECT_EQ(to_json(fit(data, nullptr, config, {}, &*kept).model), whole) << "stopped after " << stop_after;
    }
  }
}

// A kill leaves the last checkpoint that was written, not the moment of the kill.
TEST(Fit, AnyCheckpointOfARunLeadsToItsEnd) {
  const Dataset data = testing::fixed_delay(100, 1);
  Config config = quick();
  int batches = 0;
  std::vector<Checkpoint> kept;
  Callbacks callbacks;
  callbacks.checkpoint_due = [&] { return ++batches % 11 == 0; };
  callbacks.checkpoint = [&](const Checkpoint& c) { kept.push_back(c); };
  const std::string whole = to_json(fit(data, nullptr, config, callbacks).model);
  EXPECT_EQ(whole, to_json(fit(data, nullptr, config).model)) << "writing checkpoints changed the result";
  ASSERT_GT(kept.size(), 2U);
  for (const Checkpoint& c : kept) EXPECT_EQ(to_json(fit(data, nullptr, config, {}, &c).model), whole);
}

TEST(Fit, AStopGivesTheBestSoFarAfterTheCurrentBatch) {
  Config config = quick();
  config.updates = 1'000'000;
  int batches = 0;
  Callbacks callbacks;
  callbacks.stop = [&] { return ++batches > 60; };
  const Fit result = fit(testing::fixed_delay(100, 1), nullptr, config, callbacks);
  EXPECT_TRUE(result.stopped);
  EXPECT_LT(batches, 200);
  EXPECT_NO_THROW(check(result.model, "stopped"));
}

// Stops when the fit says that it has come to this phase.
Fit stop_in(const std::string& phase, const Dataset& data, const Config& config, std::optional<Checkpoint>& kept) {
  std::atomic<bool> reached = false;
  Callbacks callbacks;
  callbacks.progress = [&](const Progress& p) { reached = reached || p.phase.rfind(phase, 0) == 0; };
  callbacks.stop = [&] { return reached.load(); };
  callbacks.checkpoint = [&](const Checkpoint& c) { kept = checkpoint_from_bytes(to_bytes(c), "test"); };
  return fit(data, nullptr, config, callbacks);
}

TEST(Fit, AStopInAnyPhaseGivesAModelAndACheckpointThatLeadsToTheWholeOne) {
  const Dataset data = testing::regimes(120, 3);
  Config config = small_search();
  config.updates = 400;
  config.leaf_output = LeafOutput::kLinear;
  const std::string whole = to_json(fit(data, nullptr, config).model);
  for (const char* phase : {"stage 1", "simplify", "improve", "polish"}) {
    std::optional<Checkpoint> kept;
    const Fit stopped = stop_in(phase, data, config, kept);
    EXPECT_TRUE(stopped.stopped) << phase;
    EXPECT_NO_THROW(check(stopped.model, phase));
    ASSERT_TRUE(kept.has_value()) << phase;
    EXPECT_EQ(to_json(fit(data, nullptr, config, {}, &*kept).model), whole) << phase;
  }
}

TEST(Fit, AStopBeforeTheFirstUpdateStillGivesAModel) {
  Callbacks callbacks;
  callbacks.stop = [] { return true; };
  const Fit result = fit(testing::fixed_delay(100, 1), nullptr, Config(), callbacks);
  EXPECT_TRUE(result.stopped);
  EXPECT_NO_THROW(check(result.model, "stopped"));
}

TEST(Fit, ATimeLimitEndsTheFitAndIsRecorded) {
  Config config;
  config.time_limit = Seconds{0.3};
  config.starts = 1000;
  const Fit result = fit(testing::fixed_delay(2000, 1), nullptr, config);
  EXPECT_TRUE(result.late);
  EXPECT_FALSE(result.stopped);
  ASSERT_EQ(result.model.training.notes.size(), 1U);
  EXPECT_EQ(model_from_json(to_json(result.model), "test").training.notes, result.model.training.notes);
  config.time_limit = Seconds{3600};
  config.starts = 2;
  config.updates = 20;
  EXPECT_TRUE(fit(testing::fixed_delay(100, 1), nullptr, config).model.training.notes.empty());
}

TEST(Fit, PolishDoesNotExceedTheNumbersAskedFor) {
  bool grew = false;
  for (const int seed : {2, 3}) {
    TaskOptions options;
    options.sequences = 300;
    options.seed = static_cast<std::uint64_t>(seed);
    const Dataset data = generate("flip-flop", options);
    Config config = small_search();
    config.seed = seed;
    config.depth = 0;
    config.memory = 6;
    config.leaf_output = LeafOutput::kLinear;
    config.accurate = true;
    std::optional<Checkpoint> kept;
    const long long before = size_of(stop_in("polish", data, config, kept).model).numbers;
    grew = grew || size_of(fit(data, nullptr, config).model).numbers > before;
    config.accurate = false;
    config.numbers = static_cast<int>(before);
    EXPECT_LE(size_of(fit(data, nullptr, config).model).numbers, before) << seed;
  }
  EXPECT_TRUE(grew) << "polish has nothing to exceed";
}

TEST(Fit, PolishIsKeptOnlyIfItsOwnTrainingDataAreNotPredictedWorse) {
  // With a rate that destroys what was learned, the last training would end far away.
  const Dataset data = testing::regimes(120, 3);
  for (const double rate : {0.02, 5.0}) {
    Config config = small_search();
    config.updates = 200;
    config.leaf_output = LeafOutput::kLinear;
    config.rate_linear = rate;
    config.rate_output = rate;
    const Fit polished = fit(data, nullptr, config);
    std::optional<Checkpoint> kept;
    const Fit before = stop_in("polish", data, config, kept);
    EXPECT_LE(score(polished.model, data.sequences).rmse, score(before.model, data.sequences).rmse) << rate;
  }
}

TEST(Fit, ResumingSomethingElseIsAnError) {
  const Dataset data = testing::fixed_delay(100, 1);
  Config config = quick();
  Checkpoint kept;
  Callbacks callbacks;
  callbacks.stop = [] { return true; };
  callbacks.checkpoint = [&](const Checkpoint& c) { kept = c; };
  fit(data, nullptr, config, callbacks);
  const Dataset other = testing::fixed_delay(100, 2);
  EXPECT_THROW(fit(other, nullptr, config, {}, &kept), Error);
  EXPECT_THROW(fit(data, &other, config, {}, &kept), Error);
  config.seed = 5;
  EXPECT_THROW(fit(data, nullptr, config, {}, &kept), Error);
}

TEST(Fit, ProgressIsReportedWithLosses) {
  Callbacks callbacks;
  std::vector<Progress> reports;
  callbacks.progress = [&](const Progress& p) { reports.push_back(p); };
  fit(testing::fixed_delay(100, 1), nullptr, quick(), callbacks);
  ASSERT_GE(reports.size(), 4U);
  for (std::size_t i = 1; i < reports.size(); ++i) EXPECT_LE(reports[i].best_loss, reports[i - 1].best_loss);
  EXPECT_DOUBLE_EQ(reports.back().done, 1.0);
}

TEST(Fit, InputsBeyondReasonGiveAnErrorAndNoModel) {
  Dataset data = testing::regimes(20, 1);
  for (float& x : data.sequences.x) x *= 1e30F;
  Config config = quick();
  config.standardise = false;
  config.leaf_output = LeafOutput::kLinear;
  for (float& y : data.sequences.value) y = 3e38F;
  try {
    fit(data, nullptr, config);
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("expected a finite loss"));
  }
}

}  // namespace
}  // namespace remede

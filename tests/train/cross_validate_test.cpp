#include "remede/train/cross_validate.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "train/small_data.h"

namespace remede {
namespace {

Config fold_config() {
  Config config;
  config.recipe = paper_recipe();
  config.depth = 2;
  config.memory = 1;
  config.updates = 60;
  config.validate_every = 20;
  config.threads = 1;
  return config;
}

TEST(MakeFolds, EverySequenceIsTestedOnceAndNeverInItsOwnTraining) {
  Dataset data = testing::fixed_delay(23, 1);
  std::multiset<std::uint32_t> tested;
  for (const Split& fold : make_folds(data, {4, false}, 1)) {
    const std::set<std::uint32_t> training(fold.training.begin(), fold.training.end());
    EXPECT_EQ(training.size() + fold.validation.size(), 23U);
    for (const std::uint32_t s : fold.validation) EXPECT_EQ(training.count(s), 0U);
    tested.insert(fold.validation.begin(), fold.validation.end());
  }
  EXPECT_EQ(tested.size(), 23U);
  EXPECT_EQ(std::set<std::uint32_t>(tested.begin(), tested.end()).size(), 23U);
}

TEST(MakeFolds, FewSequencesAreCutAndTheNoteSaysSo) {
  Dataset data = testing::regimes(2, 1, 30);
  EXPECT_EQ(make_folds(data, {5, false}, 1).size(), 5U);
  EXPECT_EQ(data.sequences.count(), 6U);
  ASSERT_EQ(data.notes.size(), 1U);
}

TEST(CrossValidate, ScoresEveryFoldAndSumsUp) {
  const CrossValidation result = cross_validate(testing::fixed_delay(60, 2), {3, false}, fold_config());
  ASSERT_EQ(result.folds.size(), 3U);
  std::size_t tested = 0;
  for (const FoldResult& fold : result.folds) {
    tested += fold.scores.sequences;
    EXPECT_GE(fold.nodes, 1);
  }
  EXPECT_EQ(tested, 60U);
  const std::vector<FoldFigure> figures = result.figures();
  ASSERT_EQ(figures.size(), 5U);
  EXPECT_EQ(figures[0].name, "accuracy");
  const std::vector<double>& v = figures[0].values;
  EXPECT_EQ(v[1], result.folds[1].scores.classification.accuracy);
  EXPECT_DOUBLE_EQ(figures[0].mean, (v[0] + v[1] + v[2]) / 3);
  EXPECT_GE(figures[0].mean, 0.7) << "the commonest class has 4 steps of 5";
}

TEST(CrossValidate, UndefinedFiguresAreLeftOutOfTheMean) {
  CrossValidation result;
  result.task = Task::kRegression;
  for (const double r2 : {0.5, std::nan(""), 0.7}) {
    FoldResult fold;
    fold.scores.regression.overall = {1.0, 1.0, r2};
    result.folds.push_back(fold);
  }
  const FoldFigure r2 = result.figures()[2];
  EXPECT_EQ(r2.name, "r2");
  EXPECT_DOUBLE_EQ(r2.mean, 0.6);
  EXPECT_NEAR(r2.sd, std::sqrt(0.02), 1e-12);
  result.folds.resize(1);
  EXPECT_TRUE(std::isnan(result.figures()[2].sd));
}

TEST(CrossValidate, ForwardTestsOnWhatFollows) {
  const CrossValidation result = cross_validate(testing::regimes(3, 4, 40), {3, true}, fold_config());
  ASSERT_EQ(result.folds.size(), 3U);
  for (const FoldResult& fold : result.folds) EXPECT_EQ(fold.scores.sequences, 3U);
}

TEST(CrossValidate, CanBeStopped) {
  int finished = 0;
  Callbacks callbacks;
  callbacks.stop = [&] { return finished == 1; };
  Dataset data = testing::fixed_delay(40, 2);
  RawDataset raw;
  raw.inputs.push_back({"x1", false, false, {}});
  raw.data = data;
  const std::vector<Split> folds = make_folds(raw.data, {4, false}, 1);
  const CrossValidation result =
      cross_validate(raw, folds, fold_config(), callbacks, [&](const CrossValidation&) { ++finished; });
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.folds.size(), 1U);
}

}  // namespace
}  // namespace remede

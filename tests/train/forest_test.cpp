// Which candidates make a forest.
#include "remede/train/forest.h"

#include <utility>

#include <gtest/gtest.h>

namespace remede {
namespace {

// A tree of one leaf that always says `value`.
Model always(float value) {
  Model model;
  model.schema.task = Task::kRegression;
  model.schema.inputs = {"x"};
  model.schema.targets = {"y"};
  model.fill = {0.0F};
  Tree tree;
  tree.n_x = tree.n_y = 1;
  tree.output = {value};
  model.trees.push_back(tree);
  return model;
}

// Targets around 0, in sequences of one step.
std::vector<Prepared> one_fold(std::size_t count) {
  std::vector<Prepared> folds(1);
  Sequences& s = folds[0].validation;
  s.n_x = s.n_y = 1;
  for (std::size_t i = 0; i < count; ++i) {
    s.x.push_back(0);
    s.value.push_back(i % 2 == 0 ? 1.0F : -1.0F);
    s.weight.push_back(1);
    s.offset.push_back(s.offset.back() + 1);
  }
  return folds;
}

Candidate candidate(float value, const std::vector<Prepared>& folds) {
  Candidate c;
  c.copies = {always(value)};
  c.units = score_units(c.copies[0], folds[0].validation);
  double sum = 0;
  for (const double loss : c.units.loss) sum += loss;
  c.loss = sum / static_cast<double>(c.units.loss.size());
  return c;
}

std::vector<float> members(std::vector<float> values, std::size_t trees, std::size_t count = 400) {
  const std::vector<Prepared> folds = one_fold(count);
  std::vector<Candidate> all;
  for (const float value : values) all.push_back(candidate(value, folds));
  std::vector<float> kept;
  for (const Candidate& c : select_members(std::move(all), trees, folds, 0.0))
    kept.push_back(c.copies[0].trees[0].output[0]);
  return kept;
}

TEST(Forest, MembersWithMoreThanFourTimesTheLowestLossAreLeftOut) {
  // Squared errors 1, 2, 4.6 and 101.
  EXPECT_EQ(members({0.0F, 1.0F, -1.9F, 10.0F}, 4, 4), (std::vector<float>{0.0F, 1.0F}));
}

TEST(Forest, IsNotWorseThanItsBestMemberBeyondChance) {
  // All on one side of the best: their mean is worse than it by far more than chance explains.
  EXPECT_EQ(members({0.0F, 1.0F, 1.2F, 1.4F}, 4), (std::vector<float>{0.0F}));
  // On either side: the mean is as good as the best.
  EXPECT_EQ(members({0.0F, 1.0F, -1.0F}, 4), (std::vector<float>{0.0F, 1.0F, -1.0F}));
}

TEST(Forest, TheChosenTreeStaysAndNoMoreThanAskedForAreTaken) {
  EXPECT_EQ(members({0.1F, 0.0F, -0.1F, 0.05F}, 2).size(), 2U);
  EXPECT_EQ(members({0.1F, 0.0F, -0.1F}, 1), (std::vector<float>{0.1F}));
}

// The outputs of the members after a small model was offered, and whether it was taken in.
std::pair<bool, std::vector<float>> with_small(float small, std::vector<float> values, std::size_t trees,
                                               std::size_t sequences) {
  std::vector<Prepared> folds = one_fold(400);
  folds[0].training = folds[0].validation;
  Recipe recipe;
  recipe.forest_mixed_sequences = static_cast<int>(sequences);
  std::vector<Candidate> all;
  for (const float value : values) all.push_back(candidate(value, folds));
  const bool taken = take_in(candidate_of(always(small), folds[0].validation), all, trees, folds[0], 0.0, recipe);
  std::vector<float> kept;
  for (const Candidate& c : all) kept.push_back(c.copies[0].trees[0].output[0]);
  return {taken, kept};
}

TEST(Forest, ASmallModelThatIsClearlyBetterComesFirst) {
  EXPECT_EQ(with_small(0.0F, {1.0F, 1.2F}, 2, 1000), std::pair(true, std::vector<float>{0.0F}));
  EXPECT_EQ(with_small(1.0F, {0.0F, 0.1F}, 2, 1000), std::pair(false, std::vector<float>{0.0F, 0.1F}));
}

TEST(Forest, ASmallModelTakesTheLastPlaceWhereThatHelpsAndSequencesAreMany) {
  // Targets are 1 and -1: a mean nearer to 0 is better, but no difference is clear.
  EXPECT_EQ(with_small(-0.05F, {0.05F, 0.06F}, 2, 20), std::pair(true, std::vector<float>{0.05F, -0.05F}));
  EXPECT_EQ(with_small(-0.05F, {0.05F}, 2, 20), std::pair(true, std::vector<float>{0.05F, -0.05F}));
  EXPECT_EQ(with_small(-0.05F, {0.05F, 0.06F}, 2, 1000), std::pair(false, std::vector<float>{0.05F, 0.06F}));
  EXPECT_EQ(with_small(0.07F, {0.05F, 0.06F}, 2, 20), std::pair(false, std::vector<float>{0.05F, 0.06F}));
}

TEST(Forest, WithASmallModelOnlyFirstCopiesStay) {
  std::vector<Prepared> folds = one_fold(400);
  std::vector<Candidate> all = {candidate(1.0F, folds)};
  all[0].copies.push_back(always(0.9F));
  all[0].kept = 1;
  all[0].finalist = 3;
  ASSERT_TRUE(take_in(candidate_of(always(0.5F), folds[0].validation), all, 4, folds[0], 10.0));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].copies.size(), 1U);
  EXPECT_EQ(all[1].kept, 0U);
  EXPECT_EQ(all[1].finalist, 3U);
}

}  // namespace
}  // namespace remede

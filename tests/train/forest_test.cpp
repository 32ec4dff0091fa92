// Which candidates make a forest.
#include "remede/train/forest.h"

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

}  // namespace
}  // namespace remede

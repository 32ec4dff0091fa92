#include "remede/train/improve.h"

#include <limits>

#include <gtest/gtest.h>

#include "remede/base/random.h"
#include "remede/train/score.h"
#include "two_leaves.h"

namespace remede {
namespace {

// Missing values go right.
Model split_at(float threshold) {
  Model model = test::two_leaves(threshold);
  model.trees[0].missing_right = {1};
  return model;
}

// Class 1 above 1; every fourth value is missing and of class 0.
Sequences data(std::uint64_t seed) {
  Random random(seed);
  Sequences s;
  s.n_x = 1;
  s.n_y = 2;
  for (int i = 0; i < 200; ++i) {
    const bool missing = i % 4 == 0;
    const auto x = static_cast<float>(random.uniform(-3.0, 3.0));
    s.x.push_back(missing ? std::numeric_limits<float>::quiet_NaN() : x);
    s.label.push_back(!missing && x > 1.0F ? 1 : 0);
    s.weight.push_back(1.0F);
    if (i % 5 == 4) s.offset.push_back(static_cast<std::int64_t>(s.weight.size()));
  }
  return s;
}

TEST(Improve, MissingValuesAreSentToTheOtherSide) {
  Model model = split_at(1.0F);
  const Sequences training = data(1), validation = data(2);
  ASSERT_LT(score(model, training).accuracy, 0.8);
  improve(model, training, validation);
  EXPECT_EQ(model.trees[0].missing_right[0], 0);
  EXPECT_EQ(score(model, data(3)).accuracy, 1.0);
}

TEST(Improve, AThresholdMovesToWhereNothingIsWrong) {
  Model model = split_at(-2.0F);
  model.trees[0].missing_right[0] = 0;
  const Sequences training = data(1), validation = data(2);
  ASSERT_LT(score(model, training).accuracy, 0.8);
  improve(model, training, validation);
  EXPECT_NEAR(model.trees[0].threshold[0], 1.0F, 0.1F);
  EXPECT_GT(score(model, data(3)).accuracy, 0.97);
}

TEST(Improve, WhatIsNotBetterIsLeftAlone) {
  Model model = split_at(1.0F);
  model.trees[0].missing_right[0] = 0;
  ImproveOptions only;
  only.refit = only.centre = only.settle = false;
  improve(model, data(1), data(2), only);
  EXPECT_EQ(model.trees[0].threshold[0], 1.0F);
  EXPECT_EQ(model.trees[0].missing_right[0], 0);
}

}  // namespace
}  // namespace remede

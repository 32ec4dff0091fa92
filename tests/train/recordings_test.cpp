// How recordings of one class differ, and what models are judged by where few are held out.
#include "remede/train/frontier/recordings.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "remede/train/frontier/units.h"

namespace remede::frontier {
namespace {

// Sequences of two steps each; the first input of sequence s is means[s], give or take 1, the second is missing at
// first and then 5.
Sequences recordings(const std::vector<float>& means, const std::vector<std::int32_t>& classes) {
  Sequences data;
  data.n_x = 2;
  data.n_y = 2;
  for (std::size_t s = 0; s < means.size(); ++s) {
    data.x.insert(data.x.end(), {means[s] - 1.0F, std::numeric_limits<float>::quiet_NaN(), means[s] + 1.0F, 5.0F});
    data.label.insert(data.label.end(), {0, classes[s]});
    data.weight.insert(data.weight.end(), {0.0F, 1.0F});
    data.offset.push_back(data.offset.back() + 2);
  }
  return data;
}

TEST(Recordings, DifferWithinTheirClassOnly) {
  // Class 0: 1, 3 (squares around the mean: 2); class 1: 10, 10, 13 (6). Freedom: 1 + 2.
  const std::vector<double> spread = spread_of_recordings(recordings({1, 3, 10, 10, 13}, {0, 0, 1, 1, 1}));
  EXPECT_NEAR(spread[0], std::sqrt(8.0 / 3), 1e-9);
  EXPECT_EQ(spread[1], 0.0);
  EXPECT_EQ(spread_of_recordings(recordings({1, 10}, {0, 1}))[0], 0.0);  // one of each class says nothing
}

TEST(Recordings, FewHeldOutAreJudgedWithShiftedTrainingSequences) {
  const Sequences training = recordings({1, 3, 10, 12}, {0, 0, 1, 1}), held_out = recordings({2}, {0});
  Recipe recipe;
  EXPECT_EQ(judging_data(training, held_out, recipe).count(), 1U) << "four training sequences say nothing";
  recipe.offset_sequences_low = 4;
  recipe.offset_steps = 2;
  const Sequences judging = judging_data(training, held_out, recipe);
  recipe.judged_alone_sequences = 1;
  EXPECT_EQ(judging_data(training, held_out, recipe).count(), 5U) << "one of two classes";
  EXPECT_EQ(judging_data(training, recordings({2, 11}, {0, 1}), recipe).count(), 2U) << "as many as judge alone";
  ASSERT_EQ(judging.count(), 5U);
  EXPECT_EQ(judging.steps(), 10U);
  for (std::size_t at = 0; at < held_out.x.size(); ++at)
    EXPECT_TRUE(std::isnan(held_out.x[at]) || judging.x[at] == held_out.x[at]);
  for (std::size_t s = 1; s < 5; ++s) {
    const float first = judging.x[4 * s], then = judging.x[4 * s + 2], was = training.x[4 * (s - 1)];
    EXPECT_NE(first, was);
    EXPECT_NEAR(then - first, 2.0F, 1e-5);  // the whole sequence moves
    EXPECT_TRUE(std::isnan(judging.x[4 * s + 1]));
    EXPECT_EQ(judging.label[2 * s + 1], training.label[2 * (s - 1) + 1]);
  }
}

// One recording of so many steps; the last ones have a number as their target.
Sequences recording_of(std::size_t steps, std::size_t targets) {
  Sequences data;
  data.n_x = data.n_y = 1;
  for (std::size_t t = 0; t < steps; ++t) {
    data.x.push_back(1.0F);
    data.value.push_back(2.0F);
    data.weight.push_back(t + targets >= steps ? 1.0F : 0.0F);
  }
  data.offset.push_back(static_cast<std::int64_t>(steps));
  return data;
}

TEST(Recordings, AShortHeldOutPartOfOneDoesNotJudgeAlone) {
  const Recipe recipe;
  EXPECT_TRUE(too_short_to_judge(recording_of(700, 700), recording_of(300, 300), recipe));
  EXPECT_TRUE(too_short_to_judge(recording_of(4700, 4700), recording_of(5000, 300), recipe)) << "few steps are asked";
  EXPECT_FALSE(too_short_to_judge(recording_of(700, 700), recording_of(1000, 1000), recipe));
  EXPECT_FALSE(too_short_to_judge(recordings({1}, {0}), recordings({2}, {0}), recipe)) << "classes";
}

TEST(Recordings, TheLossOnLearnedDataIsCorrectedForTheNumbersOfTheModel) {
  const Units learned{{30.0, 30.0}, {30.0, 30.0}, {30.0, 30.0}};  // a loss of 1 at 60 targets
  Units units{{40.0}, {40.0}, {20.0}};                            // of 2 at 20
  Units small = units;
  add_learned_units(learned, 20, small);
  EXPECT_DOUBLE_EQ(small.mean_merit(), (40.0 + 60.0 * 80 / 40) / 80);
  add_learned_units(learned, 60, units);
  EXPECT_GT(units.mean_merit(), 1e6) << "as many numbers as targets: anything can be learned by heart";
}

}  // namespace
}  // namespace remede::frontier

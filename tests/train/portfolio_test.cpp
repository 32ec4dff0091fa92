#include <gtest/gtest.h>

#include "remede/train/search.h"

namespace remede {
namespace {

TrainingData recordings(std::size_t count, std::int64_t steps) {
  TrainingData data;
  Sequences& s = data.training;
  s.n_x = 1;
  s.n_y = 2;
  for (std::size_t r = 0; r < count; ++r) {
    for (std::int64_t t = 0; t < steps; ++t) {
      s.x.push_back(static_cast<float>(t));
      s.label.push_back(static_cast<std::int32_t>(t % 2));
      s.weight.push_back(1.0F);
    }
    s.offset.push_back(s.offset.back() + steps);
  }
  return data;
}

// Whether all starts of the signal's regime have it; none has it, or all have.
bool starts_carry(float StartPlan::*noise, const TrainingData& data) {
  Config config;
  config.form = FormChoice::kRich;
  const Portfolio signal = draw_portfolios(config, data).front();
  const bool first = signal.starts.front().*noise > 0.0F;
  for (const StartPlan& plan : signal.starts) EXPECT_EQ(plan.*noise > 0.0F, first);
  return first;
}

TEST(Portfolio, FewTargetsAreShownWithNoise) {
  TrainingData data = recordings(10, 501);
  EXPECT_FALSE(starts_carry(&StartPlan::noise, data));
  for (std::size_t t = 0; t < 20; ++t) data.training.weight[t] = 0.0F;
  EXPECT_TRUE(starts_carry(&StartPlan::noise, data)) << "steps without a target do not count";
}

TEST(Portfolio, SeveralSequencesButNotManyAreShiftedHoweverLongTheyAre) {
  EXPECT_FALSE(starts_carry(&StartPlan::offset, recordings(19, 10)));
  EXPECT_TRUE(starts_carry(&StartPlan::offset, recordings(20, 10)));
  EXPECT_TRUE(starts_carry(&StartPlan::offset, recordings(20, 1000)));
  EXPECT_TRUE(starts_carry(&StartPlan::offset, recordings(499, 10)));
  EXPECT_FALSE(starts_carry(&StartPlan::offset, recordings(500, 10)));
}

TEST(Portfolio, RowsOfATableAreNoRecordings) {
  EXPECT_FALSE(starts_carry(&StartPlan::offset, recordings(200, 1)));
  EXPECT_FALSE(starts_carry(&StartPlan::offset, recordings(200, 4)));
  EXPECT_TRUE(starts_carry(&StartPlan::offset, recordings(200, 5)));
}

TEST(Portfolio, WhereSequencesAreCutNoneIsShifted) {
  TrainingData data = recordings(30, 100);
  data.continues.assign(30, 0);
  data.continues[1] = 1;
  EXPECT_FALSE(starts_carry(&StartPlan::offset, data));
  EXPECT_TRUE(starts_carry(&StartPlan::noise, data));
}

}  // namespace
}  // namespace remede

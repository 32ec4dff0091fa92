#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "remede/train/polish.h"
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
  TrainingData data = recordings(20, 250);
  EXPECT_FALSE(starts_carry(&StartPlan::noise, data));
  for (std::size_t t = 0; t < 20; ++t) data.training.weight[t] = 0.0F;
  EXPECT_TRUE(starts_carry(&StartPlan::noise, data)) << "steps without a target do not count";
}

TEST(Portfolio, AFewRecordingsAreShownWithoutNoise) {
  EXPECT_TRUE(starts_carry(&StartPlan::noise, recordings(20, 30)));
  EXPECT_FALSE(starts_carry(&StartPlan::noise, recordings(19, 30)));
  EXPECT_FALSE(starts_carry(&StartPlan::noise, recordings(1, 900)));
  TrainingData windows = recordings(30, 100);  // of one recording
  windows.continues.assign(30, 1);
  windows.continues[0] = 0;
  EXPECT_FALSE(starts_carry(&StartPlan::noise, windows));
}

TEST(Portfolio, ForestsLearnLongerFromManySequences) {
  const auto rounds = [](int trees, int sequences) {
    Config config;
    config.trees = trees;
    const Portfolio signal = draw_portfolios(config, recordings(sequences, 20)).back();
    return rounds_of(signal.starts.size(), thinning_of(config), signal.starts.front().least_rounds);
  };
  EXPECT_EQ(rounds(4, 600), rounds(1, 600) + 2);
  EXPECT_EQ(rounds(4, 400), rounds(1, 400));
}

TEST(Portfolio, MemoryLearnsInSmallerStepsFromManySequencesAndForForestsFromAFewRecordings) {
  const auto rates = [](int sequences, double factor, std::optional<double> write = {}, int trees = 1,
                        Task task = Task::kRegression) {
    TrainingData data = recordings(sequences, 20);
    data.objective = default_objective(task);
    Config config;
    config.trees = trees;
    config.recipe.signal_small_memory_rates = factor;
    config.rate_write = write;
    std::vector<Rates> stages;
    for (const Portfolio& stage : draw_portfolios(config, data)) stages.push_back(stage.starts.front().rates);
    return stages;
  };
  const std::vector<Rates> whole = rates(600, 1), small = rates(600, 0.25);
  for (const Group group : {Group::kGate, Group::kWrite, Group::kBias, Group::kRate}) {
    const auto g = static_cast<std::size_t>(group);
    EXPECT_FLOAT_EQ(small.back()[g], 0.25F * whole.back()[g]) << name(group);
  }
  for (const Group group : {Group::kIndex, Group::kThreshold, Group::kOutput, Group::kLinear}) {
    const auto g = static_cast<std::size_t>(group);
    EXPECT_EQ(small.back()[g], whole.back()[g]) << name(group);
  }
  EXPECT_EQ(small.front(), whole.front()) << "the event stage";
  for (const int sequences : {2, 19, 20, 400}) {
    EXPECT_EQ(rates(sequences, 0.25), rates(sequences, 1)) << "one tree, " << sequences << " sequences";
    EXPECT_EQ(rates(sequences, 0.25, {}, 4) == rates(sequences, 1, {}, 4), sequences >= 20) << sequences;
    const Task labels = Task::kClassification;
    EXPECT_EQ(rates(sequences, 0.25, {}, 4, labels), rates(sequences, 1, {}, 4, labels)) << sequences;
  }
  const auto w = static_cast<std::size_t>(Group::kWrite);
  EXPECT_EQ(rates(600, 0.25, 0.1).back()[w], rates(600, 1, 0.1).back()[w]) << "the user's rate";
}

TEST(Portfolio, UpdatesLimitEveryStartToTheLastOne) {
  for (const FormChoice form : {FormChoice::kPaper, FormChoice::kRich})
    for (const int most : {1, 7, 500, 1000000}) {
      Config config;
      config.form = form;
      config.updates = most;
      for (const Portfolio& stage : draw_portfolios(config, recordings(50, 20))) {
        const StartPlan& plan = stage.starts.front();
        const std::uint64_t rounds = rounds_of(stage.starts.size(), thinning_of(config), plan.least_rounds);
        std::uint64_t sum = static_cast<std::uint64_t>(plan.budget_share * static_cast<double>(polish_updates(plan)));
        for (std::uint64_t r = 0; r < rounds; ++r) sum += updates_in_round(r, plan.first_round, plan.budget_share);
        EXPECT_LE(sum, static_cast<std::uint64_t>(most));
        if (most <= 500) {
          EXPECT_GE(sum + 2, static_cast<std::uint64_t>(most)) << "two roundings";
        }
        EXPECT_EQ(plan.budget_share == 1.0, most == 1000000);
      }
    }
}

TEST(Portfolio, WhereOnlySmallModelsWillDoTheSignalStageIsLeftOut) {
  const TrainingData data = recordings(20, 50);
  Config config;
  EXPECT_EQ(draw_portfolios(config, data).size(), 3U);
  config.numbers = 30;
  EXPECT_EQ(draw_portfolios(config, data).size(), 1U);
  config.memory = 2;  // there are no small models then
  EXPECT_EQ(draw_portfolios(config, data).size(), 3U);
  config.memory.reset();
  config.numbers = 200;
  EXPECT_EQ(draw_portfolios(config, data).size(), 3U);
  config.increasing = ColumnNames{{"x1"}};
  EXPECT_EQ(draw_portfolios(config, data).size(), 1U);
}

TEST(Portfolio, EffortScalesStartsAndUpdates) {
  const TrainingData data = recordings(600, 20);
  Config config;
  config.form = FormChoice::kPaper;
  const auto size = [&](Effort effort) {
    config.effort = effort;
    const Portfolio stage = draw_portfolios(config, data).front();
    return std::pair(stage.starts.size(), stage.starts.front().first_round);
  };
  EXPECT_EQ(size(Effort::kDefault), std::pair(std::size_t{64}, std::uint64_t{400}));
  EXPECT_EQ(size(Effort::kQuick), std::pair(std::size_t{16}, std::uint64_t{200}));
  EXPECT_EQ(size(Effort::kThorough), std::pair(std::size_t{128}, std::uint64_t{800}));
}

TEST(Portfolio, EventStagesAreShortWhereASimplerModelPredictsWell) {
  TrainingData data = recordings(40, 300);
  data.validation = data.training;
  const Config config;
  const double constant = constant_loss(data.objective, data.validation);
  const auto trial = [&](const TrainingData& of, double loss) {
    return draw_portfolios(config, of, 1, loss).front().trial;
  };
  EXPECT_GT(trial(data, 0.5 * constant), 0U);
  EXPECT_LT(trial(data, 0.5 * constant), draw_portfolios(config, data).front().starts.front().first_round);
  EXPECT_EQ(trial(data, 0.9 * constant), 0U);
  EXPECT_EQ(draw_portfolios(config, data).front().trial, 0U);
  EXPECT_EQ(draw_portfolios(config, data, 1, 0.5 * constant).back().trial, 0U) << "the signal stage is not in doubt";
  TrainingData brief = recordings(600, 20);
  brief.validation = brief.training;
  EXPECT_EQ(trial(brief, 0.5 * constant), 0U) << "few steps are cheap";
}

TEST(Portfolio, EventStagesOfLongSequencesAreShortUntilAStartLearns) {
  TrainingData data = recordings(40, 1000);
  data.validation = data.training;
  Config config;
  const Portfolio stage = draw_portfolios(config, data).front();
  const double constant = constant_loss(data.objective, data.validation);
  EXPECT_GT(stage.trial, 0U);
  EXPECT_LT(stage.trial, stage.starts.front().first_round);
  EXPECT_NEAR(stage.lifted, config.recipe.event_doubted_share * constant, 1e-9);
  EXPECT_LT(draw_portfolios(config, data, 1, 0.5 * constant).front().lifted, stage.lifted);
  config.form = FormChoice::kPaper;
  EXPECT_EQ(draw_portfolios(config, data).front().trial, 0U) << "no other stage follows";
  config.form = FormChoice::kAuto;
  config.recipe.event_doubted_steps = 1e12;
  EXPECT_EQ(draw_portfolios(config, data).front().trial, 0U);
}

// Steps one after the other in the first rounds of all stages, which is what time is made of: sixteen sequences go side
// by side.
double cost(std::size_t sequences, std::size_t length, std::size_t folds) {
  Config config;
  config.starts = 2;
  const TrainingData data = recordings(sequences, length);
  double sum = 0;
  for (const Portfolio& stage : draw_portfolios(config, data, folds)) {
    if (stage.entry < 1) continue;  // another draw is for few data sets
    const StartPlan& plan = stage.starts.front();
    const double lanes = std::ceil(std::min(static_cast<double>(plan.batch), static_cast<double>(sequences)) / 16);
    sum += static_cast<double>(stage.starts.size() * folds * plan.first_round * length) * lanes;
  }
  return sum;
}

TEST(Portfolio, CostGrowsWithTheData) {
  const double windows = cost(31, 248, 1);  // one recording of 7,700 steps
  EXPECT_LT(cost(1, 1500, 1), 4 * windows);
  EXPECT_LT(cost(5, 300, 1), 4 * windows);
  EXPECT_LT(cost(40, 37, 5), 4 * cost(205, 30, 1)) << "folds";
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
  EXPECT_TRUE(starts_carry(&StartPlan::noise, data)) << "29 sequences, one of them cut";
}

}  // namespace
}  // namespace remede

#include "remede/executor/executor.h"

#include <gtest/gtest.h>

#include "remede/executor/engine.h"
#include "train/small_data.h"

namespace remede {
namespace {

TrainingData executor_data(int sequences, std::uint64_t seed) {
  TrainingData data;
  data.training = testing::fixed_delay(sequences, static_cast<int>(seed), 1).sequences;
  data.validation = testing::fixed_delay(60, 9, 1).sequences;
  data.fill = {0.0F};
  data.quantiles = input_quantiles(data.training);
  return data;
}

StartPlan executor_plan(std::uint64_t stream) {
  StartPlan plan;
  plan.shape = {3, 1, 2, 3, {}};
  plan.shape.form.write_bias = true;
  plan.gradient = {SplitGradient::kSoftsign, 4.0F, IndexGradient::kSoftmax, Mix::kParameters};
  plan.validations = 3;
  plan.stream = stream;
  return plan;
}

struct Set {
  std::vector<std::unique_ptr<Trainer>> starts;
  std::vector<Trainer*> all;
  Set(Executor& executor, int count) {
    for (int i = 0; i < count; ++i) {
      starts.push_back(
          executor.start(executor_plan(static_cast<std::uint64_t>(i / 2)), static_cast<std::size_t>(i % 2)));
      all.push_back(starts.back().get());
    }
  }
};

TEST(Executor, ARoundIsAdvancingAndValidatingInTurnForAnyNumberOfThreads) {
  const TrainingData one = executor_data(120, 1), other = executor_data(80, 2);
  const auto alone = make_executor(Device::kCpu, {&one, &other}, 1),
             many = make_executor(Device::kCpu, {&one, &other}, 3);
  Set a(*alone, 6), b(*many, 6);
  many->round(b.all, {31, 0, {}, {}});
  std::uint64_t done = 0;
  for (std::uint64_t k = 1; k <= 3; ++k) {
    alone->advance(a.all, 31 * k / 3 - done);
    done = 31 * k / 3;
    alone->validate(a.all);
  }
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(a.all[i]->parameters().values, b.all[i]->parameters().values) << i;
    EXPECT_EQ(a.all[i]->best().values, b.all[i]->best().values) << i;
    EXPECT_EQ(a.all[i]->updates(), 31U);
    EXPECT_EQ(a.all[i]->validation_curve().size(), 3U);
  }
  EXPECT_NE(a.all[0]->parameters().values, a.all[1]->parameters().values) << "their data differ";
}

TEST(Executor, ItIsWhatATrainerDoesWithAnEngine) {
  const TrainingData data = executor_data(120, 1);
  const auto executor = make_executor(Device::kCpu, {&data}, 2);
  const std::unique_ptr<Trainer> start = executor->start(executor_plan(0), 0);
  Trainer* const only[] = {start.get()};
  executor->advance(only, 25);
  Trainer by_hand(executor_plan(0), data);
  const auto engine = make_engine(1);
  by_hand.advance_to(25, *engine);
  EXPECT_EQ(start->parameters().values, by_hand.parameters().values);
}

TEST(Executor, APauseEndsACallAndTheNextGoesOn) {
  const TrainingData data = executor_data(120, 1);
  const auto executor = make_executor(Device::kCpu, {&data}, 1);
  Set paused(*executor, 1), whole(*executor, 1);
  int asked = 0;
  executor->advance(paused.all, 20, [&] { return ++asked == 7; });
  EXPECT_EQ(paused.all[0]->updates(), 7U);
  executor->advance(paused.all, 13);
  executor->advance(whole.all, 20);
  EXPECT_EQ(paused.all[0]->parameters().values, whole.all[0]->parameters().values);
}

TEST(Executor, ThePlainOneInDoubleGoesTheSameWay) {
  const TrainingData data = executor_data(120, 1);
  const auto plain = make_executor(Device::kPlain, {&data}, 2), fast = make_executor(Device::kCpu, {&data}, 2);
  Set a(*plain, 1), b(*fast, 1);
  plain->advance(a.all, 10);
  fast->advance(b.all, 10);
  for (std::size_t i = 0; i < a.all[0]->parameters().values.size(); ++i)
    EXPECT_NEAR(a.all[0]->parameters().values[i], b.all[0]->parameters().values[i], 2e-2) << i;
  plain->validate(a.all);
  fast->validate(b.all);
  EXPECT_NEAR(a.all[0]->best_loss(), b.all[0]->best_loss(), 1e-2);
}

}  // namespace
}  // namespace remede

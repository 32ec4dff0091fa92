#include "remede/executor/trainer.h"

#include <cmath>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "remede/base/error.h"
#include "train/small_data.h"

namespace remede {
namespace {

TrainingData small_material() {
  TrainingData data;
  data.training = testing::fixed_delay(150, 1).sequences;
  data.validation = testing::fixed_delay(50, 2).sequences;
  data.fill = {0.0F};
  data.quantiles = input_quantiles(data.training);
  return data;
}

StartPlan small_plan() {
  StartPlan plan;
  plan.shape = {3, 1, 2, 3, {WriteRule::kAdd, WriteReads::kInputs, true, LeafOutput::kConstant, OutputOrder::kZero}};
  plan.gradient = {SplitGradient::kSoftsign, 4.0F, IndexGradient::kSoftmax, Mix::kParameters};
  return plan;
}

// Notes the batches it is shown; its gradient pulls every parameter to 1.
class Recorder final : public Engine {
 public:
  std::vector<std::vector<std::uint32_t>> batches;
  double loss_to_give = 1;
  std::size_t bad_update = std::numeric_limits<std::size_t>::max();

  std::vector<std::vector<float>> inputs;

  // Those of the trainer's first update.
  static std::vector<std::vector<std::uint32_t>> batches_of(Trainer trainer) {
    Recorder other;
    trainer.advance_to(1, other);
    return other.batches;
  }

  BatchLoss gradient(const Parameters<float>& parameters, const GradientForm&, const Objective&, const Sequences& data,
                     std::span<const float>, std::span<const std::uint32_t> batch, Parameters<float>& gradient,
                     const Carry*) override {
    batches.emplace_back(batch.begin(), batch.end());
    inputs.emplace_back(data.x.begin(), data.x.end());
    for (std::size_t i = 0; i < gradient.values.size(); ++i) gradient.values[i] = parameters.values[i] - 1.0F;
    if (batches.size() == bad_update) gradient.values.back() = std::numeric_limits<float>::quiet_NaN();
    return {1.0, 1.0, 0.0};
  }
  BatchLoss loss(const Parameters<float>&, const Objective&, const Sequences&, std::span<const float>,
                 std::span<const std::uint32_t> batch) override {
    return {loss_to_give * static_cast<double>(batch.size()), static_cast<double>(batch.size()), 0.0};
  }
};

TEST(Trainer, AnEpochShowsEverySequenceAtMostOnceInANewOrder) {
  const TrainingData data = small_material();
  Recorder engine;
  StartPlan plan = small_plan();
  Trainer trainer(plan, data);
  ASSERT_EQ(updates_per_epoch(150, 32), 5U);  // 4 of 32 and one of 22
  trainer.advance_to(10, engine);
  std::set<std::uint32_t> seen;
  for (std::size_t b = 0; b < 5; ++b) seen.insert(engine.batches[b].begin(), engine.batches[b].end());
  EXPECT_EQ(seen.size(), 150U);
  EXPECT_EQ(engine.batches[4].size(), 22U);
  EXPECT_NE(engine.batches[0], engine.batches[5]);
  EXPECT_EQ(updates_per_epoch(3, 32), 1U);
}

TEST(Trainer, ShowsItsBatchesWithNoiseAndCarriesMemoryAsWithoutIt) {
  TrainingData data = small_material();
  data.continues.assign(150, 1);
  data.continues[0] = 0;
  StartPlan noisy = small_plan();
  noisy.noise = 0.2F;
  Recorder engine;
  Trainer(noisy, data).advance_to(1, engine);
  const Sequences plain = select(data.training, Recorder::batches_of(Trainer(small_plan(), data)).front());
  ASSERT_EQ(engine.inputs[0].size(), plain.x.size());
  EXPECT_NE(engine.inputs[0], plain.x);

  noisy.noise = 1e-30F;  // noise that changes no value
  const auto real = make_plain_engine();
  Trainer with(noisy, data), without(small_plan(), data);
  with.advance_to(12, *real);
  without.advance_to(12, *real);
  EXPECT_EQ(with.parameters().values, without.parameters().values);
}

TEST(Trainer, ASmallRestWaitsForTheNextEpochAndASmallSetIsOneBatch) {
  const TrainingData data = small_material();
  StartPlan plan = small_plan();
  plan.batch = 70;  // 2 of 70, a rest of 10
  Recorder engine;
  Trainer(plan, data).advance_to(4, engine);
  for (const auto& batch : engine.batches) EXPECT_EQ(batch.size(), 70U);
  plan.batch = 1000;
  Recorder large;
  Trainer(plan, data).advance_to(3, large);
  for (const auto& batch : large.batches) EXPECT_EQ(batch.size(), 150U);
}

TEST(Trainer, HowUpdatesAreCutIntoCallsChangesNothing) {
  const TrainingData data = small_material();
  const auto engine = make_plain_engine();
  Trainer whole(small_plan(), data), cut(small_plan(), data);
  whole.advance_to(40, *engine);
  int asked = 0;
  cut.advance_to(40, *engine, [&] { return ++asked == 13; });
  EXPECT_EQ(cut.updates(), 13U);
  cut.advance_to(40, *engine, [&] { return ++asked % 5 == 0; });
  while (cut.updates() < 40) cut.advance_to(cut.updates() + 7 < 40 ? cut.updates() + 7 : 40, *engine);
  EXPECT_EQ(whole.parameters().values, cut.parameters().values);
}

TEST(Trainer, KeepsTheBestItHasBeen) {
  const TrainingData data = small_material();
  Recorder engine;
  Trainer trainer(small_plan(), data);
  EXPECT_FALSE(trainer.has_best());
  engine.loss_to_give = 0.5;
  trainer.advance_to(3, engine);
  trainer.validate(engine);
  const std::vector<float> best = trainer.parameters().values;
  engine.loss_to_give = 0.7;
  trainer.advance_to(6, engine);
  trainer.validate(engine);
  EXPECT_EQ(trainer.best().values, best);
  EXPECT_NE(trainer.parameters().values, best);
  EXPECT_EQ(trainer.best_loss(), 0.5);
  EXPECT_EQ(trainer.best_updates(), 3U);
  EXPECT_EQ(trainer.validated_at(), 6U);
  ASSERT_EQ(trainer.validation_curve().size(), 2U);
  EXPECT_EQ(trainer.validation_curve()[1], 0.7);
  EXPECT_EQ(trainer.training_curve()[1], 1.0);
  trainer.return_to_best();
  EXPECT_EQ(trainer.parameters().values, best);
}

TEST(Trainer, IsLostWhenTheGradientIsNotFiniteAndKeepsItsParameters) {
  const TrainingData data = small_material();
  Recorder engine;
  engine.bad_update = 3;
  Trainer trainer(small_plan(), data);
  trainer.advance_to(10, engine);
  EXPECT_TRUE(trainer.lost());
  EXPECT_EQ(trainer.updates(), 2U);
  for (const float v : trainer.parameters().values) EXPECT_TRUE(std::isfinite(v));
  engine.loss_to_give = std::numeric_limits<double>::infinity();
  Trainer other(small_plan(), data);
  other.validate(engine);
  EXPECT_TRUE(other.lost());
  EXPECT_FALSE(other.has_best());
}

TEST(Trainer, ADecayEndsInAStandstill) {
  const TrainingData data = small_material();
  Recorder engine;
  Trainer trainer(small_plan(), data);
  trainer.advance_to(5, engine);
  trainer.begin_decay(10);
  trainer.advance_to(15, engine);
  const std::vector<float> end = trainer.parameters().values;
  trainer.advance_to(20, engine);
  EXPECT_EQ(trainer.parameters().values, end);
}

TEST(Trainer, ContinuesFromItsSavedStateToTheSameBits) {
  TrainingData data = small_material();
  data.continues.assign(150, 0);
  for (std::size_t s = 0; s < 150; ++s) data.continues[s] = s % 3 != 0;
  const auto engine = make_plain_engine();
  StartPlan noisy = small_plan();
  noisy.noise = noisy.offset = 0.2F;
  const StartPlan plans[] = {small_plan(), noisy};
  for (const std::uint64_t cut : {0U, 1U, 4U, 5U, 12U, 13U}) {
    const StartPlan& plan = plans[cut % 2];
    Trainer trainer(plan, data);
    trainer.advance_to(cut, *engine);
    if (cut > 4) trainer.validate(*engine);
    if (cut > 5) trainer.begin_decay(20);
    ByteWriter saved;
    trainer.save(saved);
    Trainer other(plan, data);
    ByteReader reader(saved.bytes(), "test");
    other.load(reader);
    reader.expect_end();
    for (Trainer* t : {&trainer, &other}) {
      t->advance_to(25, *engine);
      t->validate(*engine);
    }
    ByteWriter a, b;
    trainer.save(a);
    other.save(b);
    EXPECT_EQ(a.bytes(), b.bytes()) << "cut at " << cut;
  }
}

TEST(Trainer, RefusesTheStateOfAnotherStart) {
  const TrainingData data = small_material();
  ByteWriter saved;
  Trainer(small_plan(), data).save(saved);
  StartPlan deeper = small_plan();
  deeper.shape.depth = 4;
  Trainer other(deeper, data);
  ByteReader reader(saved.bytes(), "test");
  EXPECT_THROW(other.load(reader), Error);
  const std::string half = saved.bytes().substr(0, saved.bytes().size() / 2);
  Trainer same(small_plan(), data);
  ByteReader short_reader(half, "test");
  EXPECT_THROW(same.load(short_reader), Error);
}

}  // namespace
}  // namespace remede

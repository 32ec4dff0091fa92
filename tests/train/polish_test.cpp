#include "remede/train/polish.h"

#include <gtest/gtest.h>

#include "remede/base/random.h"

namespace remede {
namespace {

// y is a moving average of x: what a linear leaf over a blended cell can learn.
TrainingData averages(std::size_t count) {
  Random random(3);
  TrainingData data;
  data.objective = default_objective(Task::kRegression);
  Sequences& s = data.training;
  s.n_x = s.n_y = 1;
  for (std::size_t i = 0; i < count; ++i) {
    float mean = 0;
    for (int t = 0; t < 20; ++t) {
      s.x.push_back(static_cast<float>(random.normal()));
      s.value.push_back(mean);
      s.weight.push_back(1);
      mean += 0.3F * (s.x.back() - mean);
    }
    s.offset.push_back(s.offset.back() + 20);
  }
  data.validation = s;
  data.fill = {0.0F};
  data.quantiles = input_quantiles(s);
  return data;
}

Finalist start(LeafOutput output, const TrainingData& data) {
  Finalist finalist;
  finalist.plan.shape = {1, 1, 4, 1, {}};
  finalist.plan.shape.form.leaf_output = output;
  finalist.plan.shape.form.write_rule = WriteRule::kBlend;
  finalist.plan.first_round = 300;
  Random random(1, 2);
  finalist.parameters = initial_parameters(finalist.plan, data.quantiles, random);
  return finalist;
}

double loss(const Finalist& finalist, const TrainingData& data) {
  std::vector<std::uint32_t> all(data.training.count());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  return make_engine(1)->loss(finalist.parameters, data.objective, data.training, data.fill, all).mean();
}

TEST(Polish, LearnsOnFromWhereItIs) {
  const TrainingData data = averages(64);
  const Finalist before = start(LeafOutput::kLinear, data), after = polish(before, data);
  EXPECT_LT(loss(after, data), 0.8 * loss(before, data));
  EXPECT_EQ(polish(before, data).parameters.values, after.parameters.values) << "the same every time";
}

TEST(Polish, GoesOnForAsLongAsThePlanSays) {
  const TrainingData data = averages(64);
  Finalist before = start(LeafOutput::kLinear, data);
  before.plan.noise = 0.1F;
  before.plan.polish_rounds = 3;
  Trainer trainer(before.plan, data);
  trainer.begin_at(before.parameters);
  trainer.begin_decay(900);  // three first rounds
  const auto engine = make_engine(1);
  trainer.advance_to(900, *engine);
  EXPECT_EQ(polish(before, data).parameters.values, trainer.averaged().values);
}

TEST(Polish, LeavesConstantLeavesAlone) {
  const TrainingData data = averages(8);
  const Finalist before = start(LeafOutput::kConstant, data);
  EXPECT_EQ(polish(before, data).parameters.values, before.parameters.values);
}

}  // namespace
}  // namespace remede

#include "remede/train/adapt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "remede/base/random.h"
#include "remede/model/file.h"
#include "remede/model/predict.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/snow.h"

namespace remede {
namespace {

using ::testing::HasSubstr;

// Data whose targets are what the teacher says.
Dataset lessons(const Model& teacher, std::uint64_t seed, int sequences = 30, float spread = 1) {
  Random random(seed);
  Dataset data;
  data.schema = teacher.schema;
  Sequences& s = data.sequences;
  s = test::random_sequences(random, teacher.n_x(), sequences, 20);
  for (float& x : s.x) x *= spread;
  s.n_y = teacher.schema.n_y();
  s.weight.assign(s.steps(), 1.0F);
  const Predictions said = predict(teacher, s);
  const auto n_y = static_cast<std::size_t>(teacher.n_y());
  for (std::size_t t = 0; t < s.steps(); ++t) {
    const std::span<const float> y(said.output.data() + t * n_y, n_y);
    if (teacher.classifies())
      s.label.push_back(arg_max(y));
    else
      for (int k = 0; k < s.n_y; ++k)
        s.value.push_back(y[static_cast<std::size_t>(point_output(teacher.objective(), k))]);
  }
  return data;
}

// Every number moved a little.
Model disturbed(Model model, std::uint64_t seed) {
  Random random(seed);
  const auto move = [&random](std::vector<float>& numbers) {
    for (float& v : numbers) v *= static_cast<float>(random.uniform(0.7, 1.3));
  };
  for (Tree& tree : model.trees)
    for (std::vector<float>* some : {&tree.threshold, &tree.output, &tree.linear, &tree.write, &tree.bias,
                                     &tree.cells.bias, &tree.cells.input, &tree.cells.tap, &tree.cells.linear})
      move(*some);
  return model;
}

TEST(Adapt, NoFormGetsWorse) {
  int better = 0, all = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    test::RandomModelOptions options;
    options.most_inner = 4;
    options.most_trees = 2;
    const Model teacher = test::random_model(random, options);
    const Dataset training = lessons(teacher, seed + 100), validation = lessons(teacher, seed + 200);
    const Model start = disturbed(teacher, seed);
    Config config;
    config.effort = Effort::kQuick;
    const Fit found = adapt(start, training, &validation, config);
    const double before = score(start, validation.sequences).loss,
                 after = score(found.model, validation.sequences).loss;
    EXPECT_LE(after, before) << seed;
    EXPECT_EQ(found.model.node_count(), start.node_count());
    EXPECT_EQ(model_from_json(to_json(found.model), "saved").trees.size(), start.trees.size());
    better += after < 0.7 * before ? 1 : 0;
    ++all;
  }
  EXPECT_GT(better, all * 2 / 3);
}

TEST(Adapt, FindsTheWayBack) {
  const Model teacher = test::model_of_snow();
  const Dataset training = lessons(teacher, 1, 100, 10), other = lessons(teacher, 2, 100, 10);
  const Model start = disturbed(teacher, 3);
  const Fit found = adapt(start, training, nullptr, {});
  EXPECT_LT(score(found.model, other.sequences).rmse, 0.1 * score(start, other.sequences).rmse);
  EXPECT_TRUE(found.held_out);
  EXPECT_THAT(found.model.training.notes.at(0), HasSubstr("started from a model"));
  EXPECT_EQ(found.model.training.validation_loss.size(), found.model.training.training_loss.size());
}

TEST(Adapt, TheSameForAnyNumberOfThreads) {
  const Model teacher = test::model_of_snow();
  const Dataset training = lessons(teacher, 1);
  Config one, four;
  one.threads = 1;
  four.threads = 4;
  EXPECT_EQ(to_json(adapt(disturbed(teacher, 3), training, nullptr, one).model),
            to_json(adapt(disturbed(teacher, 3), training, nullptr, four).model));
}

TEST(Adapt, StaysWhereNothingIsBetter) {
  const Model teacher = test::model_of_snow();
  const Dataset training = lessons(teacher, 1);
  const Fit found = adapt(teacher, training, nullptr, {});
  EXPECT_EQ(found.model.trees[0].output, teacher.trees[0].output);
  EXPECT_EQ(found.model.trees[0].cells.input, teacher.trees[0].cells.input);
}

TEST(Adapt, StopsWhenAsked) {
  const Model teacher = test::model_of_snow();
  Callbacks callbacks;
  int rounds = 0;
  callbacks.progress = [&](const Progress&) { ++rounds; };
  callbacks.stop = [&] { return rounds >= 3; };
  const Fit found = adapt(disturbed(teacher, 3), lessons(teacher, 1), nullptr, {}, callbacks);
  EXPECT_TRUE(found.stopped);
  EXPECT_LT(rounds, 8);
}

TEST(Adapt, RefusesWhatDoesNotFit) {
  const Model teacher = test::model_of_snow();
  Dataset training = lessons(teacher, 1);
  Config deep;
  deep.depth = 3;
  EXPECT_THAT(testing::error_of([&] { adapt(teacher, training, nullptr, deep); }),
              HasSubstr("--depth: has no effect here"));
  training.schema.inputs = {"a", "b"};
  EXPECT_THAT(testing::error_of([&] { adapt(teacher, training, nullptr, {}); }),
              HasSubstr("inputs and targets of the model"));
  training.schema.inputs = teacher.schema.inputs;
  training.unknown.count = 2;
  EXPECT_THAT(testing::error_of([&] { adapt(teacher, training, nullptr, {}); }), HasSubstr("2 targets"));
}

}  // namespace
}  // namespace remede

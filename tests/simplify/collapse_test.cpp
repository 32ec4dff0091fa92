#include "remede/simplify/collapse.h"

#include <numeric>

#include <gtest/gtest.h>

#include "grow.h"
#include "hostile.h"
#include "remede/base/error.h"
#include "remede/data/tasks.h"
#include "remede/simplify/simplify.h"

namespace remede {
namespace {

using test::Branch;
using test::leaf;
using test::split;

Sequences part(const Sequences& all, std::uint32_t begin, std::uint32_t end) {
  std::vector<std::uint32_t> numbers(end - begin);
  std::iota(numbers.begin(), numbers.end(), begin);
  return select(all, numbers);
}

double accuracy(const Model& model, const Sequences& data) {
  const Predictions predictions = predict(model, data);
  const auto n_y = static_cast<std::size_t>(model.n_y());
  std::size_t correct = 0;
  for (std::size_t i = 0; i < data.steps(); ++i)
    correct += arg_max(std::span(predictions.output).subspan(i * n_y, n_y)) == data.label[i] ? 1 : 0;
  return static_cast<double>(correct) / static_cast<double>(data.steps());
}

double squared_error(const Model& model, const Sequences& data) {
  const Predictions predictions = predict(model, data);
  double sum = 0;
  for (std::size_t i = 0; i < data.steps(); ++i) sum += std::pow(predictions.output[i] - data.value[i], 2);
  return sum / static_cast<double>(data.steps());
}

// A solution of the paper's first task in a complete tree of depth 6: the rest of the tree is random tests and leaves
// that copy the leaf they stand for, so that only data can tell that the tests do not matter.
//   x >= 0.75: answer the sign of m1;  0.05 <= x or x < -0.05: store;  else: say 0
Model solution_in_a_large_tree(const Dataset& data, Random& random, int depth = 6) {
  constexpr float kStrong = 30.0F;
  LeafForm form;
  form.write_bias = true;
  const auto grow = [&](const auto& self, float low, float high, int memory, int levels) -> Branch {
    if (levels == 0) {
      const float x = (low + high) / 2;
      // What a leaf that few sequences reach answers is as good as any.
      std::vector<float> output = {0, 5, 0};
      std::vector<test::Written> writes;
      if (x >= 0.75F)
        output = memory > 0 ? std::vector<float>{0, 0, 5} : std::vector<float>{5, 0, 0};
      else
        writes = {{0, {kStrong}, 0.0F}};
      writes.push_back({1, {static_cast<float>(random.normal())}, static_cast<float>(random.normal())});
      return leaf(output, writes);
    }
    if (levels == depth)
      return split(0, 0.75F, self(self, low, 0.75F, memory, levels - 1), self(self, 0.75F, high, memory, levels - 1));
    if (levels == depth - 1)
      return split(1, 0.0F, self(self, low, high, -1, levels - 1), self(self, low, high, 1, levels - 1));
    const int feature = static_cast<int>(random.below(3));
    const auto threshold = static_cast<float>(random.normal());
    return split(feature, threshold, self(self, low, high, memory, levels - 1),
                 self(self, low, high, memory, levels - 1));
  };
  Model model;
  model.schema = data.schema;
  model.fill = {0.0F};
  model.trees = {test::Grower(1, 2, 3, form).grow(grow(grow, -1.0F, 2.0F, 0, depth))};
  check(model, "solution");
  return model;
}

TEST(Collapse, FindsTheSolutionInALargeTree) {
  TaskOptions task;
  task.sequences = 3000;
  const Dataset data = generate("fixed-delay", task);
  const Sequences training = part(data.sequences, 0, 2000);
  const Sequences validation = part(data.sequences, 2000, 2500);
  const Sequences test_data = part(data.sequences, 2500, 3000);
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Random random(seed);
    const Model model = solution_in_a_large_tree(data, random);
    ASSERT_EQ(model.node_count(), 127);
    const Simplified small = simplify(model, {}, &training, &validation);
    check(small.model, "collapsed");
    EXPECT_LE(small.nodes_after, 7) << summary(small);
    EXPECT_EQ(small.model.trees[0].n_m, 1) << summary(small);
    for (const Sequences* set : {&training, &validation}) EXPECT_GE(accuracy(small.model, *set), accuracy(model, *set));
    EXPECT_GE(accuracy(small.model, test_data), accuracy(model, test_data) - 0.001);
    // --exact leaves the data out of it.
    SimplifyOptions exact;
    exact.collapse = false;
    const Simplified same = simplify(model, exact, &training, &validation);
    EXPECT_GT(same.nodes_after, small.nodes_after);
    EXPECT_EQ(test::count_differences(predict(model, test_data).output, predict(same.model, test_data).output), 0U);
  }
}

TEST(Collapse, SameResultEveryTime) {
  TaskOptions task;
  task.sequences = 500;
  const Dataset data = generate("fixed-delay", task);
  Random random(7);
  const Model model = solution_in_a_large_tree(data, random);
  const Simplified a = simplify(model, {}, &data.sequences, nullptr);
  const Simplified b = simplify(model, {}, &data.sequences, nullptr);
  EXPECT_EQ(summary(a), summary(b));
  EXPECT_EQ(a.model.trees[0].threshold, b.model.trees[0].threshold);
  EXPECT_EQ(a.model.trees[0].write, b.model.trees[0].write);
}

// y = x2 + (x1 >= 0 ? 1 : -1): the split on x1 carries all, that on x2 next to nothing.
Sequences step_data(Random& random, std::size_t steps) {
  Sequences data;
  data.n_x = 2;
  data.n_y = 1;
  for (std::size_t i = 0; i < steps; ++i) {
    const auto x1 = static_cast<float>(random.normal());
    const auto x2 = static_cast<float>(random.normal());
    data.x.insert(data.x.end(), {x1, x2});
    data.value.push_back(static_cast<float>(0.05 * random.normal()) + (x1 >= 0 ? 1.0F : -1.0F));
    data.weight.push_back(1);
    if (i % 10 == 9 || i + 1 == steps) data.offset.push_back(static_cast<std::int64_t>(i) + 1);
  }
  return data;
}

TEST(Collapse, RegressionWithinItsTolerance) {
  Random random(5);
  const Sequences training = step_data(random, 4000);
  const Sequences validation = step_data(random, 1000);
  const auto side = [](float y) { return split(1, 0.3F, leaf({y}), leaf({y + 0.001F})); };
  const Model model = test::grown_model(2, 0, LeafForm(), split(0, 0.0F, side(-1), side(1)));
  const Simplified small = simplify(model, {}, &training, &validation);
  EXPECT_EQ(small.nodes_after, 3);
  EXPECT_EQ(small.model.schema.inputs, std::vector<std::string>{"x1"});
  const double before = squared_error(model, training);
  EXPECT_LE(squared_error(small.model, select_inputs(training, small.inputs)), before * 1.01 + 1e-9);
  SimplifyOptions strict;
  strict.tolerance.loss_share = 0;
  const Simplified kept = simplify(model, strict, &training, &validation);
  EXPECT_LE(squared_error(kept.model, select_inputs(training, kept.inputs)), before + 1e-9);
}

TEST(Collapse, BranchesThatNoSequenceVisitsGoWithoutTargetsToo) {
  Random random(5);
  Sequences data = step_data(random, 100);
  data.value.clear();
  data.weight.clear();
  const Model model =
      test::grown_model(2, 0, LeafForm(), split(0, 50.0F, leaf({1}), split(1, 0.0F, leaf({2}), leaf({3}))));
  const Simplified small = simplify(model, {}, &data, nullptr);
  EXPECT_EQ(small.nodes_after, 1);
  EXPECT_EQ(small.removed[0].cause, Cause::kUnvisited);
  EXPECT_EQ(small.removed[0].nodes, 4);
}

// What only validation visits is judged, not removed unseen.
TEST(Collapse, BranchesThatOnlyValidationVisitsAreJudged) {
  Random random(6);
  const Sequences all = step_data(random, 2000);
  Sequences training = all;
  Sequences validation = all;
  for (std::size_t i = 0; i < all.steps(); ++i) {
    if (all.x[2 * i] >= 0) training.x[2 * i] *= -1, training.value[i] *= -1;
  }
  const Model model = test::grown_model(2, 0, LeafForm(), split(0, 0.0F, leaf({-1}), leaf({1})));
  EXPECT_EQ(simplify(model, {}, &training, &validation).nodes_after, 3);
  EXPECT_EQ(simplify(model, {}, &training, nullptr).nodes_after, 1);
}

// In a forest the answer of all trees counts: a tree that adds nothing shrinks to a leaf.
TEST(Collapse, ForestsAreJudgedTogether) {
  Random random(8);
  const Sequences training = step_data(random, 3000);
  Model model = test::grown_model(2, 0, LeafForm(), split(0, 0.0F, leaf({-2}), leaf({2})));
  model.trees.push_back(test::Grower(2, 0, 1, LeafForm()).grow(split(1, 0.0F, leaf({0.0001F}), leaf({-0.0001F}))));
  const Simplified small = simplify(model, {}, &training, nullptr);
  EXPECT_EQ(small.model.trees[0].node_count(), 3);
  EXPECT_EQ(small.model.trees[1].node_count(), 1);
  EXPECT_NE(small.removed[0].what.find("tree 2: "), std::string::npos);
}

TEST(Collapse, DataMustFitTheModel) {
  Random random(9);
  const Sequences data = step_data(random, 10);
  const Model narrow = test::grown_model(1, 0, LeafForm(), leaf({0}));
  EXPECT_THROW(simplify(narrow, {}, &data, nullptr), Error);
  Model classes = test::grown_model(2, 0, LeafForm(), leaf({0}));
  classes.schema.task = Task::kClassification;
  classes.schema.classes = {"a"};
  EXPECT_THROW(simplify(classes, {}, &data, nullptr), Error);
}

}  // namespace
}  // namespace remede

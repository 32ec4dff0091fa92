#include "remede/train/state_merging.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "remede/base/random.h"
#include "remede/data/tasks.h"
#include "remede/model/metrics.h"
#include "remede/model/model.h"
#include "remede/model/predict.h"
#include "remede/train/begin.h"
#include "remede/train/direct.h"
#include "remede/train/score.h"
#include "train/small_data.h"

namespace remede {
namespace {

Dataset strings(const std::string& task, std::int64_t sequences, std::uint64_t seed, int shortest, int longest) {
  TaskOptions options;
  options.sequences = sequences;
  options.seed = seed;
  options.length_min = shortest;
  options.length_max = longest;
  return generate(task, options);
}

Model model_of_machine(const SymbolMachine& machine, const Schema& schema) {
  Model model;
  model.schema = schema;
  model.fill.assign(static_cast<std::size_t>(machine.n_x), 0.0F);
  model.trees.push_back(tree_of(machine));
  check(model, "machine");
  return model;
}

TEST(StateMerging, LearnsTheLanguagesExactly) {
  for (const char* task :
       {"parity", "tomita-1", "tomita-2", "tomita-3", "tomita-4", "tomita-5", "tomita-6", "tomita-7"}) {
    const Dataset training = strings(task, 400, 11, 1, 30), test = strings(task, 200, 12, 200, 200);
    const auto machine = merge_states(training.sequences, MergeTest::kExact);
    ASSERT_TRUE(machine.has_value()) << task;
    EXPECT_LE(machine->states(), 5U) << task;
    const Model model = model_of_machine(*machine, training.schema);
    EXPECT_EQ(score(model, test.sequences).accuracy, 1.0) << task;
    EXPECT_LE(model.trees[0].leaf_count(), 10) << task;
  }
}

// The answer of the tree at each step of a machine's random walk is the machine's.
TEST(StateMerging, TreesOfRandomMachinesDoTheSame) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    SymbolMachine machine;
    machine.n_x = 1 + static_cast<int>(random.below(3));
    machine.n_y = 2 + static_cast<int>(random.below(3));
    const std::size_t states = 1 + random.below(12), symbols = 1 + random.below(6);
    for (std::size_t a = 0; a < symbols; ++a)
      for (int i = 0; i < machine.n_x; ++i) {
        const bool missing = i == 0 && a == 0 && seed % 2 == 0;
        const float value = static_cast<float>(a) + static_cast<float>(random.below(2)) * 10;
        const bool extreme = seed % 4 == 1;  // so far apart that no float holds the difference
        machine.symbol.push_back(missing   ? std::numeric_limits<float>::quiet_NaN()
                                 : extreme ? (value - 8) * 4e37F
                                           : value);
      }
    for (std::size_t q = 0; q < states; ++q) {
      for (std::size_t a = 0; a < symbols; ++a) machine.next.push_back(static_cast<std::int32_t>(random.below(states)));
      const std::size_t answer = random.below(static_cast<std::uint64_t>(machine.n_y));
      for (std::size_t k = 0; k < static_cast<std::size_t>(machine.n_y); ++k)
        machine.class_weight.push_back(k == answer ? 100.0 : 0.0);
    }
    const Tree tree = tree_of(machine);
    check(tree, "tree of a machine");
    const std::vector<float> fill(static_cast<std::size_t>(machine.n_x), 0.0F);
    std::vector<float> m(1, 0.0F), y(static_cast<std::size_t>(machine.n_y));
    std::size_t state = 0;
    for (int t = 0; t < 500; ++t) {
      const std::size_t a = random.below(symbols);
      state = static_cast<std::size_t>(machine.next[state * symbols + a]);
      step(tree, machine.symbol.data() + a * static_cast<std::size_t>(machine.n_x), fill.data(), m.data(), y.data());
      const double* weight = machine.class_weight.data() + state * static_cast<std::size_t>(machine.n_y);
      ASSERT_GT(weight[arg_max(y)], 0.0) << "seed " << seed << ", step " << t;
    }
  }
}

// Labels of parity, a tenth of them wrong: no exact machine is small, the statistical test finds both states.
TEST(StateMerging, FindsTheMachineBehindNoise) {
  Dataset training = strings("parity", 2000, 5, 5, 15);
  Random random(1);
  for (std::int32_t& label : training.sequences.label)
    if (random.below(10) == 0) label = 1 - label;
  const auto machine = merge_states(training.sequences, MergeTest::kStatistical);
  ASSERT_TRUE(machine.has_value());
  EXPECT_LE(machine->states(), 8U);
  const Dataset test = strings("parity", 200, 6, 30, 30);
  EXPECT_GE(score(model_of_machine(*machine, training.schema), test.sequences).accuracy, 0.99);
}

TEST(StateMerging, LeavesOtherDataAlone) {
  TaskOptions options;
  options.sequences = 50;
  EXPECT_FALSE(
      merge_states(generate("fixed-delay", options).sequences, MergeTest::kExact).has_value());  // real numbers
  Dataset unlabelled = strings("parity", 20, 1, 5, 5);
  std::fill(unlabelled.sequences.weight.begin(), unlabelled.sequences.weight.end(), 0.0F);
  EXPECT_FALSE(merge_states(unlabelled.sequences, MergeTest::kExact).has_value());
  MergingLimits limits;
  limits.visits = 100;
  EXPECT_FALSE(merge_states(strings("tomita-3", 400, 1, 1, 30).sequences, MergeTest::kExact, limits).has_value());
}

// A machine that is right ends the fit only where it is small: counting needs a state for every number.
TEST(StateMerging, LargeMachinesAreNotFinal) {
  Config config;
  config.threads = 1;
  for (const auto& [task, final] : {std::pair("tomita-5", true), std::pair("counting", false)}) {
    const Dataset training = strings(task, 1500, 3, 1, 30);
    const std::vector<Prepared> folds = folds_of_fit(training, nullptr, config);
    const DirectModels found = learn_directly(training.schema, folds, config, [] { return false; });
    ASSERT_FALSE(found.candidates.empty()) << task;
    EXPECT_EQ(score(found.candidates.front().copies.front(), folds.front().training).accuracy, 1.0) << task;
    EXPECT_EQ(found.solved, final) << task;
  }
}

// A static tree knows the trigger, and is wrong at one step in 200 only: what is left is an event, not a signal.
TEST(DirectModels, VeryFewWrongStepsAreEvents) {
  Config config;
  config.threads = 1;
  const auto signal_loss = [&](int delay) {
    const Dataset training = testing::fixed_delay(200, 1, delay);
    const std::vector<Prepared> folds = folds_of_fit(training, nullptr, config);
    return learn_directly(training.schema, folds, config, [] { return false; }).signal_loss;
  };
  EXPECT_TRUE(std::isfinite(signal_loss(10)));
  EXPECT_FALSE(std::isfinite(signal_loss(200)));
}

}  // namespace
}  // namespace remede

#include "remede/verify/verify.h"

#include <optional>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "remede/model/predict.h"
#include "remede/simplify/simplify.h"
#include "remede/verify/checks.h"
#include "support/random_model.h"
#include "verify/random_property.h"

namespace remede::test {
namespace {

struct Counts {
  int holds = 0, fails = 0, undecided = 0;
};

// Verdicts on random models against random and adversarial steps.
Counts try_random_models(std::uint64_t seed, int models, std::size_t steps, double effort,
                         const RandomModelOptions& options) {
  Random random(seed);
  Counts counts;
  for (int round = 0; round < models; ++round) {
    const Model model = random_model(random, options);
    const std::string text = likely_property(random, model);
    VerifyOptions how;
    how.effort = effort;
    const Verification result = verify(model, {text}, how)[0];
    ConcreteRunner runner(*result.system);
    if (result.verdict == Decision::kUndecided) ++counts.undecided;
    if (result.verdict == Decision::kFails) {
      ++counts.fails;
      EXPECT_EQ(runner.violation(result.counterexample), result.counterexample.size()) << text;
    }
    if (result.verdict != Decision::kHolds) continue;
    ++counts.holds;
    for (std::size_t step = 0; step < steps;) {
      Configuration at = runner.start();
      StepInput input = random_input(random, model);
      const bool persistent = random.below(2) == 0;  // the same input for long drives cells to their ends
      for (std::size_t length = 1 + random.below(persistent ? 400 : 40); length > 0; --length, ++step) {
        if (!persistent || random.below(20) == 0) input = random_input(random, model);
        if (!runner.step(input, at).holds) {
          ADD_FAILURE() << "seed " << seed << " round " << round << ": " << text << " was proved and broken";
          return counts;
        }
      }
    }
  }
  return counts;
}

TEST(Verify, WhatHoldsIsNotBroken) {
  RandomModelOptions options;
  options.most_trees = 2;
  options.objectives = true;
  const Counts counts = try_random_models(1, 60, 3000, 0.05, options);
  EXPECT_GT(counts.holds, 5);
  EXPECT_GT(counts.fails, 5);
}

TEST(Verify, AwkwardNumbers) {
  RandomModelOptions options;
  options.awkward = true;
  options.objectives = true;
  const Counts counts = try_random_models(2, 40, 3000, 0.05, options);
  EXPECT_GT(counts.holds + counts.fails, 20);
}

TEST(VerifyRandomLong, AThousandModels) {
  RandomModelOptions options;
  options.most_trees = 2;
  options.objectives = true;
  Counts all;
  for (const bool awkward : {false, true}) {
    options.awkward = awkward;
    const Counts counts = try_random_models(awkward ? 11 : 12, 500, 1000000, 0.2, options);
    all.holds += counts.holds, all.fails += counts.fails, all.undecided += counts.undecided;
  }
  std::printf("1000 random models: %d hold, %d fail, %d undecided\n", all.holds, all.fails, all.undecided);
}

// The first inputs of the model are made from one column of words.
Model with_words(Random& random, Model model) {
  for (std::size_t i = 0; i < model.schema.inputs.size() && i < 2; ++i) {
    InputCode code{model.schema.inputs[i], "mode", false, {"a", "b", "c"}, {}, std::nullopt};
    for (int w = 0; w < 3; ++w) code.values.push_back(static_cast<float>(random.below(3)) - 1.0F);
    if (random.below(2) == 0) code.other = 0.5F;
    model.schema.codes.push_back(code);
  }
  return model;
}

TEST(Verify, WhatHoldsOfWordsIsNotBroken) {
  Random random(21);
  int proofs = 0;
  for (int round = 0; round < 80; ++round) {
    const Model model = with_words(random, random_model(random));
    const char* const words[] = {"a", "b", "c", "other", "missing"};
    const std::string text =
        fmt::format("never ({}) unless once mode = {}", random_property(random, model, 1), words[random.below(5)]);
    const Verification result = verify(model, {text}, {{}, 0.05})[0];
    if (result.verdict != Decision::kHolds) continue;
    ++proofs;
    ConcreteRunner runner(*result.system);
    const std::vector<InputColumn>& columns = result.system->columns;
    for (int sequence = 0; sequence < 100; ++sequence) {
      Configuration at = runner.start();
      for (int t = 0; t < 20; ++t) {
        StepInput input = random_input(random, model);
        for (std::size_t c = 0; c < columns.size(); ++c) {
          if (!columns[c].words) continue;
          input.option[c] = static_cast<int>(random.below(columns[c].options.size()));
          const InputOption& option = columns[c].options[static_cast<std::size_t>(input.option[c])];
          for (std::size_t k = 0; k < columns[c].inputs.size(); ++k)
            input.x[static_cast<std::size_t>(columns[c].inputs[k])] =
                option.range[k].has_numbers() ? option.range[k].low : std::numeric_limits<float>::quiet_NaN();
        }
        ASSERT_TRUE(runner.step(input, at).holds) << "round " << round << ": " << text;
      }
    }
  }
  EXPECT_GE(proofs, 4);
}

// Every configuration that is reached lies in one of the boxes of a proof.
TEST(Verify, TheBoxesOfAProofHoldEverything) {
  Random random(4);
  int proofs = 0;
  for (int round = 0; round < 40; ++round) {
    const Model model = random_model(random);
    VerifyOptions how;
    how.effort = 0.05;
    const Verification result = verify(model, {"step >= 0"}, how)[0];
    if (result.verdict != Decision::kHolds) continue;
    ++proofs;
    ConcreteRunner runner(*result.system);
    for (int sequence = 0; sequence < 20; ++sequence) {
      Configuration at = runner.start();
      for (int t = 0; t < 30; ++t) {
        runner.step(random_input(random, model), at);
        const bool inside = std::any_of(result.invariant.begin(), result.invariant.end(), [&](const ProofState& state) {
          if (state.monitor != at.monitor) return false;
          for (std::size_t i = 0; i < at.slot.size(); ++i) {
            const Range& range = state.box.slot[i];
            if (std::isnan(at.slot[i]) ? !range.nan : !(at.slot[i] >= range.low && at.slot[i] <= range.high))
              return false;
          }
          return true;
        });
        ASSERT_TRUE(inside) << "round " << round << " step " << t;
      }
    }
  }
  EXPECT_GT(proofs, 10);
}

// Exact simplification of random models, and the same with a planted mistake: a write that is dropped as if it did
// nothing, or a split that gives way to its left side.
struct EqualCounts {
  int proved = 0, undecided = 0, planted = 0, found = 0, harmless = 0;
};

Model with_mistake(Random& random, const Model& model) {
  Model other = model;
  Tree& tree = other.trees[0];
  const auto open = static_cast<std::size_t>(std::count(tree.gate.begin(), tree.gate.end(), 1));
  if (open > 0 && random.below(2) == 0) {
    std::size_t skip = random.below(open);
    for (std::uint8_t& gate : tree.gate)
      if (gate != 0 && skip-- == 0) gate = 0;
  } else if (!tree.feature.empty()) {
    tree.threshold[random.below(tree.threshold.size())] = std::numeric_limits<float>::max();
  } else {
    tree.output[0] += 1.0F;
  }
  return other;
}

EqualCounts try_simplification(std::uint64_t seed, int models) {
  Random random(seed);
  EqualCounts counts;
  for (int round = 0; round < models; ++round) {
    const Model model = random_model(random);
    SimplifyOptions simple;
    simple.collapse = false;
    const Model small = simplify(model, simple, nullptr, nullptr).model;
    VerifyOptions how;
    how.effort = 0.1;
    const Verification result = verify_equal(model, small, how);
    EXPECT_NE(result.verdict, Decision::kFails) << "round " << round;
    (result.verdict == Decision::kHolds ? counts.proved : counts.undecided) += 1;
    const Model wrong = with_mistake(random, small);
    const Verification caught = verify_equal(model, wrong, how);
    ++counts.planted;
    counts.found += caught.verdict == Decision::kFails ? 1 : 0;
    if (caught.verdict != Decision::kHolds) continue;
    ++counts.harmless;  // proved equal all the same: then no step may tell them apart
    ConcreteRunner runner(*caught.system);
    for (int sequence = 0; sequence < 100; ++sequence) {
      Configuration at = runner.start();
      for (int t = 0; t < 20; ++t) EXPECT_TRUE(runner.step(random_input(random, model), at).holds) << "round " << round;
    }
  }
  return counts;
}

TEST(VerifySlow, ExactSimplificationIsProvedEqual) {
  const EqualCounts counts = try_simplification(6, 30);
  EXPECT_GE(counts.proved, 28) << counts.undecided << " undecided";
  EXPECT_GE(counts.found + counts.harmless, 25);
  EXPECT_GE(counts.found, 12);
}

TEST(VerifyEqualLong, TwoHundredModels) {
  const EqualCounts counts = try_simplification(9, 200);
  std::printf(
      "200 random models: %d proved equal to their exact simplification, %d undecided; of %d planted mistakes %d "
      "found, "
      "%d proved harmless\n",
      counts.proved, counts.undecided, counts.planted, counts.found, counts.harmless);
  EXPECT_EQ(counts.proved, 200);
}

// The sign of the first input, kept until a trigger (docs/file-format.md).
Model sign_model() {
  Model model;
  model.schema.task = Task::kClassification;
  model.schema.inputs = {"x1"};
  model.schema.targets = {"y"};
  model.schema.classes = {"-1", "0", "1"};
  model.schema.id = "sequence";
  model.fill = {0.0F};
  Tree tree;
  tree.n_x = 1, tree.n_m = 2, tree.n_y = 3;
  tree.form.write_rule = WriteRule::kBlend;
  tree.form.write_bias = true;
  tree.feature = {2, 0, 1};
  tree.threshold = {0.5F, 0.75F, 0.0F};
  tree.missing_right = {0, 0, 0};
  tree.left = {~0, ~1, ~2};
  tree.right = {1, 2, ~3};
  tree.output = {-4, 5, -4, -4, 5, -4, 6, -3, -3, -3, -3, 6};
  tree.gate = {1, 1, 0, 0, 0, 0, 0, 0};
  tree.write = {20, 0, 0, 0, 0, 0, 0, 0};
  tree.bias = {0, 3, 0, 0, 0, 0, 0, 0};
  tree.blend = {1, 1, 0, 0, 0, 0, 0, 0};
  model.trees.push_back(tree);
  check(model, "sign model");
  return model;
}

Verification sign(const std::string& property, std::vector<std::string> assumptions = {}) {
  static const Model model = sign_model();
  VerifyOptions how;
  how.assumptions = std::move(assumptions);
  return verify(model, {property}, how)[0];
}

TEST(Verify, ContractsOfAMemory) {
  EXPECT_EQ(sign("never says 1 unless once x1 >= 0.75").verdict, Decision::kHolds);
  EXPECT_EQ(sign("never says 1 unless previously once (x1 >= 0 or x1 missing)").verdict, Decision::kHolds);
  EXPECT_EQ(sign("never (says 1 and once says -1)").verdict, Decision::kHolds);
  EXPECT_EQ(sign("step >= 2 and x1 >= 0.75 implies not says 0").verdict, Decision::kHolds);
  EXPECT_EQ(sign("always m1 <= 1 and m1 >= -1").verdict, Decision::kHolds);
}

TEST(Verify, TheShortestCounterexample) {
  const Verification result = sign("never says 1 unless once x1 > 0.9");
  ASSERT_EQ(result.verdict, Decision::kFails);
  EXPECT_EQ(result.counterexample.size(), 2U);
  EXPECT_TRUE(result.shortest);
  EXPECT_EQ(sign("never says 1 for 4 steps").counterexample.size(), 5U);
}

// What is said and its probability are not independent.
TEST(Verify, TheClassThatIsSaidIsLikely) {
  Random random(8);
  LeafForm form;
  form.leaf_output = LeafOutput::kLinear;
  Model model;
  model.schema = sign_model().schema;
  model.fill = {0.0F};
  model.trees.push_back(random_tree(random, 1, 1, 3, 3, form));
  for (const char* text : {"says 1 implies p(1) >= 0.333", "says 1 implies p(-1) <= 0.5", "p(0) > 0.5 implies says 0"})
    EXPECT_EQ(verify(model, {text}, {{"x1 in -5..5"}, 0.2})[0].verdict, Decision::kHolds) << text;
  EXPECT_EQ(verify(model, {"says 1 implies p(1) >= 0.333"}, {})[0].verdict, Decision::kHolds);  // numbers that overflow
  EXPECT_EQ(verify(model, {"says -1 implies p(-1) >= 0.333"}, {})[0].verdict, Decision::kFails);
  EXPECT_EQ(verify(model, {"says 1 implies p(1) >= 0.5"}, {{"x1 in -5..5"}, 0.2})[0].verdict, Decision::kFails);
}

TEST(Verify, AssumptionsNarrowTheInputs) {
  EXPECT_EQ(sign("never says 1").verdict, Decision::kFails);
  EXPECT_EQ(sign("never says 1", {"x1 in -1..0.5"}).verdict, Decision::kHolds);
  EXPECT_EQ(sign("never says 1", {"x1 in {-1, 0.5, 2}", "step = 1 implies x1 = -1"}).verdict, Decision::kHolds);
  EXPECT_EQ(sign("never says 1", {"x1 in -1..1", "x1 changes by at most 0.1"}).verdict, Decision::kFails);
  EXPECT_EQ(
      sign("step <= 2 implies not says 1", {"x1 in -1..1", "x1 changes by at most 0.1", "step = 1 implies x1 = 0.5"})
          .verdict,
      Decision::kHolds);
  EXPECT_EQ(sign("x1 present", {"x1 in -1..1"}).verdict, Decision::kHolds);
  EXPECT_EQ(sign("x1 present").verdict, Decision::kFails);
}

// Also of inputs whose names need quotation marks.
TEST(Verify, AssumptionsFromDataNameEveryNumber) {
  Model model = sign_model();
  Sequences data;
  data.n_x = 1;
  data.offset = {0, 2};
  data.x = {-0.5F, 0.25F};
  for (const auto& [name, text] : {std::pair{"x1", "[x1] in -0.5..0.25"},
                                   {"temp [C]", "\"temp [C]\" in -0.5..0.25"},
                                   {"6\" pipe [m]", "'6\" pipe [m]' in -0.5..0.25"}}) {
    model.schema.inputs = {name};
    const std::vector<std::string> assumptions = assumptions_from(model, data);
    ASSERT_EQ(assumptions, std::vector<std::string>{text});
    VerifyOptions how;
    how.assumptions = assumptions;
    EXPECT_EQ(verify(model, {"never says 1"}, how)[0].verdict, Decision::kHolds) << name;
    EXPECT_EQ(verify(model, {"never says 1"}, {})[0].verdict, Decision::kFails) << name;
  }
  model.schema.inputs = {"]\"'`"};
  EXPECT_ANY_THROW(assumptions_from(model, data));
}

TEST(Verify, RobustnessNamesWhatChanges) {
  Model model = sign_model();
  Dataset data;
  data.sequences.n_x = 1;
  data.sequences.offset = {0, 1, 3};
  data.sequences.x = {-5.0F, 0.8F, 0.8F};
  data.ids.push_back("54");
  data.ids.push_back("55");
  const Robustness said = check_robustness(model, data, {});
  EXPECT_THAT(robustness_text(said), testing::HasSubstr("robust: no answer of 3 steps"));
  EXPECT_THAT(robustness_text(said), testing::HasSubstr("of sequence '55' changes"));
  EXPECT_THAT(robustness_text(check_robustness(model, data.sequences, {})),
              testing::HasSubstr("the sequence number 2"));
  Robustness reached = said;
  reached.leaves = true;
  EXPECT_THAT(robustness_text(reached), testing::HasSubstr("robust: no leaf that is reached of 3 steps changes"));
  EXPECT_THAT(verifications_json({}, nullptr, model, &reached), testing::HasSubstr("\"of\":\"leaf\""));
  EXPECT_THAT(verifications_json({}, nullptr, model, &said), testing::HasSubstr("\"id\":\"55\""));
}

TEST(Verify, DeadlinesAreCounted) {
  EXPECT_EQ(sign("x1 >= 0.8 for 2 steps implies says 1 within 0 steps", {"x1 in 0.01..1"}).verdict, Decision::kHolds);
  const Verification late = sign("x1 >= 0.8 implies says 1 within 3 steps");
  ASSERT_EQ(late.verdict, Decision::kFails);
  EXPECT_EQ(late.counterexample.size(), 4U);
}

}  // namespace
}  // namespace remede::test

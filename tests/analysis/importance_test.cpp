#include "remede/draw/importance.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "remede/data/tasks.h"
#include "support/hand_built.h"
#include "support/random_model.h"

namespace remede {
namespace {

using test::leaf;
using test::split;
using test::sure;
using testing::HasSubstr;

const FeatureImportance& named(const Importance& importance, const std::string& name) {
  const auto at = std::find_if(importance.features.begin(), importance.features.end(),
                               [&name](const FeatureImportance& f) { return f.name == name; });
  EXPECT_NE(at, importance.features.end()) << name;
  return *at;
}

TEST(Importance, OfThePapersTree) {
  const Dataset data = generate("fixed-delay", {.sequences = 500});
  const Importance found = find_importance(test::paper_tree(), data.sequences);
  EXPECT_EQ(found.score_name, "accuracy");
  EXPECT_TRUE(found.higher_is_better);
  EXPECT_GT(found.score, 0.99);
  ASSERT_EQ(found.features.size(), 2U);
  // An empty memory answers every trigger with 1: half of the triggers, and one step in seven is one.
  const FeatureImportance& m1 = named(found, "m1");
  EXPECT_NEAR(m1.frozen, 1.0 / 14, 0.01);
  EXPECT_NEAR(m1.shuffled, 1.0 / 14, 0.02) << "half of the other sequences hold the other sign";
  EXPECT_EQ(m1.splits, 2);
  EXPECT_EQ(m1.formulas, 0);
  EXPECT_EQ(m1.tested, 1.0);
  const FeatureImportance& x1 = named(found, "x1");
  EXPECT_GT(x1.shuffled, 1.0 / 7);
  EXPECT_EQ(x1.splits, 2);
  EXPECT_EQ(x1.formulas, 1);
  EXPECT_EQ(found.features[0].name, "x1") << "what matters most comes first";
}

TEST(Importance, LooksBackAsFarAsTheTreeDoes) {
  const Importance found = find_importance(test::paper_tree(), generate("fixed-delay", {.sequences = 50}).sequences);
  // The root reads m1 at all seven steps; nearly always the first step wrote it, so each of 1 .. 6 steps back is as
  // frequent.
  EXPECT_EQ(found.look_back.unwritten, 50);
  EXPECT_EQ(found.look_back.reads(), 50 * 6);
  EXPECT_EQ(found.look_back.distance.back().first, 6);
  EXPECT_EQ(found.look_back.quantile(0.5), 3);
  EXPECT_EQ(found.look_back.quantile(1), 6);
  EXPECT_EQ(LookBack().quantile(0.5), 0);
}

TEST(Importance, WhatIsNotUsedDoesNotMatter) {
  const Model model = test::make_model(2, 0, {"a", "b"}, {}, split(0, 0, leaf(sure(2, 0)), leaf(sure(2, 1))));
  Random random(4);
  Sequences data = test::random_sequences(random, 2, 20, 20, 0);
  data.n_y = 2;
  for (std::size_t t = 0; t < data.steps(); ++t) {
    data.label.push_back(data.x[2 * t] >= 0 ? 1 : 0);
    data.weight.push_back(1);
  }
  const Importance found = find_importance(model, data);
  EXPECT_EQ(found.score, 1);
  EXPECT_NEAR(named(found, "x1").shuffled, 0.5, 0.1);
  EXPECT_EQ(named(found, "x2").shuffled, 0);
  EXPECT_EQ(named(found, "x2").splits, 0);
  EXPECT_EQ(named(found, "x2").tested, 0);
  EXPECT_THAT(importance_text(found), HasSubstr("No value in memory was read"));
}

// Answers with the sum of its inputs so far: a linear leaf that reads its cell.
Model running_mean() {
  LeafForm form;
  form.leaf_output = LeafOutput::kLinear;
  form.write_rule = WriteRule::kBlend;
  return test::make_model(1, 1, {}, form, leaf({0}, {{0, {1}, 0, 0.5F}}, {0, 2}));
}

TEST(Importance, RegressionLosesRmse) {
  const Model model = running_mean();
  Random random(6);
  Sequences data = test::random_sequences(random, 1, 30, 20, 0);
  data.n_y = 1;
  data.weight.assign(data.steps(), 1);
  data.value.assign(data.steps(), 0);
  const Importance found = find_importance(model, data);
  EXPECT_EQ(found.score_name, "RMSE");
  EXPECT_FALSE(found.higher_is_better);
  EXPECT_GT(found.score, 0);
  EXPECT_LT(named(found, "m1").frozen, 0) << "the targets are zero, and so is the answer of an empty memory";
  EXPECT_EQ(named(found, "m1").formulas, 1);
}

TEST(Importance, WithoutTargetsTheModelIsItsOwnMeasure) {
  Random random(6);
  const Sequences data = test::random_sequences(random, 1, 30, 20, 0);
  const Importance numbers = find_importance(running_mean(), data);
  EXPECT_EQ(numbers.score, 0);
  EXPECT_THAT(numbers.score_name, HasSubstr("distance"));
  EXPECT_GT(named(numbers, "m1").frozen, 0);
  const Importance classes = find_importance(test::parity_tree(), data);
  EXPECT_EQ(classes.score, 1);
  EXPECT_THAT(classes.score_name, HasSubstr("agreement"));
}

TEST(Importance, CellsOfAForestAreToldApart) {
  Model model = test::paper_tree();
  model.trees.push_back(model.trees[0]);
  const Importance found = find_importance(model, generate("fixed-delay", {.sequences = 200}).sequences);
  ASSERT_EQ(found.features.size(), 3U);
  EXPECT_EQ(named(found, "tree 1 m1").tree, 0);
  EXPECT_EQ(named(found, "tree 2 m1").tree, 1);
  EXPECT_EQ(named(found, "x1").splits, 4);
  EXPECT_LE(named(found, "tree 1 m1").frozen, named(found, "x1").shuffled);
}

TEST(Importance, SameForAnyNumberOfThreadsAndOtherForAnotherSeed) {
  const Dataset data = generate("sign-memory", {.sequences = 40});
  Random random(2);
  Model model = test::make_model(1, 3, {"-1", "0", "1"}, {}, leaf(sure(3, 0)));
  model.trees = {test::random_tree(random, 1, 3, 3, 9, test::form_number(13))};
  ImportanceOptions four;
  four.threads = 4;
  const std::string one = importance_json(find_importance(model, data.sequences));
  EXPECT_EQ(importance_json(find_importance(model, data.sequences, four)), one);
  four.seed = 2;
  EXPECT_NE(importance_json(find_importance(model, data.sequences, four)), one);
}

TEST(Importance, LooksAtNoMoreStepsThanAsked) {
  ImportanceOptions options;
  options.most_steps = 700;
  const Dataset data = generate("fixed-delay", {.sequences = 1000});
  const Importance found = find_importance(test::paper_tree(), data.sequences, options);
  EXPECT_LE(found.steps, 710);
  EXPECT_GE(found.steps, 600);
}

TEST(Importance, TextAndJsonSayTheSame) {
  const Importance found = find_importance(test::paper_tree(), generate("fixed-delay", {.sequences = 100}).sequences);
  const std::string text = importance_text(found);
  EXPECT_THAT(text, testing::StartsWith("Accuracy 1 on 700 steps."));
  EXPECT_THAT(text, HasSubstr("Half of the values read from memory were written at most 3 steps before"));
  const auto json = nlohmann::ordered_json::parse(importance_json(found));
  EXPECT_EQ(json["features"][0]["name"], "x1");
  EXPECT_EQ(json["features"][1]["kind"], "cell");
  EXPECT_EQ(json["look_back"]["distances"].size(), 6U);
  EXPECT_EQ(json["look_back"]["unwritten_reads"], 100);
}

TEST(Importance, AnyModelAndAnyData) {
  for (unsigned seed = 0; seed < 32; ++seed) {
    Random random(21, seed);
    test::RandomModelOptions options;
    options.most_trees = 3;
    options.awkward = seed % 2 == 1;
    const Model model = test::random_model(random, options);
    const Importance found = find_importance(model, test::random_sequences(random, model.n_x(), 3, 12));
    EXPECT_GE(found.features.size(), static_cast<std::size_t>(model.n_x()));
    EXPECT_FALSE(importance_text(found).empty());
    EXPECT_TRUE(nlohmann::ordered_json::accept(importance_json(found)));
  }
}

}  // namespace
}  // namespace remede

#include "remede/draw/rules.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "remede/data/tasks.h"
#include "remede/model/predict.h"
#include "support/hand_built.h"
#include "support/random_model.h"

namespace remede {
namespace {

using test::leaf;
using test::split;
using test::sure;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> sentences(const Model& model, const Observations* seen = nullptr) {
  std::vector<std::string> list;
  for (const Rule& rule : find_rules(model, seen)) list.push_back(rule.sentence);
  return list;
}

TEST(Rules, OfThePapersTree) {
  EXPECT_THAT(
      sentences(test::paper_tree()),
      testing::UnorderedElementsAre(
          "When x1 is below 0.5 or missing and m1 is below -0.23 (something negative was stored): say \"0\" (>99.9%).",
          "When x1 is at least 0.5 and m1 is below -0.23 (something negative was stored): say \"-1\" (>99.9%).",
          "When x1 is below 0.5 or missing and m1 is from -0.23 to below 0.13 (nothing was stored): say \"0\" "
          "(>99.9%); "
          "add: m1 += "
          "tanh(37.6 x1).",
          "When x1 is below 0.5 or missing and m1 is at least 0.13 (something positive was stored): say \"0\" "
          "(>99.9%).",
          "When x1 is at least 0.5 and m1 is at least -0.23: say \"1\" (>99.9%)."));
}

TEST(Rules, ASingleLeafIsAlways) {
  EXPECT_THAT(sentences(test::make_model(1, 0, {}, {}, leaf({2.5F}))), ElementsAre("Always: say y = 2.5."));
}

TEST(Rules, MissingValuesAreNamed) {
  Model model = test::make_model(1, 0, {"a", "b"}, {}, split(0, 0.5F, leaf(sure(2, 0)), leaf(sure(2, 1))));
  model.trees[0].missing_right = {1};
  EXPECT_THAT(sentences(model),
              testing::UnorderedElementsAre(testing::StartsWith("When x1 is below 0.5:"),
                                            testing::StartsWith("When x1 is at least 0.5 or missing:")));
  model.trees[0].missing_right = {0};
  EXPECT_THAT(sentences(model), testing::UnorderedElementsAre(testing::StartsWith("When x1 is below 0.5 or missing:"),
                                                              testing::StartsWith("When x1 is at least 0.5:")));
}

TEST(Rules, WithDataTheMostFrequentComeFirst) {
  const Dataset data = generate("fixed-delay", {.sequences = 100});
  const Model model = test::paper_tree();
  const Observations seen = observe(model, data.sequences);
  const std::vector<Rule> rules = find_rules(model, &seen);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    sum += rules[i].steps;
    if (i > 0) {
      EXPECT_LE(rules[i].steps, rules[i - 1].steps);
    }
  }
  EXPECT_EQ(sum, 700);
  EXPECT_THAT(rules_text(model, &seen), HasSubstr("steps, 100% right]"));
  EXPECT_EQ(find_rules(model)[0].steps, -1);
}

TEST(Rules, OfAForestTreeByTree) {
  Model model = test::parity_tree();
  model.trees.push_back(test::tomita_1_tree().trees[0]);
  const std::string text = rules_text(model);
  EXPECT_THAT(text, testing::StartsWith("Tree 1\n"));
  EXPECT_THAT(text, HasSubstr("\n\nTree 2\n"));
  const auto json = nlohmann::ordered_json::parse(rules_json(model));
  EXPECT_EQ(json.size(), 7U);
  EXPECT_EQ(json.back()["tree"], 1);
  EXPECT_TRUE(json[0]["steps"].is_null());
}

// Every leaf that data reach has its sentence, and every sentence its own leaf.
TEST(Rules, EveryLeafReachedHasOne) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    Random random(31, seed);
    test::RandomModelOptions options;
    options.most_trees = 2;
    const Model model = test::random_model(random, options);
    const Sequences data = test::random_sequences(random, model.n_x(), 5, 30);
    const Observations seen = observe(model, data);
    std::set<std::pair<int, int>> told;
    for (const Rule& rule : find_rules(model, &seen)) EXPECT_TRUE(told.emplace(rule.tree, rule.leaf).second);
    for (std::size_t t = 0; t < model.trees.size(); ++t)
      for (std::size_t l = 0; l < seen.leaves[t].size(); ++l)
        if (seen.leaves[t][l].steps > 0) {
          EXPECT_TRUE(told.contains({static_cast<int>(t), static_cast<int>(l)})) << seed;
        }
  }
}

}  // namespace
}  // namespace remede

#include "remede/train/recipe/recipe.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "remede/base/error.h"
#include "remede/base/file.h"
#include "remede/train/config.h"

namespace remede {
namespace {

using ::testing::HasSubstr;

std::string refused_recipe(const std::string& text) {
  try {
    recipe_from_text(text, "mine.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Recipe, NamedOnesAreTheirNames) {
  EXPECT_EQ(recipe_text(default_recipe()), "default");
  EXPECT_EQ(recipe_text(paper_recipe()), "paper");
  EXPECT_EQ(recipe_text(gradtree_recipe()), "gradtree");
  EXPECT_EQ(recipe_from_text("paper", ""), paper_recipe());
  EXPECT_EQ(recipe_from_text("gradtree", ""), gradtree_recipe());
  EXPECT_NE(default_recipe(), paper_recipe());
  EXPECT_NE(paper_recipe(), gradtree_recipe());
}

TEST(Recipe, EveryFieldRoundTripsToTheSameBits) {
  for (const Recipe& base : {default_recipe(), paper_recipe(), gradtree_recipe()}) {
    EXPECT_EQ(recipe_from_text(recipe_json(base), "json"), base);
    for (const RecipeField& field : recipe_fields()) {
      Recipe changed = base;
      const double between = field.low + (field.high - field.low) / 3;
      field.set(changed, field.type == "float" ? between : field.get(base) == field.low ? field.high : field.low);
      ASSERT_NE(changed, base) << field.name;
      EXPECT_EQ(recipe_from_text(recipe_text(changed), "text"), changed) << field.name;
      EXPECT_EQ(recipe_from_text(recipe_json(changed), "json"), changed) << field.name;
      EXPECT_THAT(recipe_text(changed), HasSubstr(field.name)) << "only what differs is in the short form";
    }
  }
}

TEST(Recipe, DefaultsAreWithinTheirLimitsAndExplained) {
  for (const RecipeField& field : recipe_fields()) {
    for (const Recipe& recipe : {default_recipe(), paper_recipe(), gradtree_recipe()}) {
      EXPECT_GE(field.get(recipe), field.low) << field.name;
      EXPECT_LE(field.get(recipe), field.high) << field.name;
    }
    EXPECT_FALSE(field.meaning.empty()) << field.name;
  }
}

TEST(Recipe, WhatIsNoRecipeIsRefusedInOneLine) {
  EXPECT_THAT(refused_recipe("quick"), HasSubstr("mine.json: expected a recipe called default, paper or gradtree"));
  EXPECT_THAT(refused_recipe("{\"starts\": 0}"), HasSubstr("'starts': expected a whole number in 1 .. 4096, got 0"));
  EXPECT_THAT(refused_recipe("{\"starts\": 1.5}"), HasSubstr("got 1.5"));
  EXPECT_THAT(refused_recipe("{\"starts\": \"many\"}"), HasSubstr("got \"many\""));
  EXPECT_THAT(refused_recipe("{\"single_start\": 1}"), HasSubstr("expected true or false"));
  EXPECT_THAT(refused_recipe("{\"stars\": 3}"), HasSubstr("got 'stars'"));
  EXPECT_THAT(refused_recipe("{\"base\": \"mine\"}"), HasSubstr("got 'mine'"));
  EXPECT_THAT(refused_recipe("{\"starts\": "), HasSubstr("expected a JSON object"));
  EXPECT_EQ(refused_recipe("{}"), "");
}

TEST(Recipe, AFlagOverridesIt) {
  Config config;
  for (const HyperParameter& p : hyper_parameters())
    if (p.name == "recipe") p.set(config, "{\"starts\": 7}");
  EXPECT_EQ(config.recipe.starts, 7);
  EXPECT_THAT(settings(config)[1].second, HasSubstr("\"starts\":7"));
  EXPECT_EQ(config_from_settings(settings(config), "test"), config);
}

// A field that nothing reads would be a constant without effect.
TEST(Recipe, EveryFieldIsReadSomewhere) {
  std::string sources;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::string(REMEDE_TESTS_DIR) + "/../remede/train"))
    if (entry.path().extension() == ".cpp" && entry.path().parent_path().filename() != "recipe")
      sources += read_file(entry.path().string());
  for (const RecipeField& field : recipe_fields())
    EXPECT_THAT(sources, ::testing::ContainsRegex("(recipe|r|recipe_)\\." + std::string(field.name) + "[^a-z_0-9]"))
        << field.name;
}

TEST(Recipe, ThePageInDocsIsTheGeneratedOne) {
  EXPECT_EQ(read_file(std::string(REMEDE_TESTS_DIR) + "/../docs/recipe.md"), recipe_page())
      << "regenerate it: build/remede recipe --page > docs/recipe.md";
}

}  // namespace
}  // namespace remede

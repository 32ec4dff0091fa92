#include "remede/train/config.h"

#include <limits>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "remede/base/error.h"
#include "remede/base/file.h"
#include "remede/train/command.h"

namespace remede {
namespace {

using ::testing::HasSubstr;

const HyperParameter& find(std::string_view name) {
  for (const HyperParameter& p : hyper_parameters())
    if (p.name == name) return p;
  throw std::runtime_error("no such hyper-parameter");
}

std::string refusal(std::string_view name, std::string_view text) {
  Config config;
  try {
    find(name).set(config, text);
  } catch (const Error& error) {
    EXPECT_EQ(config, Config()) << "a refused value changed the configuration";
    return error.what();
  }
  return "";
}

TEST(Config, EveryParameterReadsBackWhatItPrints) {
  std::set<std::string_view> names;
  for (const HyperParameter& p : hyper_parameters()) {
    EXPECT_TRUE(names.insert(p.name).second) << p.name;
    EXPECT_FALSE(p.help.empty()) << p.name;
    Config config;
    p.set(config, p.get(config));
    EXPECT_EQ(config, Config()) << p.name;
  }
}

TEST(Config, FlagsAreSpelledWithHyphens) { EXPECT_EQ(find("rate_index").flag(), "--rate-index"); }

TEST(Config, OptionalValuesAreAutoUntilGiven) {
  Config config;
  const HyperParameter& depth = find("depth");
  EXPECT_EQ(depth.get(config), "auto");
  depth.set(config, "4");
  EXPECT_EQ(config.depth, 4);
  depth.set(config, "auto");
  EXPECT_FALSE(config.depth.has_value());
}

TEST(Config, WordsMayBeSpelledWithSpacesOrUnderscores) {
  Config config;
  for (const char* word : {"inputs and memory", "inputs_and_memory", "inputs-and-memory"}) {
    config.write_reads.reset();
    find("write_reads").set(config, word);
    EXPECT_EQ(config.write_reads, WriteReads::kInputsAndMemory);
  }
  find("write_bias").set(config, "true");
  EXPECT_EQ(config.write_bias, true);
}

TEST(Config, BadValuesAreRefusedInOneLine) {
  EXPECT_EQ(refusal("depth", "13"), "--depth: expected a number in 0 .. 12 or auto, got '13'");
  EXPECT_EQ(refusal("write_rule", "mul"), "--write-rule: expected one of add, blend or auto, got 'mul'");
  for (const char* text : {"", " ", "abc", "1x", "-1", "1e99", "nan", "inf"})
    EXPECT_THAT(refusal("batch", text), HasSubstr("--batch: expected a number in 1 .. ")) << text;
  EXPECT_THAT(refusal("trees", "auto"), HasSubstr("--trees: expected a number in 1 .. 64, got 'auto'"));
  EXPECT_THAT(refusal("rate_index", "nan"), HasSubstr("--rate-index"));
}

TEST(Config, CheckFindsWhatWasSetByHand) {
  Config config;
  config.clip = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(check(config), Error);
  config = Config();
  config.depth = -1;
  EXPECT_THROW(check(config), Error);
  config = Config();
  config.updates = 10;
  config.epochs = 10;
  EXPECT_THROW(check(config), Error);
  EXPECT_NO_THROW(check(Config()));
}

TEST(Config, DurationsHaveUnits) {
  Config config;
  const std::pair<const char*, double> texts[] = {{"30s", 30}, {"5m", 300}, {"2h", 7200}, {"1.5", 1.5}, {"0.5m", 30}};
  for (const auto& [text, seconds] : texts) {
    find("time_limit").set(config, text);
    ASSERT_TRUE(config.time_limit.has_value());
    EXPECT_EQ(config.time_limit->value, seconds) << text;
  }
  EXPECT_EQ(find("time_limit").get(config), "30s");
  for (const char* text : {"", "s", "5 m", "5min", "-3s", "0", "1d"})
    EXPECT_THAT(refusal("time_limit", text), HasSubstr("--time-limit: expected a duration such as 30s")) << text;
}

std::string idle(const Config& config) {
  try {
    check(config);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// tests/cli/options_test.cpp and tests/python/test_options.py go through all of them.
TEST(Config, WhatCouldHaveNoEffectIsRefusedWithTheReason) {
  Config config;
  config.patience = 10;
  EXPECT_THAT(idle(config), HasSubstr("--patience: has no effect here: it belongs to --recipe paper"));
  config.recipe = paper_recipe();
  EXPECT_EQ(idle(config), "");
  config.starts = 8;
  EXPECT_THAT(idle(config), HasSubstr("--starts: has no effect here"));
  config = Config();
  config.memory = 0;
  config.write_rule = WriteRule::kBlend;
  EXPECT_THAT(idle(config), HasSubstr("--write-rule: has no effect here: a tree without memory"));
  config = Config();
  config.simplify = false;
  EXPECT_EQ(idle(config), "");
  config.improve = false;
  EXPECT_THAT(idle(config), HasSubstr("--improve"));
}

TEST(Config, TransformedInputsAreReadBySplitsAlone) {
  Config config;
  config.recipe = gradtree_recipe();
  EXPECT_EQ(idle(config), "");
  config.memory = 1;
  EXPECT_THAT(idle(config),
              HasSubstr("--memory: expected 0 with a recipe that transforms inputs to quantiles (gradtree), got 1"));
  config.memory = 0;
  config.leaf_output = LeafOutput::kLinear;
  EXPECT_THAT(idle(config), HasSubstr("--leaf-output: expected constant leaves"));
  config.leaf_output = std::nullopt;
  config.write_bias = true;
  EXPECT_THAT(idle(config), HasSubstr("--write-bias: has no effect here: a tree without memory"));
  config = Config();
  config.recipe = gradtree_recipe();
  config.improve = true;
  EXPECT_THAT(idle(config), HasSubstr("--improve: has no effect here"));
  config = Config();
  config.recipe.quantile_transform = true;
  EXPECT_THAT(idle(config), HasSubstr("'single_start': expected true"));
}

TEST(Config, SettingsRoundTripToTheSameBitsWithoutTheMachine) {
  rc::check([](double rate, double share) {
    Config config;
    config.rate_gate = std::abs(rate) <= 100 ? std::abs(rate) : std::abs(1 / rate);
    config.recipe = paper_recipe();
    config.decay = std::abs(share) <= 1 ? std::abs(share) : 0.3;
    config.time_limit = Seconds{0.1 + std::abs(share) / (1 + std::abs(share))};
    config.mix = Mix::kEffects;
    config.threads = 7;
    const auto list = settings(config);
    for (const auto& [name, text] : list) RC_ASSERT(name != "threads");
    config.threads = Config().threads;
    RC_ASSERT(config_from_settings(list, "test") == config);
  });
}

TEST(Config, UnknownSettingsAreNamed) {
  const std::pair<std::string, std::string> unknown[] = {{"colour", "red"}};
  try {
    config_from_settings(unknown, "old file");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("old file"));
    EXPECT_THAT(error.what(), HasSubstr("colour"));
  }
}

TEST(Config, FormIsTheRecipesUnlessFixed) {
  Config config;
  const LeafForm rich = {WriteRule::kBlend, WriteReads::kInputsAndMemory, true, LeafOutput::kLinear,
                         OutputOrder::kFirst};
  EXPECT_EQ(fixed_by(config, rich), rich);
  config.write_bias = false;
  EXPECT_FALSE(fixed_by(config, rich).write_bias);
  config.form = FormChoice::kPaper;
  EXPECT_EQ(fixed_by(config, rich), LeafForm());
  config.leaf_output = LeafOutput::kLinear;
  EXPECT_EQ(fixed_by(config, rich).leaf_output, LeafOutput::kLinear);
}

TEST(Config, ThePageInDocsIsTheGeneratedOne) {
  const std::string page = read_file(std::string(REMEDE_TESTS_DIR) + "/../docs/parameters.md");
  EXPECT_EQ(page, parameters_page()) << "regenerate it: build/remede train --parameters-page > docs/parameters.md";
}

TEST(Config, TheCommandOfAModelHasTheRolesThatItRecords) {
  Model model;
  model.schema.targets = {"y"};
  model.schema.target_per = TargetPer::kSequence;
  model.schema.ignore = {"a b"};
  model.schema.categorical = {"code"};
  model.schema.time_gap = true;
  model.training.settings = settings(Config());
  const std::string command = train_command(model);
  for (const char* part : {" --target-per sequence", " --time-gap", " --ignore 'a b'", " --categorical code"})
    EXPECT_NE(command.find(part), std::string::npos) << part;
  EXPECT_EQ(command.find("--horizon"), std::string::npos);
  model.schema.horizon = 3;
  EXPECT_NE(train_command(model).find(" --horizon 3"), std::string::npos);
}

}  // namespace
}  // namespace remede

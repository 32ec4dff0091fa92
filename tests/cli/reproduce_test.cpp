// remede reproduce: its rows for the paper's recipe are what `remede train` gives, and the LSTM is a script of python3.
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace remede::test {
namespace {

using json = nlohmann::ordered_json;
using testing::HasSubstr;

constexpr int kSequences = 100, kSteps = 8;  // sign-memory with delay 1: three blocks of two steps, two delays

class Reproduce : public CliTest {
 protected:
  // One trial of sign-memory with seed 7.
  static json trial(const std::string& method) {
    const Result said =
        shell(fmt::format("$remede reproduce --json --tasks sign-memory --delay 1 --trials 1 --seed 7 --sequences {} "
                          "--methods {}",
                          kSequences, method));
    EXPECT_EQ(said.code, 0) << said.err;
    return json::parse(said.out).at("trials").at(0);
  }

  // The same data as three files: 60 / 20 / 20.
  static void write_parts() {
    const int rows = kSequences * kSteps;
    const Result made = shell(fmt::format(
        "$remede generate sign-memory --delay 1 --seed 7 --sequences {} -o all.csv --quiet && "
        "test $(wc -l < all.csv) = {} && head -n {} all.csv > training.csv && "
        "(head -n 1 all.csv; sed -n {},{}p all.csv) > validation.csv && (head -n 1 all.csv; sed -n {},{}p all.csv) > "
        "test.csv",
        kSequences, rows + 1, rows * 6 / 10 + 1, rows * 6 / 10 + 2, rows * 8 / 10 + 1, rows * 8 / 10 + 2, rows + 1));
    ASSERT_EQ(made.code, 0) << made.err;
  }

  // What training says, with the accuracy on the test data.
  static json train(const std::string& flags) {
    const Result said =
        shell("$remede train training.csv --validation validation.csv -o m.json --json --quiet " + flags);
    EXPECT_EQ(said.code, 0) << said.err;
    json result = json::parse(said.out);
    const Result tested = shell("$remede evaluate m.json test.csv --json --quiet");
    EXPECT_EQ(tested.code, 0) << tested.err;
    result["accuracy"] = json::parse(tested.out).at("accuracy");
    return result;
  }
};

using ReproduceSlow = Reproduce;

TEST_F(ReproduceSlow, TheSingleStartIsThatOfTheRecipeSimplifiedPrunedAndRaw) {
  write_parts();
  const json row = trial("paper-recipe");
  const json finished = train("--recipe paper --seed 7"), raw = train("--recipe paper --seed 7 --simplify no");
  EXPECT_EQ(row.at("accuracy"), finished.at("accuracy")) << row;
  EXPECT_EQ(row.at("nodes"), finished.at("nodes")) << row;
  EXPECT_EQ(row.at("raw").at("accuracy"), raw.at("accuracy")) << row;
  EXPECT_EQ(row.at("raw").at("nodes"), 127) << row;
  EXPECT_LT(row.at("pruned").at("nodes"), 127) << row;
  EXPECT_GT(row.at("pruned").at("nodes"), row.at("nodes")) << row;
}

TEST_F(ReproduceSlow, TheBestOfThreeHasTheLowestValidationLossOfThreeLongerStarts) {
  write_parts();
  json recipe = json::parse(shell("$remede recipe paper").out);
  for (const char* rate : {"rate_index", "rate_threshold"}) recipe.at(rate) = 3 * recipe.at(rate).get<double>();
  recipe.at("single_updates") = 60000;
  write("one.json", recipe.dump());
  recipe.at("restarts") = 3;
  write("three.json", recipe.dump());
  const json one = train("--seed 7 --simplify no --recipe one.json"),
             best = train("--seed 7 --simplify no --recipe three.json");
  EXPECT_LE(best.at("validation").at("log_loss"), one.at("validation").at("log_loss"));
  EXPECT_EQ(trial("paper-best-of-3").at("raw").at("accuracy"), best.at("accuracy"));
}

TEST_F(ReproduceSlow, TablesHaveRowsForRawAndPrunedTreesAndTheMeanOfThePaper) {
  const Result said = shell("$remede reproduce --trials 1 --sequences 50 --methods paper-recipe,naive");
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("paper-recipe, raw"));
  EXPECT_THAT(said.out, HasSubstr("paper-recipe, pruned"));
  EXPECT_THAT(said.out, testing::ContainsRegex("paper: ReMeDe +22.2 +20.2 +21.0 +23.0 +43.8 +26.0\n"));
  EXPECT_THAT(said.out, testing::ContainsRegex("paper: naive +0.930 ±0.002 "));
}

TEST_F(Reproduce, WithoutPyTorchTheLstmIsSkippedWithOneLine) {
  const std::string line =
      "PATH=\"$PWD\" \"$remede\" reproduce --tasks fixed-delay --trials 1 --sequences 50 --methods lstm,naive";
  const Result said = shell(line);
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("\nlstm: skipped: expected python3 with PyTorch and NumPy, got none\n"));
  EXPECT_THAT(said.out, HasSubstr("\nnaive"));
  const json skipped = json::parse(shell(line + " --json").out).at("skipped");
  EXPECT_EQ(skipped.size(), 1U);
  EXPECT_TRUE(skipped.contains("lstm"));
}

// A python3 whose network knows the test targets, and one that fails.
TEST_F(Reproduce, TheLstmAnswersForEveryTestStep) {
  write("learn.py",
        "import json, sys\n"
        "data = json.load(open(sys.argv[2]))\n"
        "compile(open(sys.argv[1]).read(), 'script', 'exec')\n"
        "assert len(data['training']['x']) == 30 and len(data['training']['x'][0][0]) == 2\n"
        "json.dump({'answers': data['test']['y']}, open(sys.argv[3], 'w'))\n");
  const std::string line =
      "mkdir -p bin && printf '#!/bin/sh\\ntest \"$1\" = -c && exit 0\\n%s\\n' \"$command\" > bin/python3 && "
      "chmod +x bin/python3 && PATH=\"$PWD/bin:$PATH\" \"$remede\" reproduce --tasks fixed-delay-2 --trials 1 "
      "--sequences 50 --methods lstm --json";
  const Result said = shell("command=\"exec $(command -v python3) $PWD/learn.py \\\"\\$@\\\"\"; " + line);
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(json::parse(said.out).at("trials").at(0).at("accuracy"), 1.0);
  const Result failed = shell("command='echo no such layer; exit 1'; " + line);
  EXPECT_TRUE(is_error(failed, 1, "expected answers of python3, got: no such layer"));
}

}  // namespace
}  // namespace remede::test

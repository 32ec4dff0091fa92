// No option without effect: every option that `remede train --help` lists changes the model, is refused with the
// reason, or is one of the few that change something else, which is then checked. An option that nobody entered here
// fails the test.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "remede/executor/cuda/cuda.h"

namespace remede {
namespace {

using json = nlohmann::ordered_json;
using test::Result;
using test::shell;
using ::testing::HasSubstr;

// The commands take data.csv unless they name their data. After so few updates a model of patterns, which takes none,
// would be the best whatever the options of the search say. `kSmall` keeps a fit below half a second.
const std::string kNoPatterns = "--recipe search.json ";
const std::string kSmall = kNoPatterns + "--updates 80 --starts 2 --simplify no ";
const std::string kPaper = "--recipe paper --updates 40 --simplify no ";

enum class Outcome { kChanges, kRefused, kSame };

struct Case {
  Outcome outcome;
  std::string base;    // flags that both fits have
  std::string option;  // what the second has beyond them
  std::string says;    // refused: a part of the message
};

Case changes(const std::string& base, const std::string& option) { return {Outcome::kChanges, base, option, ""}; }
Case refused(const std::string& base, const std::string& option, const std::string& says) {
  return {Outcome::kRefused, base, option, says};
}
Case same(const std::string& base, const std::string& option) { return {Outcome::kSame, base, option, ""}; }

// Outcomes of options that do not concern the model have tests of their own, named here.
using Cases = std::map<std::string, std::vector<Case>>;

Cases parameter_cases() {
  const std::string no_memory = kSmall + "--memory 0 ", flat = kSmall + "--depth 0 ", rich = kSmall + "--form rich ";
  const std::string papers_leaf = kSmall + "--form paper ";
  return {
      {"--seed", {changes(kSmall, "--seed 2")}},
      {"--recipe",
       {changes("--updates 40 --simplify no ", "--recipe paper"),
        changes("--updates 40 --simplify no ", "--recipe gradtree")}},
      {"--starts",
       {changes(kNoPatterns + "--updates 40 --simplify no ", "--starts 3"),
        refused(kPaper, "--starts 3", "one start")}},
      {"--effort",
       {changes("--starts 2 --simplify no --form paper ", "--effort quick"),
        refused(kPaper, "--effort thorough", "--updates or --epochs fix")}},
      {"--simplify", {changes(kNoPatterns + "--updates 40 --starts 2 ", "--simplify no")}},
      {"--improve",
       {changes(kNoPatterns + "--updates 100 --starts 4 ", "--improve no"),
        refused(kSmall, "--improve yes", "simplified tree"), refused(kSmall, "--improve no", "simplified tree")}},
      {"--trees",
       {changes(kSmall, "--trees 2"), refused(kPaper, "--trees 2", "one tree"),
        refused(kSmall, "--trees 5", "at most as many as --starts")}},
      // What they choose is tested in frontier_test.cpp.
      {"--numbers",
       {changes("values.csv --updates 40 --starts 2 ", "--numbers 7"),
        refused(kSmall, "--numbers 3", "without --simplify yes"),
        refused(kPaper, "--numbers 3", "no choice among models")}},
      {"--accurate",
       {refused(kSmall, "--accurate", "without --simplify yes"),
        refused("--numbers 3 ", "--accurate", "--numbers already says")}},
      {"--increasing",
       {refused(kSmall, "--increasing x1", "without --simplify yes"), refused("", "--increasing nobody", "nobody")}},
      {"--decreasing", {refused("--trees 2 --starts 2 ", "--decreasing x1", "several trees")}},
      {"--objective", {changes("values.csv " + kSmall, "--objective huber")}},
      {"--quantiles",
       {changes("values.csv " + kSmall + "--objective quantile ", "--quantiles 0.2,0.8"),
        refused("values.csv " + kSmall, "--quantiles 0.2,0.8", "expected --objective quantile")}},
      {"--executor", {changes(kSmall, "--executor plain")}},
      {"--device",
       {same(kSmall, "--device auto"),
        why_no_gpu().empty() ? changes(kSmall, "--device gpu") : refused(kSmall, "--device gpu", "expected a GPU"),
        refused(kSmall + "--executor plain ", "--device auto", "expected cpu with --executor plain")}},
      {"--depth", {changes(kSmall, "--depth 2"), changes(kPaper, "--depth 2")}},
      {"--memory", {changes(kSmall, "--memory 1"), changes(kPaper, "--memory 0")}},
      {"--form", {changes(kSmall, "--form paper"), changes(kSmall, "--form rich"), changes(kPaper, "--form rich")}},
      {"--write-rule", {changes(kSmall, "--write-rule blend"), refused(no_memory, "--write-rule add", "no writes")}},
      {"--write-reads",
       {changes(kSmall, "--write-reads inputs-and-memory"),
        refused(no_memory, "--write-reads inputs-and-memory", "no writes")}},
      {"--write-bias", {changes(kSmall, "--write-bias no"), refused(no_memory, "--write-bias yes", "no writes")}},
      {"--leaf-output", {changes(kSmall, "--leaf-output linear"), changes(kPaper, "--leaf-output linear")}},
      {"--output-order", {changes(kSmall, "--output-order first"), changes(kPaper, "--output-order first")}},
      {"--updates",
       {changes("--starts 2 --simplify no ", "--updates 30"),
        changes("--starts 2 --simplify no --form rich ", "--updates 30"),
        changes("--recipe paper --simplify no --depth 2 --patience 100 ", "--updates 30"),
        refused("--starts 2 ", "--updates 30 --epochs 2", "got both")}},
      {"--epochs",
       {changes("--starts 2 --simplify no ", "--epochs 3"),
        changes("--recipe paper --simplify no --depth 2 --patience 100 ", "--epochs 3")}},
      {"--batch", {changes(kSmall, "--batch 8"), changes(rich, "--batch 40"), changes(kPaper, "--batch 8")}},
      {"--patience",
       {changes("--recipe paper --simplify no --depth 2 --updates 400 --validate-every 10 ", "--patience 20"),
        refused(kSmall, "--patience 20", "--recipe paper")}},
      {"--validate-every",
       {changes(kPaper, "--validate-every 7"), refused(kSmall, "--validate-every 7", "--recipe paper")}},
      {"--decay", {changes(kPaper, "--decay 0.7"), refused(kSmall, "--decay 0.7", "--recipe paper")}},
      {"--validation-fraction",
       {changes(kSmall, "--validation-fraction 0.4"), changes("few.csv " + kSmall, "--validation-fraction 0.1"),
        changes("few.csv " + kSmall, "--validation-fraction 0.7"),
        refused(kSmall + "--validation other.csv ", "--validation-fraction 0.4", "validation data are given"),
        refused("parts.csv " + kSmall + "--split part ", "--validation-fraction 0.4", "column 'part' says")}},
      {"--class-weights",
       {changes(kSmall, "--class-weights balanced"),
        refused("values.csv " + kSmall, "--class-weights balanced", "regression has no classes")}},
      {"--standardise", {changes("values.csv " + kSmall, "--standardise no"), changes(kSmall, "--standardise yes")}},
      {"--split-gradient",
       {changes(kSmall, "--split-gradient sigmoid"), refused(flat, "--split-gradient sigmoid", "no splits")}},
      {"--slope", {changes(kSmall, "--slope 2"), refused(flat, "--slope 2", "no splits")}},
      {"--index-gradient",
       {changes(kSmall, "--index-gradient identity"), changes(kSmall, "--index-gradient entmax"),
        refused(flat, "--index-gradient identity", "no splits"),
        refused(no_memory, "--index-gradient identity", "one input and no memory")}},
      {"--mix", {changes(kSmall, "--mix effects"), refused(flat, "--mix effects", "no splits")}},
      {"--clip", {changes(kSmall, "--clip 0.01"), changes(kPaper, "--clip 0.01")}},
      {"--rate-index",
       {changes(kSmall, "--rate-index 3"), changes(rich + "--depth 2 ", "--rate-index 3"),
        refused(flat, "--rate-index 3", "no splits"), refused(no_memory, "--rate-index 3", "one input and no memory")}},
      {"--rate-threshold",
       {changes(kSmall, "--rate-threshold 1"), changes(rich + "--depth 2 ", "--rate-threshold 1"),
        refused(flat, "--rate-threshold 1", "no splits")}},
      {"--rate-output", {changes(kSmall, "--rate-output 0.01"), changes(rich, "--rate-output 0.01")}},
      {"--rate-gate", {changes(kSmall, "--rate-gate 2"), refused(no_memory, "--rate-gate 2", "no writes")}},
      {"--rate-write", {changes(kSmall, "--rate-write 2"), refused(no_memory, "--rate-write 2", "no writes")}},
      {"--rate-bias",
       {changes(kSmall, "--rate-bias 2"), refused(no_memory, "--rate-bias 2", "no writes"),
        refused(papers_leaf, "--rate-bias 2", "no bias"), refused(kPaper, "--rate-bias 2", "no bias"),
        refused(kSmall + "--write-bias no ", "--rate-bias 2", "no bias")}},
      {"--rate-rate",
       {changes(kSmall + "--write-rule blend ", "--rate-rate 2"), refused(no_memory, "--rate-rate 2", "no writes"),
        refused(kSmall + "--write-rule add ", "--rate-rate 2", "do not blend"),
        refused(kPaper, "--rate-rate 2", "do not blend")}},
      {"--rate-linear",
       {changes(rich, "--rate-linear 1"), refused(kPaper, "--rate-linear 1", "constant outputs"),
        refused(papers_leaf, "--rate-linear 1", "constant outputs"),
        refused(kSmall + "--leaf-output constant ", "--rate-linear 1", "constant outputs")}},
      {"--threads", {same(kSmall, "--threads 1")}},
  };
}

Cases data_cases() {
  const std::string columns = "columns.csv " + kSmall + "--target goal ";
  return {
      {"--test",
       {changes(kSmall, "--test 0.3"), refused(kSmall, "--test 1.5", "a share between 0 and 1"),
        refused(kSmall + "--split time ", "--test 0.3", "give the test data as a file")}},
      {"--start-from",
       {changes("", "--start-from start.json"), refused("--depth 3 ", "--start-from start.json", "has no effect"),
        refused("--split time ", "--start-from start.json", "both")}},
      {"--validation", {changes(kSmall, "--validation other.csv")}},
      {"--split",
       {changes(kSmall, "--split time"), refused(kSmall + "--validation other.csv ", "--split time", "both")}},
      {"--shard",
       {changes(kSmall, "--shard rows"), refused(kSmall + "--split time ", "--shard rows", "got both"),
        refused(kSmall + "--validation other.csv ", "--shard rows", "got both"),
        refused(kSmall + "--test 0.3 ", "--shard rows", "give the test data as a file"),
        refused("--start-from start.json ", "--shard rows", "got both"),
        refused(kPaper, "--shard rows", "expected the default recipe"),
        refused("odd.csv " + kSmall + "--separator '|' --target goal ", "--shard rows", "--id row")}},
      {"--id", {changes(columns, "--id name")}},
      {"--time", {changes(columns + "--id name ", "--time clock")}},
      {"--target", {changes("columns.csv " + kSmall, "--target b")}},
      {"--ignore", {changes(columns, "--ignore a")}},
      {"--weight", {changes(columns, "--weight b")}},
      {"--target-per", {changes(columns + "--id name ", "--target-per sequence")}},
      {"--task", {changes(columns, "--task regression")}},
      {"--categorical", {changes(columns, "--categorical a")}},
      {"--horizon", {changes(columns + "--id name ", "--horizon 1")}},
      {"--time-gap", {changes(columns + "--id name --time clock ", "--time-gap")}},
      {"--roles", {changes("columns.csv " + kSmall, "--roles roles.json")}},
      {"--names", {changes("columns.csv " + kSmall, "--names n1,n2,n3,goal,n5 --target goal --skip 1")}},
      {"--separator", {changes("odd.csv " + kSmall + "--comment '#' ", "--separator '|' --target goal")}},
      {"--comment", {changes("odd.csv " + kSmall + "--separator '|' --target goal ", "--comment '#'")}},
      {"--skip", {changes("plain.csv " + kSmall + "--names n1,n2,n3,goal,n5 --target goal ", "--skip 6")}},
      {"--memory-limit",
       {same(kSmall, "--memory-limit 100M"), refused(kSmall, "--memory-limit soon", "--memory-limit")}},
  };
}

// Each with the test below that shows what it does.
const std::set<std::string> kOtherEffects = {
    "--help",         // usage_test.cpp
    "--output",       // below
    "--json",         // json_test.cpp
    "--quiet",        // below
    "--verbose",      // below
    "--frontier",     // frontier_test.cpp
    "--checkpoint",   // below
    "--resume",       // below
    "--start-from",   // below
    "--time-limit",   // TimeLimit below
    "--strict-time",  // tests/data/formats_test.cpp: it refuses duplicate times
};

class Options : public test::CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    write("search.json", R"({"base": "default", "pattern_sequences": 1000000000})");
    ASSERT_EQ(shell("$remede generate fixed-delay --sequences 120 --quiet -o data.csv && "
                    "$remede generate fixed-delay --sequences 60 --seed 9 --quiet -o other.csv && "
                    "$remede generate fixed-delay --sequences 40 --quiet -o few.csv && "
                    "$remede train few.csv --quiet -o start.json " +
                    kSmall +
                    "&& "
                    "sed '1s/$/,part/; 2,500s/$/,train/; 501,$s/$/,validation/' data.csv > parts.csv")
                  .code,
              0);
    std::string columns = "name,clock,a,goal,b\n", odd = "a|goal\n", values = "id,time,x,y\n";
    for (int i = 0; i < 120; ++i) {
      const int a = i * 7 % 11, b = i * 5 % 3 + 1;
      columns += fmt("s" + std::to_string(i / 6), 10 - i % 6, a, i % 5 == 0 ? 1 + a % 3 : a % 3, b);
      odd += (i % 10 == 9 ? "#" : "") + std::to_string(a) + "|" + std::to_string(a % 3) + "\n";
      values += std::to_string(i / 6) + "," + std::to_string(i % 6) + "," + std::to_string(a * 100) + "," +
                std::to_string(a * 1000 + b) + ".5\n";
    }
    write("columns.csv", columns);
    write("plain.csv", columns.substr(columns.find('\n') + 1));
    write("odd.csv", odd);
    write("values.csv", values);
    write("roles.json", R"({"target": "goal", "id": "name"})");
  }

  static std::string fmt(const std::string& name, int clock, int a, int goal, int b) {
    return name + "," + std::to_string(clock) + "," + std::to_string(a) + "," + std::to_string(goal) + "," +
           std::to_string(b) + "\n";
  }

  static Result train(const std::string& flags) {
    const bool named = flags.find(".csv") < flags.find(' ');
    return shell("$remede train " + std::string(named ? "" : "data.csv ") + flags + " --quiet -o model.json");
  }

  // What was learned; what the file says of the settings is left out.
  json learned() const {
    json model = json::parse(read("model.json"));
    model.at("training").erase("settings");
    return model;
  }

  const json& fitted(const std::string& base) {
    const auto known = fitted_.find(base);
    if (known != fitted_.end()) return known->second;
    const Result result = train(base);
    EXPECT_EQ(result.code, 0) << base << ": " << result.err;
    return fitted_[base] = result.code == 0 ? learned() : json();
  }

  void expect(const Case& c) {
    if (c.outcome == Outcome::kRefused) {
      const Result result = train(c.base + c.option);
      EXPECT_NE(result.code, 0) << c.base << c.option << " was accepted";
      EXPECT_THAT(result.err, HasSubstr(c.says)) << c.base << c.option;
      return;
    }
    const bool changes = c.outcome == Outcome::kChanges;
    // Data that cannot be read without the option are changed by it, too.
    const Result without = train(c.base);
    const json before = without.code == 0 ? fitted(c.base) : json();
    const Result result = train(c.base + " " + c.option);
    ASSERT_EQ(result.code, 0) << c.base << c.option << ": " << result.err;
    EXPECT_EQ(learned() != before, changes)
        << c.base << c.option << (changes ? " changed nothing" : " changed the model");
  }

 private:
  std::map<std::string, json> fitted_;
};

std::set<std::string> options_in_help() {
  std::set<std::string> options;
  std::istringstream lines(shell("$remede train --help").out);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("  -", 0) != 0) continue;
    const std::size_t at = line.find("--");
    const std::size_t end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-", at);
    options.insert(line.substr(at, end - at));
  }
  return options;
}

TEST_F(Options, EveryOptionOfTrainIsCovered) {
  std::set<std::string> covered = kOtherEffects;
  for (const Cases& cases : {parameter_cases(), data_cases()})
    for (const auto& [name, list] : cases) {
      EXPECT_FALSE(list.empty()) << name;
      covered.insert(name);
    }
  const std::set<std::string> listed = options_in_help();
  EXPECT_GT(listed.size(), 50U);
  for (const std::string& option : listed)
    EXPECT_TRUE(covered.count(option) == 1) << option << " is not covered: add a case that shows its effect";
  for (const std::string& option : covered) EXPECT_TRUE(listed.count(option) == 1) << option << " is no option";
}

TEST_F(Options, ParametersChangeTheModelOrAreRefused) {
  for (const auto& [name, cases] : parameter_cases())
    for (const Case& c : cases) expect(c);
}

TEST_F(Options, DataOptionsChangeTheModelOrAreRefused) {
  for (const auto& [name, cases] : data_cases())
    for (const Case& c : cases) expect(c);
}

TEST_F(Options, OutputQuietCheckpointAndResumeDoWhatTheySay) {
  const Result quiet = train(kSmall + "--checkpoint run.checkpoint");
  EXPECT_EQ(quiet.out + quiet.err, "");
  const std::string model = read("model.json");
  EXPECT_THAT(shell("$remede train data.csv " + kSmall + "-o other.json").out, HasSubstr("saved: other.json"));
  EXPECT_EQ(read("other.json"), model);
  ASSERT_EQ(shell("rm model.json; $remede train --resume run.checkpoint --quiet").code, 0);
  EXPECT_EQ(read("model.json"), model);
}

TEST_F(Options, StartFromKeepsTheStructure) {
  ASSERT_EQ(train(kSmall).code, 0);
  ASSERT_EQ(shell("$remede train data.csv --start-from model.json -o adapted.json --quiet").code, 0);
  EXPECT_NE(read("adapted.json"), read("model.json"));
  EXPECT_EQ(shell("$remede show model.json | grep -c say").out, shell("$remede show adapted.json | grep -c say").out);
  for (const char* const other :
       {"--resume x.checkpoint", "--checkpoint x.checkpoint", "--split time", "--frontier all"})
    EXPECT_TRUE(test::is_error(shell(std::string("$remede train data.csv --start-from model.json ") + other), 2,
                               "expected --start-from or --"))
        << other;
  EXPECT_TRUE(
      test::is_error(shell("$remede train data.csv --start-from model.json -o b.json --test 0.2"), 2, "with a share"));
  EXPECT_TRUE(
      test::is_error(shell("$remede train data.csv --start-from model.json -o b.json --depth 2"), 1, "no effect here"));
}

TEST_F(Options, VerbosePrintsALineForEveryRoundWithoutATerminal) {
  const Result result = shell("$remede train data.csv " + kSmall + "--verbose -o model.json");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("stage 1 of 3, round 1, 2 starts"));
  EXPECT_THAT(result.err, HasSubstr("stage 1 of 3, round 2, 2 starts, the last"));
  EXPECT_THAT(result.err, HasSubstr(" left  "));
  EXPECT_TRUE(test::is_error(shell("$remede train data.csv --verbose --quiet"), 2, "--quiet excludes --verbose"));
}

TEST_F(Options, TestGivesAnUnbiasedScoreAndRecordsIt) {
  // From a file: the same model as without, plus the score that evaluate gives.
  ASSERT_EQ(train(kSmall).code, 0);
  json without = learned();
  const Result result = shell("$remede train data.csv " + kSmall + "--test other.csv -o model.json");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("used for selection"));
  EXPECT_THAT(result.out, HasSubstr("not used for training or selection"));
  json with = learned();
  const json test = with.at("training").at("test");
  with.at("training").erase("test");
  EXPECT_EQ(with, without) << "test data changed the model";
  const json said = json::parse(shell("$remede evaluate model.json other.csv --json --quiet").out);
  EXPECT_EQ(test.at("accuracy"), said.at("accuracy"));
  EXPECT_EQ(test.at("sequences"), 60);
  // A share of whole sequences, and the end of one recording.
  ASSERT_EQ(train(kSmall + "--test 0.25").code, 0);
  EXPECT_EQ(learned().at("training").at("test").at("sequences"), 30);
  ASSERT_EQ(train("columns.csv " + kSmall + "--target goal --ignore name,clock --test 0.25").code, 0);
  EXPECT_EQ(learned().at("training").at("test").at("sequences"), 1);
  EXPECT_EQ(learned().at("training").at("test").at("targets"), 30);
}

TEST_F(Options, UpdatesLimitTheUpdatesOfAStart) {
  // Loss curves have as many points as validations: with one update in all, most of them look at the same tree.
  ASSERT_EQ(train("--starts 2 --simplify no --updates 1").code, 0);
  const std::vector<double> one = learned().at("training").at("validation_loss");
  std::set<double> different(one.begin(), one.end());
  EXPECT_LE(different.size(), 2U);
}

TEST_F(Options, TimeLimitEndsInTimeAndIsRecorded) {
  ASSERT_EQ(shell("$remede generate sign-memory --sequences 4000 --quiet -o large.csv").code, 0);
  const auto began = std::chrono::steady_clock::now();
  const Result result = shell("$remede train large.csv --starts 512 --time-limit 2s -o model.json");
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_LT(seconds, 2 * 1.1 + 1);
  EXPECT_THAT(result.err, HasSubstr("time limit"));
  EXPECT_THAT(read("model.json"), HasSubstr("cut short by its time limit"));
  EXPECT_THAT(read("model.json"), HasSubstr("\"time_limit\": \"2s\""));
  EXPECT_TRUE(test::is_error(train("--time-limit soon"), 2, "--time-limit: expected a duration such as 30s"));
}

}  // namespace
}  // namespace remede

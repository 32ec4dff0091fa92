// The default recipe as a user meets it: small versions of what bench/tasks.py, bench/beyond.py and bench/ablations.py
// measure.
#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace remede {
namespace {

using json = nlohmann::ordered_json;
using test::CliTest;
using test::Result;
using test::shell;

class RecipeSlow : public CliTest {
 protected:
  // Trains with default settings and gives the scores on the test file.
  static json learn(const std::string& generate, const std::string& generate_test, const std::string& flags = "") {
    EXPECT_EQ(shell("$remede generate " + generate + " --seed 41 -o train.csv --quiet").code, 0);
    EXPECT_EQ(shell("$remede generate " + generate_test + " --seed 42 -o test.csv --quiet").code, 0);
    EXPECT_EQ(shell("$remede train train.csv -o model.json --quiet " + flags).code, 0);
    const Result said = shell("$remede evaluate model.json test.csv --json --quiet");
    EXPECT_EQ(said.code, 0) << said.err;
    return json::parse(said.out);
  }
};

TEST_F(RecipeSlow, solves_the_tasks_of_the_paper_and_reproduce_says_so) {
  const Result r =
      shell("$remede reproduce --json --trials 1 --sequences 4000 --seed 77 --methods default,naive,random");
  ASSERT_EQ(r.code, 0) << r.err;
  const json trials = json::parse(r.out).at("trials");
  for (const json& row : trials) {
    EXPECT_EQ(row.at("seed"), 77);
    const double accuracy = row.at("accuracy"), recall = row.at("recall"), nodes = row.at("nodes");
    if (row.at("method") == "default") {
      EXPECT_GE(accuracy, 0.999) << row;
      EXPECT_GE(recall, 0.99) << row;
      EXPECT_LE(nodes, 31) << row;
    } else if (row.at("method") == "naive") {
      EXPECT_NEAR(accuracy, 0.9, 0.04) << row;
    } else {
      EXPECT_NEAR(accuracy, 1.0 / 3, 0.02) << row;
    }
  }
  EXPECT_EQ(trials.size(), 15U);
}

TEST_F(RecipeSlow, keeps_parity_over_lengths_never_seen) {
  const json said = learn("parity --sequences 2000", "parity --sequences 100 --length-min 200 --length-max 200");
  EXPECT_GE(said.at("accuracy").get<double>(), 0.999);
}

TEST_F(RecipeSlow, holds_a_memory_over_delays_never_seen) {
  const json said =
      learn("variable-delay --sequences 3000", "variable-delay --sequences 50 --delay-min 3000 --delay-max 3000");
  EXPECT_GE(said.at("balanced_accuracy").get<double>(), 0.97);
}

TEST_F(RecipeSlow, learns_with_the_leaf_of_the_paper) {
  const json said = learn("fixed-delay --sequences 3000", "fixed-delay --sequences 1000", "--form paper");
  EXPECT_GE(said.at("accuracy").get<double>(), 0.998);
  const json model = json::parse(read("model.json"));
  EXPECT_EQ(model.at("trees")[0].at("leaf_output"), "constant");
  EXPECT_EQ(model.at("trees")[0].at("write_rule"), "add");
  EXPECT_EQ(model.at("trees")[0].at("write_bias"), false);
}

TEST_F(RecipeSlow, averages_several_trees) {
  const json said = learn("fixed-delay --sequences 1500", "fixed-delay --sequences 500", "--trees 3");
  EXPECT_GE(said.at("accuracy").get<double>(), 0.995);
  EXPECT_EQ(json::parse(read("model.json")).at("trees").size(), 3U);
}

TEST_F(RecipeSlow, a_bench_reads_what_reproduce_prints) {
  const std::string bench = std::string(REMEDE_TESTS_DIR) + "/../bench/";
  const Result tasks = shell(
      "python3 " + bench + "tasks.py --remede $remede --seeds 2 --sequences 100 --methods naive,random --report-only");
  EXPECT_EQ(tasks.code, 0) << tasks.err;
  EXPECT_NE(tasks.out.find("0 of 2"), std::string::npos) << tasks.out;
}

using RecipeLong = RecipeSlow;

TEST_F(RecipeLong, benches_run) {
  const std::string bench = std::string(REMEDE_TESTS_DIR) + "/../bench/";
  const Result tasks =
      shell("python3 " + bench + "tasks.py --remede $remede --seeds 1 --sequences 600 --methods default --report-only");
  EXPECT_EQ(tasks.code, 0) << tasks.err;
  const Result beyond =
      shell("python3 " + bench + "beyond.py --remede $remede --seeds 1 --parts classic --tasks tomita-1 --report-only");
  EXPECT_EQ(beyond.code, 0) << beyond.err;
  const Result ablations = shell("python3 " + bench + "ablations.py --remede $remede --seeds 1 --only 'one start'");
  EXPECT_EQ(ablations.code, 0) << ablations.err;
  const Result fields = shell("python3 " + bench + "ablations.py --remede $remede --seeds 1 --fields finalists");
  EXPECT_EQ(fields.code, 0) << fields.err;
  EXPECT_NE(fields.out.find("finalists 8"), std::string::npos) << fields.out;
}

}  // namespace
}  // namespace remede

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace remede::test {
namespace {

using VerifyCommand = CliTest;

// Says 1 from the step on at which the bits so far hold two ones in a row; a flag keeps it.
const char* const kTwoOnes =
    R"({"format": "remede model", "version": 1, "task": "classification", "inputs": ["x1"], "fill": [0],
 "targets": ["y"], "classes": ["0", "1"], "id": "sequence", "time": "step",
 "trees": [{"cells": 2, "write_rule": "blend", "write_reads": "inputs", "write_bias": true, "leaf_output": "constant",
   "output_order": "zero",
   "nodes": [{"number": 0, "cell": 1, "threshold": 0.5, "missing": "left", "left": 1, "right": 3},
             {"number": 1, "input": "x1", "threshold": 0.5, "missing": "left", "left": 4, "right": 2},
             {"number": 2, "cell": 0, "threshold": 0.5, "missing": "left", "left": 5, "right": 6}],
   "leaves": [{"number": 3, "output": [-4, 4], "writes": []},
              {"number": 4, "output": [4, -4], "writes": [{"cell": 0, "blend": 1, "bias": -9, "weights": [0]}]},
              {"number": 5, "output": [4, -4], "writes": [{"cell": 0, "blend": 1, "bias": 9, "weights": [0]}]},
              {"number": 6, "output": [-4, 4], "writes": [{"cell": 1, "blend": 1, "bias": 9, "weights": [0]}]}]}],
 "training": {"settings": {}, "training_loss": [], "validation_loss": []}})";

const char* const kAutomaton = R"({"input": "x1", "alphabet": [0, 1], "states": ["none", "one", "two"], "start": "none",
 "transitions": {"none": {"0": "none", "1": "one"}, "one": {"0": "none", "1": "two"}, "two": {"0": "two", "1": "two"}},
 "accepting": ["two"], "accept": "1"})";

TEST_F(VerifyCommand, ExitCodesAndTexts) {
  write("m.json", kTwoOnes);
  const Result holds = remede({"verify", "m.json", "--property", "never says 1 unless once (x1 >= 0.5 for 2 steps)"});
  EXPECT_EQ(holds.code, 0) << holds.err;
  EXPECT_THAT(holds.out, testing::HasSubstr("holds: never says 1 unless once (x1 >= 0.5 for 2 steps)\n"));
  const Result fails = remede({"verify", "m.json", "-p", "says 1 implies x1 >= 0.5", "--counterexample", "ce.csv"});
  EXPECT_EQ(fails.code, 3);
  EXPECT_THAT(fails.out, testing::HasSubstr("broken at step 3; no shorter sequence breaks it"));
  const Result replayed = remede({"predict", "m.json", "ce.csv"});
  EXPECT_EQ(replayed.code, 0) << replayed.err;
  EXPECT_THAT(replayed.out, testing::HasSubstr("1,2,1,"));
  EXPECT_EQ(remede({"verify", "m.json", "-p", "says 1 implies x1 >= 0.5", "-p", "always m1 >= -1"}).code, 3);
}

// A row of missing values must not become a blank line.
TEST_F(VerifyCommand, CounterexamplesWithoutIdAndTime) {
  std::string model = kTwoOnes;
  model.replace(model.find("\"id\": \"sequence\", \"time\": \"step\""), 32, "\"id\": \"\", \"time\": \"\"");
  write("m.json", model);
  const Result fails =
      remede({"verify", "m.json", "-p", "x1 present", "-p", "never says 1", "--counterexample", "ce.csv"});
  EXPECT_EQ(fails.code, 3);
  EXPECT_THAT(fails.err, testing::HasSubstr("only the first counterexample was written"));
  EXPECT_EQ(read("ce.csv"), "row,x1\n1,\n");
  EXPECT_EQ(remede({"predict", "m.json", "ce.csv"}).code, 0);
}

TEST_F(VerifyCommand, Json) {
  write("m.json", kTwoOnes);
  write("p.txt", "# both\nalways m1 <= 1\nnever says 1\n");
  const Result result = remede({"verify", "m.json", "--properties", "p.txt", "--json"});
  EXPECT_EQ(result.code, 3);
  const auto json = nlohmann::ordered_json::parse(result.out);
  ASSERT_EQ(json["results"].size(), 2U);
  EXPECT_EQ(json["results"][0]["verdict"], "holds");
  EXPECT_EQ(json["results"][1]["verdict"], "fails");
  EXPECT_EQ(json["results"][1]["counterexample"].size(), 2U);
}

TEST_F(VerifyCommand, Automaton) {
  write("m.json", kTwoOnes);
  write("a.json", kAutomaton);
  const Result same = remede({"verify", "m.json", "--automaton", "a.json"});
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  std::string other = kAutomaton;
  other.replace(other.find("\"two\": {\"0\": \"two\""), 18, "\"two\": {\"0\": \"one\"");
  write("b.json", other);
  const Result differs = remede({"verify", "m.json", "--automaton", "b.json"});
  EXPECT_EQ(differs.code, 3);
  EXPECT_THAT(differs.out, testing::HasSubstr("broken at step 3; no shorter"));
  write("c.json", R"({"alphabet": [0, 1], "states": ["a"], "transitions": {"a": {"0": "a"}}, "accepting": []})");
  EXPECT_TRUE(
      is_error(remede({"verify", "m.json", "--automaton", "c.json"}), 1, "transitions of 'a': expected the key \"1\""));
}

TEST_F(VerifyCommand, EqualModels) {
  write("m.json", kTwoOnes);
  std::string changed = kTwoOnes;
  changed.replace(changed.find("\"threshold\": 0.5"), 16, "\"threshold\": 2.5");
  write("n.json", changed);
  EXPECT_EQ(remede({"verify", "m.json", "--equals", "m.json"}).code, 0);
  const Result differs = remede({"verify", "m.json", "--equals", "n.json", "--counterexample", "ce.csv"});
  EXPECT_EQ(differs.code, 3);
  EXPECT_THAT(read("ce.csv"), testing::HasSubstr("sequence,step,x1\n1,0,"));
}

TEST_F(VerifyCommand, ChecksWithoutAProperty) {
  write("m.json", kTwoOnes);
  write("d.csv", "sequence,step,x1\n1,0,0\n1,1,1\n1,2,0.25\n");
  const Result checks = remede({"verify", "m.json"});
  EXPECT_EQ(checks.code, 0) << checks.err;
  EXPECT_THAT(checks.out, testing::HasSubstr("  cell m1: -1 to 1\n  cell m2: 0 to 1\n"));
  const Result robust = remede({"verify", "m.json", "--robust", "d.csv"});
  EXPECT_THAT(robust.out,
              testing::HasSubstr("robust: no answer of 3 steps changes while every number moves by at most 0.24"));
  EXPECT_EQ(remede({"verify", "m.json", "-p", "x1 in 0..1"}).code, 3);
  EXPECT_EQ(remede({"verify", "m.json", "-p", "x1 in 0..1", "--within", "d.csv"}).code, 0);
}

TEST_F(VerifyCommand, Errors) {
  write("m.json", kTwoOnes);
  EXPECT_TRUE(is_error(remede({"verify", "m.json", "-p", "never says 2"}), 1,
                       "property: expected one of the classes 0, 1, got '2' at character 12"));
  EXPECT_TRUE(is_error(remede({"verify", "m.json", "-p", "x1 > 0", "--assume", "x1 in 2..1"}), 1,
                       "assumption: expected a number of at least 2"));
  EXPECT_TRUE(is_error(remede({"verify", "m.json", "-p", "x1 > 0", "--assume", "x1 > 2 and x1 < 1"}), 1,
                       "assumption: expected values of 'x1' that are possible"));
  EXPECT_TRUE(
      is_error(remede({"verify", "m.json", "--equals", "m.json", "--certificate", "c.json"}), 2, "--certificate"));
}

}  // namespace
}  // namespace remede::test

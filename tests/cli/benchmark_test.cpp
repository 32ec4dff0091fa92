// remede benchmark: that it measures what it is asked for, and says so. How fast is for bench/ to judge.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "remede/model/file.h"
#include "two_leaves.h"

namespace remede::test {
namespace {

using json = nlohmann::ordered_json;
using testing::HasSubstr;

class Benchmark : public CliTest {};

// One object on one line, with a positive number of steps per second.
json measured(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "benchmark");
  arguments.insert(arguments.end(), {"--json", "--seconds", "0.001"});
  const Result result = remede(arguments);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 1);
  json object = json::parse(result.out, nullptr, false);
  if (!object.is_object()) {
    ADD_FAILURE() << "expected one JSON object, got " << result.out;
    return {{"steps_per_second", 0}};
  }
  EXPECT_GT(object.value("steps_per_second", 0.0), 0.0) << result.out;
  EXPECT_GE(object.value("best_steps_per_second", 0.0), object.value("steps_per_second", 0.0)) << result.out;
  EXPECT_FALSE(object.value("vector", "").empty()) << result.out;
  return object;
}

TEST_F(Benchmark, TrainingTakesItsShapeFromTheFlags) {
  const json object = measured({"train", "--depth", "3", "--memory", "2", "--inputs", "4", "--classes", "5", "--length",
                                "7", "--batch", "33", "--threads", "2", "--split-gradient", "sigmoid", "--slope", "1"});
  for (const auto& [key, value] : std::vector<std::pair<std::string, int>>{{"depth", 3},
                                                                           {"memory", 2},
                                                                           {"inputs", 4},
                                                                           {"classes", 5},
                                                                           {"length", 7},
                                                                           {"batch", 33},
                                                                           {"threads", 2},
                                                                           {"slope", 1}})
    EXPECT_EQ(object.at(key), value) << key;
  EXPECT_EQ(object.at("benchmark"), "train");
  EXPECT_EQ(object.at("form"), "paper");
  EXPECT_EQ(object.at("split_gradient"), "sigmoid");
}

TEST_F(Benchmark, EveryFormTrainsPredictsAndStreams) {
  for (const char* form : {"paper", "add-bias", "blend-bias", "blend-linear", "richest"})
    for (const char* what : {"train", "predict", "stream"})
      EXPECT_EQ(measured({what, "--form", form, "--depth", "4", "--batch", "16", "--threads", "1"}).at("form"), form)
          << what;
}

TEST_F(Benchmark, EdgesOfTheShape) {
  measured({"train", "--depth", "0", "--batch", "1", "--length", "1", "--threads", "1"});
  measured({"train", "--memory", "0", "--batch", "17", "--threads", "1"});
  measured({"train", "--depth", "10", "--batch", "16", "--threads", "1"});
  measured({"stream", "--length", "2000"});  // one sequence is longer than a reading of the clock
}

TEST_F(Benchmark, ATrainedTree) {
  EXPECT_EQ(measured({"train", "--trained", "20", "--batch", "64", "--depth", "4"}).at("trained"), 20);
}

TEST_F(Benchmark, AModelOnItsOwnData) {
  write("data.csv", "id,t,x,y\na,0,0.1,no\na,1,0.9,yes\nb,0,0.2,no\nb,1,0.8,yes\nc,0,0.7,yes\nc,1,0.3,no\n");
  save_model(two_leaves(), "model.json");
  const json whole = measured({"predict", "--model", "model.json", "--data", "data.csv"});
  EXPECT_EQ(whole.at("batch"), 3);
  EXPECT_EQ(whole.at("steps"), 6);
  EXPECT_EQ(whole.at("nodes"), 3);
  const json live = measured({"stream", "--model", "model.json", "--data", "data.csv"});
  EXPECT_NEAR(live.at("latency_ns").get<double>() * live.at("steps_per_second").get<double>(), 1e9, 1e3);
  EXPECT_EQ(live.at("threads"), 1);
}

TEST_F(Benchmark, WithoutJsonALineForPeople) {
  const Result result = remede({"benchmark", "stream", "--seconds", "0.001"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, HasSubstr("million steps per second"));
  EXPECT_THAT(result.out, HasSubstr("ns per step"));
}

TEST_F(Benchmark, WrongUse) {
  EXPECT_TRUE(is_error(remede({"benchmark"}), 2, "what is required"));
  EXPECT_TRUE(is_error(remede({"benchmark", "tarin"}), 2, "tarin"));
  EXPECT_TRUE(is_error(remede({"benchmark", "train", "--form", "rich"}), 2, "--form"));
  EXPECT_TRUE(is_error(remede({"benchmark", "train", "--depth", "17"}), 2, "--depth"));
  EXPECT_TRUE(is_error(remede({"benchmark", "train", "--model", "m.json"}), 2,
                       "expected --model and --data with predict or stream"));
  EXPECT_TRUE(is_error(remede({"benchmark", "train", "--batch", "1000000", "--length", "1000000"}), 2,
                       "expected a batch of at most"));
  EXPECT_TRUE(
      is_error(remede({"benchmark", "train", "--depth", "16", "--inputs", "4096"}), 2, "expected a tree of at most"));
  EXPECT_TRUE(
      is_error(remede({"benchmark", "train", "--trained", "1", "--length", "9"}), 2, "--trained expects --inputs 1"));
  EXPECT_TRUE(is_error(remede({"benchmark", "predict", "--model", "none.json"}), 1, "none.json"));
}

}  // namespace
}  // namespace remede::test

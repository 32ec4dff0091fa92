// --objective from the command line: trained, scored, predicted, and refused where it makes no sense.
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "remede/base/random.h"

namespace remede::test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

class ObjectiveFlag : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    Random random(1);
    std::string rows = "id,time,x,y,z\n";
    for (int i = 0; i < 20; ++i)
      for (int t = 0; t < 20; ++t) {
        const double x = random.normal();
        const double y = std::floor(2 + 2 * std::exp(0.5 * x) * random.uniform());
        rows += fmt::format("{},{},{:.4f},{},{:.3f}\n", i, t, x, y, random.normal());
      }
    write("data.csv", rows);
  }

  static Result train(const std::vector<std::string>& more) {
    std::vector<std::string> all = {"train",    "data.csv", "-o",     "m.json", "--target", "y",        "--ignore", "z",
                                    "--starts", "2",        "--seed", "1",      "--quiet",  "--memory", "2"};
    all.insert(all.end(), more.begin(), more.end());
    return remede(all);
  }
};

TEST_F(ObjectiveFlag, QuantilesAreScoredAndNeverCross) {
  ASSERT_EQ(train({"--objective", "quantile", "--quantiles", ".1, .5,.9"}).code, 0);
  const Json scores = Json::parse(remede({"evaluate", "m.json", "data.csv", "--json"}).out);
  EXPECT_GT(scores["coverage"], 0.5);
  EXPECT_GT(scores["pinball_loss"], 0.0);
  EXPECT_TRUE(scores.contains("rmse"));
  const std::string said = remede({"predict", "m.json", "data.csv"}).out;
  EXPECT_THAT(said.substr(0, said.find('\n')), HasSubstr("prediction,q_0.1,q_0.5,q_0.9"));
  EXPECT_THAT(remede({"show", "m.json"}).out, HasSubstr("y q0.5"));
  EXPECT_EQ(remede({"report", "m.json", "data.csv", "-o", "r.html"}).code, 0);
  EXPECT_THAT(read("r.html"), HasSubstr("pinball loss"));
  EXPECT_EQ(remede({"explain", "m.json", "data.csv", "--html", "e.html"}).code, 0);
  EXPECT_EQ(remede({"simplify", "m.json", "data.csv", "-o", "s.json"}).code, 0);
}

TEST_F(ObjectiveFlag, CountsArePredictedPositive) {
  ASSERT_EQ(train({"--objective", "poisson", "--trees", "2"}).code,
            0);  // few whole numbers: read as numbers, not classes
  const Json scores = Json::parse(remede({"evaluate", "m.json", "data.csv", "--json"}).out);
  EXPECT_GT(scores["poisson_deviance"], 0.0);
  EXPECT_EQ(remede({"predict", "m.json", "data.csv"}).out.find(",-"), std::string::npos);
}

TEST_F(ObjectiveFlag, EveryOtherOneTrains) {
  for (const char* objective : {"absolute-error", "huber", "squared-error"}) {
    ASSERT_EQ(train({"--objective", objective}).code, 0) << objective;
    EXPECT_EQ(remede({"evaluate", "m.json", "data.csv"}).code, 0) << objective;
  }
  const std::vector<std::string> cross = {"cross-validate", "data.csv", "--target", "y", "--ignore", "z",
                                          "--starts",       "2",        "--folds",  "2", "--memory", "0",
                                          "--objective",    "quantile", "--json"};
  const Json folds = Json::parse(remede(cross).out);
  EXPECT_TRUE(folds["mean"].contains("coverage"));
}

TEST_F(ObjectiveFlag, WhatMakesNoSenseIsRefusedInOneLine) {
  EXPECT_TRUE(is_error(train({"--objective", "quantile", "--output-order", "first"}), 1,
                       "--output-order: expected zero with --objective quantile, got first"));
  EXPECT_TRUE(
      is_error(train({"--objective", "poisson", "--output-order", "first"}), 1, "--output-order: expected zero"));
  EXPECT_TRUE(is_error(train({"--objective", "cross-entropy", "--task", "regression"}), 1,
                       "--objective: expected an objective of numbers, not of classes, got cross-entropy"));
  EXPECT_TRUE(is_error(train({"--objective", "poisson", "--task", "classification"}), 1,
                       "--objective: expected an objective of classes (cross-entropy), got poisson"));
  EXPECT_TRUE(is_error(train({"--quantiles", ".1,.9"}), 1, "--quantiles: expected --objective quantile"));
  EXPECT_TRUE(
      is_error(train({"--objective", "quantile", "--quantiles", ".9,.1"}), 1, "expected quantiles in ascending order"));
  EXPECT_TRUE(is_error(train({"--objective", "quantile", "--quantiles", ".5,2"}), 2,
                       "--quantiles: expected numbers separated by commas"));
  const Result negative =
      remede({"train", "data.csv", "-o", "m.json", "--target", "z", "--objective", "poisson", "--quiet"});
  EXPECT_TRUE(is_error(negative, 1, "expected targets of at least 0 with the objective poisson, got -"));
}

}  // namespace
}  // namespace remede::test

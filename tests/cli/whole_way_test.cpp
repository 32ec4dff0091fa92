// The whole way: generate, train, show, evaluate, predict. Small data and a small budget; the scores are not the point.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace remede::test {
namespace {

using testing::HasSubstr;

class WholeWay : public CliTest {};

const char* const kBudget = " --starts 2 --updates 60 --depth 3 ";

TEST_F(WholeWay, ThroughPipes) {
  const Result result = shell(
      std::string("$remede generate fixed-delay --sequences 60 | $remede train - -o model.json --quiet") + kBudget);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  const Result scores =
      shell("$remede generate fixed-delay --sequences 20 --seed 2 | $remede evaluate model.json - --json");
  EXPECT_EQ(scores.code, 0) << scores.err;
  const auto json = nlohmann::ordered_json::parse(scores.out);
  EXPECT_EQ(json["steps"], 140);
  EXPECT_EQ(json["sequences"], 20);
  EXPECT_GT(json["accuracy"], 0.5);
  EXPECT_THAT(remede({"show", "model.json"}).out, HasSubstr(" numbers, "));
  const Result rows = shell("$remede generate fixed-delay --sequences 20 | $remede predict model.json - | wc -l");
  EXPECT_EQ(std::stoi(rows.out), 141);
}

TEST_F(WholeWay, AnyNumberOfThreadsWritesTheSameBytes) {
  ASSERT_EQ(shell("$remede generate sign-memory --sequences 80 -o data.csv --quiet").code, 0);
  for (const char* threads : {"1", "2", "3"}) {
    const Result result =
        shell(std::string("$remede train data.csv --quiet -o ") + threads + ".json --threads " + threads + kBudget);
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(read(std::string(threads) + ".json"), read("1.json"));
    const Result rows = remede({"predict", "1.json", "data.csv", "--threads", threads});
    EXPECT_EQ(rows.out, remede({"predict", "1.json", "data.csv", "--threads", "1"}).out);
  }
}

TEST_F(WholeWay, AModelFileNamesNoPlaceAndNoTime) {
  ASSERT_EQ(shell("$remede generate fixed-delay --sequences 40 -o secret-name.csv --quiet").code, 0);
  ASSERT_EQ(shell(std::string("$remede train secret-name.csv --quiet --threads 2 -o model.json") + kBudget).code, 0);
  const std::string model = read("model.json");
  EXPECT_THAT(model, testing::Not(HasSubstr("secret")));
  EXPECT_THAT(model, testing::Not(HasSubstr("threads")));
  EXPECT_THAT(model, HasSubstr("\"training_loss\": ["));
  const auto json = nlohmann::ordered_json::parse(model);
  EXPECT_FALSE(json["training"]["training_loss"].empty());
  EXPECT_FALSE(json["training"]["validation_loss"].empty());
}

}  // namespace
}  // namespace remede::test

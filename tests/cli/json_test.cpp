// --json of every verb that prints figures: one JSON value on standard output and nothing else there.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "remede/model/file.h"
#include "two_leaves.h"

namespace remede::test {
namespace {

using json = nlohmann::ordered_json;

class JsonOutput : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    save_model(two_leaves(), "m.json");
    std::string rows = "id,t,x,y\n";
    for (int s = 0; s < 12; ++s)
      for (int t = 0; t < 4; ++t)
        rows += fmt::format("{},{},{},{}\n", s, t, (s + t) % 2, (s + t) % 2 == 0 ? "no" : "yes");
    write("d.csv", rows);
  }
  // The value; the test fails when standard output holds anything else.
  static json run(std::vector<std::string> words) {
    words.emplace_back("--json");
    const Result result = remede(words);
    EXPECT_EQ(result.code, 0) << result.err;
    const json value = json::parse(result.out, nullptr, false);
    EXPECT_FALSE(value.is_discarded()) << fmt::format("{}", fmt::join(words, " ")) << ": " << result.out;
    return value;
  }
};

TEST_F(JsonOutput, IsOneValueForEveryVerbThatPrintsFigures) {
  EXPECT_EQ(run({"describe", "d.csv"}).at("sequences"), 12);
  EXPECT_EQ(run({"evaluate", "m.json", "d.csv"}).at("accuracy"), 1);
  EXPECT_EQ(run({"simplify", "m.json", "d.csv"}).at("nodes_before"), 3);
  EXPECT_EQ(run({"benchmark", "predict", "--seconds", "0.01"}).at("benchmark"), "predict");
  EXPECT_EQ(run({"benchmark", "stream", "--seconds", "0.01"}).at("benchmark"), "stream");
  EXPECT_EQ(run({"benchmark", "train", "--seconds", "0.01"}).at("benchmark"), "train");
  EXPECT_EQ(run({"reproduce", "--methods", "naive,random", "--trials", "2", "--sequences", "50"}).at("trials").size(),
            20U);
  EXPECT_EQ(run({"cross-validate", "d.csv", "--folds", "2", "--recipe", "paper", "--updates", "20"}).at("folds").size(),
            2U);
  const json shown = run({"show", "m.json"});
  EXPECT_EQ(shown.at("nodes"), 3);
  EXPECT_EQ(shown.at("rules").size(), 2U);
  EXPECT_EQ(shown.at("trees").at(0).at("leaves"), 2);
  EXPECT_EQ(run({"show", "m.json", "--data", "d.csv"}).at("rules").at(0).at("steps"), 24);
  EXPECT_TRUE(run({"explain", "m.json", "d.csv", "--importance"}).is_object());
  EXPECT_TRUE(run({"explain", "m.json", "d.csv", "--machine"}).contains("states"));
  EXPECT_EQ(run({"explain", "m.json", "d.csv", "--rules"}).size(), 2U);
  EXPECT_TRUE(run({"explain", "m.json", "d.csv"}).contains("steps"));
  const json trained = run({"train", "d.csv", "-o", "n.json", "--recipe", "paper", "--updates", "50"});
  EXPECT_EQ(trained.at("model"), "n.json");
  EXPECT_EQ(trained.at("stopped"), false);
  EXPECT_TRUE(trained.at("validation").contains("log_loss"));
  EXPECT_GT(trained.at("nodes"), 0);
}

TEST_F(JsonOutput, HasNoPlaceBesideOtherFormatsOrAModelOnStandardOutput) {
  EXPECT_TRUE(is_error(remede({"show", "m.json", "--json", "--format", "svg"}), 2, "expected --json or --format svg"));
  EXPECT_TRUE(is_error(remede({"explain", "m.json", "--machine", "--json", "--format", "dot"}), 2, "got both"));
  EXPECT_TRUE(is_error(remede({"train", "d.csv", "-o", "-", "--json"}), 2, "expected --json or -o -"));
}

}  // namespace
}  // namespace remede::test

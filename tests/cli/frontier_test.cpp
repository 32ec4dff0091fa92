// The frontier as users meet it: the table, --numbers, --accurate, --frontier, --increasing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace remede::test {
namespace {

using ::testing::HasSubstr;

class FrontierFlags : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    ASSERT_EQ(remede({"generate", "runoff", "--sequences", "4", "-o", "river.csv", "-q"}).code, 0);
  }
  static Result train(std::vector<std::string> more) {
    std::vector<std::string> all = {"train", "river.csv", "--starts", "2", "--updates", "100", "-o", "model.json"};
    all.insert(all.end(), more.begin(), more.end());
    return remede(all);
  }
  static long long numbers_of(const std::string& file) {
    return nlohmann::ordered_json::parse(remede({"show", file, "--json"}).out).at("numbers").get<long long>();
  }
};

TEST_F(FrontierFlags, TheTableMarksWhatWasSavedAndSaysWhy) {
  const Result r = train({"--frontier", "sizes"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("the best model of each size, on validation data:"));
  EXPECT_THAT(r.out, HasSubstr("* saved: "));
  const auto j = nlohmann::ordered_json::parse(read("sizes/frontier.json"));
  long long before = -1;
  int saved = 0;
  for (const auto& model : j.at("models")) {
    EXPECT_GT(model.at("numbers").get<long long>(), before);
    before = model.at("numbers").get<long long>();
    EXPECT_EQ(
        remede({"predict", "sizes/" + model.at("file").get<std::string>(), "river.csv", "-o", "out.csv", "-q"}).code,
        0);
    if (model.at("saved").get<bool>()) {
      ++saved;
      EXPECT_EQ(read("sizes/" + model.at("file").get<std::string>()), read("model.json"));
    }
  }
  EXPECT_EQ(saved, 1);
  EXPECT_THAT(read("sizes/index.html"), HasSubstr("<svg"));
}

TEST_F(FrontierFlags, AFolderThatCannotBeIsToldBeforeTraining) {
  EXPECT_TRUE(is_error(train({"--frontier", "river.csv/sizes"}), 1, "river.csv/sizes: cannot make the folder"));
  EXPECT_FALSE(shell("test -e model.json").code == 0);
}

TEST_F(FrontierFlags, NumbersIsALimit) {
  ASSERT_EQ(train({"--numbers", "15"}).code, 0);
  EXPECT_LE(numbers_of("model.json"), 15);
  EXPECT_TRUE(is_error(train({"--numbers", "15", "--trees", "2"}), 2, "--numbers: has no effect here: several trees"));
  EXPECT_TRUE(is_error(train({"--numbers", "15", "--accurate"}), 2, "--accurate: has no effect here"));
}

TEST_F(FrontierFlags, AccurateTakesTheBest) {
  const Result r = train({"--accurate"});
  ASSERT_EQ(r.code, 0) << r.err;
  // 730 targets of one recording are held out: too few to judge by alone.
  EXPECT_THAT(r.out, HasSubstr("* saved: the best on validation and training data, whatever its size; with so few "
                               "targets held out, both count"));
}

TEST_F(FrontierFlags, TrendsNameColumns) {
  EXPECT_EQ(train({"--increasing", "rain"}).code, 0);
  EXPECT_TRUE(is_error(train({"--increasing", "snow"}), 1, "--increasing: expected the name of an input, got 'snow'"));
  EXPECT_TRUE(is_error(train({"--increasing", "rain", "--decreasing", "rain"}), 1, "expected every column once"));
}

TEST_F(FrontierFlags, TheSameFileForAnyNumberOfThreads) {
  ASSERT_EQ(train({"--threads", "1"}).code, 0);
  const std::string one = read("model.json");
  ASSERT_EQ(train({"--threads", "2"}).code, 0);
  EXPECT_EQ(one, read("model.json"));
}

}  // namespace
}  // namespace remede::test

// describe, cross-validate, --split and what goes from training data into a model and back.
#include <algorithm>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace remede::test {
namespace {

using testing::HasSubstr;
using Json = nlohmann::ordered_json;

class DataCli : public CliTest {};

// The target is 1 where the wind is N and the number above 0.5; people take turns.
std::string windy(int sequences) {
  const char* const winds[] = {"N", "E", "S", "W"};
  std::string text = "id,who,wind,x,y\n";
  for (int s = 0; s < sequences; ++s)
    for (int t = 0; t < 4; ++t) {
      const int wind = (s + t * 3) % 4;
      const double x = ((s * 7 + t * 5) % 10) / 10.0;
      text += std::to_string(s) + ",p" + std::to_string(s % 6) + "," + winds[wind] + "," + std::to_string(x) + "," +
              (wind == 0 && x > 0.5 ? "yes" : "no") + "\n";
    }
  return text;
}

TEST_F(DataCli, DescribeSaysWhatWasUnderstood) {
  write("data.csv", windy(12));
  const Result result = remede({"describe", "data.csv"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("12 sequences, 48 steps (4 to 4 each, median 4)"));
  EXPECT_THAT(result.out, HasSubstr("classification: 48 steps with a target"));
  EXPECT_THAT(result.out, HasSubstr("4 categories"));
  const Json json = Json::parse(remede({"describe", "data.csv", "--json"}).out);
  EXPECT_EQ(json["sequences"], 12);
  EXPECT_EQ(json["columns"][2]["name"], "wind");
  EXPECT_EQ(json["columns"][2]["counts"]["N"], 12);
  write("plain.csv", "a,b\n1,2\n3,4\n");
  const Result no_target = remede({"describe", "plain.csv"});
  EXPECT_EQ(no_target.code, 0);
  EXPECT_THAT(no_target.out, HasSubstr("suggestion: no target column: --target COLUMN (the last column is 'b')"));
}

// What cannot be read as asked: every column first, what each may be for, then the complaint.
TEST_F(DataCli, DescribeReportsOnEveryColumnBeforeItComplains) {
  write("odd.csv",
        "CaseID,when,amount,note,mixed,Outcome\n1,2024-05-01,5,a,1,won\n1,2024-05-02,7,b,x,lost\n2,2024-05-01,9,c,,"
        "won\n");
  const Result result = remede({"describe", "odd.csv"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("odd.csv: line 2, column 'when': expected a number, got '2024-05-01'"));
  EXPECT_THAT(result.out, HasSubstr("3 rows"));
  for (const char* const column : {"CaseID", "when", "amount", "note", "mixed", "Outcome"})
    EXPECT_THAT(result.out, HasSubstr(column));
  EXPECT_THAT(result.out, HasSubstr("'CaseID' may be the id: --id CaseID"));
  EXPECT_THAT(result.out, HasSubstr("'when' holds dates: --time when or --ignore when"));
  EXPECT_THAT(result.out, HasSubstr("'mixed' holds numbers in 1 rows and words in 1: --categorical mixed"));
  EXPECT_THAT(result.out, HasSubstr("'Outcome' may be the target: --target Outcome"));
  // What it suggests is enough.
  EXPECT_EQ(remede({"describe", "odd.csv", "--time", "when", "--categorical", "mixed", "--target", "Outcome"}).code, 0);
  const Result as_json = shell("cat odd.csv | $remede describe - --json");
  EXPECT_EQ(as_json.code, 1);
  const Json json = Json::parse(as_json.out);
  EXPECT_EQ(json["steps"], 3);
  EXPECT_EQ(json["columns"].size(), 6U);
  EXPECT_EQ(json["columns"][0]["role"], "id?");
  EXPECT_THAT(json["error"].get<std::string>(), HasSubstr("expected a number, got '2024-05-01'"));
}

TEST_F(DataCli, DescribeOfDamagedDataIsStillOneLineAndBounded) {
  write("bytes.csv", "word,x,y\na\xff,1,1\nb,2,2\n");
  const Result bytes = remede({"describe", "bytes.csv", "--json"});
  EXPECT_EQ(bytes.code, 1);
  EXPECT_THAT(bytes.err, HasSubstr("expected text in UTF-8"));
  EXPECT_EQ(Json::parse(bytes.out)["columns"].size(), 3U);
  const Result endless = shell("ulimit -v 2000000; $remede describe - </dev/zero");  // not read to its end
  EXPECT_TRUE(is_error(endless, 1, "standard input"));
  std::string names = "a0";
  std::string cells = "x";
  for (int i = 1; i < 60000; ++i) {
    names += ",a" + std::to_string(i);
    cells += ",1";
  }
  write("wide.csv", names + ",y\n" + cells + ",2024-01-01\n");
  EXPECT_EQ(remede({"describe", "wide.csv"}).code, 1);  // in a second, not in a minute
}

TEST_F(DataCli, CategoriesGoThroughTheModelAndAreShownAsWords) {
  write("data.csv", windy(60));
  ASSERT_EQ(remede({"train", "data.csv", "--ignore", "who", "--starts", "4", "--updates", "400", "--memory", "0", "-o",
                    "m.json", "--quiet"})
                .code,
            0);
  const Result shown = remede({"show", "m.json"});
  EXPECT_THAT(shown.out, HasSubstr("wind = N ?"));
  write("new.csv", "id,wind,x\na,N,0.9\na,S,0.9\na,NNW,0.9\n");
  const Result predicted = remede({"predict", "m.json", "new.csv", "--quiet"});
  EXPECT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_THAT(predicted.out, HasSubstr("a,yes,"));
  const Result last = remede({"predict", "m.json", "new.csv", "--last", "--quiet"});
  EXPECT_THAT(last.out, HasSubstr("\na,no,"));
  EXPECT_EQ(std::count(last.out.begin(), last.out.end(), '\n'), 2);
  const Json scores = Json::parse(remede({"evaluate", "m.json", "data.csv", "--json", "--quiet"}).out);
  EXPECT_GT(scores["accuracy"], 0.99);
}

TEST_F(DataCli, CrossValidateKeepsGroupsTogether) {
  write("data.csv", windy(30));
  const Result result = remede({"cross-validate", "data.csv", "--folds", "3", "--group", "who", "--starts", "2",
                                "--updates", "60", "--json", "--quiet"});
  ASSERT_EQ(result.code, 0) << result.err;
  const Json json = Json::parse(result.out);
  ASSERT_EQ(json["folds"].size(), 3U);
  double sum = 0.0;
  for (const Json& fold : json["folds"]) sum += fold["accuracy"].get<double>();
  EXPECT_NEAR(json["mean"]["accuracy"].get<double>(), sum / 3.0, 1e-12);
  EXPECT_TRUE(is_error(remede({"cross-validate", "data.csv", "--folds", "7", "--group", "who"}), 1,
                       "expected at least as many groups as folds (7), got 6"));
}

TEST_F(DataCli, CrossValidateForwardLearnsFromThePast) {
  write("data.csv", windy(10));
  const std::vector<std::string> flags = {"--folds",   "3",  "--forward", "--starts", "2",
                                          "--updates", "60", "--json",    "--quiet"};
  std::vector<std::string> command = {"cross-validate", "data.csv"};
  command.insert(command.end(), flags.begin(), flags.end());
  const Result result = remede(command);
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["folds"].size(), 3U);
  EXPECT_TRUE(is_error(remede({"cross-validate", "data.csv", "--folds", "4", "--forward"}), 1,
                       "--forward: expected sequences of at least 5 steps, one more than folds, got one of 4"));
  const Result both = remede({"cross-validate", "data.csv", "--folds", "3", "--group", "who", "--forward"});
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("--group"));
  EXPECT_THAT(both.err, HasSubstr("--forward"));
}

TEST_F(DataCli, SplitByColumnIsWhatTheValidationFileWouldBe) {
  std::string all = "id,part,x,y\n", training = "id,x,y\n", validation = "id,x,y\n";
  for (int s = 0; s < 20; ++s) {
    const std::string row = std::to_string(s % 7) + "," + std::to_string(s % 2);
    const bool held = s % 4 == 3;
    all += std::to_string(s) + (held ? ",val," : ",train,") + row + "\n";
    (held ? validation : training) += std::to_string(s) + "," + row + "\n";
  }
  write("all.csv", all);
  write("training.csv", training);
  write("validation.csv", validation);
  ASSERT_EQ(
      remede({"train", "all.csv", "--split", "part", "--starts", "2", "--updates", "60", "-o", "a.json", "--quiet"})
          .code,
      0);
  ASSERT_EQ(remede({"train", "training.csv", "--validation", "validation.csv", "--starts", "2", "--updates", "60", "-o",
                    "b.json", "--quiet"})
                .code,
            0);
  EXPECT_EQ(read("a.json"), read("b.json"));
  EXPECT_TRUE(is_error(remede({"train", "all.csv", "--split", "part", "--validation", "validation.csv"}), 2,
                       "expected --split or --validation, got both"));
}

TEST_F(DataCli, RolesFromAFile) {
  write("data.txt", "0 1.5 a\n1 2.5 b\n2 1.25 a\n3 2.75 b\n");
  write("roles.json", R"({"names": ["t", "level", "state"], "time": "t", "target": "state"})");
  const Result result = remede({"describe", "data.txt", "--roles", "roles.json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("1 sequence, 4 steps"));
  EXPECT_THAT(result.out, HasSubstr("2 classes"));
}

// Above the limit the data are in temporary files; the model is the same to the byte. (Blocks of 17 MB, several of
// them.)
TEST_F(DataCli, ALimitOfMemoryChangesNothing) {
  std::string text = "id,y";
  for (int k = 0; k < 1000; ++k) text += ",x" + std::to_string(k);
  text += '\n';
  for (int r = 0; r < 8000; ++r) {
    text += std::to_string(r) + (r % 3 == 0 ? ",a" : ",b");
    for (int k = 0; k < 1000; ++k) text += r % 3 == 0 && k == 7 ? ",1" : ",0";
    text += '\n';
  }
  write("data.csv", text);
  const std::string small = " --recipe paper --depth 1 --memory 0 --updates 2 --quiet";
  ASSERT_EQ(shell("$remede train data.csv -o a.json" + small).code, 0);
  ASSERT_EQ(shell("$remede train data.csv -o b.json --memory-limit 64M" + small).code, 0);
  EXPECT_EQ(read("a.json"), read("b.json"));
  // No room for the files: one line, and the model that was there is still there. With enough memory no room is needed.
  const std::string little_disk = "ulimit -f 8192; ";
  EXPECT_TRUE(is_error(shell(little_disk + "$remede train data.csv -o a.json --memory-limit 64M" + small), 1,
                       "of data beyond the memory limit in temporary files: File too large"));
  EXPECT_EQ(read("a.json"), read("b.json"));
  EXPECT_EQ(shell(little_disk + "$remede train data.csv -o a.json --memory-limit 1G" + small).code, 0);
  EXPECT_TRUE(
      is_error(remede({"train", "data.csv", "--memory-limit", "lots"}), 2, "--memory-limit: expected at least 64M"));
}

// The public data sets, where they are there: one describe each, as docs/real-data.md has it.
TEST_F(DataCli, DescribesThePublicDataSets) {
  const std::filesystem::path data = std::filesystem::path(REMEDE_TESTS_DIR) / ".." / ".." / "shared" / "data";
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "no ../shared/data here";
  const auto describe = [&](const std::string& file, std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"describe", (data / file).string(), "--json"});
    const Result result = remede(flags);
    EXPECT_EQ(result.code, 0) << file << ": " << result.err;
    return result.code == 0 ? Json::parse(result.out) : Json();
  };
  EXPECT_EQ(describe("uea_JapaneseVowels/JapaneseVowels_TRAIN.ts", {})["sequences"], 270);
  EXPECT_EQ(describe("uea_JapaneseVowels/JapaneseVowels_TEST.ts", {})["sequences"], 370);
  EXPECT_EQ(describe("uea_PenDigits/PenDigits_TRAIN.ts", {})["steps"], 7494 * 8);
  EXPECT_EQ(describe("uea_PenDigits/PenDigits_TEST.ts", {})["steps_with_target"], 3498);
  EXPECT_EQ(describe("arem/*/*.csv",
                     {"--comment", "#", "--names", "time,avg_rss12,var_rss12,avg_rss13,var_rss13,avg_rss23,var_rss23",
                      "--target", "folder"})["sequences"],
            88);
  const Json air = describe("beijing_pm25/PRSA_data_2010.1.1-2014.12.31.csv",
                            {"--time", "No", "--target", "pm2.5", "--ignore", "year,day"});
  EXPECT_EQ(air["steps"], 43824);
  EXPECT_EQ(air["steps_with_target"], 43824 - 2067);
  EXPECT_EQ(describe("bike_sharing/hour.csv",
                     {"--time", "instant", "--target", "cnt", "--ignore", "dteday,casual,registered"})["steps"],
            17379);
  EXPECT_EQ(describe("cascaded_tanks/dataBenchmark.csv", {"--target", "yEst", "--ignore", "uVal,yVal,Ts"})["steps"],
            1024);
  EXPECT_EQ(describe("cmapss/train_FD001.txt",
                     {"--names", "unit,cycle,op1..op3,s1..s21", "--id", "unit", "--time", "cycle"})["sequences"],
            100);
  EXPECT_EQ(describe("cmapss/test_FD001.txt",
                     {"--names", "unit,cycle,op1..op3,s1..s21", "--id", "unit", "--time", "cycle"})["steps"],
            13096);
  for (const auto& [file, rows] :
       {std::pair("datatraining.txt", 8143), std::pair("datatest.txt", 2665), std::pair("datatest2.txt", 9752)})
    EXPECT_EQ(
        describe(std::string("occupancy_detection/") + file, {"--target", "Occupancy", "--ignore", "Light"})["steps"],
        rows);
  EXPECT_EQ(describe("robot_wall_following/sensor_readings_24.data", {"--target", "OUTPUT"})["steps"], 5456);
}

}  // namespace
}  // namespace remede::test

// No command destroys its own inputs: every verb, every option that names a file, however the file is spelled.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.h"
#include "remede/base/file.h"
#include "remede/model/file.h"
#include "two_leaves.h"

namespace remede::test {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class Files : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    save_model(two_leaves(), "m.json");
    const std::string rows = "id,t,x,y\na,1,0,no\na,2,1,yes\nb,1,1,yes\nb,2,0,no\nc,1,1,yes\nd,1,0,no\n";
    write("d.csv", rows);
    write("v.csv", rows);
    write("roles.txt", R"({"target": "y"})");
    fs::create_directory("more");
    write("more/1.csv", rows);
    fs::create_symlink("m.json", "soft.json");
    fs::create_hard_link("d.csv", "hard.csv");
  }

  static std::map<std::string, std::string> contents() {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator("."))
      if (entry.is_regular_file()) all[entry.path().string()] = read_file(entry.path().string());
    return all;
  }

  // Refused as bad usage, in one line, with every file as it was and none added.
  void expect_refused(const std::vector<std::string>& words, const std::string& part) const {
    const auto before = contents();
    const Result result = remede(words);
    const std::string line = fmt::format("{}", fmt::join(words, " "));
    EXPECT_TRUE(is_error(result, 2, part)) << line;
    EXPECT_EQ(contents(), before) << line;
  }
};

TEST_F(Files, AnInputIsNeverWritten) {
  const std::string part = "which would be overwritten";
  expect_refused({"train", "d.csv", "-o", "d.csv"}, part);
  expect_refused({"train", "d.csv", "-o", "./hard.csv"}, part);
  expect_refused({"train", "d.csv", "-o", "n.json", "--checkpoint", "d.csv"}, part);
  expect_refused({"train", "d.csv", "--validation", "v.csv", "-o", "v.csv"}, part);
  expect_refused({"train", "d.csv", "--validation", "v.csv", "--checkpoint", "v.csv"}, part);
  expect_refused({"train", "d.csv", "--roles", "roles.txt", "-o", "roles.txt"}, part);
  write("recipe.json", "{\"base\": \"default\"}");
  expect_refused({"train", "d.csv", "--recipe", "recipe.json", "-o", "recipe.json"}, part);
  expect_refused({"rename", "m.json", "m1=a", "-o", "m.json"}, part);
  expect_refused({"rename", "m.json", "m1=a", "-o", "soft.json"}, part);
  fs::create_directory("all");
  write("all/model-0003.json", read("m.json"));
  write("all/d.csv", read("d.csv"));
  expect_refused({"train", "all/model-0003.json", "--frontier", "all"},
                 "got 'all/model-0003.json', which is one of the files of --frontier");
  expect_refused({"train", "d.csv", "--frontier", "all", "-o", "more/../all/index.html"},
                 "which is one of the files of --frontier");
  expect_refused({"train", "more/*.csv", "-o", "more/1.csv"}, part);
  expect_refused({"train", "d.csv,v.csv", "-o", "v.csv"}, part);
  expect_refused({"predict", "m.json", "d.csv", "-o", "m.json"}, part);
  expect_refused({"predict", "m.json", "d.csv", "-o", "soft.json"}, part);
  expect_refused({"predict", "soft.json", "d.csv", "-o", "m.json"}, part);
  expect_refused({"predict", "m.json", "d.csv", "-o", "hard.csv"}, part);
  expect_refused({"predict", "m.json", "d.csv", "--roles", "roles.txt", "-o", "roles.txt"}, part);
  expect_refused({"show", "m.json", "-o", "m.json"}, part);
  expect_refused({"show", "m.json", "--data", "d.csv", "-o", "d.csv"}, part);
  expect_refused({"explain", "m.json", "d.csv", "-o", "d.csv"}, part);
  expect_refused({"explain", "m.json", "d.csv", "--html", "m.json"}, part);
  expect_refused({"explain", "m.json", "--machine", "-o", "m.json"}, part);
  expect_refused({"report", "m.json", "d.csv", "-o", "d.csv"}, part);
  expect_refused({"simplify", "m.json", "-o", "m.json"}, part);
  expect_refused({"simplify", "m.json", "d.csv", "--validation", "v.csv", "-o", "v.csv"}, part);
}

TEST_F(Files, ADefaultNameCountsLikeOneThatIsGiven) {
  fs::copy_file("d.csv", "model.json");
  expect_refused({"train", "model.json"}, "expected --output to be another file than data");
  fs::copy_file("d.csv", "report.html");
  expect_refused({"report", "m.json", "report.html"}, "expected --output to be another file than data");
  fs::copy_file("d.csv", "n.json.checkpoint");
  expect_refused({"train", "n.json.checkpoint", "-o", "n.json"},
                 "expected the checkpoint to be another file than data");
}

TEST_F(Files, OutputsAreSeveralFiles) {
  expect_refused({"train", "d.csv", "-o", "n", "--checkpoint", "n"}, "to be two files, got 'n' for both");
  expect_refused({"train", "d.csv", "-o", "n", "--checkpoint", "more/../n"}, "which are the same file");
}

TEST_F(Files, WhatACheckpointNamesCountsToo) {
  ASSERT_EQ(remede({"train", "d.csv", "-o", "n.json", "--checkpoint", "c", "-q"}).code, 0);
  expect_refused({"train", "--resume", "c", "-o", "d.csv"}, "expected --output to be another file than data");
  expect_refused({"train", "--resume", "c", "-o", "c"}, "to be two files");
  expect_refused({"train", "--resume", "c", "-o", "c", "--checkpoint", "e"}, "another file than --resume");
  EXPECT_EQ(remede({"train", "--resume", "c", "--checkpoint", "c", "-q"}).code, 0) << "it goes on where it was";
}

TEST_F(Files, StandardOutputMayNotBeAnInputEither) {
  const std::string before = read("d.csv");
  const Result result = shell("$remede predict m.json d.csv >> d.csv");
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("expected standard output to be another file than data"));
  EXPECT_EQ(read("d.csv"), before);
  EXPECT_EQ(shell("$remede predict m.json - < d.csv > out.csv").code, 0);
  EXPECT_EQ(shell("$remede predict m.json d.csv -o /dev/null > /dev/null").code, 0);
  EXPECT_EQ(shell("$remede predict m.json d.csv -o /dev/stdout > out2.csv").code, 0);
  EXPECT_EQ(read("out2.csv"), read("out.csv"));
}

TEST_F(Files, AnEmptyNameIsBadUsage) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"train", "d.csv", "-o", ""},
                                             {"train", ""},
                                             {"train", "d.csv", "--checkpoint", ""},
                                             {"train", "--resume", ""},
                                             {"train", "d.csv", "--validation", ""},
                                             {"predict", "m.json", "d.csv", "--output", ""},
                                             {"predict", "", "d.csv"},
                                             {"simplify", "m.json", "-o", ""},
                                             {"show", "m.json", "--data", ""},
                                             {"explain", "m.json", "d.csv", "--html", ""},
                                             {"report", "m.json", "d.csv", "-o", ""},
                                             {"generate", "fixed-delay", "-o", ""},
                                             {"describe", ""},
                                             {"cross-validate", ""}})
    expect_refused(words, "expected the name of a file, got ''");
}

TEST_F(Files, LinksAndModesOfOutputsStay) {
  write("old.csv", "old");
  fs::permissions("old.csv", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("old.csv", "out.csv");
  ASSERT_EQ(remede({"predict", "m.json", "d.csv", "-o", "out.csv"}).code, 0);
  EXPECT_TRUE(fs::is_symlink("out.csv"));
  EXPECT_THAT(read("old.csv"), HasSubstr("prediction"));
  EXPECT_EQ(fs::status("old.csv").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

}  // namespace
}  // namespace remede::test

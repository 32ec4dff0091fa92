// What the program says when it is called wrongly, or asked about itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.h"

namespace remede::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> kVerbs = {"generate", "train", "predict", "evaluate", "show"};

TEST(Usage, Version) {
  const Result result = remede({"--version"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, testing::MatchesRegex("remede [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_THAT(result.err, IsEmpty());
}

TEST(Usage, HelpEverywhere) {
  const Result all = remede({"--help"});
  EXPECT_EQ(all.code, 0);
  for (const std::string& verb : kVerbs) {
    EXPECT_THAT(all.out, HasSubstr("\n  " + verb));
    for (const char* flag : {"--help", "-h"}) {
      const Result one = remede({verb, flag});
      EXPECT_EQ(one.code, 0) << verb;
      EXPECT_THAT(one.out, HasSubstr("Usage: remede " + verb));
      EXPECT_THAT(one.err, IsEmpty());
    }
  }
}

TEST(Usage, WrongWordsAreNamed) {
  EXPECT_TRUE(is_error(remede({}), 2, "expected a verb: generate, describe, train, predict"));
  EXPECT_TRUE(is_error(remede({"tran", "x.csv"}), 2, "unknown verb 'tran', did you mean 'train'?"));
  EXPECT_TRUE(is_error(remede({"evalaute"}), 2, "did you mean 'evaluate'?"));
  EXPECT_TRUE(is_error(remede({"help"}), 2, "did you mean '--help'?"));
  EXPECT_TRUE(is_error(remede({"xyzzy"}), 2, "unknown verb 'xyzzy' (see remede --help)"));
  EXPECT_TRUE(is_error(remede({"--verbose"}), 2, "unknown flag '--verbose'"));
  EXPECT_TRUE(is_error(remede({std::string(100000, 'x')}), 2, "unknown verb"));
  EXPECT_TRUE(is_error(remede({"a\nb"}), 2, "unknown verb 'a b'"));
}

TEST(Usage, WrongFlagsAreNamed) {
  EXPECT_TRUE(
      is_error(remede({"predict", "--otuput", "x", "m", "d"}), 2, "unknown flag '--otuput', did you mean '--output'?"));
  EXPECT_TRUE(
      is_error(remede({"train", "d.csv", "--sed=3"}), 2, "train: unknown flag '--sed', did you mean '--seed'?"));
  EXPECT_TRUE(
      is_error(remede({"train", "--vali", "d.csv"}), 2, "did you mean '--validation'? (see remede train --help)"));
  EXPECT_TRUE(is_error(remede({"predict", "m", "d", "e"}), 2, "predict: unexpected argument 'e'"));
  EXPECT_TRUE(is_error(remede({"train", "a.csv", REMEDE_TESTS_DIR}), 2, "several files are one argument, a pattern"));
  EXPECT_TRUE(is_error(remede({"predict", "m", "d", std::string(100000, 'x')}), 2, "unexpected argument 'xxx"));
  EXPECT_TRUE(is_error(remede({"predict", "m"}), 2, "data is required"));
  EXPECT_TRUE(is_error(remede({"predict", "m", "d", "--output"}), 2, "--output"));
  EXPECT_TRUE(is_error(remede({"evaluate", "m", "d", "--threads", "many"}), 2, "--threads"));
  EXPECT_TRUE(is_error(remede({"train", "d.csv", "--task", "ranking"}), 2, "ranking"));
  EXPECT_TRUE(is_error(remede({"predict", "-", "-"}), 2, "got - for both"));
}

TEST(Usage, OutputThatCannotBeWrittenIsAnError) {
  const Result full = shell("$remede --help > /dev/full");
  EXPECT_TRUE(is_error(full, 1, "standard output: cannot write: No space left"));
}

TEST(Usage, AReaderThatStopsReadingIsNoError) {
  const Result result = shell("($remede --help; echo code $? >&2) | true; sleep 0.1");
  EXPECT_THAT(result.err, testing::AnyOf("code 0\n", ""));
}

TEST(Usage, ProgressIsForTerminals) {
  const Result result =
      remede({"reproduce", "--tasks", "fixed-delay", "--methods", "naive", "--trials", "1", "--sequences", "100"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "");
}

}  // namespace
}  // namespace remede::test

// The verb generate as a user meets it; what the tasks hold is tested in tests/data.
#include <gtest/gtest.h>

#include "cli/program.h"

namespace remede::test {
namespace {

class Generate : public CliTest {};

TEST_F(Generate, WritesToStandardOutputUnlessAFileIsNamed) {
  const Result piped = remede({"generate", "fixed-delay-2", "--sequences", "3"});
  EXPECT_EQ(piped.code, 0);
  EXPECT_TRUE(piped.out.starts_with("sequence,step,x1,x2,y\n0,0,"));
  EXPECT_EQ(piped.err, "");
  const Result filed = remede({"generate", "fixed-delay-2", "--sequences", "3", "-o", "data.csv"});
  EXPECT_EQ(filed.code, 0);
  EXPECT_EQ(filed.out, "");
  EXPECT_EQ(filed.err, "data.csv: 3 sequences, 21 steps\n");
  EXPECT_EQ(read("data.csv"), piped.out);
  EXPECT_EQ(remede({"generate", "fixed-delay-2", "--sequences", "3", "-o", "-"}).out, piped.out);
}

TEST_F(Generate, HelpListsTheTasks) {
  const std::string help = remede({"generate", "--help"}).out;
  for (const char* task : {"fixed-delay ", "variable-delay-2", "sign-memory", "parity", "flip-flop", "temporal-order",
                           "counting", "tomita-1", "tomita-7"})
    EXPECT_NE(help.find(task), std::string::npos) << task;
}

TEST_F(Generate, AWrongTaskBringsTheNearest) {
  EXPECT_TRUE(
      is_error(remede({"generate", "fixd-delay"}), 2, "unknown task 'fixd-delay', did you mean 'fixed-delay'?"));
  EXPECT_TRUE(is_error(remede({"generate", "tomita3"}), 2, "did you mean 'tomita-3'?"));
}

TEST_F(Generate, FlagsThatDoNotFitAreRefused) {
  EXPECT_TRUE(is_error(remede({"generate", "parity", "--delay", "3"}), 2, "task parity does not use --delay"));
  EXPECT_TRUE(is_error(remede({"generate", "fixed-delay", "--length-max", "3"}), 2,
                       "task fixed-delay does not use --length-max"));
  EXPECT_TRUE(is_error(remede({"generate", "fixed-delay", "--sequences", "0"}), 2, "expected a number from 1"));
  EXPECT_TRUE(is_error(remede({"generate", "fixed-delay", "-o", "no/such/folder/data.csv"}), 1, "cannot write"));
}

TEST_F(Generate, DelaySetsBothEndsOfAVariableDelay) {
  const Result both = remede({"generate", "variable-delay", "--sequences", "4", "--delay", "2"});
  EXPECT_EQ(both.out,
            remede({"generate", "variable-delay", "--sequences", "4", "--delay-min", "2", "--delay-max", "2"}).out);
  EXPECT_NE(both.out.find("\n0,3,1,"), std::string::npos);
}

TEST_F(Generate, OneEndOfARangeMovesTheOtherWhenItMust) {
  const Result longer = remede({"generate", "parity", "--sequences", "1", "--length-min", "200"});
  EXPECT_NE(longer.out.find("\n0,199,"), std::string::npos);
  EXPECT_EQ(longer.out.find("\n0,200,"), std::string::npos);
}

}  // namespace
}  // namespace remede::test

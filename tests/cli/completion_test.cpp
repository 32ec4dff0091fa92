// Completions and manual pages: everything the verbs declare is in them, and the shells accept them.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.h"

namespace remede::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Completion : public CliTest {
 protected:
  // What bash offers for the last of these words.
  static std::string offered(const std::string& words) {
    const Result result = shell(
        fmt::format("bash -c 'source <($remede completion bash); COMP_WORDS=({}); COMP_CWORD=$(({} - 1)); _remede; "
                    "echo \"${{COMPREPLY[@]}}\"'",
                    words, "${#COMP_WORDS[@]}"));
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }
  // All long flags that the help of a verb shows.
  static std::vector<std::string> flags_in_help(const std::string& verb) {
    const std::string help = remede({verb, "--help"}).out;
    std::vector<std::string> flags;
    for (std::size_t at = help.find("\n  -"); at != std::string::npos; at = help.find("\n  -", at + 1)) {
      const std::size_t begin = help.find("--", at), line = help.find('\n', at + 1);
      if (begin > line) continue;
      flags.push_back(help.substr(begin, help.find_first_of(" ,\n", begin) - begin));
    }
    return flags;
  }
  static std::vector<std::string> verbs() {
    std::vector<std::string> names;
    const std::string list = remede({"manual", "--list"}).out;
    for (std::size_t at = 0; at < list.size(); at = list.find('\n', at) + 1)
      names.push_back(list.substr(at, list.find('\n', at) - at));
    return names;
  }
};

TEST_F(Completion, BashOffersVerbsFlagsWordsAndFiles) {
  write("data.csv", "x\n");
  EXPECT_THAT(offered("remede tr"), HasSubstr("train"));
  EXPECT_THAT(offered("remede train --val"), HasSubstr("--validation"));
  EXPECT_THAT(offered("remede train --form p"), HasSubstr("paper"));
  EXPECT_THAT(offered("remede generate fixed"), HasSubstr("fixed-delay-2"));
  EXPECT_THAT(offered("remede train da"), HasSubstr("data.csv"));
  EXPECT_THAT(offered("remede train data.csv -o da"), HasSubstr("data.csv"));
  EXPECT_THAT(offered("remede train --depth da"), Not(HasSubstr("data.csv"))) << "a number";
  EXPECT_THAT(offered("remede completion f"), HasSubstr("fish"));
}

TEST_F(Completion, EveryFlagOfTheHelpIsInEveryScriptAndOnItsPage) {
  const std::string bash = remede({"completion", "bash"}).out, zsh = remede({"completion", "zsh"}).out,
                    fish = remede({"completion", "fish"}).out;
  ASSERT_GT(verbs().size(), 10U);
  for (const std::string& verb : verbs()) {
    const std::string page = remede({"manual", verb}).out;
    EXPECT_THAT(page, HasSubstr(".SH SYNOPSIS")) << verb;
    const std::vector<std::string> flags = flags_in_help(verb);
    EXPECT_FALSE(flags.empty()) << verb;
    for (const std::string& flag : flags) {
      std::string escaped;
      for (const char c : flag) escaped += c == '-' ? "\\-" : std::string(1, c);
      EXPECT_THAT(page, HasSubstr("\\fB" + escaped + "\\fR")) << verb;
      EXPECT_THAT(bash, HasSubstr(flag)) << verb;
      EXPECT_THAT(zsh, HasSubstr("'" + flag + "[")) << verb;
      EXPECT_THAT(fish, HasSubstr("__fish_seen_subcommand_from " + verb + "'")) << verb;
      EXPECT_THAT(fish, HasSubstr(" -l " + flag.substr(2))) << verb;
    }
  }
}

// Each option whose value is a file must say whether it is read or written (cli/files.h): a flag that takes a FILE,
// MODEL, DATA or CHECKPOINT and completes no file names was forgotten, and would not be checked either.
TEST_F(Completion, EveryOptionThatNamesAFileCompletesFiles) {
  for (const std::string& verb : verbs()) {
    const std::string help = remede({verb, "--help"}).out;
    for (const std::string& flag : flags_in_help(verb)) {
      const std::size_t at = help.find(flag + " ");
      if (at == std::string::npos) continue;
      const std::string value =
          help.substr(at + flag.size() + 1, help.find_first_of(" =\n", at + flag.size() + 1) - at - flag.size() - 1);
      if (value != "FILE" && value != "MODEL" && value != "DATA" && value != "CHECKPOINT") continue;
      write("some.file", "");
      EXPECT_THAT(offered(fmt::format("remede {} {} some", verb, flag)), HasSubstr("some.file")) << verb << " " << flag;
    }
  }
}

TEST_F(Completion, TheShellsAcceptTheirScripts) {
  EXPECT_EQ(shell("$remede completion bash | bash -n").code, 0);
  EXPECT_EQ(
      shell("! command -v zsh >/dev/null || $remede completion zsh > z && { ! command -v zsh >/dev/null || zsh -n z; }")
          .code,
      0);
  EXPECT_EQ(shell("! command -v fish >/dev/null || { $remede completion fish > f && fish --no-execute f; }").code, 0);
  EXPECT_TRUE(is_error(remede({"completion", "csh"}), 2, "csh"));
}

TEST_F(Completion, ManAcceptsThePages) {
  if (shell("command -v man").code != 0) GTEST_SKIP() << "no man here";
  for (const std::string& verb : verbs()) {
    const Result page = shell("$remede manual " + verb + " | man --warnings -l - 2>&1 >/dev/null");
    EXPECT_EQ(page.out, "") << verb;
  }
  EXPECT_EQ(shell("$remede manual | man --warnings -l - 2>&1 >/dev/null").out, "");
  EXPECT_TRUE(is_error(remede({"manual", "trian"}), 2, "did you mean 'train'?"));
}

TEST_F(Completion, TheVersionHasAShortFlag) {
  EXPECT_EQ(remede({"-V"}).out, remede({"--version"}).out);
  EXPECT_THAT(remede({"-V"}).out, HasSubstr("remede "));
}

}  // namespace
}  // namespace remede::test

// The verb train as a user meets it: files, pipes, signals and exit codes.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "remede/base/file.h"

namespace remede {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

// A folder of its own for each test, with a small data set in it.
class TrainVerb : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "remede-train-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    ASSERT_EQ(run({"generate", "fixed-delay", "--delay", "3", "--sequences", "300", "-o", "data.csv", "-q"}), 0);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Starts the program in the folder; its output goes to the files out and err there.
  pid_t start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), REMEDE_BINARY);
    const pid_t child = ::fork();
    if (child != 0) return child;
    if (::chdir(folder_.c_str()) != 0) ::_exit(99);
    for (const auto& [name, descriptor] : {std::pair("out", STDOUT_FILENO), std::pair("err", STDERR_FILENO)})
      ::dup2(::open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600), descriptor);
    std::vector<char*> argv;
    for (std::string& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    ::_exit(98);
  }
  // The exit code, or minus the signal that ended it.
  static int wait(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  int run(std::vector<std::string> arguments) { return wait(start(std::move(arguments))); }

  std::string path(const std::string& name) const { return folder_ / name; }
  std::string text(const std::string& name) const { return read_file(path(name)); }
  bool wait_for(const std::string& name) const {
    for (int i = 0; i < 6000 && !fs::exists(path(name)); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return fs::exists(path(name));
  }

  fs::path folder_;
};

// A run of a second or so, and one that lasts until it is stopped.
std::vector<std::string> command(const std::string& model, const char* updates = "20000") {
  return {"train",      "data.csv", "-o",         model,   "--recipe",     "paper",
          "--updates",  updates,    "--patience", updates, "--checkpoint", model + ".state",
          "--simplify", "no",       "--depth",    "4"};
}

TEST_F(TrainVerb, EndsWithScoreSizeAndTree) {
  ASSERT_EQ(run({"train", "data.csv", "-o", "m.json", "--recipe", "paper", "--updates", "300"}), 0) << text("err");
  EXPECT_THAT(text("out"), HasSubstr("validation: accuracy "));
  EXPECT_THAT(text("out"), HasSubstr("size: "));
  EXPECT_THAT(text("out"), HasSubstr(">= "));
  EXPECT_EQ(text("err").find('\r'), std::string::npos) << "no progress line where nobody looks";
  EXPECT_FALSE(fs::exists(path("m.json.checkpoint")));
  ASSERT_EQ(run({"train", "data.csv", "-o", "m.json", "--recipe", "paper", "--updates", "30", "--quiet"}), 0);
  EXPECT_EQ(text("out"), "");
}

TEST_F(TrainVerb, TheModelGoesToStandardOutputAlone) {
  ASSERT_EQ(run({"train", "data.csv", "-o", "-", "--recipe", "paper", "--updates", "30"}), 0);
  EXPECT_EQ(text("out").front(), '{');
  EXPECT_EQ(text("out").find("validation: "), std::string::npos);
  EXPECT_THAT(text("err"), HasSubstr("validation: accuracy"));
}

TEST_F(TrainVerb, BadUsageIsToldApartFromBadData) {
  EXPECT_EQ(run({"train"}), 2);
  EXPECT_EQ(run({"train", "data.csv", "--depth", "99"}), 2);
  EXPECT_THAT(text("err"), HasSubstr("--depth: expected a number in 0 .. 12"));
  EXPECT_EQ(run({"train", "data.csv", "--updates", "3", "--epochs", "3"}), 2);
  EXPECT_EQ(run({"train", "nothing.csv"}), 1);
  EXPECT_EQ(run({"train", "data.csv", "-o", "no/folder/m.json"}), 1);
  EXPECT_EQ(run({"train", "data.csv", "--resume", "data.csv"}), 1);
  EXPECT_THAT(text("err"), HasSubstr("expected a checkpoint"));
}

TEST_F(TrainVerb, KilledAndResumedEndsInTheSameBytes) {
  ASSERT_EQ(run(command("whole.json")), 0) << text("err");
  const pid_t child = start(command("killed.json"));
  ASSERT_TRUE(wait_for("killed.json.state"));
  ::kill(child, SIGKILL);
  if (wait(child) == -SIGKILL) {  // else it was faster than we
    EXPECT_FALSE(fs::exists(path("killed.json")));
  }
  // The checkpoint knows the command; threads are free.
  ASSERT_EQ(run({"train", "--resume", "killed.json.state", "--threads", "2"}), 0) << text("err");
  EXPECT_EQ(text("killed.json"), text("whole.json"));
  // A finished run's checkpoint leads to the same end, too.
  ASSERT_EQ(run({"train", "data.csv", "-o", "again.json", "--resume", "whole.json.state"}), 0) << text("err");
  EXPECT_EQ(text("again.json"), text("whole.json"));
}

TEST_F(TrainVerb, ResumingWithOtherDataOrSettingsIsAnError) {
  ASSERT_EQ(run(command("m.json", "50")), 0);
  EXPECT_EQ(run({"train", "--resume", "m.json.state", "--depth", "3"}), 1);
  EXPECT_THAT(text("err"), HasSubstr("expected --depth 4 as in the checkpoint, got 3"));
  ASSERT_EQ(run({"generate", "fixed-delay", "--delay", "3", "--sequences", "20", "-o", "other.csv", "-q"}), 0);
  EXPECT_EQ(run({"train", "other.csv", "--resume", "m.json.state"}), 1);
  EXPECT_THAT(text("err"), HasSubstr("got other data"));
}

TEST_F(TrainVerb, ControlCSavesTheBestSoFarAndTheRunCanGoOn) {
  const pid_t child = start(command("m.json", "100000000"));
  ASSERT_TRUE(wait_for("m.json.state"));
  ::kill(child, SIGINT);
  EXPECT_EQ(wait(child), 130);
  EXPECT_THAT(
      text("err"),
      HasSubstr("stopped: the best model so far is in m.json; continue with: remede train --resume m.json.state"));
  EXPECT_EQ(run({"evaluate", "m.json", "data.csv"}), 0) << text("err");
  ASSERT_TRUE(fs::remove(path("m.json")));
  fs::copy_file(path("m.json.state"), path("from.state"));
  ASSERT_TRUE(fs::remove(path("m.json.state")));
  const pid_t again = start({"train", "--resume", "from.state"});
  ASSERT_TRUE(wait_for("m.json.state")) << "the first checkpoint of the run that goes on";
  ::kill(again, SIGTERM);
  EXPECT_EQ(wait(again), 143);
}

// A terminal that closes may send the signal several times: the second must not end the save.
TEST_F(TrainVerb, AHangUpSavesLikeATermination) {
  const pid_t child = start(command("m.json", "100000000"));
  ASSERT_TRUE(wait_for("m.json.state"));
  for (int i = 0; i < 3; ++i) ::kill(child, SIGHUP);
  EXPECT_EQ(wait(child), 129);
  EXPECT_THAT(text("err"), HasSubstr("stopped: the best model so far is in m.json"));
  EXPECT_EQ(run({"evaluate", "m.json", "data.csv"}), 0) << text("err");
}

TEST_F(TrainVerb, UnderNohupAHangUpChangesNothing) {
  const auto before = std::signal(SIGHUP, SIG_IGN);  // as nohup does; children inherit it
  const pid_t child = start(command("m.json"));
  std::signal(SIGHUP, before);
  ASSERT_TRUE(wait_for("m.json.state"));
  ::kill(child, SIGHUP);
  EXPECT_EQ(wait(child), 0) << text("err");
}

}  // namespace
}  // namespace remede

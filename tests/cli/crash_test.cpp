// A command is killed, or meets an error of the file system, at every moment of a save: its output is then the old file
// or the new one, whole, and never half of one. bench/crash.py does the same to `remede train`, with resuming.
#include <cerrno>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.h"
#include "remede/model/file.h"
#include "two_leaves.h"

namespace remede::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

class Crash : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    save_model(two_leaves(), "m.json");
    write("d.csv", "id,t,x,y\na,1,0,no\na,2,1,yes\nb,1,1,yes\n");
    ASSERT_EQ(with_faults("REMEDE_FAULT_LOG=log").code, 0);
    new_ = read("out.csv");
    moments_ = static_cast<int>(lines("log").size());
  }

  static Result with_faults(const std::string& faults) {
    return shell(fmt::format("{} LD_PRELOAD={} $remede predict m.json d.csv -o out.csv", faults, REMEDE_FAULTS));
  }
  std::vector<std::string> lines(const std::string& name) const {
    std::istringstream text(read(name));
    std::vector<std::string> all;
    for (std::string line; std::getline(text, line);) all.push_back(line);
    return all;
  }
  void start_over(bool with_old) const {
    for (const auto& entry : fs::directory_iterator("."))
      if (entry.path().filename().string().starts_with("out.csv")) fs::remove(entry.path());
    if (with_old) write("out.csv", "old");
  }

  std::string new_;
  int moments_ = 0;
};

TEST_F(Crash, AFileIsFlushedBeforeItIsRenamedAndItsFolderAfterwards) {
  std::vector<std::string> calls;
  for (const std::string& line : lines("log")) {
    const std::string path = line.substr(line.rfind(' ') + 1);
    const std::string what = path.ends_with("out.csv")                    ? "target"
                             : path.find("out.csv.") != std::string::npos ? "temporary"
                             : fs::is_directory(path)                     ? "folder"
                                                                          : path;
    if (line.find(" after ") != std::string::npos) calls.push_back(line.substr(0, line.find(' ')) + " " + what);
  }
  EXPECT_THAT(calls,
              ElementsAre("create temporary", "write temporary", "fsync temporary", "rename target", "fsync folder"));
}

TEST_F(Crash, KilledAtAnyMomentLeavesTheOldFileOrTheNewOne) {
  ASSERT_GT(moments_, 8);
  int old_kept = 0, new_there = 0;
  for (const bool with_old : {true, false})
    for (int moment = 1; moment <= moments_; ++moment) {
      start_over(with_old);
      EXPECT_EQ(with_faults(fmt::format("REMEDE_FAULT_AT={}", moment)).code, 137) << moment;
      const std::string there = fs::exists("out.csv") ? read("out.csv") : "none";
      EXPECT_TRUE(there == (with_old ? "old" : "none") || there == new_) << "at moment " << moment << ": " << there;
      (there == new_ ? new_there : old_kept)++;
    }
  EXPECT_GT(old_kept, 0);
  EXPECT_GT(new_there, 0);
}

TEST_F(Crash, AnErrorAtAnyMomentIsToldAndLeavesNothingBehind) {
  for (const int error : {ENOSPC, EIO})
    for (int moment = 1; moment <= moments_; ++moment) {
      start_over(true);
      const Result result = with_faults(fmt::format("REMEDE_FAULT_AT={} REMEDE_FAULT_ERROR={}", moment, error));
      const std::string there = read("out.csv");
      if (result.code == 0) {
        EXPECT_EQ(there, new_) << moment;
      } else {
        EXPECT_TRUE(is_error(result, 1, "out.csv: cannot write: ")) << moment;
        EXPECT_TRUE(there == "old" || there == new_) << "at moment " << moment << ": " << there;
      }
      EXPECT_EQ(files(), 4U) << "m.json, d.csv, log and out.csv, at moment " << moment;
    }
}

}  // namespace
}  // namespace remede::test

#include "remede/base/file.h"

#include <csignal>
#include <filesystem>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "remede/base/error.h"

namespace remede {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// An empty folder for each test.
class File : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "remede_file_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t files() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {})); }

  fs::path folder_;
};

TEST_F(File, ComesBackAsWritten) {
  std::string bytes(3'000'000, 'a');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31);
  write_file(path("a"), bytes);
  EXPECT_EQ(read_file(path("a")), bytes);
  EXPECT_EQ(files(), 1U);
  write_file(path("a"), "");
  EXPECT_EQ(read_file(path("a")), "");
}

TEST_F(File, NothingIsThereBeforeCommit) {
  write_file(path("a"), "old");
  {
    AtomicFile file(path("a"));
    file.write("new");
    EXPECT_EQ(read_file(path("a")), "old");
  }
  EXPECT_EQ(read_file(path("a")), "old");
  EXPECT_EQ(files(), 1U) << "the temporary file stays behind";
  AtomicFile file(path("a"));
  file.write("ne");
  file.write("w");
  file.commit();
  EXPECT_EQ(read_file(path("a")), "new");
  EXPECT_EQ(files(), 1U);
}

TEST_F(File, AnExceptionLeavesTheOldFile) {
  write_file(path("a"), "old");
  const auto half = [&] {
    AtomicFile file(path("a"));
    file.write("half");
    fail("expected no trouble, got some");
  };
  EXPECT_THROW(half(), Error);
  EXPECT_EQ(read_file(path("a")), "old");
  EXPECT_EQ(files(), 1U);
}

TEST_F(File, ErrorsNameTheFile) {
  EXPECT_THAT(error_of([&] { read_file(path("none")); }), HasSubstr("none: cannot open: No such file"));
  EXPECT_THAT(error_of([&] { read_file(folder_.string()); }), HasSubstr("cannot read: Is a directory"));
  EXPECT_THAT(error_of([&] { write_file(path("no/a"), "x"); }), HasSubstr("no/a: cannot write: No such file"));
  EXPECT_THAT(error_of([&] { write_file(folder_.string(), "x"); }), HasSubstr("is a folder"));
}

TEST_F(File, AFullDeviceIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  EXPECT_THAT(error_of([] { write_file("/dev/full", "x"); }), HasSubstr("/dev/full: cannot write: No space left"));
}

TEST_F(File, ReadingStopsAtTheLimit) {
  write_file(path("a"), std::string(100, 'x'));
  EXPECT_EQ(read_file(path("a"), 100).size(), 100U);
  EXPECT_THAT(error_of([&] { read_file(path("a"), 99); }), HasSubstr("expected at most 99 bytes, got more"));
  if (fs::exists("/dev/zero")) {
    EXPECT_THAT(error_of([] { read_file("/dev/zero", 1000); }), HasSubstr("expected at most"));
  }
}

TEST_F(File, ANewFileHasTheUsualMode) {
  write_file(path("a"), "x");
  const mode_t mask = umask(0);
  umask(mask);
  struct stat there {};
  ASSERT_EQ(stat(path("a").c_str(), &there), 0);
  EXPECT_EQ(there.st_mode & 0777, 0666 & ~mask);
}

mode_t mode_of(const std::string& path) {
  struct stat there {};
  EXPECT_EQ(stat(path.c_str(), &there), 0) << path;
  return there.st_mode & 07777;
}

TEST_F(File, AFileThatIsReplacedKeepsItsMode) {
  for (const mode_t mode : {0600, 0640, 0755, 0666, 0200}) {
    write_file(path("a"), "old");
    ASSERT_EQ(chmod(path("a").c_str(), mode), 0);
    write_file(path("a"), "new");
    EXPECT_EQ(mode_of(path("a")), mode);
    ASSERT_EQ(chmod(path("a").c_str(), 0600), 0);
    EXPECT_EQ(read_file(path("a")), "new");
  }
}

TEST_F(File, LinksAreFollowedAndStay) {
  fs::create_directory(path("elsewhere"));
  write_file(path("elsewhere/a"), "old");
  ASSERT_EQ(chmod(path("elsewhere/a").c_str(), 0640), 0);
  fs::create_symlink("elsewhere/a", path("relative"));
  fs::create_symlink(path("relative"), path("absolute"));
  write_file(path("absolute"), "new");
  EXPECT_TRUE(fs::is_symlink(path("absolute")));
  EXPECT_TRUE(fs::is_symlink(path("relative")));
  EXPECT_EQ(read_file(path("elsewhere/a")), "new");
  EXPECT_EQ(mode_of(path("elsewhere/a")), 0640U);
  EXPECT_EQ(files(), 3U);
}

TEST_F(File, ALinkToNothingGetsItsFile) {
  fs::create_symlink("not_yet", path("link"));
  write_file(path("link"), "x");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("not_yet")), "x");
  fs::create_symlink("round", path("round"));
  EXPECT_THAT(error_of([&] { write_file(path("round"), "x"); }), HasSubstr("cannot write: Too many levels"));
  fs::create_symlink("no/folder", path("lost"));
  EXPECT_THAT(error_of([&] { write_file(path("lost"), "x"); }), HasSubstr("lost: cannot write: No such file"));
}

TEST_F(File, TheLongestNamesCanBeWritten) {
  const std::string name(255, 'n');
  write_file(path(name), "x");
  EXPECT_EQ(read_file(path(name)), "x");
  EXPECT_EQ(files(), 1U);
}

TEST_F(File, AnEmptyNameIsRefused) {
  EXPECT_EQ(error_of([] { write_file("", "x"); }), "expected the name of a file to write, got ''");
}

TEST_F(File, InputsAndOutputsAreToldApartByTheFileBehindTheName) {
  write_file(path("a"), "x");
  write_file(path("b"), "x");
  fs::create_symlink("a", path("soft"));
  fs::create_hard_link(path("a"), path("hard"));
  fs::create_symlink("missing", path("dangling"));
  fs::create_directory_symlink(".", path("here"));
  const auto clash = [&](const std::string& in, const std::string& out) {
    return error_of([&] {
      expect_separate_files({{"model", path("b")}, {"data", path(in)}}, {{"--output", path(out)}});
    });
  };
  for (const char* out : {"a", "soft", "hard", "./a", "here/a", "here/here/soft"})
    EXPECT_THAT(clash("a", out), HasSubstr("expected --output to be another file than data")) << out;
  EXPECT_THAT(clash("soft", "hard"), HasSubstr("which are the same file"));
  EXPECT_EQ(clash("a", "c"), "no error");
  EXPECT_EQ(clash("a", "no/folder"), "no error") << "that it cannot be written is found when it is";
  const auto twice = [&](const std::string& one, const std::string& other) {
    return error_of([&] { expect_separate_files({}, {{"--output", path(one)}, {"--checkpoint", path(other)}}); });
  };
  for (const char* other : {"missing", "./missing", "here/missing", "dangling"})
    EXPECT_THAT(twice("missing", other), HasSubstr("expected --output and --checkpoint to be two files")) << other;
  EXPECT_EQ(twice("missing", "b"), "no error");
  EXPECT_EQ(error_of([] {
              expect_separate_files({{"data", "/dev/null"}}, {{"a", "/dev/null"}, {"b", "/dev/null"}});
            }),
            "no error");
}

TEST_F(File, APipeIsWrittenInPlace) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = read_file(path("pipe")); });
  write_file(path("pipe"), "through");
  reader.join();
  EXPECT_EQ(got, "through");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

// Standard output is closed on its other end: its own type, so that main can stay quiet.
TEST_F(File, AReaderThatHasGoneIsABrokenPipe) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  const auto handler = std::signal(SIGPIPE, SIG_IGN);
  std::fflush(stdout);
  const int saved = dup(STDOUT_FILENO);
  dup2(ends[1], STDOUT_FILENO);
  bool broken = false;
  try {
    write_file("-", "x");
  } catch (const BrokenPipe&) {
    broken = true;
  }
  dup2(saved, STDOUT_FILENO);
  close(saved);
  close(ends[1]);
  std::signal(SIGPIPE, handler);
  EXPECT_TRUE(broken);
}

}  // namespace
}  // namespace remede

#include "cli/program.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "remede/base/file.h"

namespace remede::test {
namespace fs = std::filesystem;

namespace {

// A file without a name that holds `bytes` and is read from its start.
int scratch_file(const std::string& bytes) {
  std::string name = testing::TempDir() + "remede_cli_XXXXXX";
  const int descriptor = mkstemp(name.data());
  unlink(name.c_str());
  std::size_t done = 0;
  while (descriptor >= 0 && done < bytes.size()) {
    const ssize_t put = ::write(descriptor, bytes.data() + done, bytes.size() - done);
    if (put <= 0) break;
    done += static_cast<std::size_t>(put);
  }
  lseek(descriptor, 0, SEEK_SET);
  return descriptor;
}

std::string take(int descriptor) {
  lseek(descriptor, 0, SEEK_SET);
  std::string bytes;
  char block[65536];
  for (ssize_t got = 0; (got = ::read(descriptor, block, sizeof block)) > 0;)
    bytes.append(block, static_cast<std::size_t>(got));
  close(descriptor);
  return bytes;
}

Result run(std::vector<std::string> words, const std::string& in) {
  const int streams[3] = {scratch_file(in), scratch_file(""), scratch_file("")};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 3; ++i) dup2(streams[i], i);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  Result result;
  int status = 0;
  if (child > 0 && waitpid(child, &status, 0) == child)
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  close(streams[0]);
  result.out = take(streams[1]);
  result.err = take(streams[2]);
  return result;
}

}  // namespace

Result remede(const std::vector<std::string>& arguments, const std::string& in) {
  std::vector<std::string> words = {REMEDE_BINARY};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run(words, in);
}

Result shell(const std::string& line) {
  setenv("remede", REMEDE_BINARY, 1);
  return run({"sh", "-c", line}, "");
}

void CliTest::SetUp() {
  before_ = fs::current_path();
  std::string name = testing::TempDir() + "remede_cli_XXXXXX";
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  folder_ = name;
  fs::current_path(folder_);
}

void CliTest::TearDown() {
  fs::current_path(before_);
  fs::remove_all(folder_);
}

void CliTest::write(const std::string& name, const std::string& bytes) const { write_file(name, bytes); }
std::string CliTest::read(const std::string& name) const { return read_file(name); }
std::size_t CliTest::files() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator("."), {})); }

testing::AssertionResult is_error(const Result& result, int code, const std::string& part) {
  const bool one_line = std::count(result.err.begin(), result.err.end(), '\n') == 1 && result.err.ends_with('\n');
  const bool said = result.err.starts_with("remede: ") && result.err.find(part) != std::string::npos;
  if (result.code == code && one_line && said && result.out.empty()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "expected exit code " << code << " and one line with '" << part
                                     << "', got code " << result.code << ", out: " << result.out
                                     << ", err: " << result.err;
}

}  // namespace remede::test

// Runs the program under test as a user would, and keeps what it printed.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace remede::test {

struct Result {
  int code = -1;  // exit code; 128 + signal when a signal ended it
  std::string out;
  std::string err;
};

// REMEDE_BINARY with these arguments, standard input from `in`.
Result remede(const std::vector<std::string>& arguments, const std::string& in = "");

// A line of sh, in which $remede is the program. Its exit code is the line's.
Result shell(const std::string& line);

// A folder of its own for every test, in which the program runs.
class CliTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  void write(const std::string& name, const std::string& bytes) const;
  std::string read(const std::string& name) const;
  std::size_t files() const;

 private:
  std::string folder_;
  std::string before_;
};

// The error is a single line that names the program and says `part`, with nothing on standard output.
testing::AssertionResult is_error(const Result& result, int code, const std::string& part);

}  // namespace remede::test

// The corpus of bad files: each NAME.csv in tests/data/bad gives exactly the message in NAME.txt, whole or in small
// pieces.
#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "data/source.h"
#include "remede/data/dataset.h"

namespace remede {
namespace {

using testing::bytes_of;
using testing::error_of;

TEST(BadFiles, EachGivesItsMessage) {
  const std::filesystem::path folder = std::filesystem::path(REMEDE_TESTS_DIR) / "data" / "bad";
  int count = 0;
  Roles roles;
  roles.strict_time = true;  // else a time that occurs twice is fine
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".csv") continue;
    ++count;
    const std::string name = entry.path().filename().string();
    const std::string bytes = read_file(entry.path().string());
    std::string expected = read_file(std::filesystem::path(entry.path()).replace_extension(".txt").string());
    ASSERT_EQ(expected.back(), '\n') << name;
    expected.pop_back();
    EXPECT_EQ(error_of([&] { read_dataset(bytes_of(bytes, bytes.size() + 1, name), roles); }), expected);
    EXPECT_EQ(error_of([&] { read_dataset(bytes_of(bytes, 1, name), roles); }), expected) << "in pieces of one byte";
    EXPECT_EQ(expected.find('\n'), std::string::npos) << name;
    EXPECT_TRUE(expected.starts_with(name + ": ")) << expected;
  }
  EXPECT_GE(count, 60);
}

// Bytes knocked out of a good file: read or refused in one line, never a crash.
TEST(BadFiles, EveryByteOfAGoodFileChanged) {
  const std::string good = "id,step,x1,x2,y\n\"a\",0,1.5,-2,yes\na,1,,3e2,no\r\nb,1,0.5,1,\nb,0,4,NA,\"yes\"\n";
  for (std::size_t i = 0; i < good.size(); ++i)
    for (const char c : {'\0', '\xff', '"', ',', '\n', '\r', '9', 'e', '-', ' '}) {
      std::string bytes = good;
      bytes[i] = c;
      try {
        read_dataset(bytes_of(bytes), Roles{});
      } catch (const Error& error) {
        ASSERT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      }
    }
  for (std::size_t i = 0; i < good.size(); ++i) {
    try {
      read_dataset(bytes_of(good.substr(0, i)), Roles{});
    } catch (const Error& error) {
      ASSERT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
}

TEST(BadFiles, TenMegabyteLines) {
  const std::string digits(10 << 20, '7');
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of("id,x,y\na,1,0\na," + digits + ",1\n"), Roles{}); }),
            "data.csv: line 3, column 'x': expected a finite number that fits a float, got inf");
  const std::string letters(10 << 20, 'w');
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of("id,x,y\na,1,0\na," + letters + ",1\n"), Roles{}); }),
            "data.csv: line 3, column 'x': expected a number, got 'wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww...'; "
            "if the column holds categories, use --categorical 'x', otherwise leave it out with --ignore 'x'");
}

}  // namespace
}  // namespace remede

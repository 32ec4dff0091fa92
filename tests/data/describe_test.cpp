#include "remede/data/describe.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/source.h"

namespace remede {
namespace {

using testing::bytes_of;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

Description describe_text(const std::string& text, Roles roles = {}) {
  roles.need_target = false;
  std::vector<TableSource> files;
  files.push_back(bytes_of(text));
  return describe(read_raw(std::move(files), roles), roles);
}

TEST(Describe, NumbersAsNamesMayBeTheFirstRow) {
  const auto suggested = [](const std::string& text) { return describe_text(text).suggestions; };
  EXPECT_THAT(suggested("0.5,0.25,7\n1,2,3\n"), Contains(HasSubstr("--names NAME,NAME")));
  EXPECT_THAT(suggested("5,3\n1,2\n"), Contains(HasSubstr("--names NAME,NAME")));
  EXPECT_THAT(suggested("0,1,2,y\n1,2,3,1\n1,2,3,2\n"), Not(Contains(HasSubstr("--names"))));
  EXPECT_THAT(suggested("a,b\n1,2\n"), Not(Contains(HasSubstr("--names"))));
}

TEST(Describe, ColumnsSequencesAndClasses) {
  Roles with_time;
  with_time.time = "day";
  const Description d = describe_text(
      "id,day,x,wind,y\na,2024-01-01,1,N,up\na,2024-01-02,,S,down\nb,2024-01-01,3,N,up\nb,2024-01-02,5,,\nb,2024-01-03,"
      "9,N,up\n",
      with_time);
  EXPECT_EQ(d.sequences, 2U);
  EXPECT_EQ(d.steps, 5U);
  EXPECT_EQ(d.shortest, 2U);
  EXPECT_EQ(d.longest, 3U);
  EXPECT_EQ(d.steps_with_target, 4U);
  ASSERT_EQ(d.columns.size(), 5U);
  EXPECT_EQ(d.columns[0].role, "id");
  EXPECT_EQ(d.columns[1].type, "date");
  EXPECT_EQ(d.columns[2].missing, 1U);
  EXPECT_EQ(d.columns[2].low, 1.0);
  EXPECT_EQ(d.columns[2].high, 9.0);
  EXPECT_EQ(d.columns[2].median, 4.0);
  EXPECT_EQ(d.columns[3].words[0], (std::pair<std::string, std::size_t>("N", 3)));
  EXPECT_EQ(d.columns[4].role, "target");
  EXPECT_EQ(d.columns[4].words[0], (std::pair<std::string, std::size_t>("up", 3)));
}

TEST(Describe, TheEarliestAndTheLatestTimeOfAllSequences) {
  const Description d = describe_text("id,time,x,y\n1,5,1,0\n1,10,2,1\n2,9,3,0\n2,1,2,1\n3,7,2,1\n", Roles{});
  EXPECT_EQ(d.columns[1].words[0].first, "1");
  EXPECT_EQ(d.columns[1].words[1].first, "10");
}

TEST(Describe, SaysWhatFlagsMayBeMissing) {
  std::string text = "No,k,flat,out\n";
  for (int i = 0; i < 100; ++i)
    text += std::to_string(i) + "," + std::to_string(i % 4) + ",7," + std::to_string(i % 5) + "\n";
  const Description d = describe_text(text);
  EXPECT_FALSE(d.has_target);
  EXPECT_THAT(d.suggestions, Contains("no target column: --target COLUMN (the last column is 'out')"));
  EXPECT_THAT(d.suggestions, Contains("'No' rises by 1 from row to row: --time No or --ignore No"));
  EXPECT_THAT(d.suggestions, Contains("'k' holds 4 different whole numbers: if they are categories, --categorical k"));
  EXPECT_THAT(d.suggestions, Contains("'flat' never changes: --ignore flat"));
  Roles for_out;
  for_out.target = {"out"};
  const Description with_target = describe_text(text, for_out);
  EXPECT_THAT(with_target.suggestions, Contains("'out' is read as 5 classes: if it is an amount, --task regression"));
}

}  // namespace
}  // namespace remede

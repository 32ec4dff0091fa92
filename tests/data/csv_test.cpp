#include "remede/data/csv.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "data/source.h"
#include "remede/base/error.h"

namespace remede {
namespace {

using testing::bytes_of;
using testing::error_of;

using Rows = std::vector<std::vector<std::string>>;

// Header and rows as texts.
Rows read_all(const std::string& bytes, std::size_t piece = static_cast<std::size_t>(-1), std::size_t block = 1 << 18) {
  CsvReader csv(bytes_of(bytes, piece), block);
  Rows rows = {csv.columns()};
  while (csv.next_row()) {
    rows.emplace_back();
    for (std::size_t c = 0; c < csv.columns().size(); ++c) rows.back().emplace_back(csv.text());
  }
  return rows;
}

const Rows kSmall = {{"a", "b"}, {"1", "2"}, {"3", "4"}};

TEST(CsvReader, TakesEveryKindOfLineEnd) {
  EXPECT_EQ(read_all("a,b\n1,2\n3,4\n"), kSmall);
  EXPECT_EQ(read_all("a,b\n1,2\n3,4"), kSmall);
  EXPECT_EQ(read_all("a,b\r\n1,2\r\n3,4\r\n"), kSmall);
  EXPECT_EQ(read_all("a,b\r\n1,2\r\n3,4"), kSmall);
  EXPECT_EQ(read_all("a,b\r\n1,2\n3,4\r"), kSmall);
  EXPECT_EQ(read_all("\xef\xbb\xbf"
                     "a,b\n1,2\n3,4\n"),
            kSmall);
  EXPECT_EQ(read_all("\n\na,b\n\n1,2\n\r\n3,4\n\n\n"), kSmall);
}

TEST(CsvReader, GuessesTheSeparatorByTheHeader) {
  EXPECT_EQ(read_all("a;b\n1;2\n3;4\n"), kSmall);
  EXPECT_EQ(read_all("a\tb\n1\t2\n3\t4\n"), kSmall);
  EXPECT_EQ(read_all("\"a,x\";b\n1;2\n"), (Rows{{"a,x", "b"}, {"1", "2"}}));
  EXPECT_EQ(read_all("a,b;c\n1,2\n"), (Rows{{"a", "b;c"}, {"1", "2"}}));
  EXPECT_EQ(read_all("a\n1\n2\n"), (Rows{{"a"}, {"1"}, {"2"}}));
}

TEST(CsvReader, UnderstandsQuotes) {
  EXPECT_EQ(read_all("a,b\n\"x,y\",\"he said \"\"no\"\"\"\n"), (Rows{{"a", "b"}, {"x,y", "he said \"no\""}}));
  EXPECT_EQ(read_all("a,b\n\"two\nlines\",\"\"\n"), (Rows{{"a", "b"}, {"two\nlines", ""}}));
  EXPECT_EQ(read_all("a,b\n\"two\r\nlines\",\"\"\"\"\r\n"), (Rows{{"a", "b"}, {"two\r\nlines", "\""}}));
  EXPECT_EQ(read_all("a\n\"\"\n"), (Rows{{"a"}, {""}}));
  EXPECT_EQ(read_all("a,b\n5\" pipe,it\"s\n"), (Rows{{"a", "b"}, {"5\" pipe", "it\"s"}}));
  EXPECT_EQ(read_all("\"first\nname\",b\n1,2\n"), (Rows{{"first\nname", "b"}, {"1", "2"}}));
}

TEST(CsvReader, KeepsCellsAsTheyStandAndTrimsNames) {
  EXPECT_EQ(read_all(" a , b\n 1 ,\t2\n"), (Rows{{"a", "b"}, {" 1 ", "\t2"}}));
}

TEST(CsvReader, RefusesControlCharactersInNamesWhereverTheHeaderStands) {
  EXPECT_EQ(error_of([] { read_all("\n\x03,b\n1,2\n"); }),
            "data.csv: expected column names without control characters, got '\\x03'");
  EXPECT_EQ(read_all("\n\"first\r\nname\",b\n1,2\n").front().front(), "first\r\nname");
}

TEST(CsvReader, RefusesBlanksAlone) {
  TableFormat blanks;
  blanks.separator = ' ';
  for (const char* text : {" ", "  ", "   \n  ", "\n \n"})
    for (const std::size_t piece : {1U, 100U})
      EXPECT_EQ(error_of([&] { CsvReader csv(bytes_of(text, piece), blanks, 1 << 12); }),
                "data.csv: expected a header line, got an empty file")
          << text;
}

TEST(CsvReader, CountsLinesAcrossQuotedNewlinesAndBlankLines) {
  CsvReader csv(bytes_of("a,b\n\"1\n1\",2\n\n3,4\r\n5,6"));
  std::vector<std::uint64_t> lines;
  while (csv.next_row()) {
    lines.push_back(csv.line());
    csv.skip();
    csv.skip();
  }
  EXPECT_EQ(lines, (std::vector<std::uint64_t>{2, 5, 6}));
}

TEST(CsvReader, NumbersAreTheSameByEveryWay) {
  CsvReader csv(
      bytes_of("a,b,c,d,e,f\r\n1.5,\"1.5\", 1.5,+1.5,15e-1,1.5\r\nNA,,\"\",nan, ? ,null\r\n1.5x,0x1,-,.,1e,\"a\"\r\n"));
  double value = 0.0;
  ASSERT_TRUE(csv.next_row());
  for (int c = 0; c < 6; ++c) {
    EXPECT_TRUE(csv.number(value));
    EXPECT_EQ(value, 1.5);
  }
  ASSERT_TRUE(csv.next_row());
  for (int c = 0; c < 6; ++c) {
    EXPECT_TRUE(csv.number(value));
    EXPECT_TRUE(std::isnan(value));
  }
  ASSERT_TRUE(csv.next_row());
  for (const char* cell : {"1.5x", "0x1", "-", ".", "1e", "a"}) {
    EXPECT_FALSE(csv.number(value));
    EXPECT_EQ(csv.last_cell(), cell);
  }
  EXPECT_FALSE(csv.next_row());
}

std::string as_csv(const Rows& rows, char separator, bool crlf, bool quote_all, bool newline_at_end) {
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      if (c > 0) text += separator;
      const std::string& cell = rows[r][c];
      const bool special = cell.find_first_of(std::string("\"\r\n") + separator) != std::string::npos;
      if (!quote_all && !special && !(cell.empty() && rows[r].size() == 1)) {
        text += cell;
        continue;
      }
      text += '"';
      for (const char k : cell) text += k == '"' ? "\"\"" : std::string(1, k);
      text += '"';
    }
    if (r + 1 < rows.size() || newline_at_end) text += crlf ? "\r\n" : "\n";
  }
  return text;
}

// Whatever the cells hold, however they are written and in whatever pieces they come, they come back.
RC_GTEST_PROP(CsvReader, ReadsBackEveryTable, ()) {
  const auto columns = *rc::gen::inRange<std::size_t>(1, 5);
  const auto cell = rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab1 ,;\t\"\n\r.-")));
  Rows rows(1);
  for (std::size_t c = 0; c < columns; ++c) rows[0].push_back("name" + std::to_string(c));
  const auto count = *rc::gen::inRange(0, 8);
  for (int r = 0; r < count; ++r) rows.push_back(*rc::gen::container<std::vector<std::string>>(columns, cell));
  const char separator = columns == 1 ? ',' : *rc::gen::elementOf(std::string(",;\t"));
  const std::string text =
      as_csv(rows, separator, *rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>());
  const auto piece = *rc::gen::inRange<std::size_t>(1, 20);
  const auto block = *rc::gen::inRange<std::size_t>(1, 20);
  RC_ASSERT(read_all(text) == rows);
  RC_ASSERT(read_all(text, piece, block) == rows);
}

// No bytes whatever may crash the reader; it reads them or throws Error.
RC_GTEST_PROP(CsvReader, SurvivesAnyBytes, ()) {
  const auto bytes =
      *rc::gen::container<std::string>(rc::gen::elementOf(std::string("a1,;\t\"\"\n\n\r\xef\xbb\xbf\0\xff", 16)));
  const auto block = *rc::gen::inRange<std::size_t>(1, 20);
  const auto as_numbers = *rc::gen::arbitrary<bool>();
  try {
    CsvReader csv(bytes_of(bytes), block);
    while (csv.next_row())
      for (std::size_t c = 0; c < csv.columns().size(); ++c) {
        double value = 0.0;
        if (as_numbers) {
          csv.number(value);
        } else {
          csv.text();
        }
      }
  } catch (const Error& error) {
    RC_ASSERT(std::string(error.what()).find('\n') == std::string::npos);
  }
}

TEST(CsvReader, RefusesOverlongLines) {
  const std::string line(CsvReader::kMaxRow + (1 << 20), '1');
  EXPECT_EQ(error_of([&] { read_all("a,b\n1,2\n" + line + ",2\n"); }),
            "data.csv: line 3: expected lines of at most 64 MiB, got a longer one");
  std::string lines = "a,b\n1,2\n\"";
  while (lines.size() < CsvReader::kMaxRow + (1 << 20)) lines += std::string(1000, 'x') + "\n";
  EXPECT_EQ(error_of([&] { read_all(lines); }),
            "data.csv: line 3, column 'a': expected a closing quote within 64 MiB, got none");
}

TEST(CsvReader, ReadsLongLinesWithinTheLimit) {
  const std::string cell(10 << 20, 'x');  // ten times the block and more
  EXPECT_EQ(read_all("a,b\n" + cell + ",2\n"), (Rows{{"a", "b"}, {cell, "2"}}));
}

TEST(CsvReader, RefusesMoreColumnsThanAnyTableHas) {
  EXPECT_EQ(error_of([] { read_all(std::string(CsvReader::kMaxColumns + 5, ',')); }),
            "data.csv: expected at most 131072 columns, got more");
}

TEST(CsvReader, NamesAFileThatCannotBeRead) {
  EXPECT_EQ(error_of([] { open_bytes("/no/such/file.csv"); }),
            "/no/such/file.csv: cannot open: No such file or directory");
  const std::string folder = ::testing::TempDir();
  EXPECT_EQ(error_of([&] { CsvReader csv(open_bytes(folder)); }), folder + ": cannot read: Is a directory");
}

TEST(Shown, IsOneShortLine) {
  EXPECT_EQ(shown("a\nb\tc\x01\xff"), "'a\\nb\\tc\\x01\\xff'");
  EXPECT_EQ(shown("h\xc3\xa9"), "'h\xc3\xa9'");
  EXPECT_EQ(shown(std::string(100, 'x')), "'" + std::string(40, 'x') + "...'");
}

TEST(IsUtf8, KnowsOverlongFormsAndSurrogates) {
  EXPECT_TRUE(is_utf8("plain, \xc3\xa9, \xe2\x82\xac, \xf0\x9f\x98\x80"));
  for (const char* bad :
       {"\xff", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "a\x80"})
    EXPECT_FALSE(is_utf8(bad));
}

RC_GTEST_PROP(CsvWriter, WritesWhatTheReaderReads, ()) {
  const auto columns = *rc::gen::inRange<std::size_t>(1, 4);
  const auto cell = rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab1 ,;\"\n\r")));
  Rows rows(1);
  for (std::size_t c = 0; c < columns; ++c)
    rows[0].push_back(columns == 1 ? "name" : "name " + std::to_string(c) + ",");
  const auto count = *rc::gen::inRange(0, 6);
  for (int r = 0; r < count; ++r) rows.push_back(*rc::gen::container<std::vector<std::string>>(columns, cell));
  const std::string path = ::testing::TempDir() + "remede_csv_writer_test.csv";
  CsvWriter writer(path);
  for (const auto& row : rows) {
    for (const std::string& text : row) writer.text(text);
    writer.end_row();
  }
  writer.commit();
  const std::string bytes = read_file(path);
  std::filesystem::remove(path);
  RC_ASSERT(read_all(bytes) == rows);
}

}  // namespace
}  // namespace remede

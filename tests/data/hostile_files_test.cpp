// Files that were made, or fell out, to do harm: crashes, lost rows, time and memory out of proportion.
#include <ctime>
#include <filesystem>
#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/packed.h"
#include "data/same_dataset.h"
#include "data/source.h"
#include "remede/base/json.h"
#include "remede/data/dataset.h"
#include "remede/data/raw.h"
#include "remede/data/ts.h"
#include "remede/schema/roles.h"
#include "support/sanitized.h"

namespace remede {
namespace {

using testing::bytes_of;
using testing::error_of;
using testing::gzipped;
using ::testing::HasSubstr;
using testing::zstandard;

// Of the processor: others may be at work on the machine.
double seconds_of(const std::function<void()>& action) {
  const std::clock_t began = std::clock();
  action();
  return static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
}

TEST(HostileFiles, TsCasesWithALabelAndNoChannel) {
  for (const std::string cases : {"a\n", "a", "1,2:a\nb\n", " a \n"})
    EXPECT_THAT(error_of([&] { read_dataset(bytes_of("@classLabel true a b\n@data\n" + cases, 3, "p.ts"), Roles{}); }),
                HasSubstr("expected at least one channel and the class behind it, got '"));
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of("@targetLabel true\n@data\n0.5\n", 1, "p.ts"), Roles{}); }),
            "p.ts: line 3: expected at least one channel and the target behind it, got '0.5'");
  EXPECT_THAT(error_of([&] { read_dataset(bytes_of("@data\n:\n", 1, "p.ts"), Roles{}); }), HasSubstr("p.ts: line 2"));
}

// Every row is there, wherever a read ends and whatever blanks stand at the end of the file.
TEST(HostileFiles, NoRowOfABlankSeparatedFileIsLost) {
  for (const std::string end : {"", " ", "  ", "\t", " \t ", "\n", " \n", "\r\n", " \r\n", " \n ", "\n\n", " \n \n"}) {
    const std::string text = "x  y\n1 0\n 2  1 \n3 0 \n4   1" + end;
    for (std::size_t piece = 1; piece <= text.size() + 1; ++piece) {
      const Dataset data = read_dataset(bytes_of(text, piece), Roles{});
      ASSERT_EQ(data.sequences.steps(), 4U) << piece << " and '" << end << "'";
      ASSERT_EQ(data.sequences.x[3], 4.0F);
      ASSERT_EQ(data.sequences.label[3], 1);
    }
  }
}

TEST(HostileFiles, QuotesInsideACellAndInCommentsOpenNothing) {
  Roles roles;
  roles.format.separator = ' ';
  roles.format.comment = '#';
  const std::string text = "word  y\n5\"   0\n# it's \"so\n\"a  b\"   1\n\"say \"\"c  d\"\"\"  0\n";
  for (const std::size_t piece : {1, 2, 5, 1000}) {
    Roles words = roles;
    words.categorical = {"word"};
    const RawDataset raw = [&] {
      std::vector<TableSource> files;
      files.push_back(bytes_of(text, piece));
      return read_raw(std::move(files), words);
    }();
    EXPECT_EQ(raw.inputs[0].known, (std::vector<std::string>{"5\"", "a  b", "say \"c  d\""})) << piece;
  }
}

std::string wide_table(std::size_t columns, std::size_t rows) {
  std::string text = "y";
  for (std::size_t c = 1; c < columns; ++c) text += ",c" + std::to_string(c);
  text += '\n';
  for (std::size_t r = 0; r < rows; ++r) {
    text += std::to_string(r % 2);
    for (std::size_t c = 1; c < columns; ++c) text += c % 3 == 0 ? ",1" : ",0.5";
    text += '\n';
  }
  return text;
}

// Quadratic, 60,000 columns took 48 seconds.
TEST(HostileFiles, ManyColumnsTakeTimeInProportion) {
  const std::string text = wide_table(60000, 4);
  Dataset data;
  EXPECT_LT(seconds_of([&] { data = read_dataset(bytes_of(text), Roles{}); }), 3.0);
  ASSERT_EQ(data.schema.inputs.size(), 59999U);
  EXPECT_LT(seconds_of([&] { testing::expect_same(data, read_dataset(bytes_of(text), data.schema, Roles{}, true)); }),
            3.0);
}

TEST(HostileFiles, MoreInputsThanAModelMayHaveAreRefusedAtOnce) {
  EXPECT_EQ(error_of([] { read_dataset(bytes_of(wide_table(70000, 2)), Roles{}); }),
            "data.csv: expected at most 65536 input columns, got 69999: leave some out with --ignore");
  // Columns of words make several inputs each.
  std::string text = "y";
  for (int c = 1; c <= 20000; ++c) text += ",c" + std::to_string(c);
  text += '\n';
  for (const char* word : {"a", "b", "c", "d"}) {
    text += *word == 'a' ? "0" : "1";
    for (int c = 1; c <= 20000; ++c) text += std::string(",") + word;
    text += '\n';
  }
  EXPECT_THAT(error_of([&] { read_dataset(bytes_of(text), Roles{}); }),
              HasSubstr("expected at most 65536 inputs, got 80000"));
}

TEST(HostileFiles, ManyColumnsWithoutANameAreAFewNotes) {
  std::string text = "x,y";
  text.append(1000, ',');
  text += "\n";
  for (const char* row : {"1,0", "2,1"}) text += row + std::string(1000, ',') + "\n";
  const Dataset data = read_dataset(bytes_of(text), Roles{});
  EXPECT_LT(data.notes.size(), 10U);
  EXPECT_THAT(data.notes, ::testing::Contains("995 more columns have no name and are left out"));
}

TEST(HostileFiles, NamesAreAsManyAsATableMayHave) {
  Roles roles;
  for (int i = 0; i < 1000; ++i) roles.format.names.push_back("s" + std::to_string(i) + "_1..100000");
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of("1,2\n"), roles); }),
            "--names: expected at most 131072 columns, got more");
}

// At 3 MB/s these took 10 seconds.
TEST(HostileFiles, ShortLinesOfATsFileAreReadAtSpeed) {
  std::string text = "@classLabel true a b\n@data\n";
  while (text.size() < (std::size_t{8} << 20)) text += "1,2:a\n3,4:b\n";
  const double seconds = seconds_of([&] {
    ByteSource table = ts_as_table(bytes_of(text));
    std::string block(1 << 16, '\0');
    while (table.read(block.data(), block.size()) > 0) {
    }
  });
  EXPECT_LT(seconds, test::kSanitized ? 15.0 : 3.0);
}

// A .ts file is handed on row by row: what is in memory is a line, not its values.
TEST(HostileFiles, ALongTsLineIsHandedOnInPieces) {
  std::string line = "1";
  for (int i = 0; i < 1'000'000; ++i) line += ",1";
  ByteSource table = ts_as_table(bytes_of("@data\n" + line + "\n"));
  std::string block(1 << 20, '\0');
  std::size_t rows = 0;
  for (std::size_t got = 0; (got = table.read(block.data(), block.size())) > 0;) {
    EXPECT_LE(got, std::size_t{1} << 17);
    rows += static_cast<std::size_t>(std::count(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(got), '\n'));
  }
  EXPECT_EQ(rows, 1'000'002U);  // and the header
}

TEST(HostileFiles, PackedDataThatSwellAreRefused) {
  std::string text = "x,y\n";
  while (text.size() < kMostUnpacked + 100) text += "1,0\n1,1\n";
  const std::string message =
      "data.csv: expected compressed data of at most 200 times their length after decompression, got more: decompress "
      "the file first, or pipe it in";
  for (const std::string& packed : {gzipped(text), zstandard(text)}) {
    ASSERT_LT(packed.size(), text.size() / 250);
    EXPECT_EQ(error_of([&] { read_dataset(bytes_of(packed), Roles{}); }), message);
  }
  const std::string small = text.substr(0, kMostUnpacked / 8);  // ends with a whole row
  testing::expect_same(read_dataset(bytes_of(small), Roles{}), read_dataset(bytes_of(zstandard(small)), Roles{}));
}

TEST(HostileFiles, WordsWithoutATarget) {
  std::string text = "id,word\n";
  for (int i = 0; i < 40; ++i) text += std::to_string(i / 4) + ",w" + std::to_string(i % 10) + "\n";
  Roles roles;
  roles.need_target = false;
  const Dataset data = read_dataset(bytes_of(text), roles);
  ASSERT_EQ(data.schema.inputs.size(), 11U);  // the rank, and one input per word
  EXPECT_EQ(data.schema.inputs.front(), "word");
  EXPECT_EQ(data.schema.codes[0].words.front(), "w0");  // in the order of their bytes
}

TEST(HostileFiles, AHorizonWithoutATarget) {
  Roles roles;
  roles.need_target = false;
  roles.horizon = 1;
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of("id,x\n1,2\n1,3\n"), roles); }),
            "--horizon: expected a column to predict, got none: name it with --target");
}

TEST(HostileFiles, RolesAreReadOnceAndOnlyAsTheyAreMeant) {
  const auto refused = [](const std::string& text) {
    const std::string path = (std::filesystem::temp_directory_path() / "remede_hostile_roles.json").string();
    write_file(path, text);
    const std::string message = error_of([&] {
      Roles roles;
      read_roles(path, roles);
    });
    std::filesystem::remove(path);
    return message.substr(std::min(message.size(), path.size() + 2));
  };
  EXPECT_EQ(refused(R"({"id": "a", "id": "b"})"), "expected every key once, got \"id\" twice");
  EXPECT_EQ(refused(R"({"id": ["a", "b"]})"), "'id': expected one text, got a list");
  EXPECT_THAT(refused(R"({"time-gap": "no"})"), HasSubstr("expected true or false, got 'no'"));
  EXPECT_THAT(refused(std::string(1000, '[')), HasSubstr("at most 16 deep"));
  EXPECT_EQ(refused(std::string(100000, '\0')), "expected JSON, which begins with '{', got byte 0x00");
}

TEST(HostileFiles, EndlessFilesAreRefusedByTheirFirstBytes) {
  EXPECT_EQ(error_of([] { read_json_file("/dev/zero"); }),
            "/dev/zero: expected JSON, which begins with '{', got byte 0x00");
  EXPECT_THAT(error_of([] { read_dataset("/dev/zero", Roles{}); }),
              HasSubstr("/dev/zero: expected a CSV file as plain text"));
}

}  // namespace
}  // namespace remede

// Tables as people write them: blanks, comments, no header, row names; packed files; .ts files; several files.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "data/packed.h"
#include "data/same_dataset.h"
#include "data/source.h"
#include "remede/data/dataset.h"
#include "remede/data/describe.h"

namespace remede {
namespace {

using testing::bytes_of;
using testing::error_of;
using testing::expect_same;
using testing::gzipped;
using testing::zstandard;

Roles with_names(std::vector<std::string> names) {
  Roles roles;
  roles.format.names = std::move(names);
  return roles;
}

// A folder of its own, removed at the end.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("remede_formats_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return (path_ / name).string();
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

TEST(Formats, BlanksAreOneSeparatorHoweverManyAndInPieces) {
  const std::string text = "1 1  0.5 7 \n1 2 \t1.5 8\n\n2 1  2.5 9  \n2 2 3.5 10";
  for (const std::size_t piece : {1, 2, 3, 7, 1000}) {
    Roles roles = with_names({"id", "time", "x", "y"});
    roles.task = Task::kRegression;
    const Dataset data = read_dataset(bytes_of(text, piece), roles);
    EXPECT_EQ(data.sequences.x, (std::vector<float>{0.5F, 1.5F, 2.5F, 3.5F})) << piece;
    EXPECT_EQ(data.sequences.value, (std::vector<float>{7, 8, 9, 10})) << piece;
    EXPECT_EQ(data.sequences.count(), 2U);
  }
  const Dataset headed = read_dataset(bytes_of("x  y\n 1.5 0\n 2.5  1\n"), Roles{});
  EXPECT_EQ(headed.sequences.x, (std::vector<float>{1.5F, 2.5F}));
}

TEST(Formats, BlanksInQuotesStay) {
  const Dataset data = read_dataset(bytes_of("x y\n1  \"a  b\"\n2 \"c\"\n"), Roles{});
  EXPECT_EQ(data.schema.classes, (std::vector<std::string>{"a  b", "c"}));
}

TEST(Formats, NamesCommentsSkippedLinesAndSeparators) {
  Roles roles = with_names({"time", "s1..s3", "y"});
  roles.format.comment = '#';
  roles.format.skip = 1;
  const Dataset data = read_dataset(bytes_of("junk, with \"one quote\n# note\n0,1,2,3,a\n# more\n1,4,5,6,b\n"), roles);
  EXPECT_EQ(data.schema.inputs, (std::vector<std::string>{"s1", "s2", "s3"}));
  EXPECT_EQ(data.sequences.x, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of("junk\n0,1,2,3\n"), roles); }),
            "data.csv: line 2: expected 5 cells as --names says, got 4");
  roles = Roles{};
  roles.format.separator = '|';
  EXPECT_EQ(read_dataset(bytes_of("x,a|y\n1|0\n2|1\n"), roles).schema.inputs, (std::vector<std::string>{"x,a"}));
  EXPECT_EQ(error_of([&] {
              read_dataset(bytes_of("1,2\n"), with_names({"s9..s2", "y"}));
            }),
            "--names: expected a range of names such as s1..s21, got 's9..s2'");
}

TEST(Formats, AHeaderOneNameShortIsATableWithRowNames) {
  const Dataset data = read_dataset(
      bytes_of("\"date\",\"x\",\"y\"\n\"1\",\"2015-02-04 17:51:00\",2.5,0\n\"2\",\"2015-02-04 17:52:00\",3.5,1\n"),
      Roles{});
  EXPECT_EQ(data.schema.inputs, (std::vector<std::string>{"x"}));
  EXPECT_EQ(data.schema.time, "date");
  EXPECT_EQ(data.notes.back(),
            "rows have one cell more than the header has names: the first is taken for the name of the row");
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of("x,y\n1,2,0\n3,1\n"), Roles{}); }),
            "data.csv: line 3: expected 3 cells as in the first row (one more than the header has names), got 2");
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of("x,y\n1,2,\n3,1,\n"), Roles{}); }),
            "data.csv: line 2: expected 2 cells as in the header, got 3");
}

TEST(Formats, GzipAndZstdReadAsTheFileThatWasPacked) {
  std::string text = "id,x,y\n";
  for (int i = 0; i < 20000; ++i)
    text += std::to_string(i / 10) + "," + std::to_string(i % 977) + ".25," + std::to_string(i % 3) + "\n";
  const Dataset plain = read_dataset(bytes_of(text), Roles{});
  for (const std::size_t piece : {5, 100000}) {
    expect_same(plain, read_dataset(bytes_of(gzipped(text), piece), Roles{}));
    expect_same(plain,
                read_dataset(bytes_of(gzipped(text.substr(0, 999)) + gzipped(text.substr(999)), piece), Roles{}));
    expect_same(plain, read_dataset(bytes_of(zstandard(text), piece), Roles{}));
    expect_same(plain,
                read_dataset(bytes_of(zstandard(text.substr(0, 999)) + zstandard(text.substr(999)), piece), Roles{}));
  }
  const std::string gz = gzipped(text);
  const std::string zst = zstandard(text);
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of(gz.substr(0, gz.size() / 2)), Roles{}); }),
            "data.csv: expected more gzip data, got the end of the file");
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of(zst.substr(0, zst.size() / 2)), Roles{}); }),
            "data.csv: expected more zstd data, got the end of the file");
}

TEST(Formats, TsFilesOfUnequalLengthWithMissingValues) {
  const std::string text =
      "# a comment\n@problemName P\n@univariate false\n@equalLength false\n@classLabel true 2 10\n@data\n"
      "1,2,3:4,?,6:10\n7:8:2\n";
  for (const std::size_t piece : {1, 1000}) {
    const Dataset data = read_dataset(bytes_of(text, piece, "p.ts"), Roles{});
    EXPECT_EQ(data.schema.inputs, (std::vector<std::string>{"x1", "x2"}));
    EXPECT_EQ(data.schema.classes, (std::vector<std::string>{"2", "10"}));
    EXPECT_EQ(data.sequences.offset, (std::vector<std::int64_t>{0, 3, 4}));
    EXPECT_TRUE(std::isnan(data.sequences.x[3]));
    EXPECT_EQ(data.sequences.x[4], 3.0F);
    EXPECT_EQ(data.sequences.weight, (std::vector<float>{0, 0, 1, 1}));
    EXPECT_EQ(data.sequences.label[2], 1);
  }
  const Dataset values = read_dataset(bytes_of("@targetLabel true\n@data\n1,2:0.5\n3,4:0.75\n"), Roles{});
  EXPECT_EQ(values.schema.task, Task::kRegression);
  EXPECT_EQ(values.sequences.value[3], 0.75F);
  const auto refused = [](const std::string& cases) {
    return error_of([&] { read_dataset(bytes_of("@classLabel true a b\n@data\n" + cases, 3, "p.ts"), Roles{}); });
  };
  EXPECT_EQ(refused("1:a\n1,2:3:a\n"), "p.ts: line 4: expected 1 channels as in the first case, got 2");
  EXPECT_EQ(refused("1,2:3:a\n"), "p.ts: line 3: expected channels of equal length within a case, got 2 and 1 values");
  EXPECT_EQ(refused("1,x:a\n"),
            "p.ts: line 3: channel 1, value 2: expected a finite number that fits a float, got 'x'");
  EXPECT_EQ(refused("1,2:c\n"), "p.ts: line 3: expected one of the classes that @classLabel names, got 'c'");
  EXPECT_EQ(refused(":a\n"), "p.ts: line 3: channel 1: expected at least one value, got none");
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of("@timeStamps true\n@data\n"), Roles{}); }),
            "data.csv: line 1: expected series without time stamps, got @timeStamps true");
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of("@problemName p\n"), Roles{}); }),
            "data.csv: expected @data and cases after it, got the end of the file");
}

// A class may be one of many numbers, and a target one of few.
TEST(Formats, ATsFileSaysItself) {
  std::string classes = "% Weka's comments\r\n%\n@classLabel\ttrue\n@data\n", targets = "@targetLabel true\n@data\n";
  for (int i = 0; i < 60; ++i) {
    classes += fmt::format("{},1:{}\n", i, i % 30);
    targets += fmt::format("{},1:{}\n", i, i % 3);
  }
  const Dataset many = read_dataset(bytes_of(classes), Roles{});
  EXPECT_EQ(many.schema.task, Task::kClassification);
  EXPECT_EQ(many.schema.classes.size(), 30U);
  EXPECT_EQ(read_dataset(bytes_of(targets), Roles{}).schema.task, Task::kRegression);
  std::vector<TableSource> three;
  three.push_back(bytes_of("@classLabel true\n@data\n5:1\n2:2\n3:3\n"));
  EXPECT_TRUE(describe(read_raw(std::move(three), Roles{}), Roles{}).suggestions.empty());
  Roles numbers;
  numbers.task = Task::kRegression;
  EXPECT_EQ(read_dataset(bytes_of(classes), numbers).schema.task, Task::kRegression);
  Roles other;
  other.target = {"x1"};
  EXPECT_EQ(read_dataset(bytes_of(classes), other).schema.task, Task::kRegression);
}

TEST(Formats, RelativesOfTsFilesAreRefused) {
  const auto refused = [](const std::string& text) {
    return error_of([&] { read_dataset(bytes_of(text, 1000, "p.arff"), Roles{}); });
  };
  EXPECT_EQ(refused("% made by hand\n@relation p\n@attribute a numeric\n@data\n1,2,a\n"),
            "p.arff: line 2: expected a .ts or CSV file, got @relation, as in an ARFF or .tsf file");
  EXPECT_EQ(refused("@attribute series_name string\n@frequency yearly\n@data\nT1:1,2\n"),
            "p.arff: line 1: expected a .ts or CSV file, got @attribute, as in an ARFF or .tsf file");
}

TEST(Formats, SeveralFilesAreSequencesOfTheirOwn) {
  const Folder folder;
  folder.file("up/b.csv", "step,x,y\n1,3,0\n0,2,1\n");
  folder.file("up/a.csv", "y,x,step\n1,5,0\n");
  folder.file("down/c.csv", "step,x,y\n0,9,1\n");
  const Dataset data = read_dataset(folder / "*/*.csv", Roles{});
  EXPECT_EQ(data.sequences.offset, (std::vector<std::int64_t>{0, 1, 2, 4}));
  EXPECT_EQ(data.sequences.x, (std::vector<float>{9, 5, 2, 3}));
  EXPECT_EQ(data.ids[2], folder / "up/b.csv");
  Roles roles;
  roles.target = {"folder"};
  roles.ignore = {"y"};
  const Dataset classes = read_dataset(folder / "*/*.csv", roles);
  EXPECT_EQ(classes.schema.classes, (std::vector<std::string>{"down", "up"}));
  EXPECT_EQ(classes.sequences.label, (std::vector<std::int32_t>{0, 1, 1, 1}));
  const Dataset again = read_dataset(folder / "up/a.csv", classes.schema, Roles{}, true);
  EXPECT_EQ(again.sequences.label, (std::vector<std::int32_t>{1}));
}

TEST(Formats, FilesThatDoNotFitTogetherAreNamed) {
  const Folder folder;
  const std::string a = folder.file("a.csv", "id,step,x,y\n1,0,1,0\n1,1,2,1\n");
  const std::string b = folder.file("b.csv", "id,step,z,y\n1,2,1,0\n");
  EXPECT_EQ(error_of([&] { read_dataset(a + "," + b, Roles{}); }),
            b + ": expected the columns of " + a + ", got 'z' in addition");
  folder.file("b.csv", "id,step,y\n1,2,0\n");
  EXPECT_EQ(error_of([&] { read_dataset(a + "," + b, Roles{}); }),
            b + ": expected the columns of " + a + ", got 'id', 'step', 'y': missing 'x'");
  folder.file("b.csv", "id,step,x,y\n1,1,5,0\n");
  Roles strict;
  strict.strict_time = true;
  EXPECT_EQ(error_of([&] { read_dataset(a + "," + b, strict); }),
            b + ": line 2, column 'step': duplicate time '1' in sequence '1' (first on line 3 of " + a + ")");
  folder.file("b.csv", "id,step,x,y\n1,7,5,high\n");
  EXPECT_EQ(read_dataset(a + "," + b, Roles{}).schema.classes.size(), 3U);
  std::string many = "id,step,x,y\n";
  for (int i = 0; i < 30; ++i) many += "1," + std::to_string(10 + i) + ",1," + std::to_string(i) + "\n";
  folder.file("a.csv", many);
  EXPECT_EQ(error_of([&] { read_dataset(a + "," + b, Roles{}); }),
            b + ": line 2, column 'y': expected a number as in the rows before (for classes, use --task "
                "classification), got 'high'");
  EXPECT_EQ(error_of([&] { read_dataset(folder / "*.txt", Roles{}); }),
            folder / "*.txt: expected files of that pattern, got none");
}

}  // namespace
}  // namespace remede

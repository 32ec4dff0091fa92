#include "remede/data/dataset.h"

#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "data/same_dataset.h"
#include "data/source.h"

namespace remede {
namespace {

using testing::bytes_of;
using ::testing::ElementsAre;
using testing::error_of;
using testing::expect_same;
using ::testing::HasSubstr;

Dataset read(const std::string& text, const Roles& roles = {}) { return read_dataset(bytes_of(text), roles); }

std::vector<std::string> as_vector(const Texts& texts) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < texts.size(); ++i) all.emplace_back(texts[i]);
  return all;
}

TEST(ReadDataset, GuessesTheRolesByName) {
  const Dataset data = read("Sequence,STEP,x1,x2,Y\na,0,1,2,-1\na,1,3,4,1\nb,0,5,6,0\n");
  EXPECT_EQ(data.schema.id, "Sequence");
  EXPECT_EQ(data.schema.time, "STEP");
  EXPECT_THAT(data.schema.inputs, ElementsAre("x1", "x2"));
  EXPECT_THAT(data.schema.targets, ElementsAre("Y"));
  EXPECT_THAT(data.schema.classes, ElementsAre("-1", "0", "1"));
  EXPECT_EQ(data.schema.task, Task::kClassification);
  EXPECT_THAT(data.sequences.offset, ElementsAre(0, 2, 3));
  EXPECT_THAT(data.sequences.x, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(data.sequences.label, ElementsAre(0, 2, 1));
  EXPECT_THAT(data.sequences.weight, ElementsAre(1, 1, 1));
  EXPECT_EQ(data.sequences.n_x, 2);
  EXPECT_EQ(data.sequences.n_y, 3);
  EXPECT_THAT(as_vector(data.ids), ElementsAre("a", "b"));
  EXPECT_THAT(as_vector(data.times), ElementsAre("0", "1", "0"));
  EXPECT_THAT(data.row, ElementsAre(0, 1, 2));
}

TEST(ReadDataset, TakesTheRolesGiven) {
  Roles roles;
  roles.id = "unit";
  roles.time = "cycle";
  roles.target = {"life"};
  roles.ignore = {"y", "note"};
  const Dataset data = read("unit,cycle,x,y,note,life\n1,2,5,0,hello,1.5\n1,1,6,0,there,2.5\n", roles);
  EXPECT_THAT(data.schema.inputs, ElementsAre("x"));
  EXPECT_EQ(data.schema.task, Task::kRegression);
  EXPECT_THAT(data.sequences.x, ElementsAre(6, 5));
  EXPECT_THAT(data.sequences.value, ElementsAre(2.5F, 1.5F));
  EXPECT_THAT(data.row, ElementsAre(1, 0));
}

TEST(ReadDataset, SaysWhichColumnsThereAre) {
  Roles roles;
  roles.id = "unit";
  EXPECT_EQ(error_of([&] { read("id,x,y\n1,2,3\n", roles); }),
            "data.csv: --id: expected one of the columns 'id', 'x', 'y', got 'unit'");
  roles = {};
  roles.ignore = {"z"};
  EXPECT_EQ(error_of([&] { read("id,x,y\n1,2,3\n", roles); }),
            "data.csv: --ignore: expected one of the columns 'id', 'x', 'y', got 'z'");
  roles = {};
  roles.target = {"x", "x"};
  EXPECT_EQ(error_of([&] { read("id,x,y\n1,2,3\n", roles); }),
            "data.csv: expected one role for column 'x', got target and target");
  std::string wide = "a0";
  for (int i = 1; i < 30; ++i) wide += ",a" + std::to_string(i);
  EXPECT_THAT(error_of([&] { read(wide + "\n"); }), HasSubstr("'a19' and 10 more: name it with --target"));
}

TEST(ReadDataset, AGivenRoleFreesTheOthersToBeGuessed) {
  Roles roles;
  roles.id = "id";
  const Dataset data = read("id,sequence,x,y\na,1,2,0\na,2,3,1\n", roles);
  EXPECT_THAT(data.schema.inputs, ElementsAre("sequence", "x"));
  roles = {};
  roles.ignore = {"sequence"};
  EXPECT_THAT(read("id,sequence,x,y\na,1,2,0\na,2,3,1\n", roles).schema.inputs, ElementsAre("x"));
}

TEST(ReadDataset, WithoutAnIdTheFileIsOneSequence) {
  const Dataset data = read("x,y\n1,0\n2,1\n3,1\n");
  EXPECT_EQ(data.sequences.count(), 1U);
  EXPECT_EQ(data.schema.id, "");
  EXPECT_TRUE(data.ids.empty());
  EXPECT_TRUE(data.times.empty());
  EXPECT_THAT(data.notes, ElementsAre("no id column: the file is one sequence"));
  Roles roles;
  roles.id = "none";
  roles.ignore = {"id"};
  EXPECT_EQ(read("id,x,y\na,1,0\nb,2,1\n", roles).sequences.count(), 1U);
}

TEST(ReadDataset, IdRowMakesEveryRowItsOwnSequence) {
  Roles roles;
  roles.id = "row";
  const Dataset data = read("t,x,y\n5,1,0\n5,2,1\n3,3,1\n", roles);
  EXPECT_THAT(data.sequences.offset, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(data.schema.id, "row");
  EXPECT_TRUE(data.ids.empty());
  EXPECT_THAT(as_vector(data.times), ElementsAre("5", "5", "3"));
  EXPECT_THAT(data.sequences.x, ElementsAre(1, 2, 3));
  EXPECT_TRUE(data.notes.empty());
}

TEST(ReadDataset, IdRowSaysThatAColumnOfThatNameIsAnInput) {
  Roles roles;
  roles.id = "row";
  const Dataset data = read("row,x,y\n0,1,0\n1,2,1\n", roles);
  EXPECT_EQ(data.schema.n_x(), 2);
  EXPECT_THAT(data.notes, ElementsAre(HasSubstr("the column 'row' is an input: leave it out with --ignore row")));
  roles.ignore = {"row"};
  EXPECT_TRUE(read("row,x,y\n0,1,0\n1,2,1\n", roles).notes.empty());
}

TEST(ReadDataset, TimeOrdersRowsThatAreInterleavedAndUnsorted) {
  const Dataset data = read("id,time,x,y\nb,10,1,0\na,2,2,1\nb,9,3,1\na,-1,4,0\n\"a\",1.5,6,1\nb,9.5,7,1\n");
  EXPECT_THAT(as_vector(data.ids), ElementsAre("b", "a"));
  EXPECT_THAT(data.sequences.offset, ElementsAre(0, 3, 6));
  EXPECT_THAT(data.sequences.x, ElementsAre(3, 7, 1, 4, 6, 2));
  EXPECT_THAT(data.sequences.label, ElementsAre(1, 1, 0, 0, 1, 1));
  EXPECT_THAT(as_vector(data.times), ElementsAre("9", "9.5", "10", "-1", "1.5", "2"));
  EXPECT_THAT(data.row, ElementsAre(2, 5, 0, 3, 4, 1));
}

TEST(ReadDataset, WithoutTimeTheOrderOfTheFileHolds) {
  const Dataset data = read("id,x,y\nb,1,0\na,2,1\nb,3,1\na,4,0\n");
  EXPECT_THAT(data.sequences.x, ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(data.row, ElementsAre(0, 2, 1, 3));
}

TEST(ReadDataset, DatesAreOrderedByWhatTheyMean) {
  const auto x_of = [](const std::string& rows) { return read("date,x,y\n" + rows).sequences.x; };
  EXPECT_THAT(x_of("2020-01-02 10:00,1,0\n2020-01-02 09:59:59.5,2,1\n2019-12-31,3,1\n"), ElementsAre(3, 2, 1));
  // The end of summer time, in the order of the file and out of it; zones that differ while the texts rise.
  const std::string summer = "2024-10-27T02:50:00+02:00,1,0\n";
  const std::string winter = "2024-10-27T02:00:00+01:00,2,1\n";
  EXPECT_THAT(x_of(summer + winter + "2024-10-27T02:10:00+01:00,3,1\n"), ElementsAre(1, 2, 3));
  EXPECT_THAT(x_of(winter + summer), ElementsAre(1, 2));
  EXPECT_THAT(x_of("2024-01-01T12:00:00Z,1,0\n2024-01-01T12:00:00.500Z,2,1\n2024-01-01T12:00:01Z,3,1\n"),
              ElementsAre(1, 2, 3));
  EXPECT_THAT(x_of("2024-10-27 9:00,1,0\n2024-10-27 10:00,2,1\n2024-10-3 11:00,3,1\n"), ElementsAre(3, 1, 2));
  EXPECT_THAT(x_of("2024-10-27 9:00,1,0\n2024-10-3 11:00,2,1\n"), ElementsAre(2, 1));  // of one length, texts rise
  EXPECT_THAT(x_of("2024-01-01 12:00:00.000000002,1,0\n2024-01-01 12:00:00.000000001,2,1\n"), ElementsAre(2, 1));
  for (const char* const rows : {"Jan 2024,1,0\nFeb 2024,2,1\n", "09:00 PM,1,0\n10:00 AM,2,1\n09:30 AM,2,1\n",
                                 "2024-02-30,1,0\n2024-02-01,2,1\n2024-02-3x,2,1\n"})
    EXPECT_THAT(error_of([&] { x_of(rows); }), HasSubstr("expected times that can be put in order")) << rows;
  const Dataset words = read("step,x,y\nt_02,1,0\nt_01,2,1\n");
  EXPECT_THAT(words.sequences.x, ElementsAre(2, 1));
}

TEST(ReadDataset, TextTimesThatAreInOrderNeedNoRule) {
  EXPECT_THAT(read("date,x,y\nday 1,1,0\nday 2,2,1\nday 20,3,1\n").sequences.x, ElementsAre(1, 2, 3));
}

TEST(ReadDataset, TimesFinerThanADoubleAreToldApart) {
  const Dataset data = read("time,x,y\n1700000000000000003,1,0\n1700000000000000001,2,1\n1700000000000000002,3,1\n");
  EXPECT_THAT(data.sequences.x, ElementsAre(2, 3, 1));
  EXPECT_THAT(as_vector(data.times), ElementsAre("1700000000000000001", "1700000000000000002", "1700000000000000003"));
}

TEST(ReadDataset, IdsAndTimesComeBackAsTheyStood) {
  const Dataset data = read("id,time,x,y\n\"a,\"\"b\"\"\", 01.50 ,1,0\n\"a,\"\"b\"\"\",+2,2,1\n 7,1e0,3,1\n");
  EXPECT_THAT(as_vector(data.ids), ElementsAre("a,\"b\"", " 7"));
  EXPECT_THAT(as_vector(data.times), ElementsAre(" 01.50 ", "+2", "1e0"));
}

TEST(ReadDataset, RoundsOnceToFloat) {
  // The first is a hair above the middle of two floats, which as double it is not: every reader of a model goes through
  // double.
  const Dataset data = read("x,y\n1.00000005960464477540,0\n0.1,1\n16777217,1\n");
  EXPECT_EQ(data.sequences.x[0], 1.0F);
  EXPECT_EQ(data.sequences.x[1], 0.1F);
  EXPECT_EQ(data.sequences.x[2], 16777216.0F);
}

TEST(ReadDataset, MissingInputsAreNaN) {
  const Dataset data = read("x,z,y\n,1,0\nNA,2,1\n?,3,1\n\"\",4,0\n");
  for (std::size_t i = 0; i < 8; i += 2)
    EXPECT_EQ(std::bit_cast<std::uint32_t>(data.sequences.x[i]),
              std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN()));
  EXPECT_THAT(data.notes, ::testing::Contains("column 'x' has no value in any row"));
}

TEST(ReadDataset, ColumnsWithoutANameAreLeftOut) {
  const Dataset data = read(",x,y,\n17,1,0,abc\n18,2,1,\n");
  EXPECT_THAT(data.schema.inputs, ElementsAre("x"));
  EXPECT_THAT(data.notes, ::testing::Contains("column 1 has no name and is left out"));
}

TEST(ReadDataset, TextTargetsAreClasses) {
  const Dataset data = read("x,y\n1,walk\n2,\n3,Run\n4,walk\n5,NA\n");
  EXPECT_EQ(data.schema.task, Task::kClassification);
  EXPECT_THAT(data.schema.classes, ElementsAre("Run", "walk"));
  EXPECT_THAT(data.sequences.weight, ElementsAre(1, 0, 1, 1, 0));
  EXPECT_EQ(data.sequences.label[0], 1);
  EXPECT_EQ(data.sequences.label[2], 0);
}

TEST(ReadDataset, ClassesThatAreNumbersStandInTheirOrder) {
  EXPECT_THAT(read("x,y\n1,10\n2,9\n3,-1\n").schema.classes, ElementsAre("-1", "9", "10"));
  EXPECT_THAT(read("x,y\n1,10\n2,9\n3,a\n").schema.classes, ElementsAre("10", "9", "a"));
  EXPECT_THAT(read("x,y\n1,10.0\n2,9\n3,10\n").schema.classes, ElementsAre("9", "10.0"));  // the same number: one class
}

TEST(ReadDataset, FewWholeNumbersAreClassesManyAreNot) {
  std::string few = "x,y\n";
  for (int i = 0; i < 100; ++i) few += "1," + std::to_string(i % 20) + "\n";
  EXPECT_EQ(read(few).schema.task, Task::kClassification);
  EXPECT_EQ(read(few).schema.n_y(), 20);
  const Dataset many = read(few + "1,20\n1,\n");
  EXPECT_EQ(many.schema.task, Task::kRegression);
  EXPECT_EQ(many.schema.n_y(), 1);
  EXPECT_TRUE(many.schema.classes.empty());
  EXPECT_TRUE(many.sequences.label.empty());
  EXPECT_EQ(many.sequences.value[21], 1.0F);
  EXPECT_EQ(many.sequences.value[100], 20.0F);
  EXPECT_EQ(many.sequences.weight[100], 1.0F);
  EXPECT_EQ(many.sequences.weight[101], 0.0F);
  EXPECT_EQ(read("x,y\n1,0.5\n2,1\n").schema.task, Task::kRegression);
}

TEST(ReadDataset, TheTaskCanBeGiven) {
  Roles roles;
  roles.task = Task::kRegression;
  EXPECT_THAT(read("x,y\n1,0\n2,1\n", roles).sequences.value, ElementsAre(0, 1));
  EXPECT_EQ(error_of([&] { read("x,y\n1,0\n2,a\n", roles); }),
            "data.csv: line 3, column 'y': expected a number, got 'a'");
  EXPECT_EQ(error_of([&] { read("x,y\n1,0\n2,inf\n", roles); }),
            "data.csv: line 3, column 'y': expected a finite number that fits a float, got inf");
  roles.task = Task::kClassification;
  EXPECT_THAT(read("x,y\n1,0.5\n2,1.5\n", roles).schema.classes, ElementsAre("0.5", "1.5"));
  std::string many = "x,y\n";
  for (int i = 0; i < 50; ++i) many += "1," + std::to_string(i) + "\n";
  EXPECT_EQ(read(many + "2,a\n", roles).schema.n_y(), 51);
}

TEST(ReadDataset, SeveralTargetsAreRegression) {
  Roles roles;
  roles.target = {"b", "a"};
  const Dataset data = read("a,b,x\n1,2,3\n4,,6\n7,8,9\n", roles);
  EXPECT_EQ(data.schema.task, Task::kRegression);
  EXPECT_EQ(data.sequences.n_y, 2);
  EXPECT_THAT(data.schema.targets, ElementsAre("b", "a"));
  EXPECT_THAT(data.sequences.value, ElementsAre(2, 1, 0, 0, 8, 7));  // one missing: the step has no target
  EXPECT_THAT(data.sequences.weight, ElementsAre(1, 0, 1));
  roles.task = Task::kClassification;
  EXPECT_THAT(error_of([&] { read("a,b,x\n1,2,3\n", roles); }),
              HasSubstr("expected one target column in classification"));
}

Schema small_schema() { return read("id,step,x,z,y\na,0,1,2,no\na,1,3,4,yes\n").schema; }

TEST(ReadForSchema, MatchesColumnsByName) {
  const Dataset data =
      read_dataset(bytes_of("extra,y,z,x,step,id\nword,yes,4,3,1,a\nword,no,2,1,0,a\n"), small_schema(), Roles{}, true);
  EXPECT_THAT(data.sequences.x, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(data.sequences.label, ElementsAre(0, 1));
  EXPECT_THAT(data.row, ElementsAre(1, 0));
  EXPECT_THAT(data.schema.classes, ElementsAre("no", "yes"));
}

TEST(ReadForSchema, NeedsNoTargetToPredict) {
  const Schema schema = small_schema();
  const Dataset none = read_dataset(bytes_of("id,step,x,z\na,0,1,2\n"), schema, Roles{}, false);
  EXPECT_FALSE(none.sequences.has_targets());
  EXPECT_EQ(none.sequences.n_y, 2);
  const Dataset there = read_dataset(bytes_of("id,step,x,z,y\na,0,1,2,yes\na,1,1,2,maybe\n"), schema, Roles{}, false);
  EXPECT_THAT(there.sequences.weight, ElementsAre(1, 0));  // a class the model does not know is no target
  const Dataset empty = read_dataset(bytes_of("id,step,x,z,y\na,0,1,2,\na,1,1,2,\n"), schema, Roles{}, false);
  EXPECT_FALSE(empty.sequences.has_targets());
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of("id,step,x,z\na,0,1,2\n"), schema, Roles{}, true); }),
            "data.csv: expected the target 'y', got the columns 'id', 'step', 'x', 'z'");
}

TEST(ReadForSchema, NamesWhatDoesNotFit) {
  const Schema schema = small_schema();
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of("id,step,x,y\na,0,1,no\n"), schema, Roles{}, true); }),
            "data.csv: expected the input columns 'x', 'z', got the columns 'id', 'step', 'x', 'y': missing 'z'");
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of("id,step,x,z,y\na,0,1,2,\n"), schema, Roles{}, true); }),
            "data.csv: column y: expected a value in some row, got none");
}

TEST(ReadForSchema, OneClassIsEnoughAndNumbersMatchByValue) {
  const Schema schema = read("x,y\n1,0\n2,1\n").schema;
  const Dataset data = read_dataset(bytes_of("x,y\n1,1.0\n2,1\n3,\n"), schema, Roles{}, true);
  EXPECT_THAT(data.sequences.label, ElementsAre(1, 1, 0));
  EXPECT_THAT(data.sequences.weight, ElementsAre(1, 1, 0));
}

TEST(ReadForSchema, RolesOverrideTheSchemasColumns) {
  Roles roles;
  roles.id = "unit";
  roles.time = "none";
  roles.target = {"truth"};
  const Dataset data = read_dataset(bytes_of("unit,x,z,truth\nb,1,2,no\nc,3,4,yes\n"), small_schema(), roles, true);
  EXPECT_THAT(as_vector(data.ids), ElementsAre("b", "c"));
  EXPECT_EQ(data.schema.id, "unit");
  EXPECT_EQ(data.schema.time, "");
  EXPECT_THAT(data.sequences.label, ElementsAre(0, 1));
}

// What told the sequences apart in training is not there: a guess would change the answers.
TEST(ReadForSchema, WithoutItsIdOrTimeColumnItMustBeSaidWhatTheRowsAre) {
  Roles roles;
  EXPECT_EQ(
      error_of([&] { read_dataset(bytes_of("x,z\n1,2\n3,4\n"), small_schema(), roles, false); }),
      "data.csv: expected the column 'id', which names the sequence of each row, as in training, got the columns "
      "'x', 'z': use --id none if all rows are one sequence, --id row if each row is one, --id COLUMN for "
      "another column (in Python id='none', id='row', id='COLUMN', or a list with an array or frame per sequence)");
  roles.id = "none";
  EXPECT_EQ(
      error_of([&] { read_dataset(bytes_of("x,z\n1,2\n3,4\n"), small_schema(), roles, false); }),
      "data.csv: expected the column 'step', which orders the steps of a sequence, as in training, got the columns "
      "'x', 'z': use --time none if the rows are in order, --time COLUMN for another column (in Python "
      "time='none', time='COLUMN')");
  roles.time = "none";
  EXPECT_EQ(read_dataset(bytes_of("x,z\n1,2\n3,4\n"), small_schema(), roles, false).sequences.count(), 1U);
  Roles rows;
  rows.id = "row";  // a row alone has no order
  EXPECT_EQ(read_dataset(bytes_of("x,z\n1,2\n3,4\n"), small_schema(), rows, false).sequences.count(), 2U);
}

TEST(ReadForSchema, AClassItDoesNotKnowIsCountedAndNoted) {
  const char* const table = "id,step,x,z,y\na,0,1,2,no\na,1,1,2,maybe\nb,0,1,2,yes\nb,1,1,2,\n";
  const Dataset data = read_dataset(bytes_of(table), small_schema(), Roles{}, true);
  EXPECT_EQ(data.unknown.count, 1U);
  EXPECT_EQ(data.unknown.weight, 1.0);
  EXPECT_EQ(data.sequences.weight, (std::vector<float>{1, 0, 1, 0}));
  ASSERT_EQ(data.notes.size(), 1U);
  EXPECT_EQ(data.notes[0], "1 target is of a class that was not seen in training ('maybe'): it counts as wrong");
  ASSERT_EQ(data.unknown.step.size(), 1U);
  EXPECT_EQ(data.unknown.step[0], 1);
  const Dataset unscored = read_dataset(bytes_of(table), small_schema(), Roles{}, false);
  EXPECT_EQ(unscored.unknown.count, 1U);
  EXPECT_TRUE(unscored.notes.empty()) << "who only predicts need not know";
  Roles last;  // the last target of a sequence is one even if its class is not known
  last.target_per = TargetPer::kSequence;
  const Dataset per_sequence = read_dataset(bytes_of(table), small_schema(), last, true);
  EXPECT_EQ(per_sequence.unknown.count, 1U);
  EXPECT_EQ(per_sequence.sequences.weight, (std::vector<float>{0, 0, 0, 1}));
}

// Rows in any order are the same data: only `row` tells.
RC_GTEST_PROP(ReadDataset, TheOrderOfTheRowsDoesNotMatter, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(2, 40);
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < count; ++i)
    rows.push_back(std::to_string(i % 3) + "," + std::to_string(i) + "," + std::to_string(i * 7 % 11) + "," +
                   (i % 2 == 0   ? "a"
                    : i % 5 == 0 ? ""
                                 : "b"));
  const auto text = [](const std::vector<std::string>& lines) {
    std::string all = "id,step,x,y\n";
    for (const std::string& line : lines) all += line + "\n";
    return all;
  };
  std::vector<std::string> shuffled = rows;
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  std::uint64_t state = seed | 1;
  for (std::size_t i = shuffled.size(); i > 1; --i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    std::swap(shuffled[i - 1], shuffled[(state >> 33) % i]);
  }
  const Dataset a = read(text(rows));
  const Dataset b = read(text(shuffled));
  RC_ASSERT(b.ids.size() == a.ids.size());
  for (std::size_t s = 0; s < b.ids.size(); ++s) {
    std::size_t t = 0;
    while (a.ids[t] != b.ids[s]) ++t;
    RC_ASSERT(a.sequences.length(t) == b.sequences.length(s));
    for (std::size_t k = 0; k < a.sequences.length(t); ++k) {
      const auto i = static_cast<std::size_t>(a.sequences.offset[t]) + k;
      const auto j = static_cast<std::size_t>(b.sequences.offset[s]) + k;
      RC_ASSERT(a.sequences.x[i] == b.sequences.x[j]);
      RC_ASSERT(a.sequences.label[i] == b.sequences.label[j]);
      RC_ASSERT(a.sequences.weight[i] == b.sequences.weight[j]);
      RC_ASSERT(a.times[i] == b.times[j]);
      RC_ASSERT(shuffled[static_cast<std::size_t>(b.row[j])] == rows[static_cast<std::size_t>(a.row[i])]);
    }
  }
}

TEST(WriteDataset, ReadsBackTheSameBits) {
  const std::string path = ::testing::TempDir() + "remede_write_dataset_test.csv";
  for (const char* text : {"id,step,x,z,y\nb,2,0.1,,\"a,b\"\na,1,1e-30,3,c\nb,1,NA,4,\n",
                           "x,y\n1,0.1\n2,0.30000001\n3,\n", "time,x,y\n2020-01-01,1,0\n2020-01-02,2,1\n"}) {
    const Dataset data = read(text);
    write_dataset(path, data);
    Dataset back = read_dataset(path, Roles{});
    back.row = data.row;  // written in the order of the steps
    expect_same(data, back);
  }
  std::filesystem::remove(path);
}

// Enough rows for the estimate of the size, blocks that end in the middle of rows, and an order that is wrong only at
// the end.
TEST(ReadDataset, LargeFilesKeepEveryRow) {
  std::string text = "id,step,x,y\n";
  constexpr int kRows = 30000;
  for (int i = 0; i < kRows; ++i)
    text += std::to_string(i / 100) + "," + std::to_string(i % 100) + "," + std::to_string(i) + ".25," +
            std::to_string(i * 0.5) + "\n";
  text += "0,1000,-1,2\n";
  const Dataset data = read(text);
  ASSERT_EQ(data.sequences.steps(), kRows + 1U);
  EXPECT_EQ(data.sequences.x[100], -1.0F);
  EXPECT_EQ(data.row[100], kRows);
  for (std::size_t i = 101; i < kRows + 1U; ++i) {
    ASSERT_EQ(data.sequences.x[i], static_cast<float>(i - 1) + 0.25F);
    ASSERT_EQ(data.sequences.value[i], static_cast<float>(i - 1) * 0.5F);
  }
}

}  // namespace
}  // namespace remede

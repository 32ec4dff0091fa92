// What columns become: categories, booleans, times, weights, targets ahead and per sequence.
#include "remede/schema/roles.h"

#include <cmath>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/source.h"
#include "remede/data/dataset.h"
#include "remede/data/raw.h"

namespace remede {
namespace {

using testing::bytes_of;
using testing::error_of;
using ::testing::Not;

TEST(Categories, AFewWordsBecomeAnInputEach) {
  const Dataset data = read_dataset(bytes_of("wind,y\nNW,1\nSE,2\n,3\ncv,0.5\nNW,1.5\n"), Roles{});
  EXPECT_EQ(data.schema.inputs, (std::vector<std::string>{"wind = NW", "wind = SE", "wind = cv"}));
  EXPECT_EQ(std::vector<float>(data.sequences.x.begin(), data.sequences.x.begin() + 6),
            (std::vector<float>{1, 0, 0, 0, 1, 0}));
  EXPECT_TRUE(std::isnan(data.sequences.x[6]));
  // A word that training did not see is none of them; the file may lack words of the model.
  const Dataset later = read_dataset(bytes_of("wind\nNE\nSE\n"), data.schema, Roles{}, false);
  EXPECT_EQ(later.sequences.x, (std::vector<float>{0, 0, 0, 0, 1, 0}));
}

// What a word counts as must not come from data held out.
TEST(Categories, AreOrderedByTheTargetsOfTheTrainingPartOnly) {
  std::string table = "id,city,y\n";
  for (int s = 0; s < 4; ++s)
    for (int c = 0; c < 12; ++c) {
      const int held_out = s == 3 ? -100 : 1;  // the last sequence says the opposite
      table += std::to_string(s) + ",c" + std::to_string(10 + c) + "," + std::to_string(held_out * c) + ".5\n";
    }
  table += "3,only here,1.5\n";
  std::vector<TableSource> files;
  files.emplace_back(bytes_of(table));
  const RawDataset raw = read_raw(std::move(files), Roles{});
  const std::uint32_t training[] = {0, 1, 2};
  const Code code = learn_code(raw, training);
  ASSERT_EQ(code.codes.size(), 13U) << "the rank, and one input per word";
  EXPECT_TRUE(is_ordered_by_target(code.codes[0]));
  EXPECT_FALSE(is_ordered_by_target(code.codes[1]));
  EXPECT_EQ(code.inputs[0], "city");
  EXPECT_EQ(code.inputs[1], "city = c10");
  EXPECT_EQ(code.codes[0].words.front(), "c10");
  EXPECT_EQ(code.codes[0].words.back(), "c21");
  EXPECT_EQ(code.codes[0].words.size(), 12U) << "a word of the held-out part is not known";
  EXPECT_EQ(learn_code(raw).codes[0].words.back(), "c10");
}

TEST(Categories, OneAndZeroStandForTrueAndFalse) {
  const Dataset data = read_dataset(bytes_of("on,y\nTrue,1\nFalse,2.5\nTrue,3\n"), Roles{});
  const Dataset later = read_dataset(bytes_of("on\n1\n0\ntrue\n1.0\n"), data.schema, Roles{}, false);
  EXPECT_EQ(later.sequences.x,
            (std::vector<float>{data.sequences.x[0], data.sequences.x[1], data.sequences.x[0], data.sequences.x[0]}));
}

TEST(Categories, TwoWordsAndBooleansAreOneInput) {
  const Dataset data = read_dataset(bytes_of("on,shop,y\nYes,a,1\nno,b,2.5\nNO,b,3\n"), Roles{});
  EXPECT_EQ(data.schema.inputs, (std::vector<std::string>{"on", "shop"}));
  EXPECT_EQ(data.sequences.x, (std::vector<float>{1, 0, 0, 1, 0, 1}));
  const Dataset later = read_dataset(bytes_of("on,shop\nyes,c\n"), data.schema, Roles{}, false);
  EXPECT_EQ(later.sequences.x[0], 1.0F);
  EXPECT_TRUE(std::isnan(later.sequences.x[1])) << "an unknown word of an ordered column counts as missing";
}

// Ten words whose targets rise in another order than their names: the code must follow the target.
TEST(Categories, ManyWordsStandInTheOrderOfTheTarget) {
  const std::string order = "jchaebfgid";
  std::string text = "w,y\n";
  for (int round = 0; round < 20; ++round)
    for (std::size_t i = 0; i < order.size(); ++i)
      text += std::string(1, order[i]) + "," + std::to_string(static_cast<double>(i) + 0.01 * round) + "\n";
  const Dataset data = read_dataset(bytes_of(text), Roles{});
  ASSERT_EQ(data.schema.codes.size(), 11U);
  std::string learned;
  for (const std::string& word : data.schema.codes[0].words) learned += word;
  EXPECT_EQ(learned, order);
  EXPECT_EQ(data.sequences.x[3 * 11], 3.0F);
  EXPECT_EQ(data.sequences.x[3 * 11 + 1], 1.0F) << "the fourth row holds 'a', which is also an input of its own";
  EXPECT_EQ(data.sequences.x[3 * 11 + 2], 0.0F);
}

TEST(Categories, MoreThanThirtyWordsAreTheirRankAlone) {
  for (const int words : {30, 31}) {
    std::string text = "w,y\n";
    for (int w = 0; w < words; ++w) text += fmt::format("w{},{}.5\n", w, w);
    EXPECT_EQ(read_dataset(bytes_of(text), Roles{}).schema.inputs.size(), words == 30 ? 31U : 1U);
  }
}

TEST(Categories, ManyWordsOfAClassificationStandApart) {
  std::string text = "w,y\n";
  for (int round = 0; round < 30; ++round)
    for (int w = 0; w < 12; ++w)
      text += "w" + std::to_string(w) + "," + (w % 2 == 0 ? "a" : round % 2 == 0 ? "b" : "c") + "\n";
  const Dataset data = read_dataset(bytes_of(text), Roles{});
  const std::vector<std::string>& words = data.schema.codes.at(0).words;
  for (std::size_t i = 1; i < 6; ++i) EXPECT_EQ(words[i][1] % 2, words[0][1] % 2) << words[i];
}

// The code of a fold is learned from its own sequences alone.
TEST(Categories, TheCodeComesFromTheGivenSequences) {
  std::vector<TableSource> files;
  files.push_back(bytes_of("id,w,y\n1,a,1\n1,b,2.5\n2,c,1\n2,d,1\n"));
  const RawDataset raw = read_raw(std::move(files), Roles{});
  const std::uint32_t first[] = {0};
  const Code code = learn_code(raw, first);
  EXPECT_EQ(code.codes.at(0).words, (std::vector<std::string>{"a", "b"}));
  const Dataset data = encode(raw, code);
  EXPECT_TRUE(std::isnan(data.sequences.x[2]));
}

TEST(Categories, NumbersAreWordsWhereTheFlagSaysSo) {
  Roles roles;
  roles.categorical = {"k"};
  const Dataset data = read_dataset(bytes_of("k,y\n1,1\n2.0,2\n3,4.5\n1.0,3\n"), roles);
  EXPECT_EQ(data.schema.inputs, (std::vector<std::string>{"k = 1", "k = 2", "k = 3"}));
  EXPECT_EQ(data.sequences.x[9], 1.0F);
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of("k,x,y\nA,1,1\n2,1,2\n"), Roles{}); }),
            "data.csv: line 3, column 'k': expected a word as in the rows before, got '2'; if the column holds "
            "categories, use "
            "--categorical 'k'");
  std::string many = "k,y\n";
  for (int i = 0; i < 1001; ++i) many += "w" + std::to_string(i) + ",1.5\n";
  EXPECT_EQ(
      error_of([&] { read_dataset(bytes_of(many), Roles{}); }),
      "data.csv: line 1002, column 'k': expected at most 1000 different words, got more: leave the column out with "
      "--ignore 'k'");
}

TEST(Targets, TheLastOfASequenceAtItsLastStep) {
  Roles roles;
  roles.target_per = TargetPer::kSequence;
  const Dataset data = read_dataset(bytes_of("id,x,y\n1,1,a\n1,2,\n2,3,b\n2,4,a\n"), roles);
  EXPECT_EQ(data.sequences.weight, (std::vector<float>{0, 1, 0, 1}));
  EXPECT_EQ(data.sequences.label[1], 0);
  EXPECT_EQ(data.sequences.label[3], 0);
  EXPECT_EQ(data.schema.target_per, TargetPer::kSequence);
  const Dataset later = read_dataset(bytes_of("id,x,y\n1,1,a\n1,2,b\n"), data.schema, Roles{}, true);
  EXPECT_EQ(later.sequences.weight, (std::vector<float>{0, 1}));
}

TEST(Targets, AheadOfTime) {
  Roles roles;
  roles.horizon = 2;
  roles.task = Task::kRegression;
  const Dataset data = read_dataset(bytes_of("id,x,y\n1,1,10\n1,2,20\n1,3,\n1,4,40\n2,5,50\n"), roles);
  EXPECT_EQ(data.schema.inputs, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(data.sequences.weight, (std::vector<float>{0, 1, 0, 0, 0}));
  EXPECT_EQ(data.sequences.value[1], 40.0F);
  EXPECT_EQ(data.sequences.x[1], 10.0F);
  EXPECT_TRUE(std::isnan(data.sequences.x[5]));
  const Dataset later = read_dataset(bytes_of("id,x,y\n3,7,70\n"), data.schema, Roles{}, false);
  EXPECT_EQ(later.sequences.x, (std::vector<float>{7, 70}));
  roles.horizon = 9;
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of("id,x,y\n1,1,10\n1,2,20.5\n"), roles); }),
            "--horizon: expected sequences longer than 9 steps, got none with a target so far ahead");
  Roles classes;
  classes.horizon = 1;
  const Dataset words = read_dataset(bytes_of("x,y\n1,a\n2,b\n3,c\n4,a\n"), classes);
  EXPECT_EQ(words.schema.inputs, (std::vector<std::string>{"x", "y = a", "y = b", "y = c"}));
  EXPECT_EQ(words.sequences.label[0], 1);
}

TEST(Weights, OfEveryStep) {
  Roles roles;
  roles.weight = "w";
  const Dataset data = read_dataset(bytes_of("x,y,w\n1,0,0.5\n2,1,0\n3,,2\n"), roles);
  EXPECT_EQ(data.schema.inputs, (std::vector<std::string>{"x"}));
  EXPECT_EQ(data.sequences.weight, (std::vector<float>{0.5F, 0, 0}));
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of("x,y,w\n1,0,-1\n"), roles); }),
            "data.csv: line 2, column 'w': expected a weight, 0 or more, got -1");
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of("x,y,w\n1,0,\n"), roles); }),
            "data.csv: line 2, column 'w': expected a weight, 0 or more, got a missing value");
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of("x,y,w\n1,0,0\n2,1,0\n"), roles); }),
            "expected steps with a target and a weight above 0, got none");
}

TEST(Times, TheGapToTheStepBefore) {
  Roles roles;
  roles.time_gap = true;
  const Dataset data = read_dataset(bytes_of("id,time,x,y\n1,2024-02-28T23:59:30Z,1,0\n1,2024-03-01 "
                                             "00:00:00,2,1\n1,2024-03-01 01:00:00+01:00,3,1\n2,2024-01-01,3,1\n"),
                                    roles);
  EXPECT_EQ(data.schema.inputs, (std::vector<std::string>{"x", "time_gap"}));
  EXPECT_TRUE(std::isnan(data.sequences.x[1]));
  EXPECT_EQ(data.sequences.x[3], 86430.0F);  // over a leap day
  EXPECT_EQ(data.sequences.x[5], 0.0F);
  EXPECT_TRUE(std::isnan(data.sequences.x[7]));
  Roles one;
  one.id = "none";
  EXPECT_EQ(read_dataset(bytes_of("time,x\n5,1\n7.5,2\n"), data.schema, one, false).sequences.x[3], 2.5F);
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of("x,y\n1,0\n2,1\n"), roles); }),
            "--time-gap: expected a time column, got none: name it with --time");
}

TEST(Times, DatesThatDoNotExistAreNone) {
  double value = 0.0;
  for (const char* const date : {"2024-02-29", "2024-12-31 23:59:60", "2024-1-5 9:30", "1999/01/31T00:00Z"})
    EXPECT_TRUE(parse_time(date, value)) << date;
  for (const char* const date :
       {"2023-02-29", "2024-04-31", "2024-13-01", "2024-00-10", "2024-01-00", "2024-01-01 24:10", "2024-01-01 12:60",
        "2024-01-01 12:00:61", "2024-01-01 12:5", "2024-01-01 123:00"})
    EXPECT_FALSE(parse_time(date, value)) << date;
}

TEST(Targets, OfASequenceHaveNoHorizon) {
  Roles roles;
  roles.horizon = 1;
  roles.target_per = TargetPer::kSequence;
  EXPECT_THAT(error_of([&] { read_dataset(bytes_of("id,x,y\n1,1,0\n1,2,1\n2,1,0\n"), roles); }),
              ::testing::HasSubstr("--horizon 1: cannot be combined with --target-per sequence"));
}

TEST(Times, ThatOccurTwiceKeepTheOrderOfTheFile) {
  const char* const table = "id,time,x,y\na,2,1,0\na,1,2,1\na,2,3,0\na,1,4,1\nb,1,5,0\n";
  const Dataset data = read_dataset(bytes_of(table), Roles{});
  EXPECT_EQ(data.sequences.x, (std::vector<float>{2, 4, 1, 3, 5}));
  ASSERT_EQ(data.notes.size(), 1U);
  EXPECT_EQ(
      data.notes[0],
      "column 'time': 2 steps have the time of the step before; such rows keep their order (--strict-time refuses "
      "them)");
  Roles strict;
  strict.strict_time = true;
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of(table), strict); }),
            "data.csv: line 5, column 'time': duplicate time '1' in sequence 'a' (first on line 3)");
  EXPECT_TRUE(read_dataset(bytes_of("id,time,x,y\na,1,1,0\na,1.5,2,1\nb,1,2,1\n"), strict).notes.empty());
}

TEST(Horizon, NeedsNoOtherInput) {
  Roles roles;
  roles.horizon = 1;
  const Dataset data = read_dataset(bytes_of("t,y\n1,10.5\n2,20\n3,30\n"), roles);
  EXPECT_EQ(data.schema.inputs, (std::vector<std::string>{"y"}));
  EXPECT_EQ(data.sequences.x, (std::vector<float>{10.5F, 20, 30}));
  EXPECT_EQ(data.sequences.weight, (std::vector<float>{1, 1, 0}));
  const Dataset later = read_dataset(bytes_of("t,y\n1,5\n2,6\n"), data.schema, Roles{}, false);
  EXPECT_EQ(later.sequences.x, (std::vector<float>{5, 6}));
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of("t,y\n1,10\n2,20\n"), Roles{}); }),
            "data.csv: expected at least one input column, got only 't', 'y'");
}

TEST(Inputs, WhoseNamesWouldBeTheSameAreRefusedWhileReading) {
  EXPECT_EQ(
      error_of([&] { read_dataset(bytes_of("wind,wind = N,y\nN,1,0\nE,2,1\nS,3,1\n"), Roles{}); }),
      "expected inputs with names that differ, got 'wind = N' from column 'wind' and from column 'wind = N': rename "
      "one of them, or leave it out with --ignore");
  Roles roles;
  roles.time_gap = true;
  EXPECT_EQ(
      error_of([&] { read_dataset(bytes_of("t,t_gap,y\n1,1,0\n2,2,1\n"), roles); }),
      "expected inputs with names that differ, got 't_gap' from column 't_gap' and from column 't': rename one of "
      "them, or leave it out with --ignore");
}

TEST(Names, AreRecognisedInAnySpelling) {
  const auto roles_in = [](const std::string& header) {
    const Schema schema = read_dataset(bytes_of(header + "\n1,1,2,0\n1,2,3,1\n2,1,4,1\n"), Roles{}).schema;
    return schema.id + "|" + schema.time + "|" + schema.targets[0];
  };
  EXPECT_EQ(roles_in("case_id,Timestamp,x,Label"), "case_id|Timestamp|Label");
  EXPECT_EQ(roles_in("CaseID,Date Time,x,CLASS"), "CaseID|Date Time|CLASS");
  EXPECT_EQ(roles_in("case:concept:name,time:timestamp,x,class label"), "case:concept:name|time:timestamp|class label");
  EXPECT_EQ(roles_in("Sequence-ID,time-step,x,Target"), "Sequence-ID|time-step|Target");
  // A plain name comes before a similar one.
  const Schema both = read_dataset(bytes_of("id,case_id,x,y\n1,1,2,0\n1,2,3,1\n"), Roles{}).schema;
  EXPECT_EQ(both.id, "id");
}

// A weight of 0 takes a target out of the loss; its value is known all the same.
TEST(Roles, WeightsDoNotTakeValuesFromTheHistory) {
  Roles roles;
  roles.horizon = 1;
  roles.weight = "w";
  const Dataset data = read_dataset(bytes_of("id,t,y,w\na,1,1.5,0\na,2,2.5,1\na,3,3.5,3\n"), roles);
  EXPECT_EQ(data.sequences.x, (std::vector<float>{1.5F, 2.5F, 3.5F}));
  EXPECT_EQ(data.sequences.weight, (std::vector<float>{1, 3, 0})) << "those of the targets ahead";
}

TEST(Roles, AmountsThatCannotBeReadAreNoClasses) {
  const auto refused = [](const std::string& text) { return error_of([&] { read_dataset(bytes_of(text), Roles{}); }); };
  EXPECT_EQ(
      refused("x;y\n1;7,1\n2;8,25\n"),
      "data.csv: line 2, column 'y': expected a number with a decimal point, got '7,1' with a comma (for classes, "
      "use --task classification)");
  std::string units = "x,y\n", ages = units;
  for (int i = 0; i < 40; ++i) {
    units += fmt::format("{},{}kg\n", i, i);
    ages += fmt::format("{},{}-{}\n", i, i % 4 * 10, i % 4 * 10 + 9);
  }
  EXPECT_EQ(refused(units),
            "data.csv: line 22, column 'y': expected a number, got '20kg' (for classes, use --task classification)");
  EXPECT_EQ(read_dataset(bytes_of(ages), Roles{}).schema.classes.size(), 4U);
  Roles classes;
  classes.task = Task::kClassification;
  EXPECT_EQ(read_dataset(bytes_of(units), classes).schema.classes.size(), 40U);
}

TEST(Roles, AmountsWithASignAreNoWords) {
  for (const char* cell : {"$12", "\u20ac5", "\u22125", "<5", "~3", "\"$1,200.50\""})
    EXPECT_THAT(error_of([&] { read_dataset(bytes_of(fmt::format("a,y\n{},1.5\n{},2.5\n", cell, cell)), Roles{}); }),
                ::testing::HasSubstr("line 2, column 'a': expected a number"))
        << cell;
  EXPECT_EQ(read_dataset(bytes_of("a,y\n-,1.5\n$,2.5\n"), Roles{}).schema.inputs.size(), 1U);
}

TEST(Roles, CategoricalOfTheTargetMeansClasses) {
  std::string text = "x,y\n";
  for (int i = 0; i < 40; ++i) text += fmt::format("{},{}\n", i, i);
  Roles roles;
  EXPECT_EQ(read_dataset(bytes_of(text), roles).schema.task, Task::kRegression);
  roles.categorical = {"y"};
  EXPECT_EQ(read_dataset(bytes_of(text), roles).schema.task, Task::kClassification);
}

TEST(Roles, AGroupHasAName) {
  Roles roles;
  roles.group = "g";
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of("g,x,y\na,1,1.5\n,2,2.5\n"), roles); }),
            "data.csv: line 3, column 'g': expected the name of a group, got an empty cell");
}

TEST(Roles, RowsThatTextsPutInAnotherOrderAreNoted) {
  const auto notes = [](const std::string& text) { return read_dataset(bytes_of(text), Roles{}).notes; };
  const std::string moved = "put in the order of texts such as '22:00', which have no date";
  EXPECT_THAT(notes("id,time,x,y\na,22:00,1,1.5\na,23:00,2,2\na,00:00,3,3\n"),
              ::testing::Contains(::testing::HasSubstr(moved)));
  EXPECT_THAT(notes("id,time,x,y\na,22:00,1,1.5\na,23:00,2,2\n"),
              Not(::testing::Contains(::testing::HasSubstr("order"))));
  EXPECT_THAT(notes("id,time,x,y\na,2024-01-02,1,1.5\na,2024-01-01,2,2\n"),
              Not(::testing::Contains(::testing::HasSubstr("order"))));
}

}  // namespace
}  // namespace remede

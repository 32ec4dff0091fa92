// What columns become: categories, booleans, times, weights, targets ahead and per sequence.
#include "remede/schema/roles.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "data/source.h"
#include "remede/data/dataset.h"
#include "remede/data/raw.h"

namespace remede {
namespace {

using testing::bytes_of;
using testing::error_of;

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
  ASSERT_EQ(data.schema.codes.size(), 1U);
  std::string learned;
  for (const std::string& word : data.schema.codes[0].words) learned += word;
  EXPECT_EQ(learned, order);
  EXPECT_EQ(data.sequences.x[3], 3.0F);
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
  std::vector<ByteSource> files;
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
            "categories say "
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
  EXPECT_EQ(read_dataset(bytes_of("time,x\n5,1\n7.5,2\n"), data.schema, Roles{}, false).sequences.x[3], 2.5F);
  EXPECT_EQ(error_of([&] { read_dataset(bytes_of("x,y\n1,0\n2,1\n"), roles); }),
            "--time-gap: expected a time column, got none: name it with --time");
}

}  // namespace
}  // namespace remede

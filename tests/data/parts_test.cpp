// Parts without leakage: sequences and groups stay whole, time goes forward, folds cover everything once.
#include "remede/data/parts.h"

#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include "data/source.h"
#include "remede/base/file.h"

namespace remede {
namespace {

using testing::bytes_of;
using testing::error_of;

RawDataset raw_of(const std::string& text, const Roles& roles = {}) {
  std::vector<TableSource> files;
  files.push_back(bytes_of(text));
  return read_raw(std::move(files), roles);
}

Roles ignoring(const std::string& column) {
  Roles roles;
  roles.ignore = {column};
  return roles;
}

// A file that goes away.
class Temporary {
 public:
  explicit Temporary(const std::string& text)
      : path_(
            (std::filesystem::temp_directory_path() / ("remede_parts_" + std::to_string(getpid()) + ".csv")).string()) {
    write_file(path_, text);
  }
  ~Temporary() { std::filesystem::remove(path_); }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Sequences of lengths 1 to 4; x is the number of the sequence.
std::string many_sequences(int count) {
  std::string text = "id,x,who,y\n";
  for (int s = 0; s < count; ++s)
    for (int t = 0; t <= s % 4; ++t) text += fmt::format("{},{},p{},{}\n", s, s, s % 7, s % 3);
  return text;
}

TEST(Parts, ByColumnOfWordsAndWithoutItsTest) {
  const Temporary file("id,x,part,y\n1,1,train,0\n2,2,validation,1\n3,3,test,0\n4,4,train,1\n4,5,val,1\n");
  const Parts parts = read_parts(file.path(), Roles{}, "part", 0.2, 1);
  EXPECT_EQ(parts.training.sequences.x, (std::vector<float>{1, 4}));
  EXPECT_EQ(parts.validation.sequences.x, (std::vector<float>{2, 5}));
  EXPECT_EQ(parts.validation.sequences.count(), 2U);
  const Temporary typing_error("id,x,part,y\n1,1,train,0\n2,2,validation,1\n3,3,tst,0\n");
  EXPECT_EQ(error_of([&] { read_parts(typing_error.path(), Roles{}, "part", 0.2, 1); }),
            "--split: expected only the words training, validation and test in that column, or other groups, got 'tst' "
            "beside them");
}

TEST(Parts, GroupsStayTogether) {
  const Temporary file(many_sequences(60));
  const Parts parts = read_parts(file.path(), Roles{}, "who", 0.3, 5);
  std::set<int> training;
  for (const float x : parts.training.sequences.x) training.insert(static_cast<int>(x) % 7);
  for (const float x : parts.validation.sequences.x) EXPECT_EQ(training.count(static_cast<int>(x) % 7), 0U);
  EXPECT_EQ(parts.training.sequences.count() + parts.validation.sequences.count(), 60U);
  const Temporary one("x,who,y\n1,a,0\n2,a,1\n");
  EXPECT_EQ(error_of([&] { read_parts(one.path(), Roles{}, "who", 0.3, 5); }),
            "--split: expected at least two groups, got only 'a'");
}

TEST(Parts, ByTimeTheLastTargetsAreForValidation) {
  const Temporary file("id,x,y\n1,1,0\n1,2,1\n1,3,\n1,4,0\n1,5,1\n2,6,1\n");
  const Parts parts = read_parts(file.path(), Roles{}, "time", 0.25, 1);
  EXPECT_EQ(parts.training.sequences.weight, (std::vector<float>{1, 1, 0, 1, 0, 1}));
  EXPECT_EQ(parts.validation.sequences.weight, (std::vector<float>{0, 0, 0, 0, 1, 0}));
  EXPECT_EQ(parts.validation.sequences.steps(), 6U);
}

// The code of a column of words must not know the validation part: a word only seen there is unknown.
TEST(Parts, WordsAreLearnedFromTheTrainingPart) {
  const Temporary file("id,w,part,y\n1,a,train,0\n2,b,train,1\n3,c,val,1\n");
  const Parts parts = read_parts(file.path(), Roles{}, "part", 0.2, 1);
  EXPECT_EQ(parts.training.schema.codes.at(0).words.size(), 2U);
  EXPECT_TRUE(std::isnan(parts.validation.sequences.x[0]));
}

TEST(Folds, CoverEverySequenceOnceAndDealClassesEvenly) {
  const RawDataset raw = raw_of(many_sequences(61), ignoring("who"));
  const auto folds = deal_folds(raw.data, 5, 3);
  std::set<std::uint32_t> seen;
  for (const auto& fold : folds) {
    std::map<std::uint32_t, int> classes;
    for (const std::uint32_t s : fold) {
      EXPECT_TRUE(seen.insert(s).second);
      ++classes[s % 3];
    }
    for (std::uint32_t c = 0; c < 3; ++c) EXPECT_NEAR(classes[c], 61.0 / 15.0, 1.0);
  }
  EXPECT_EQ(seen.size(), 61U);
  EXPECT_EQ(deal_folds(raw.data, 5, 3), folds);
  EXPECT_NE(deal_folds(raw.data, 5, 4), folds);
}

TEST(Folds, GroupsAreInOneFold) {
  Roles roles;
  roles.group = "who";
  const RawDataset raw = raw_of(many_sequences(60), roles);
  std::map<std::uint32_t, std::set<std::size_t>> folds_of;
  const auto folds = deal_folds(raw.data, 3, 3);
  for (std::size_t f = 0; f < folds.size(); ++f)
    for (const std::uint32_t s : folds[f]) folds_of[s % 7].insert(f);
  for (const auto& [group, where] : folds_of) EXPECT_EQ(where.size(), 1U) << group;
  EXPECT_EQ(error_of([&] { deal_folds(raw.data, 8, 3); }), "expected at least as many groups as folds (8), got 7");
}

RC_GTEST_PROP(Folds, OneLongSequenceIsCutIntoPieces, ()) {
  const auto steps = *rc::gen::inRange<std::size_t>(10, 200);
  const auto folds = *rc::gen::inRange<std::size_t>(2, 10);
  std::string text = "x,y\n";
  for (std::size_t t = 0; t < steps; ++t) text += fmt::format("{},{}\n", t, t % 2);
  RawDataset raw = raw_of(text);
  RC_ASSERT(cut_into(raw.data, folds));
  RC_ASSERT(raw.data.sequences.count() == folds);
  RC_ASSERT(raw.data.sequences.steps() == steps);
  for (std::size_t s = 0; s < folds; ++s) {
    RC_ASSERT(raw.data.sequences.length(s) >= steps / folds);
    RC_ASSERT(raw.data.sequences.length(s) <= steps / folds + 1);
  }
  RC_ASSERT(!cut_into(raw.data, folds));
}

TEST(Parts, ForwardFoldsTestOnWhatComesNext) {
  std::string text = "id,time,x,y\n";
  for (int id = 0; id < 3; ++id)
    for (int t = 0; t < 7 + 4 * id; ++t)
      text +=
          std::to_string(id) + "," + std::to_string(t) + "," + std::to_string(t) + "," + std::to_string(t % 2) + "\n";
  RawDataset raw = raw_of(text);
  const std::size_t steps = raw.data.sequences.steps();
  const std::vector<Split> folds = forward_folds(raw.data, 3);
  ASSERT_EQ(folds.size(), 3U);
  EXPECT_EQ(raw.data.sequences.count(), 12U);
  EXPECT_EQ(raw.data.sequences.steps(), steps);
  const Column<std::int64_t>& offset = raw.data.sequences.offset;
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(folds[k].training.size(), 3 * (k + 1));
    ASSERT_EQ(folds[k].validation.size(), 3U);
    // A test piece begins where the last piece its fold learned from, of the same sequence, ends.
    for (std::size_t s = 0; s < 3; ++s) {
      const std::uint32_t last = folds[k].training[s * (k + 1) + k];
      EXPECT_EQ(last + 1, folds[k].validation[s]);
      EXPECT_LT(offset[last], offset[folds[k].validation[s]]);
    }
  }
  RawDataset tight = raw_of("id,x,y\n1,1,0\n1,2,1\n");
  EXPECT_EQ(error_of([&] { forward_folds(tight.data, 2); }),
            "--forward: expected sequences of at least 3 steps, one more than folds, got one of 2");
}

TEST(TestPart, WholeSequencesAreHeldOut) {
  std::string text = "id,word,y\n";
  for (int s = 0; s < 20; ++s)
    for (int t = 0; t < 3; ++t)
      text += std::to_string(s) + ",w" + std::to_string(s) + "," + std::to_string(s % 2) + "\n";
  const TestParts parts = hold_out_test(raw_of(text), 0.25, 1);
  EXPECT_EQ(parts.training.data.sequences.count(), 15U);
  EXPECT_EQ(parts.test.data.sequences.count(), 5U);
  std::set<float> words(parts.training.data.sequences.x.begin(), parts.training.data.sequences.x.end());
  EXPECT_EQ(words.size(), 15U) << "a word of its own for every sequence";
  words.insert(parts.test.data.sequences.x.begin(), parts.test.data.sequences.x.end());
  EXPECT_EQ(words.size(), 20U) << "and each is in one part only";
}

TEST(TestPart, OfOneRecordingItsEndIsHeldOutAndNothingOfItIsLearnedFrom) {
  std::string text = "t,x,y\n";
  for (int t = 0; t < 40; ++t)
    text += std::to_string(t) + "," + std::to_string(t) + "," + std::to_string(0.5 * t) + "\n";
  Roles roles;
  roles.time = "t";
  roles.id = "none";
  const TestParts parts = hold_out_test(raw_of(text, roles), 0.25, 1);
  ASSERT_EQ(parts.training.data.sequences.count(), 1U);
  EXPECT_EQ(parts.training.data.sequences.steps(), 30U);
  ASSERT_EQ(parts.test.data.sequences.steps(), 40U) << "memory runs from the beginning";
  for (std::size_t t = 0; t < 40; ++t) EXPECT_EQ(parts.test.data.sequences.weight[t], t < 30 ? 0.0F : 1.0F) << t;
  EXPECT_EQ(error_of([&] { hold_out_test(raw_of("t,x,y\n1,1,1.5\n2,2,2.5\n", roles), 0.5, 1); }).substr(0, 7),
            "--test:");
}

}  // namespace
}  // namespace remede

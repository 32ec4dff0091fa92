// Files in pieces: every sequence once, whole, whatever the number of processes; what they agree on.
#include "remede/data/shard.h"

#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "remede/base/file.h"
#include "support/error_of.h"

namespace remede {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

class Shards : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    const std::string path = (folder_ / name).string();
    write_file(path, text);
    return path;
  }

  // Sequences of 1 to 5 steps; x is the number of the sequence and y its step.
  static std::string table(int first, int last, const std::string& end = "\n") {
    std::string text = "id,t,x,y" + end;
    for (int s = first; s < last; ++s)
      for (int t = 0; t <= s % 5; ++t) text += fmt::format("{},{},{},{}{}", 1000 + s * 37, t, s, t, end);
    return text;
  }

  // All sequences of some processes, one after the other: x of its first step and its length.
  static std::vector<std::pair<int, std::size_t>> sequences_of(const std::string& path, const Roles& roles,
                                                               std::size_t processes) {
    const PiecedFiles files(path, roles);
    std::vector<Shard> shards;
    std::vector<ShardSummary> summaries;
    for (std::size_t p = 0; p < processes; ++p) {
      shards.emplace_back(files, roles, kDataPieces * p / processes, kDataPieces * (p + 1) / processes);
      summaries.push_back(shards.back().summary());
    }
    const ShardFacts facts = merged(summaries, files);
    std::vector<std::pair<int, std::size_t>> all;
    for (std::size_t p = 0; p < processes; ++p) {
      shards[p].agree(facts, facts.first[p]);
      for (std::size_t piece = 0; piece < shards[p].pieces(); ++piece)
        for (auto n = shards[p].sequences(piece).first; n < shards[p].sequences(piece).second; ++n) {
          RawDataset chunk = shards[p].chunk();
          shards[p].append(n, 0, shards[p].length(n), 0, chunk);
          all.emplace_back(static_cast<int>(chunk.data.sequences.x[0]), chunk.data.sequences.steps());
        }
    }
    return all;
  }

  static ShardFacts facts_of(const std::string& path, const Roles& roles, std::size_t processes = 1) {
    const PiecedFiles files(path, roles);
    std::vector<ShardSummary> summaries;
    for (std::size_t p = 0; p < processes; ++p)
      summaries.push_back(
          Shard(files, roles, kDataPieces * p / processes, kDataPieces * (p + 1) / processes).summary());
    return merged(summaries, files);
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("remede_shard_" + std::to_string(getpid()));
};

TEST_F(Shards, EverySequenceIsReadOnceAndWhole) {
  std::vector<std::pair<int, std::size_t>> expected;
  for (int s = 0; s < 300; ++s) expected.emplace_back(s, 1 + s % 5);
  Roles roles;
  roles.format.comment = '#';
  const std::string plain = table(0, 300), windows = table(0, 300, "\r\n");
  for (const std::string& text :
       {plain, windows, plain.substr(0, plain.size() - 1), "# what\n" + plain, plain + "\n\n# the end\n"}) {
    const std::string path = file("all.csv", text);
    for (const std::size_t processes : {1U, 2U, 3U, 4U, 64U}) EXPECT_EQ(sequences_of(path, roles, processes), expected);
  }
  file("part1.csv", table(0, 90));
  file("part2.csv", table(90, 91));
  file("part3.csv", table(91, 300));
  for (const std::size_t processes : {1U, 3U})
    EXPECT_EQ(sequences_of((folder_ / "part*.csv").string(), roles, processes), expected);
}

TEST_F(Shards, SequencesLongerThanAPieceAndRowsThatAreSequences) {
  std::string text = "id,x,y\n";
  for (int t = 0; t < 2000; ++t)
    text += fmt::format("{},{},{}\n", t < 40 ? "first" : t < 1900 ? "\"long\"" : "last", t, t % 3);
  const std::string path = file("long.csv", text);
  for (const std::size_t processes : {1U, 2U, 4U})
    EXPECT_THAT(sequences_of(path, {}, processes),
                ElementsAre(std::pair(0, 40UL), std::pair(40, 1860UL), std::pair(1900, 100UL)));
  Roles rows;
  rows.id = "row";
  rows.ignore = {"id"};
  for (const std::size_t processes : {1U, 4U}) EXPECT_EQ(sequences_of(path, rows, processes).size(), 2000U);
}

TEST_F(Shards, FilesThatCannotBeCutAreReadByOneProcess) {
  for (int f = 0; f < 5; ++f) {
    std::string text = "x y\n";
    for (int t = 0; t < 7; ++t) text += fmt::format("{}   {}\n", f, t % 2);
    file(fmt::format("b{}.txt", f), text);
  }
  const std::string pattern = (folder_ / "b*.txt").string();
  for (const std::size_t processes : {1U, 3U})
    EXPECT_THAT(
        sequences_of(pattern, {}, processes),
        ElementsAre(std::pair(0, 7UL), std::pair(1, 7UL), std::pair(2, 7UL), std::pair(3, 7UL), std::pair(4, 7UL)));
}

TEST_F(Shards, WordsAndClassesAreThoseOfAllRows) {
  std::string text = "id,wind,y\n";
  for (int s = 0; s < 200; ++s)
    text += fmt::format("{},{},{}\n", s, s < 100 ? "north" : s < 199 ? "south" : "", s < 120 ? 10 : s < 199 ? 2 : 3);
  const std::string path = file("words.csv", text);
  for (const std::size_t processes : {1U, 2U, 4U}) {
    const ShardFacts facts = facts_of(path, {}, processes);
    EXPECT_THAT(facts.inputs.at(0).known, ElementsAre("north", "south"));
    EXPECT_EQ(facts.schema.task, Task::kClassification);
    EXPECT_THAT(facts.schema.classes, ElementsAre("2", "3", "10"));
  }
}

TEST_F(Shards, ManyNumbersOrOneFractionMakeARegression) {
  std::string many = "id,x,y\n", fraction = many;
  for (int s = 0; s < 300; ++s) {
    many += fmt::format("{},{},{}\n", s, s, s / 10);
    fraction += fmt::format("{},{},{}\n", s, s, s == 299 ? "0.5" : "1");
  }
  for (const std::string& text : {many, fraction}) {
    const std::string path = file("numbers.csv", text);
    for (const std::size_t processes : {1U, 4U}) {
      EXPECT_EQ(facts_of(path, {}, processes).schema.task, Task::kRegression);
      // A piece alone looks like classes; its values must still be the numbers.
      const PiecedFiles files(path, {});
      Shard shard(files, {}, 0, kDataPieces);
      const ShardFacts facts = merged({shard.summary()}, files);
      shard.agree(facts, 0);
      RawDataset chunk = shard.chunk();
      for (const std::uint64_t n : {0U, 155U, 299U}) shard.append(n, 0, 1, 0, chunk);
      EXPECT_THAT(chunk.data.sequences.value,
                  text == many ? ElementsAre(0.0F, 15.0F, 29.0F) : ElementsAre(1.0F, 1.0F, 0.5F));
    }
  }
}

TEST_F(Shards, WhatCannotBeReadInPartsIsRefusedWithTheReason) {
  const auto said = [&](const std::string& text, const Roles& roles = {}) {
    const std::string path = file("wrong.csv", text);
    return error_of([&] { facts_of(path, roles); });
  };
  EXPECT_THAT(said("x,y\n1,2\n3,4\n"), HasSubstr("--id row"));
  EXPECT_THAT(said("id,x,y\n1,2,0\n1,3,1\n"), HasSubstr("expected at least two sequences, got 1"));
  EXPECT_THAT(said("id,x,y\n1,2,0\n2,3,0\n"), HasSubstr("expected at least two classes, got only '0'"));
  EXPECT_THAT(said("id,x,y\n1,2,\n2,3,\n"), HasSubstr("expected a value in some row"));
  EXPECT_THAT(said("id,x,y\n1,\"a\nb\",0\n2,c,1\n"), HasSubstr("line end inside quotes"));
  EXPECT_THAT(said("id,x,y\n" + std::string(60, '0') + "1,2.5,0\n" + std::string(60, '0') + "2,calm,1\n"),
              HasSubstr("expected numbers or words, got both"));
  EXPECT_THAT(error_of([] { PiecedFiles("-", {}); }), HasSubstr("standard input"));
}

}  // namespace
}  // namespace remede

// Rows that are distributed over processes: the model is that of one process which holds them all.
#include "remede/train/rows.h"

#include <deque>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "remede/base/file.h"
#include "remede/base/random.h"
#include "remede/executor/remote/job.h"
#include "remede/model/file.h"
#include "support/error_of.h"
#include "train/small_data.h"

namespace remede {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

// Other processes that hold rows, in this one: each job is done when it is sent.
class PartPeers final : public Peers {
 public:
  PartPeers(std::size_t others, const std::string& path, const Roles& roles, const Config& config) {
    for (std::size_t p = 1; p <= others; ++p) parts_.push_back(std::make_unique<RowsPart>(path, roles, config, p));
  }
  void begin(const std::string&) override {}
  std::size_t hands() override { return 0; }
  bool free() override { return false; }
  std::uint64_t send(std::string) override { return 0; }
  void cancel() override {}
  std::size_t others() const override { return parts_.size(); }
  std::uint64_t send_to(std::size_t process, const std::string& job) override {
    if (static_cast<RowsJob>(job.at(1)) == RowsJob::kGradient) ++gradients;
    if (gradients == lose_at) lost_ = fmt::format("rank {} was lost", process);
    answers_.push_back({++number_, parts_.at(process - 1)->run(job, [] { return false; })});
    note_sent(job.size());
    return number_;
  }
  std::optional<Answer> receive(std::chrono::milliseconds) override {
    if (answers_.empty()) return std::nullopt;
    Answer answer = std::move(answers_.back());  // in any order
    answers_.pop_back();
    return answer;
  }
  std::string lost() override { return lost_; }

  std::uint64_t gradients = 0;
  std::uint64_t lose_at = UINT64_MAX;

 private:
  std::vector<std::unique_ptr<RowsPart>> parts_;
  std::deque<Answer> answers_;
  std::uint64_t number_ = 0;
  std::string lost_;
};

class RowsSlow : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const Dataset& data, const std::string& name) const {
    Dataset named = data;
    named.schema.id = "id";
    named.schema.targets = {"y"};
    for (std::size_t s = 0; s < data.sequences.count(); ++s) named.ids.push_back(std::to_string(s));
    const std::string path = (folder_ / name).string();
    write_dataset(path, named);
    return path;
  }

  static Config few_updates(int threads = 1) {
    Config config;
    config.starts = 4;
    config.updates = 40;
    config.simplify = false;  // the finalists, which learned from all rows
    config.threads = threads;
    return config;
  }

  struct Result {
    std::string model;
    Score score;
    std::uint64_t gradients = 0;
  };
  static Result train(const std::string& path, std::size_t others, const Config& config, const Roles& roles = {}) {
    PartPeers peers(others, path, roles, config);
    Rows rows(path, roles, config, others == 0 ? nullptr : &peers);
    Callbacks callbacks;
    if (others > 0) callbacks.peers = &peers;
    const Fit fit = fit_rows(rows, config, callbacks);
    return {to_json(fit.model), fit.validation, peers.gradients};
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("remede_rows_" + std::to_string(getpid()));
};

TEST_F(RowsSlow, TheModelIsTheSameForAnyNumberOfProcessesAndThreads) {
  Config balanced = few_updates();
  balanced.class_weights = ClassWeights::kBalanced;
  for (const auto& [path, config] : {std::pair(write(testing::fixed_delay(200, 1), "class.csv"), few_updates()),
                                     std::pair(write(testing::fixed_delay(90, 2), "balanced.csv"), balanced),
                                     std::pair(write(testing::regimes(60, 1), "number.csv"), few_updates())}) {
    const Result alone = train(path, 0, config);
    for (const std::size_t others : {1U, 2U, 3U}) {
      Config with_threads = config;
      with_threads.threads = static_cast<int>(others);
      const Result shared = train(path, others, with_threads);
      EXPECT_EQ(shared.model, alone.model) << path << ", " << others + 1 << " processes";
      EXPECT_GT(shared.gradients, 10U) << "the last rounds must learn from all rows";
      EXPECT_EQ(shared.score.loss, alone.score.loss);
      EXPECT_EQ(shared.score.targets, alone.score.targets);
    }
  }
}

TEST_F(RowsSlow, TheLastRoundLearnsFromAllRows) {
  const std::string path = write(testing::fixed_delay(300, 1), "class.csv");
  Config config = few_updates();
  config.starts = 8;
  config.updates = 400;
  EXPECT_GT(train(path, 1, config).score.accuracy, 0.99);
}

TEST_F(RowsSlow, WordsAndLongSequencesAndASampleThatIsSmallerThanTheData) {
  std::string text = "id,wind,x,y\n";
  Random random(1);
  for (int s = 0; s < 12; ++s)
    for (int t = 0; t < (s == 3 ? 400 : 60); ++t) {
      const auto word = random.below(12);
      text += fmt::format("{},w{},{:.4f},{}\n", s, word, random.normal(), word % 5 < 2 ? "low" : "high");
    }
  const std::string path = (folder_ / "words.csv").string();
  write_file(path, text);
  Config config = few_updates();
  config.recipe.judged_steps = 200;
  config.recipe.long_sequence = 100;
  config.recipe.window = 30;
  const Rows rows(path, {}, config, nullptr);
  EXPECT_LE(rows.training().sequences.steps(), 400U);
  EXPECT_LT(rows.training().sequences.steps() + rows.validation().sequences.steps(), rows.steps());
  EXPECT_EQ(rows.training().schema.n_x(), 14) << "the rank of a word, an input per word, and x";
  const std::string alone = train(path, 0, config).model;
  for (const std::size_t others : {1U, 3U}) EXPECT_EQ(train(path, others, config).model, alone);
}

TEST_F(RowsSlow, AStoppedFitGoesOnWithAnotherNumberOfProcesses) {
  const std::string path = write(testing::fixed_delay(200, 1), "class.csv");
  const Config config = few_updates();
  const Result alone = train(path, 0, config);
  PartPeers peers(2, path, {}, config);
  peers.lose_at = 15;
  Rows rows(path, {}, config, &peers);
  std::optional<Checkpoint> last;
  Callbacks callbacks;
  callbacks.peers = &peers;
  callbacks.stop = [&] { return !peers.lost().empty(); };
  callbacks.checkpoint = [&](const Checkpoint& c) { last = c; };
  EXPECT_TRUE(fit_rows(rows, config, callbacks).stopped);
  ASSERT_TRUE(last.has_value());
  PartPeers others(1, path, {}, config);
  Rows again(path, {}, config, &others);
  Callbacks go_on;
  go_on.peers = &others;
  EXPECT_EQ(to_json(fit_rows(again, config, go_on, &*last).model), alone.model);
}

TEST_F(RowsSlow, WhatIsHeldOutIsNotLearnedFrom) {
  const std::string path = write(testing::fixed_delay(200, 1), "class.csv");
  Config config = few_updates();
  config.validation_fraction = 0.3;
  const Rows rows(path, {}, config, nullptr);
  EXPECT_EQ(rows.validation().sequences.count(), 60U);
  EXPECT_EQ(rows.training().sequences.count(), 140U);
  Config other = config;
  other.seed = 2;
  EXPECT_NE(Rows(path, {}, other, nullptr).validation().sequences.x, rows.validation().sequences.x);
}

TEST_F(RowsSlow, WhatDoesNotWorkIsRefused) {
  const std::string path = write(testing::fixed_delay(20, 1), "class.csv");
  Config gpu = few_updates();
  gpu.device = DeviceChoice::kGpu;
  EXPECT_THAT(error_of([&] { Rows(path, {}, gpu, nullptr); }), HasSubstr("--device cpu"));
  Config nothing = few_updates();
  nothing.validation_fraction = 0;
  EXPECT_THAT(error_of([&] { Rows(path, {}, nothing, nullptr); }), HasSubstr("--validation-fraction above 0"));
  const std::string mixed = (folder_ / "mixed.csv").string();
  std::string text = "id,x,y\n";
  for (int t = 0; t < 300; ++t) text += fmt::format("{},{},{}\n", t % 10, t, t % 2);
  write_file(mixed, text);
  EXPECT_THAT(error_of([&] { Rows(mixed, {}, few_updates(), nullptr); }), HasSubstr("sort the rows by it"));
}

TEST(PieceSums, TheSumDoesNotDependOnWhoHoldsWhat) {
  Random random(3);
  std::vector<std::vector<double>> leaves(kDataPieces);
  for (std::size_t p = 0; p < kDataPieces; ++p)
    if (p % 7 != 3) leaves[p] = {random.normal() * 1e6, random.normal()};
  const std::vector<double> alone = sum_of_branches(branches_of(0, leaves));
  for (std::size_t processes = 2; processes <= kDataPieces; ++processes) {
    std::vector<PieceSum> all;
    for (std::size_t p = 0; p < processes; ++p) {
      const std::size_t begin = kDataPieces * p / processes, end = kDataPieces * (p + 1) / processes;
      const std::vector<std::vector<double>> some(leaves.begin() + static_cast<std::ptrdiff_t>(begin),
                                                  leaves.begin() + static_cast<std::ptrdiff_t>(end));
      for (PieceSum& branch : branches_of(begin, some)) all.push_back(std::move(branch));
    }
    EXPECT_EQ(sum_of_branches(all), alone) << processes;
  }
}

}  // namespace
}  // namespace remede

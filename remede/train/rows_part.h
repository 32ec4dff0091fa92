// One of the processes that hold the rows of a fit with --shard rows: reads its pieces of the data and does jobs on
// them. The process that controls the fit (rows.h) has one of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "remede/base/shuffled.h"
#include "remede/data/shard.h"
#include "remede/executor/engine.h"
#include "remede/train/helper.h"
#include "remede/train/piece_sums.h"
#include "remede/train/travel.h"

namespace remede {

// What a job of the kind Job::kRows is about: its second byte. The same job goes to all processes.
enum class RowsJob : std::uint8_t {
  kRead,        // number of processes -> ShardSummary
  kIds,         // pass, passes -> hashes of the ids of this pass
  kAgree,       // ShardFacts, sequences that are held out, seed, steps of a sample -> two SampleOffers
  kWords,       // -> sums over the words of each column of words
  kCode,        // Code -> nothing
  kSample,      // numbers of sequences, to learn from and held out -> Sequences of both that are here
  kStatistics,  // UsualRanges -> sums
  kBegin,       // the sample, Scaling, factors of the classes -> what Helper::fit() says
  kGradient,    // starts with what their batches are drawn from -> sums of loss and gradient of each
  kLoss,        // parameters of starts -> sums of the loss of each on all rows held out
  kScore,       // Model -> sums for its score there
};

// Sequences of one process for the sample: the first ones in the shuffled order.
struct SampleOffer {
  std::vector<std::uint64_t> place, sequence, steps;
};

template <MaybeConst<RawInput> T>
void fields(T& i, auto&& each) {
  each(i.name, i.words, i.gap, i.known);
}
template <MaybeConst<ShardSummary> T>
void fields(T& s, auto&& each) {
  each(s.sequences, s.steps, s.inputs, s.numeric, s.classes, s.numbers);
}
template <MaybeConst<ShardFacts> T>
void fields(T& f, auto&& each) {
  each(f.schema, f.inputs, f.sequences, f.steps, f.first);
}
template <MaybeConst<SampleOffer> T>
void fields(T& o, auto&& each) {
  each(o.place, o.sequence, o.steps);
}
template <MaybeConst<UsualRanges> T>
void fields(T& r, auto&& each) {
  each(r.x_low, r.x_high, r.x_middle, r.y_low, r.y_high, r.y_middle);
}
template <MaybeConst<Scaling> T>
void fields(T& s, auto&& each) {
  each(s.x_shift, s.x_scale, s.y_shift, s.y_scale);
}
template <MaybeConst<PieceSum> T>
void fields(T& p, auto&& each) {
  each(p.begin, p.size, p.sum);
}
void put_code(ByteWriter& to, const Code& code);
Code get_code(ByteReader& from);

class RowsPart {
 public:
  // `process`: its number among those that hold rows.
  RowsPart(const std::string& path, const Roles& roles, const Config& config, std::size_t process);
  ~RowsPart();

  const PiecedFiles& files() const { return files_; }
  const Roles& roles() const { return roles_; }

  // The answer of a job; those that are not about rows are for a Helper of the same fit. From any number of threads.
  std::string run(std::string_view job, const std::function<bool()>& stop);

 private:
  struct Start {  // of a job
    std::uint64_t drawn = 0, batch = 0;
    const StartPlan* plan = nullptr;
    Parameters<float> parameters;
  };
  struct Draw {
    std::uint64_t sequence = 0, word = 0;  // and the random number that chooses a window of it
  };
  struct Scratch;  // of a worker

  std::string run_rows(ByteReader& job, const std::function<bool()>& stop);
  std::string agree(ByteReader& job);
  SampleOffer offer(bool held, std::uint64_t steps) const;
  std::string sample(ByteReader& job);
  std::string begin(ByteReader& job);
  std::string gradient(ByteReader& job, const std::function<bool()>& stop);
  std::string loss(ByteReader& job, const std::function<bool()>& stop);
  std::string score(ByteReader& job, const std::function<bool()>& stop);
  std::string word_sums(const std::function<bool()>& stop);
  std::string statistics(ByteReader& job, const std::function<bool()>& stop);

  bool is_held_out(std::uint64_t sequence) const { return shuffled_->place(sequence) < held_out_; }
  std::vector<Start> get_starts(ByteReader& job, bool drawn) const;
  std::vector<std::vector<Draw>> drawn(const Start& start) const;
  std::vector<double> gradient_of(const Start& start, const std::vector<Draw>& draws, Scratch& scratch) const;
  void append_window(const Draw& draw, RawDataset& to) const;
  Sequences encoded(RawDataset& chunk) const;
  Sequences scaled(RawDataset& chunk) const;
  // The rows of a piece, some steps at a time: those held out, or the others.
  void each_chunk(std::size_t piece, bool held, Scratch& scratch, const std::function<bool()>& stop,
                  const std::function<void(RawDataset&)>& work) const;
  // A sum over the rows of each piece, as an answer.
  using PieceWork = std::function<void(std::size_t piece, Scratch& scratch, std::vector<double>& sum)>;
  std::string over_pieces(const PieceWork& work);

  Roles roles_;
  Config config_;
  PiecedFiles files_;
  std::size_t process_;
  int threads_;
  std::mutex mutex_;  // one job about rows at a time
  std::optional<Shard> shard_;
  ShardFacts facts_;
  std::optional<Shuffled> shuffled_;
  std::uint64_t held_out_ = 0;
  std::optional<Encoder> encoder_;
  Dataset training_, validation_;  // the sample
  Scaling scaling_;
  std::vector<float> class_factor_;  // (classes) empty: all count as they are
  std::unique_ptr<Helper> helper_;
  std::vector<std::unique_ptr<Scratch>> scratch_;  // (threads)
};

}  // namespace remede

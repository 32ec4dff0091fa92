// Data whose rows are distributed over processes (--shard rows). Each process holds the rows of some fixed pieces of
// the data (data/pieces.h) and works on them (rows_part.h). This is the process that controls the fit.
//
// A fixed sample of the sequences is known to all: the search runs on it as on any data. What touches all rows are sums
// over the pieces, added in a fixed order (piece_sums.h): scales, the codes of words, the gradients of the last round
// of each stage of the search, validation in that round, and the score of the finished model. So the model does not
// depend on the number of processes or threads.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "remede/executor/executor.h"
#include "remede/executor/remote/peers.h"
#include "remede/train/fit.h"
#include "remede/train/rows_part.h"

namespace remede {

class Rows {
 public:
  // Every process reads its rows, and all agree on the sample. `peers`: null where this process holds all rows; else
  // the others run a RowsPart with the numbers 1, 2, ... Throws Error where the data or the settings do not allow it.
  Rows(const std::string& path, const Roles& roles, const Config& config, Peers* peers);

  const Dataset& training() const { return training_; }      // the sample,
  const Dataset& validation() const { return validation_; }  // and the part of it that is held out
  const Scaling& scaling() const { return scaling_; }        // of all rows that are not held out
  std::uint64_t sequences() const { return facts_.sequences; }
  std::uint64_t steps() const { return facts_.steps; }

  // Every start makes updates with batches drawn from all rows that are not held out, and is validated on all others,
  // as often as its plan says. The starts go on together. Ends early where the round says so, or a process is lost.
  void round(std::span<Trainer* const> starts, const Round& round);

  Score score(const Model& model);  // on all rows that are held out

 private:
  using Stop = std::function<bool()>;
  std::optional<std::vector<std::string>> ask(const ByteWriter& job, const Stop& stop = {});
  std::vector<std::string> expect(const ByteWriter& job);  // throws Error where a process was lost
  std::vector<double> expect_sum(const ByteWriter& job);
  void expect_together();
  std::vector<std::vector<std::uint64_t>> choose_sample(const std::vector<std::string>& offers) const;
  Code learn_code_of_all();
  void take_sample(const std::vector<std::vector<std::uint64_t>>& chosen, const Code& code);
  void measure();
  void begin();
  bool update(std::span<Trainer* const> starts, const Stop& stop);
  // The parameters as they are now, or the best of each start so far.
  bool validate(std::span<Trainer* const> starts, bool best, const Stop& stop);

  Config config_;
  Peers* peers_;
  RowsPart here_;
  ShardFacts facts_;
  Dataset training_, validation_;
  Scaling scaling_;
  std::vector<float> class_factor_;
  std::uint64_t batches_ = 1;  // a batch is so many times that of a start that learns from the sample
};

// Learns a model from the rows. `callbacks.peers` are those of the rows.
Fit fit_rows(Rows& rows, const Config& config, const Callbacks& callbacks = {}, const Checkpoint* resume = nullptr);

}  // namespace remede

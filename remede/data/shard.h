// The rows of some pieces of the data (data/pieces.h), as one of several processes holds them, and what the processes
// must agree on before any of them can be used: the inputs with their words, the task, its classes, and the numbers of
// the sequences.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "remede/data/pieces.h"
#include "remede/data/raw.h"

namespace remede {

// What the pieces of one process hold, in the order of the pieces.
struct ShardSummary {
  std::vector<std::uint64_t> sequences;  // (pieces)
  std::vector<std::uint64_t> steps;      // (pieces)
  std::vector<RawInput> inputs;          // with their words in the order of their first appearance; empty without rows
  std::vector<std::uint8_t> numeric;     // (inputs) 1: some piece holds numbers there
  std::vector<std::string> classes;      // of pieces whose targets may be classes, in the order of their appearance
  bool numbers = false;                  // some piece has targets that can only be numbers
};

// What all processes agree on.
struct ShardFacts {
  Schema schema;                 // without inputs
  std::vector<RawInput> inputs;  // of all rows
  std::uint64_t sequences = 0;   // in all
  std::uint64_t steps = 0;
  std::vector<std::uint64_t> first;  // (processes) number of its first sequence among all
};

// The result depends on the pieces and not on how they were given to processes. Throws Error where pieces do not fit
// together. `all`: in the order of the pieces.
ShardFacts merged(const std::vector<ShardSummary>& all, const PiecedFiles& files);

class Shard {
 public:
  // Reads these pieces. Large columns go to the store of the roles. `stop` ends it early; then it is of no use.
  Shard(const PiecedFiles& files, const Roles& roles, std::size_t first_piece, std::size_t last_piece,
        const std::function<bool()>& stop = {});

  const ShardSummary& summary() const { return summary_; }
  std::size_t first_piece() const { return first_piece_; }
  std::size_t pieces() const { return summary_.sequences.size(); }
  // A hash of the id of each sequence; none where ids cannot repeat.
  const Column<std::uint64_t>& ids() const { return ids_; }

  // REQUIRES, for all that follows: called once. `first`: number of the first sequence here among all.
  void agree(const ShardFacts& facts, std::uint64_t first);

  // The numbers of the sequences of a piece of this process, counted from 0: from the first to one behind the last.
  std::pair<std::uint64_t, std::uint64_t> sequences(std::size_t piece) const;
  // REQUIRES, for both: the sequence with this number is here.
  std::size_t length(std::uint64_t sequence) const;
  bool has_target(std::uint64_t sequence) const;

  // An empty chunk to append to: raw inputs, with the numbers that words and classes have for all processes.
  RawDataset chunk() const;
  // Appends steps [begin, end) of a sequence as a sequence of its own. Steps before `judged` get no target.
  void append(std::uint64_t sequence, std::size_t begin, std::size_t end, std::size_t judged, RawDataset& to) const;

 private:
  void take(const RawDataset& raw, bool keep_ids);
  void take_inputs(const RawDataset& raw, std::vector<std::vector<float>>& words);
  void take_targets(const RawDataset& raw);
  std::size_t local(std::uint64_t sequence) const { return static_cast<std::size_t>(sequence - first_); }

  std::size_t first_piece_;
  ShardSummary summary_;
  std::vector<std::uint8_t> labels_;  // (pieces) 1: its values are numbers of summary_.classes
  std::size_t targets_ = 1;           // values per step
  Column<std::int64_t> offset_;       // (sequences + 1)
  Column<float> x_;                   // (steps, columns) numbers of words as in summary_.inputs
  Column<float> value_;               // (steps, targets)
  Column<float> weight_;              // (steps)
  Column<std::uint64_t> ids_;
  // Since agree():
  std::uint64_t first_ = 0;
  Schema schema_;
  std::vector<RawInput> inputs_;
  std::vector<std::uint64_t> begin_;      // (pieces + 1) first sequence of each
  std::vector<std::vector<float>> word_;  // (columns) (words here) its number for all; empty: numbers
  std::vector<std::int32_t> class_;       // (classes here) its number for all
  std::vector<float> class_value_;        // (classes here) as a number, where the task is regression
};

}  // namespace remede

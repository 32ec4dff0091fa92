// A set of sequences as the device sees it, and how batches of it are cut for the kernels. It is loaded once, or, where
// it is too large for the device's memory, in parts as they are needed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "remede/executor/cuda/device.h"
#include "remede/executor/training_data.h"

namespace remede::cuda {

// The entries and chunks of batches, one after the other.
struct Batches {
  std::vector<Entry> entries;
  std::vector<Chunk> chunks;
};

// Some sequences of a set in the device's memory, under the numbers that they have in the set.
struct DataPart {
  Pinned host;
  Buffer device;
  std::vector<std::uint8_t> wanted;  // (sequences)
  Sequences at{};
};

class DataSet {
 public:
  // resident: loaded now. The data must outlive the set.
  DataSet(const remede::Sequences& data, bool resident);

  static std::size_t bytes(const remede::Sequences& data);  // that it takes on the device
  std::size_t step_bytes() const;                           // of a step

  bool resident() const { return resident_; }
  Sequences on_device() const;  // REQUIRES: resident
  // Begins to copy the sequences of these entries, which may be there several times.
  void load(std::span<const std::span<const Entry>> entries, DataPart& to, void* stream) const;

  bool missing() const { return missing_; }  // some input is
  std::size_t count() const { return length_.size(); }
  std::size_t longest() const { return longest_; }
  double weight(std::span<const std::uint32_t> batch) const;  // of these sequences
  double weight() const { return all_; }

  // How a batch is cut: steps (or one sequence) and sequences of a chunk at most.
  struct Cut {
    std::size_t steps, sequences;
  };
  // ASSIGNS the entries (batch) and the chunks of a batch: its sequences, longest first. `first` is the number of the
  // first entry. Returns the number of chunks.
  std::uint32_t cut(std::span<const std::uint32_t> batch, const Cut& most, std::uint32_t first, Entry* entries,
                    Chunk* chunks) const;
  // Appends the batch, in the same way.
  std::uint32_t cut(std::span<const std::uint32_t> batch, const Cut& most, Batches& to) const;
  // No batch of this size, cut in this way, has more chunks; no chunk has more steps.
  std::size_t most_chunks(std::size_t batch, const Cut& cut) const;
  std::size_t most_steps(std::size_t batch, const Cut& cut) const;
  // Steps of a chunk of training: records of all blocks together should stay in the cache of the device, and sequences
  // should not be fewer than groups of lanes.
  Cut in_phases() const;
  // Chunks of the stepwise form, which keeps what it needs of all steps of a chunk.
  static Cut stepwise(int sequences);

 private:
  std::uint32_t cut_evenly(std::size_t batch, const Cut& most, std::uint32_t first, Entry* entries,
                           Chunk* chunks) const;

  const remede::Sequences* host_;
  bool resident_;
  Buffer x_, label_, value_, weights_, spans_;
  bool missing_ = false, ragged_ = false;
  std::vector<std::uint32_t> length_;
  std::vector<double> weight_;  // (sequences) sum of its target weights
  bool even_ = true;            // they are all the same, and a small whole number
  double all_ = 0;
  std::size_t longest_ = 0;
};

}  // namespace remede::cuda

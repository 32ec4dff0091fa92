// A set of sequences in the device's memory, loaded once, and how batches of it are cut for the kernels.
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

class DataSet {
 public:
  explicit DataSet(const remede::Sequences& data);

  Sequences on_device() const;
  bool missing() const { return missing_; }  // some input is
  std::size_t count() const { return length_.size(); }
  std::size_t longest() const { return longest_; }
  double weight(std::span<const std::uint32_t> batch) const;  // of these sequences
  double weight() const { return all_; }

  // How a batch is cut: steps (or one sequence) and sequences of a chunk at most.
  struct Cut {
    std::size_t steps, sequences;
  };
  // Appends the batch: its sequences, longest first, in chunks. Returns the number of chunks.
  std::uint32_t cut(std::span<const std::uint32_t> batch, const Cut& most, Batches& to) const;
  // Steps of a chunk of training: records of all blocks together should stay in the cache of the device, and sequences
  // should not be fewer than groups of lanes.
  Cut in_phases() const;
  // Chunks of the stepwise form, which keeps what it needs of all steps of a chunk.
  static Cut stepwise(int sequences);
  // No chunk of a batch of this size, cut at `steps`, has more steps.
  std::size_t most_steps(std::size_t batch, const Cut& cut) const;

 private:
  std::uint32_t cut_evenly(std::size_t begin, const Cut& most, Batches& to) const;

  Buffer x_, label_, value_, weights_, offset_;
  bool has_label_ = false, missing_ = false, ragged_ = false;
  std::vector<std::uint32_t> length_;
  std::vector<double> weight_;  // (sequences) sum of its target weights
  bool even_ = true;            // they are all the same, and a small whole number
  double all_ = 0;
  std::size_t longest_ = 0;
};

}  // namespace remede::cuda

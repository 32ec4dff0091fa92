// Parts of the data for training, validation and test, without leakage: a sequence is in one part only. The same seed
// gives the same parts on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "remede/data/sequences.h"

namespace remede {

// Numbers of sequences, rising.
struct Split {
  std::vector<std::uint32_t> training;
  std::vector<std::uint32_t> validation;
};

// Cuts 0 .. count-1 at random into parts of about these shares (which are positive and sum to at most 1; what is left
// over is in no part). While there are enough, no part is empty.
std::vector<std::vector<std::uint32_t>> split_parts(std::size_t count, std::span<const double> shares,
                                                    std::uint64_t seed);

// The label of each sequence, where each has exactly one.
std::optional<std::vector<std::int32_t>> sequence_labels(const Sequences& all);

// By sequence. Where each sequence carries one label (classification, at one step or the same at all), every class is
// split in the same proportion. Throws Error with fewer than two sequences: cut() a long one first.
Split split(const Sequences& all, double validation_share, std::uint64_t seed);

// Cuts longer sequences into pieces of nearly equal length, at most max_length; their order is kept. A piece starts
// from empty memory, like any sequence. REQUIRES: max_length > 0.
Sequences cut(const Sequences& all, std::size_t max_length);

// By time: the last steps of every sequence are for validation, the first for training. Sequences of one step are
// training only.
struct TimeSplit {
  Sequences training;
  Sequences validation;
};
TimeSplit split_by_time(const Sequences& all, double validation_share);

}  // namespace remede

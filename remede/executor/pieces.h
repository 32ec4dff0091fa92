// How a batch is cut for threads: into pieces that depend on the batch alone, so that sums made piece by piece and
// added in the order of the pieces are the same for any number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "remede/base/lanes.h"
#include "remede/data/sequences.h"

namespace remede {

inline constexpr std::size_t kMostPieces = 32;  // bounds the partial sums, which one thread adds up

// Consecutive parts of the batch, each a multiple of kLanes sequences long (the last may be shorter). The more numbers
// have to be summed, the fewer and longer the pieces: adding up the sums must not cost more than making them.
std::vector<std::span<const std::uint32_t>> cut_pieces(std::span<const std::uint32_t> batch, std::size_t numbers);

// Sum of the target weights of a batch, at least the smallest positive number (so that it can divide).
double total_weight(const Sequences& data, std::span<const std::uint32_t> batch);

}  // namespace remede

// Sums over the pieces of the data, made in a binary tree over the pieces. A process that holds some of them adds up
// the whole branches it has; another one adds up the rest. Each addition is the same whoever makes it, so that the
// result does not depend on how the pieces were given to processes.
#pragma once

#include <cstdint>
#include <vector>

namespace remede {

// The sum over pieces begin .. begin + size - 1; empty: they contribute nothing.
struct PieceSum {
  std::uint64_t begin = 0, size = 0;
  std::vector<double> sum;
};

// `leaves`: of consecutive pieces, from number `first` on. The largest whole branches, without those that are empty.
std::vector<PieceSum> branches_of(std::size_t first, const std::vector<std::vector<double>>& leaves);

// Of all pieces; empty where nothing contributed. REQUIRES: each piece is in one branch at most.
std::vector<double> sum_of_branches(const std::vector<PieceSum>& branches);

}  // namespace remede

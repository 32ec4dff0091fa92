#include "remede/train/piece_sums.h"

#include <algorithm>

#include "remede/data/pieces.h"

namespace remede {
namespace {

std::vector<double> added(std::vector<double> a, const std::vector<double>& b) {
  if (a.empty()) return b;
  for (std::size_t i = 0; i < b.size(); ++i) a[i] += b[i];
  return a;
}

std::vector<double> sum_of_leaves(std::size_t first, const std::vector<std::vector<double>>& leaves, std::size_t begin,
                                  std::size_t size) {
  if (size == 1) return leaves[begin - first];
  return added(sum_of_leaves(first, leaves, begin, size / 2), sum_of_leaves(first, leaves, begin + size / 2, size / 2));
}

void collect_branches(std::size_t first, const std::vector<std::vector<double>>& leaves, std::size_t begin,
                      std::size_t size, std::vector<PieceSum>& to) {
  const std::size_t last = first + leaves.size();
  if (begin + size <= first || begin >= last) return;
  if (begin >= first && begin + size <= last) {
    PieceSum branch{begin, size, sum_of_leaves(first, leaves, begin, size)};
    if (!branch.sum.empty()) to.push_back(std::move(branch));
    return;
  }
  collect_branches(first, leaves, begin, size / 2, to);
  collect_branches(first, leaves, begin + size / 2, size / 2, to);
}

std::vector<double> sum_of_branch(const std::vector<PieceSum>& branches, std::size_t begin, std::size_t size) {
  const auto at = std::find_if(branches.begin(), branches.end(),
                               [&](const PieceSum& b) { return b.begin == begin && b.size == size; });
  if (at != branches.end()) return at->sum;
  if (size == 1) return {};
  return added(sum_of_branch(branches, begin, size / 2), sum_of_branch(branches, begin + size / 2, size / 2));
}

}  // namespace

std::vector<PieceSum> branches_of(std::size_t first, const std::vector<std::vector<double>>& leaves) {
  std::vector<PieceSum> branches;
  collect_branches(first, leaves, 0, kDataPieces, branches);
  return branches;
}

std::vector<double> sum_of_branches(const std::vector<PieceSum>& branches) {
  return sum_of_branch(branches, 0, kDataPieces);
}

}  // namespace remede

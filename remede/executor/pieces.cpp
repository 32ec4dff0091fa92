#include "remede/executor/pieces.h"

#include <algorithm>
#include <limits>

namespace remede {

std::vector<std::span<const std::uint32_t>> cut_pieces(std::span<const std::uint32_t> batch, std::size_t numbers) {
  const std::size_t groups = (batch.size() + kLanes - 1) / kLanes;
  const std::size_t size = kLanes * std::max((groups + kMostPieces - 1) / kMostPieces, 1 + numbers / 8192);
  std::vector<std::span<const std::uint32_t>> pieces;
  for (std::size_t at = 0; at < batch.size(); at += size)
    pieces.push_back(batch.subspan(at, std::min(size, batch.size() - at)));
  return pieces;
}

double total_weight(const Sequences& data, std::span<const std::uint32_t> batch) {
  double sum = 0;
  for (const std::uint32_t s : batch)
    for (auto t = data.offset[s]; t < data.offset[s + 1]; ++t) sum += static_cast<double>(data.weight[t]);
  return std::max(sum, std::numeric_limits<double>::min());
}

}  // namespace remede

// What crew.cpp and judges.cpp both need of members.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "remede/executor/cuda/crew.h"

namespace remede::cuda {

constexpr std::size_t kJudgedSteps = 2048;  // of a chunk of validation data: several blocks share those of a start

// Numbers of a start begin at a line of the cache (128 bytes): a warp then loads and stores whole lines.
inline std::size_t up_to_line(std::size_t n) { return (n + 31) / 32 * 32; }

inline std::size_t total_of(const Member& m) { return up_to_line(m.trainer->plan().shape.total()); }
inline std::size_t nodes_of(const Member& m) {
  return up_to_line(static_cast<std::size_t>(m.trainer->plan().shape.nodes()));
}
template <typename T>
void put_all(const std::vector<T>& from, Buffer& to) {
  to.put(from.data(), from.size() * sizeof(T));
}

// The members of each shape, one after the other.
inline std::vector<std::size_t> by_shape(std::span<const Member> members) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (std::any_of(order.begin(), order.end(), [&](std::size_t k) { return members[k].shape == members[i].shape; }))
      continue;
    for (std::size_t k = i; k < members.size(); ++k)
      if (members[k].shape == members[i].shape) order.push_back(k);
  }
  return order;
}

// Calls visit(shape, first, count) for each run of one shape in `order`.
template <typename Visit>
void each_shape(std::span<const Member> members, const std::vector<std::size_t>& order, const Visit& visit) {
  for (std::size_t begin = 0; begin < order.size();) {
    const LoadedShape* const shape = members[order[begin]].shape;
    std::size_t end = begin;
    while (end < order.size() && members[order[end]].shape == shape) ++end;
    visit(*shape, begin, end - begin);
    begin = end;
  }
}

}  // namespace remede::cuda

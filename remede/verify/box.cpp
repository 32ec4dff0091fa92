#include <algorithm>
#include <cmath>

#include "remede/verify/step.h"

namespace remede {
namespace {

bool within(const Range& inner, const Range& outer) {
  if (inner.nan && !outer.nan) return false;
  return !inner.has_numbers() || (inner.low >= outer.low && inner.high <= outer.high);
}

}  // namespace

bool contains(const MemoryBox& outer, const MemoryBox& inner) {
  for (std::size_t i = 0; i < inner.slot.size(); ++i)
    if (!within(inner.slot[i], outer.slot[i])) return false;
  // What the outer box says to be equal must be so in the inner one.
  for (std::size_t i = 0; i < outer.same.size(); ++i) {
    const auto j = static_cast<std::size_t>(outer.same[i]);
    if (j == i || inner.same[i] == inner.same[j]) continue;
    if (inner.slot[i].is_point() && inner.slot[i] == inner.slot[j]) continue;
    return false;
  }
  return true;
}

bool meets(const MemoryBox& a, const MemoryBox& b) {
  for (std::size_t i = 0; i < a.slot.size(); ++i)
    if (meet(a.slot[i], b.slot[i]).empty()) return false;
  return true;
}

MemoryBox join(const MemoryBox& a, const MemoryBox& b) {
  MemoryBox both = a;
  for (std::size_t i = 0; i < a.slot.size(); ++i) both.slot[i] = join(a.slot[i], b.slot[i]);
  const auto equal_in = [](const MemoryBox& box, std::size_t i, std::size_t j) {
    return box.same[i] == box.same[j] || (box.slot[i].is_point() && box.slot[i] == box.slot[j]);
  };
  for (std::size_t i = 0; i < a.same.size(); ++i) {
    both.same[i] = static_cast<int>(i);
    for (std::size_t j = 0; j < i; ++j)
      if (both.same[j] == static_cast<int>(j) && equal_in(a, i, j) && equal_in(b, i, j)) {
        both.same[i] = static_cast<int>(j);
        break;
      }
  }
  return both;
}

float middle_of(float low, float high) {
  constexpr float kFarApart = 4.0F;  // ends whose ratio is above it are halved on a logarithmic scale
  if (low < 0.0F && high >= 0.0F) return 0.0F;
  if (low == 0.0F && high > kFarApart) return 1.0F;
  if (high < 0.0F && low / high > kFarApart) return -std::sqrt(-low) * std::sqrt(-high);
  if (low > 0.0F && high / low > kFarApart) return std::sqrt(low) * std::sqrt(high);
  const float middle = low * 0.5F + high * 0.5F;
  return middle > low ? middle : high;
}

}  // namespace remede

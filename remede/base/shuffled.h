// A fixed random order of the numbers 0 .. n-1 that takes no memory: each place is computed when it is asked for, the
// same on every machine.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace remede {

// Mixes all bits of a number (the finaliser of splitmix64).
inline std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// A Feistel network on the smallest even number of bits that holds n; what falls outside goes through it again.
class Shuffled {
 public:
  // REQUIRES: n > 0.
  Shuffled(std::uint64_t n, std::uint64_t seed)
      : n_(n),
        seed_(mixed(seed + 0x9e3779b97f4a7c15ULL)),
        half_((std::max(2, static_cast<int>(std::bit_width(n - 1))) + 1) / 2) {}

  std::uint64_t size() const { return n_; }

  // The place of number i in the order. REQUIRES: i < n.
  std::uint64_t place(std::uint64_t i) const {
    do {
      i = permuted(i);
    } while (i >= n_);
    return i;
  }

 private:
  static constexpr std::uint64_t kRounds = 4;

  std::uint64_t permuted(std::uint64_t i) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_) - 1;
    std::uint64_t left = i >> half_, right = i & mask;
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      const std::uint64_t next = left ^ (mixed(right + seed_ * round) & mask);
      left = right;
      right = next;
    }
    return left << half_ | right;
  }

  std::uint64_t n_, seed_;
  int half_;  // bits of each half
};

}  // namespace remede

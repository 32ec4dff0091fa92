// Random numbers that are the same on every machine: xoshiro256++ seeded through splitmix64, no libm, no std
// distribution.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

namespace remede {

class Random {
 public:
  // Streams of different `stream` numbers under one seed are independent: use them instead of sharing a generator.
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0);

  std::uint64_t bits() {
    const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  double uniform();                         // in [0, 1)
  double uniform(double low, double high);  // in [low, high)
  double normal();                          // mean 0, standard deviation 1
  std::uint64_t below(std::uint64_t n) {    // in 0 .. n-1, unbiased. REQUIRES: n > 0
    for (;;) {
      const std::uint64_t b = bits();
      // Values below 2^64 mod n would favour small results. That is less than n, so that most need no second division.
      if (b >= n || b >= -n % n) return b % n;
    }
  }

  template <typename T>
  void shuffle(std::span<T> values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

  // For checkpoints.
  const std::array<std::uint64_t, 4>& state() const { return state_; }
  void set_state(const std::array<std::uint64_t, 4>& state) { state_ = state; }

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace remede

// Random numbers that are the same on every machine: xoshiro256++ seeded through splitmix64, no libm, no std
// distribution.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace remede {

class Random {
 public:
  // Streams of different `stream` numbers under one seed are independent: use them instead of sharing a generator.
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0);

  std::uint64_t bits();
  double uniform();                         // in [0, 1)
  double uniform(double low, double high);  // in [low, high)
  std::uint64_t below(std::uint64_t n);     // in 0 .. n-1, unbiased. REQUIRES: n > 0
  double normal();                          // mean 0, standard deviation 1

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

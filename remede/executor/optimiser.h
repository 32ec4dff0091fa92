// Adam over the one block of parameters, with a rate per group. Plain multiplications, divisions and square roots, each
// rounded once: the same bits on every machine and vector width.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "remede/executor/bytes.h"
#include "remede/executor/parameters.h"

namespace remede {

using Rates = std::array<float, kGroups>;  // by Group

// What a gradient is multiplied by so that its Euclidean norm is at most `limit` (0: no limit); 1 where it is already.
// NaN where the norm is not finite.
float clip_factor(std::span<const float> gradient, float limit);

// Not thread-safe; one per start.
class Adam {
 public:
  static constexpr float kFirst = 0.9F;     // memory of the mean gradient
  static constexpr float kSecond = 0.999F;  // memory of the mean square
  static constexpr float kSmall = 1e-8F;    // keeps the division finite
  static constexpr float kVanished =
      1e-30F;  // means below it count as 0: they would fade into denormals, which are slow

  Adam() = default;
  Adam(const Shape& shape, const Rates& rates);

  // Moves `parameters` against clip * gradient; `factor` multiplies the rates. No allocation.
  // REQUIRES: both have the shape given at construction.
  void update(Parameters<float>& parameters, const Parameters<float>& gradient, float clip, float factor);

  // What update() multiplies the rates by and adds to the root of the mean square, for code that makes the update
  // elsewhere; counts it.
  struct Step {
    float factor = 1;
    float small = kSmall;
  };
  Step next(float factor);
  std::span<float> mean() { return mean_; }
  std::span<float> square() { return square_; }

  // Brings each value closer to 0 by this amount, at most to 0.
  static void shrink(std::span<float> values, float amount);

  // Forgets what it knows of these numbers of the block, for parameters that were set anew; or everything.
  void forget(std::size_t begin, std::size_t end);
  void forget();

  void save(ByteWriter& to) const;
  void load(ByteReader& from);  // throws Error when the sizes differ

 private:
  std::vector<float> rate_;    // (total) of each number
  std::vector<float> mean_;    // (total) decaying mean of the gradient
  std::vector<float> square_;  // (total) decaying mean of its square
  double first_power_ = 1;     // kFirst^updates, for the bias correction
  double second_power_ = 1;    // kSecond^updates
};

}  // namespace remede

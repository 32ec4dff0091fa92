// How the learning rates change during one start: constant, then down to zero along half a cosine.
#pragma once

#include <cstdint>

namespace remede {

struct Schedule {
  std::uint64_t decay_begin = UINT64_MAX;  // the update at which the decay begins
  std::uint64_t decay_length = 0;          // updates it takes

  bool decays() const { return decay_begin != UINT64_MAX; }
  std::uint64_t end() const { return decays() ? decay_begin + decay_length : UINT64_MAX; }
  // The factor on the rates at update `update` (counted from 0): 1 before the decay, 0 after it.
  float factor(std::uint64_t update) const;
};

// cos(pi t) for t in [0, 1], without libm: the same bits on every machine. Within 1e-9.
double cos_pi(double t);

}  // namespace remede

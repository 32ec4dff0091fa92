// Inputs as symbols: every distinct row of inputs is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "remede/data/sequences.h"

namespace remede {

// The distinct rows of inputs, in order of appearance, and the symbol of every step.
struct Symbols {
  Symbols(const Sequences& data, std::size_t limit);

  bool too_many = false;  // more than the limit; then nothing else is set
  std::size_t count = 0;
  std::vector<float> inputs;          // (count, n_x)
  std::vector<std::int32_t> of_step;  // (steps)
};

}  // namespace remede

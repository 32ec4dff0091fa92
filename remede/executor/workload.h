// A random tree and random sequences of a given shape: what benchmarks and tests of speed run on.
#pragma once

#include <cstdint>

#include "remede/executor/engine.h"
#include "remede/schema/schema.h"

namespace remede {

struct Workload {
  Shape shape;
  std::size_t sequences = 512;
  std::size_t length = 16;
  std::uint64_t seed = 1;
};

// Every parameter uniform in (-1, 1), thresholds in (-.5, .5), writes in (-2, 2), rates in (-3, 3).
Parameters<float> random_parameters(const Shape& shape, std::uint64_t seed);
// Inputs normal; a class, or normal values, at every step.
Sequences random_sequences(const Workload& workload, Task task);

}  // namespace remede

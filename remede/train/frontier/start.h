// The starts of the frontier's search: how many cells, of which kinds, what they may read.
#pragma once

#include <cstdint>
#include <vector>

#include "remede/train/frontier/learner.h"

namespace remede::frontier {

struct Start {
  laws::Parameters parameters;
  std::vector<double> rates;  // (total) times the learner's rate
  LearnerOptions options;
  std::uint64_t stream = 0;
};

// Start number `number`, drawn from a random stream of its own.
Start draw_start(const Problem& problem, std::uint64_t seed, std::uint64_t number);

}  // namespace remede::frontier

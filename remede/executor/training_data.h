// What all starts of a fit learn from.
#pragma once

#include <cstdint>
#include <vector>

#include "remede/data/sequences.h"
#include "remede/executor/start.h"
#include "remede/objective/objective.h"

namespace remede {

// Shared and read-only; must outlive the trainers.
struct TrainingData {
  Objective objective;  // of the scaled targets
  Sequences training;
  Sequences validation;      // may be the training data again
  std::vector<float> fill;   // (n_x) what a missing input counts as
  InputQuantiles quantiles;  // of the training inputs
  // (training sequences) 1: a window of a longer sequence that goes on where the one before it ended, and starts from
  // the memory the other had when it was last shown; empty: none does.
  std::vector<std::uint8_t> continues;
};

}  // namespace remede

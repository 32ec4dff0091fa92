// Loss and gradient of one sequence in their readable form, in double: the formulas of docs/mathematics.md as they
// stand there. What is fast is tested against this, and this against the golden vectors.
#pragma once

#include <span>

#include "remede/data/sequences.h"
#include "remede/executor/laws/parameters.h"
#include "remede/objective/objective.h"

namespace remede::laws {

struct PlainRun {
  std::vector<double> output;  // (steps, n_y) values or logits
  std::vector<double> level;   // (steps, K) after each step
  std::vector<int> leaf;       // (steps) of the complete tree
  double loss = 0;             // sum over the steps, weighted
  double weight = 0;
};

// Runs sequence s of the data from empty cells. A missing input counts as 0 but in splits. `gradient`: (total), ADDs
// the derivative of the loss's sum, or null. `index_gradient`: whether feature choices and what splits test have one.
// `objective`: null for that of classes, or of squared errors.
PlainRun run_plain(const Parameters& parameters, const Sequences& data, std::size_t s, double smoothing,
                   std::vector<double>* gradient, const Objective* objective = nullptr);

}  // namespace remede::laws

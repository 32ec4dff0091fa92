// Levenberg-Marquardt on the numbers of the leaves: least squares with forward sensitivities, the splits fixed. On
// recordings of a dynamic system it needs tens of iterations where gradient descent needs thousands of updates.
//
// Works in double and on one thread; the result depends on its arguments alone.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "remede/data/sequences.h"
#include "remede/executor/parameters.h"

namespace remede {

struct LevenbergOptions {
  int iterations = 60;  // at most
  int patience = 15;    // iterations without a lower validation loss, unless the training loss falls by a tenth
  // Weight of the squared distance from the start, relative to the training loss of the moment, so that what the data
  // do not determine stays. What falls is log(loss) + ridge * squared distance.
  double ridge = 1e-3;
  double damping = 1e-2;      // at the beginning
  double most_damping = 1e8;  // beyond this nothing improves any more
};

struct LevenbergResult {
  Parameters<float> parameters;  // the best on validation data; without validation data the last
  double training_loss = 0;      // mean squared error of these parameters, weighted
  double validation_loss = 0;    // the same on validation data; 0 without
  int iterations = 0;            // until these parameters
};

// Whether the method applies to this form: regression with open gates is assumed, writes that blend with a bias, linear
// leaves of order zero.
bool fits_levenberg(const Shape& shape);

// Multiplications of one iteration: what a caller counts against its limit of work.
double levenberg_work(const Shape& shape, const Sequences& training);

// `continues`: (training sequences) 1: goes on from the memory that the one before it ended with; empty: none does.
// `validation` may be null. `stop` is asked after every iteration. REQUIRES: fits_levenberg(start.shape), targets.
LevenbergResult levenberg(const Parameters<float>& start, const Sequences& training,
                          std::span<const std::uint8_t> continues, const Sequences* validation,
                          std::span<const float> fill, const LevenbergOptions& options,
                          const std::function<bool()>& stop = {});

}  // namespace remede

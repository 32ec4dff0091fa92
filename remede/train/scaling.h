// Training on standardised numbers and a tree for the raw ones: the scales are folded into thresholds, weights and
// outputs, so that a model reads its inputs as they stand in the file.
#pragma once

#include <vector>

#include "remede/data/sequences.h"
#include "remede/model/tree.h"
#include "remede/objective/objective.h"

namespace remede {

// Scaled = (raw - shift) / scale, for each input and each value to predict. Empty arrays: those stay as they are.
struct Scaling {
  std::vector<float> x_shift, x_scale;  // (n_x)
  std::vector<float> y_shift, y_scale;  // (n_y) in regression
};

// Whether the largest magnitude of every input lies between 0.1 and 10: what initial values and rates are made for.
bool inputs_of_order_one(const Sequences& data);

// Means and standard deviations of the data (of the steps with a target, for the values). Without `shift_*` the shifts
// are 0: a write without bias cannot take a shifted input, nor a first-order output a shifted value. Values of an
// objective with a logarithmic link are divided by their mean instead, and classes are left alone.
void scale_inputs(const Sequences& data, bool shift_inputs, Scaling& scaling);
void scale_values(const Objective& objective, const Sequences& data, bool shift_values, Scaling& scaling);

// Raw to scaled, in place. Missing values stay missing.
void apply(const Scaling& scaling, Sequences& data);

// The tree that does on raw numbers what this one does on scaled ones, up to rounding, in place.
// REQUIRES: shifted inputs only where writes have a bias or there are no cells, shifted values only where the order is
// zero.
void fold(const Scaling& scaling, const Objective& objective, Tree& tree);

}  // namespace remede

// Training on standardised numbers and a tree for the raw ones: the scales are folded into thresholds, weights and
// outputs, so that a model reads its inputs as they stand in the file.
#pragma once

#include <optional>
#include <vector>

#include "remede/data/sequences.h"
#include "remede/model/tree.h"
#include "remede/objective/objective.h"
#include "remede/train/normal_scores.h"

namespace remede {

// Scaled = (raw - shift) / scale, for each input and each value to predict. Empty arrays: those stay as they are.
struct Scaling {
  std::vector<float> x_shift, x_scale;  // (n_x)
  std::vector<float> y_shift, y_scale;  // (n_y) in regression
  std::vector<NormalScores> x_scores;   // (n_x) or empty; where there are any, they replace x_shift and x_scale
};

// The raw inputs that scaled ones of 0 stand for: (n_x).
std::vector<float> raw_inputs_of_zero(const Scaling& scaling, std::size_t n_x);

// Whether the largest magnitude of every input lies between 0.1 and 10: what initial values and rates are made for.
bool inputs_of_order_one(const Sequences& data);

// Means and standard deviations of the data (of the steps with a target, for the values). Without `shift_*` the shifts
// are 0: a write without bias cannot take a shifted input, nor a first-order output a shifted value. Values of an
// objective with a logarithmic link are divided by their mean instead, and classes are left alone.
void scale_inputs(const Sequences& data, bool shift_inputs, Scaling& scaling);
void scale_values(const Objective& objective, const Sequences& data, bool shift_values, Scaling& scaling);

// The same for data in parts. First where the values of each column lie, from a sample; then sums over each part, added
// to what `sums` holds (it is empty or from a former call); then the scales, from the sums over all parts. The sums end
// with the weight of each class.
struct UsualRanges {
  std::vector<double> x_low, x_high, x_middle;  // (n_x)
  std::vector<double> y_low, y_high, y_middle;  // (n_y) in regression
};
UsualRanges usual_ranges(const Sequences& sample);
void add_scale_sums(const UsualRanges& ranges, const Sequences& part, std::vector<double>& sums);
// `standardise`: nothing leaves inputs of order one as they are.
struct ScaleChoice {
  std::optional<bool> standardise;
  bool shift_inputs = false, shift_values = false;
};
Scaling scaling_of(const UsualRanges& ranges, const std::vector<double>& sums, const Objective& objective,
                   const ScaleChoice& choice);

// Raw to scaled, in place. Missing values stay missing.
void apply(const Scaling& scaling, Sequences& data);

// The tree that does on raw numbers what this one does on scaled ones, up to rounding, in place.
// REQUIRES: shifted inputs only where writes have a bias or there are no cells, shifted values only where the order is
// zero, scores only where leaves are constant and there are no cells; splits on scores are exact, without rounding.
void fold(const Scaling& scaling, const Objective& objective, Tree& tree);

}  // namespace remede

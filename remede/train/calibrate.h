// Calibration of quantiles: their distances from the median are scaled by factors learned from data that the model was
// not trained on.
#pragma once

#include <vector>

#include "remede/data/sequences.h"
#include "remede/model/model.h"

namespace remede {

// The logarithm of a factor for each output; 0 for the quantile nearest to the median, and for all where the objective
// has no quantiles or there are too few targets. The factors make each quantile lie above the share of the targets that
// it stands for.
std::vector<float> quantile_factors(const Model& model, const Sequences& held_out, int threads = 1);

// Scales the distances between the model's quantiles.
void scale_quantiles(const std::vector<float>& log_factors, Model& model);

}  // namespace remede

// Calibration by data that a model was not trained on: of quantiles, whose distances from the median are scaled, and of
// the scores of classes.
#pragma once

#include <span>
#include <vector>

#include "remede/data/sequences.h"
#include "remede/model/model.h"
#include "remede/train/prepare.h"

namespace remede {

// The logarithm of a factor for each output; 0 for the quantile nearest to the median, and for all where the objective
// has no quantiles or there are too few targets. The factors make each quantile lie above the share of the targets that
// it stands for.
std::vector<float> quantile_factors(const Model& model, const Sequences& held_out, int threads = 1);

// Scales the distances between the model's quantiles.
void scale_quantiles(const std::vector<float>& log_factors, Model& model);

// The logarithm of the factor, at most 0, by which all scores of a classifier's copies say what the folds hold out with
// the least log loss, each copy on its fold: a model that has learned from few sequences is often too sure. Targets of
// classes that a copy has not seen do not count. REQUIRES: one copy for each fold, of one tree
double score_factor(const std::vector<Model>& copies, std::span<const Prepared> folds, int threads = 1);

// Multiplies all scores of a model of patterns.
void scale_scores(double log_factor, Model& model);

}  // namespace remede

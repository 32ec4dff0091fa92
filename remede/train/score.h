// How good a model is on data with targets: the one or two figures that training prints and chooses by.
#pragma once

#include <cstddef>
#include <vector>

#include "remede/data/sequences.h"
#include "remede/model/model.h"

namespace remede {

struct Score {
  std::size_t sequences = 0;
  std::size_t targets = 0;  // steps that carry one
  double weight = 0;        // of those
  double accuracy = 0;      // classification
  double loss = 0;          // mean, of the model's objective
  double rmse = 0;          // regression: over all steps and targets
};
Score score(const Model& model, const Sequences& data, int threads = 1);

// Counts targets of classes that the model does not know as wrong.
void add_unknown(const UnknownTargets& unknown, Score& score);

// Sums over each unit of the data: a sequence or, where there are few, some consecutive steps of one. For comparing
// models on the same data.
struct UnitScores {
  std::vector<double> loss;   // weighted, of the model's objective
  std::vector<double> wrong;  // weight of the steps with a wrong answer; classification
  std::vector<double> weight;
};
UnitScores score_units(const Model& model, const Sequences& data);

}  // namespace remede

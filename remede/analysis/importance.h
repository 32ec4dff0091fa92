// How much each input and each memory cell matters, and how far back the model looks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "remede/data/sequences.h"
#include "remede/model/model.h"

namespace remede {

struct FeatureImportance {
  std::string name;
  int tree = -1;  // of a cell; -1: an input
  int cell = -1;
  double shuffled =
      0;  // the score lost when its values are exchanged with those of other steps (a cell: of other sequences)
  double frozen = 0;  // a cell: the score lost when it stays at zero; an input: the same as `shuffled`
  int splits = 0;     // nodes that test it
  double tested = 0;  // share of the steps at which a test of it was passed
  int formulas = 0;   // writes and linear answers that use it
};

// A cell that moves a little at a time, or drains: what it holds comes from many steps, not from one write.
struct CellMemory {
  std::string name;
  int tree = 0, cell = 0;
  double half_life = 0;  // steps after which half of what it holds is gone, by the mean rate on the data
};

struct LookBack {
  std::vector<CellMemory> averages;  // stores, running averages and cells that blend; their reads are not counted below
  std::vector<std::pair<std::int64_t, std::int64_t>> distance;  // steps from a write to a read, how often; rising
  std::int64_t unwritten = 0;                                   // reads of a cell that no step had written yet

  std::int64_t reads() const;                 // of cells that had been written
  std::int64_t quantile(double share) const;  // the distance that so many reads do not exceed; 0: none
};

// Distances in groups of doubling width: 1, 2, 3 to 4, 5 to 8, ...
struct DistanceGroup {
  std::int64_t low = 0, high = 0, count = 0;
};
std::vector<DistanceGroup> distance_groups(const LookBack& look);

// "Half of what it reads from memory was written at most 3 steps before, 90% at most 6, the oldest 6. Half of what m2
// holds is gone after 40 steps."
std::string look_back_sentence(const LookBack& look);

struct Importance {
  std::string score_name;  // accuracy, RMSE, or agreement with the model itself where the data have no targets
  bool higher_is_better = true;
  double score = 0;                         // of the model as it is
  std::vector<FeatureImportance> features;  // inputs, then the cells in use of each tree; those that matter most first
  LookBack look_back;
  std::int64_t steps = 0;   // looked at
  std::int64_t scored = 0;  // those of them that the score is of: with a target, or all where there are none
};

struct ImportanceOptions {
  std::uint64_t seed = 1;
  int repeats = 3;                 // shuffles per feature, averaged
  std::size_t most_steps = 50000;  // whole sequences up to about so many steps
  int threads = 1;                 // does not change the result
};

// Labels may be kUnknownClass (data/unknown.h), which counts as wrong.
Importance find_importance(const Model& model, const Sequences& data, const ImportanceOptions& options = {});

// (n_x) `shuffled` of each input alone, at least 0.
std::vector<double> input_importances(const Model& model, const Sequences& data, const ImportanceOptions& options = {});

}  // namespace remede

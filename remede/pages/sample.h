// Which part of the data goes into a page: large enough to be representative, small enough to open quickly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "remede/data/dataset.h"
#include "remede/model/model.h"
#include "remede/model/predict.h"

namespace remede {

struct SampleOptions {
  std::size_t most_sequences = 200;
  std::size_t most_length = 5000;       // of one sequence; of a longer one the stretch with the largest loss is taken
  std::size_t most_values = 2'000'000;  // inputs and targets over all steps taken
  std::uint64_t seed = 1;               // of the sequences drawn at random
};

// A sequence, or a stretch of one, and how wrong the model is there.
struct Excerpt {
  std::size_t sequence = 0;
  std::size_t begin = 0, end = 0;  // steps of the data
  std::size_t marked = 0;          // steps the model has wrong (see far_off in regression)
  double loss = 0;                 // mean over the steps with a target: log loss, or root of the mean squared error
  std::size_t targets = 0;         // steps that carry one
};

struct Sample {
  std::vector<Excerpt> excerpts;  // the worst first; without targets in the order of the data
  // Regression: an answer off by more than this is marked like a wrong class. (n_y) twice the RMSE of the output
  std::vector<float> far_off;
  std::string note;  // "all 12 sequences", "200 of 10,000 sequences: the 100 worst and 100 drawn at random"
};

// Half of the places go to the worst sequences, half to sequences drawn from the rest. Labels may be kUnknownClass
// (data/unknown.h), which counts as wrong.
Sample choose_sample(const Objective& objective, const Sequences& data, const Predictions& predictions,
                     const SampleOptions& options);

// The whole sequence that the model does worst on; without targets the first. REQUIRES: at least one step.
Excerpt worst_sequence(const Model& model, const Sequences& data, int threads);

}  // namespace remede

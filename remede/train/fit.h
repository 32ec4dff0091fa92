// Data in, model out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "remede/data/dataset.h"
#include "remede/model/model.h"
#include "remede/train/config.h"
#include "remede/train/frontier/frontier.h"
#include "remede/train/score.h"
#include "remede/train/session.h"

namespace remede {

struct Fit {
  Model model;                // with the inputs of the training data; without_unused_inputs() makes it ready to publish
  Score validation;           // of the data that the model was chosen by, and therefore too good on average
  std::optional<Score> test;  // of data used neither for training nor for selection, where there are some
  bool held_out = true;       // false: the score is of the training data, since there was nothing to hold out
  int trained_nodes = 0;      // before the tree was simplified
  bool stopped = false;       // by the callback, before its end
  Frontier frontier;          // the models there was a choice of; empty where there was none
  std::vector<std::string> notes;  // what the user should know of how it ran, one line each
  bool late = false;               // cut short by the time limit: the result depends on the machine
};

// Scores the finished model on data that were used neither for training nor for selection, and records the figures in
// the model. REQUIRES: the test data have the inputs and targets of the training data.
void score_on_test(const Dataset& test, int threads, Fit& fit);

class Rows;

// Learns a model. The same data, configuration and seed give the same bits, whatever the number of threads and however
// often it was interrupted and resumed. `validation`: null holds out a part of the training data. `resume`: a
// checkpoint of the same fit, or null. Throws Error for bad settings, for data that cannot be learned from, and for
// another fit's checkpoint. `rows`: see fit_rows() (rows.h).
Fit fit(const Dataset& training, const Dataset* validation, const Config& config, const Callbacks& callbacks = {},
        const Checkpoint* resume = nullptr, Rows* rows = nullptr);

}  // namespace remede

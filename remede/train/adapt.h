// A model that exists, taken on to new data: its structure (splits, cells, terms) stays, its numbers move.
#pragma once

#include "remede/train/fit.h"

namespace remede {

// Each number in use is moved up and down in turn, by steps of its own that grow where they help and shrink where they
// do not, and after every pass all numbers together once more in the direction that they went; judged by the hard model
// on whole sequences. The model that validates best is kept: the start itself, where nothing does better. The result
// does not depend on threads.
//
// The data have the inputs, targets and classes of the model. `validation`: null holds out a part of the training data.
// Of the configuration seed, threads, effort, time_limit, validation_fraction and class_weights count; another that is
// given is an Error.
Fit adapt(const Model& start, const Dataset& training, const Dataset* validation, const Config& config,
          const Callbacks& callbacks = {});

}  // namespace remede

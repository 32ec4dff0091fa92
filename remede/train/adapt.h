// Adapts an existing model to new data: its structure (splits, cells, terms) stays the same, its numbers change.
#pragma once

#include "remede/train/fit.h"

namespace remede {

// A pattern search: each number in use is increased and decreased in turn by its own step size, which grows after a
// success and shrinks after a failure; after every pass the combined change of that pass is tried once more. Trials are
// judged with the hard model on whole sequences. The model with the lowest validation loss is kept, which may be the
// given one. The result does not depend on threads.
//
// The data have the inputs, targets and classes of the model. `validation`: null holds out a part of the training data.
// Of the configuration seed, threads, effort, time_limit, validation_fraction and class_weights count; another that is
// given is an Error.
Fit adapt(const Model& start, const Dataset& training, const Dataset* validation, const Config& config,
          const Callbacks& callbacks = {});

}  // namespace remede

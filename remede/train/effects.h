// No option without effect: what a user gives and the fit would ignore is refused, with the reason.
#pragma once

#include "remede/data/dataset.h"
#include "remede/train/config.h"

namespace remede {

// Throws Error naming the first hyper-parameter that was given (it differs from its default) although no value of it
// could change the result beside the others.
void expect_effects(const Config& config);

// The same for what depends on the data that are learned from.
void expect_effects(const Config& config, const Schema& schema);

}  // namespace remede

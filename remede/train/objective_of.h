// The objective that a configuration asks for, of data with this schema.
#pragma once

#include "remede/data/dataset.h"
#include "remede/objective/objective.h"
#include "remede/train/config.h"

namespace remede {

// The task's default one where nothing is asked for. Throws Error when it does not fit the task or the other settings.
Objective objective_of(const Config& config, const Schema& schema);

}  // namespace remede

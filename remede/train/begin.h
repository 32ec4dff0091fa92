// How a fit begins: what the process that runs the fit and the processes that help it have in common.
#pragma once

#include <vector>

#include "remede/data/dataset.h"
#include "remede/train/checkpoint.h"
#include "remede/train/config.h"
#include "remede/train/prepare.h"

namespace remede {

// The configuration with `auto` replaced by what there is. Throws Error for settings that are not possible.
Config settled(const Config& asked, const Dataset& training);

Shifts shifts_of(const Config& config);

// What the starts learn from: once for each fold. `scaling`: as for prepare().
std::vector<Prepared> folds_of_fit(const Dataset& training, const Dataset* validation, const Config& config,
                                   const Scaling* scaling = nullptr);

// A checkpoint without its state. It identifies the fit: settings and data.
Checkpoint checkpoint_base(const Dataset& training, const Dataset* validation, const Config& config);

}  // namespace remede

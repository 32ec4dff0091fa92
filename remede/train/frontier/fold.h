// From parameters on the training scale to a model in the units of the file.
#pragma once

#include "remede/model/model.h"
#include "remede/train/frontier/problem.h"

namespace remede::frontier {

// The tree that does on raw numbers what these parameters do on scaled ones. Every cell's largest weight, of an
// input or of an earlier cell, is 1 or -1; cells that nothing reads are left out.
Tree fold_tree(const Problem& problem, const laws::Parameters& parameters);

}  // namespace remede::frontier

// A model of patterns (patterns.h) as a tree without splits, whose cells have laws.
#pragma once

#include <cstddef>
#include <vector>

#include "remede/model/tree.h"
#include "remede/train/patterns/features.h"
#include "remede/train/patterns/matrix.h"

namespace remede::patterns {

// In the units of the file. columns: numbers of patterns, and behind them of the basis; the first `count` are read.
// answer: (count + 1, n_y) their weights, the constant last.
Tree make_tree(const Basis& basis, const std::vector<Pattern>& patterns, const std::vector<std::size_t>& columns,
               std::size_t count, const Matrix<double>& answer, bool classes);

}  // namespace remede::patterns

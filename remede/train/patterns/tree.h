// A model of patterns (patterns.h) as a tree without splits, whose cells have laws.
#pragma once

#include <cstddef>
#include <vector>

#include <Eigen/Core>

#include "remede/model/tree.h"
#include "remede/train/patterns/features.h"

namespace remede::patterns {

// In the units of the file. columns: numbers of patterns, and behind them of the basis; the first `count` are read.
// answer: (count + 1, n_y) their weights, the constant last.
Tree make_tree(const Basis& basis, const std::vector<Pattern>& patterns, const std::vector<Eigen::Index>& columns,
               std::size_t count, const Eigen::MatrixXd& answer, bool classes);

}  // namespace remede::patterns

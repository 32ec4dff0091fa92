// The answer of a model of patterns (patterns.h): which columns of a table it reads, and their weights.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "remede/data/sequences.h"
#include "remede/train/patterns/features.h"
#include "remede/train/patterns/matrix.h"

namespace remede::patterns {

// What is to be explained: one column per class or value; and how much each row counts, 1 on average.
struct Targets {
  Matrix<double> y;            // (rows, n_y) 1 for the class, or the value
  std::vector<double> weight;  // (rows)
  bool classes = false;
};
Targets targets_of(const Sequences& data, const TargetRows& rows);

// Numbers of columns in the order in which they are chosen: each explains most of what those before it leave. Fewer
// than `count` where nothing is left, or stop() says so. The table is large: it is worked on in place.
std::vector<std::size_t> choose_columns(Matrix<float> table, const Targets& targets, int count, int threads,
                                        const std::function<bool()>& stop);

// (columns + 1, n_y) Weights of the first `count` of the columns, the constant last: a regularised logistic regression,
// or a linear one. Unfinished where stop() says so.
Matrix<double> learn_answer(const Matrix<float>& table, const std::vector<std::size_t>& columns, std::size_t count,
                            const Targets& targets, double ridge, const std::function<bool()>& stop);

}  // namespace remede::patterns

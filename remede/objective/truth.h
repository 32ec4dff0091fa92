// What is true at a step of the data. Separate from objective.h, so that code that only applies a model needs no data.
#pragma once

#include "remede/data/sequences.h"
#include "remede/objective/objective.h"

namespace remede {

// REQUIRES: the step carries a target.
inline Truth truth_at(const Sequences& data, std::size_t step) {
  const auto n_y = static_cast<std::size_t>(data.n_y);
  if (data.value.empty()) return {data.label[step], {}};
  return {-1, {data.value.data() + step * n_y, n_y}};
}

}  // namespace remede

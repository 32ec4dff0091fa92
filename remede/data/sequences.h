// Sequences of different length, packed one after the other: no padding, no pointer per sequence.
//
// Invariants: offset[0] == 0, offset never falls, offset.back() == steps(); the arrays have the shapes given;
// weight is finite and not negative, and 0 exactly at the steps that carry no target; where weight > 0 the target is
// valid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "remede/base/column.h"

namespace remede {

struct Sequences {
  int n_x = 0;                        // inputs
  int n_y = 0;                        // classes, or values to predict
  Column<std::int64_t> offset = {0};  // (sequences + 1) the first step of each sequence
  Column<float> x;                    // (steps, n_x) NaN where a value is missing
  Column<std::int32_t> label;         // (steps) class number; empty in regression and where nothing has a target
  Column<float> value;                // (steps, n_y) values to predict; empty in classification
  Column<float> weight;               // (steps) 0: this step carries no target; empty where nothing has one

  std::size_t count() const { return offset.size() - 1; }
  std::size_t steps() const { return static_cast<std::size_t>(offset.back()); }
  std::size_t length(std::size_t s) const { return static_cast<std::size_t>(offset[s + 1] - offset[s]); }
  bool has_targets() const { return !weight.empty(); }
};

// Targets of a class that the schema does not know. In scores they count as wrong.
struct UnknownTargets {
  std::size_t count = 0;
  double weight = 0.0;
  Column<std::int64_t> step = {};  // where they are; may be left out
  Column<float> step_weight = {};  // (step)
  std::string note = {};           // which classes they are, for the user
};

// No sequences, of the same inputs and outputs, in the same store.
Sequences none_like(const Sequences& all);

// The sequences with these numbers, in this order, in the same store.
Sequences select(const Sequences& all, std::span<const std::uint32_t> numbers);

}  // namespace remede

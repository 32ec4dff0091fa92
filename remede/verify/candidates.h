// Inputs that are worth trying at a step: the ends of ranges, both sides of every threshold, missing values, every
// word, and the inputs that move answers and cells most.
#pragma once

#include <cstddef>
#include <vector>

#include "remede/verify/runner.h"

namespace remede {

// One value of a column: its option, and the number where the option leaves a choice.
struct ColumnValue {
  int option = 0;
  float number = 0;  // NaN: missing
};

StepInput empty_input(const CheckedSystem& system);
void set_column(const CheckedSystem& system, std::size_t column, const ColumnValue& value, StepInput& input);

std::vector<ColumnValue> interesting_values(const CheckedSystem& system, std::size_t column);
// Every combination of values (columns, values), where they are at most `most`; else empty.
std::vector<StepInput> all_combinations(const CheckedSystem& system,
                                        const std::vector<std::vector<ColumnValue>>& values, std::size_t most);
// Inputs at the ends of their ranges, on the side that the weights of a write, a law or an answer ask for.
std::vector<StepInput> extreme_inputs(const CheckedSystem& system);

}  // namespace remede

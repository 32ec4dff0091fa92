// Functions shared by the files that derive the state machine.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "remede/analysis/experience.h"
#include "remede/analysis/machine.h"
#include "remede/analysis/refine.h"

namespace remede {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Boxes (with a bound on every input) as few boxes, with only the bounds that bind; more boxes where the work ends.
std::vector<InputBox> joined_boxes(std::vector<InputBox> boxes, WorkLimit& work);

// One state per region into which the tests of memory cut it, of those visited.
Grouping group_by_region(const Experience& experience);

// Fills in name, memory and range. state: (points)
void describe_states(Machine& machine, const Experience& experience, const std::vector<int>& state);

// The words for what a state's memory holds; also used without data.
void name_states(Machine& machine);

// One sentence per slot: a flag, a counter, an average, or none of these.
std::vector<std::string> describe_slots(const Model& model, const Experience& experience);

}  // namespace remede

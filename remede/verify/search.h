// Looks for a sequence that breaks the property, with concrete values and the reference predictor.
//
// Where every column has few values, every configuration that can be reached is visited, breadth first: then the
// shortest counterexample is found, or there is none. Elsewhere the inputs tried are the interesting ones (ends of
// ranges, both sides of every threshold, missing values, the inputs that move answers and cells most), and of the
// configurations in the same regions only a few and the extreme ones are followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "remede/verify/runner.h"
#include "remede/verify/step.h"

namespace remede {

struct FoundSequence {
  bool found = false;
  bool complete = false;  // every configuration was visited
  bool shortest = false;  // no shorter counterexample exists
  std::size_t depth = 0;  // up to this many steps every sequence was tried (only where all values are)
  std::vector<StepInput> sequence;
  std::vector<Configuration> reached;  // where complete and nothing was found
};

// Are there so few values that a search can be complete?
bool has_few_inputs(const CheckedSystem& system);

FoundSequence search_all(const CheckedSystem& system, std::uint64_t most_work);
FoundSequence search_some(const CheckedSystem& system, std::uint64_t most_work, std::uint64_t seed);

// A way of boxes that ends in a violation, from the start. Each: the inputs, and the box after them.
struct BoxStep {
  InputRanges x;
  MemoryBox to;
  MonitorState state;
};
// Looks for concrete values along the way.
FoundSequence search_along(const CheckedSystem& system, const std::vector<BoxStep>& way, std::uint64_t most_work,
                           std::uint64_t seed);

// The sequence up to its first violation, without steps that are not needed.
std::vector<StepInput> shortened(const CheckedSystem& system, std::vector<StepInput> sequence, std::uint64_t most_work);

}  // namespace remede

// Groups the memories of an experience into states: memories that behave alike belong together.
#pragma once

#include <cstddef>
#include <vector>

#include "remede/analysis/experience.h"
#include "remede/analysis/input_tree.h"
#include "remede/analysis/work.h"

namespace remede {

struct RefineOptions {
  std::size_t most_states = 32;
  double tolerance = 0.002;  // share of the steps that may do other than their state says
  double most_work = 2e9;    // units of WorkLimit: about a second
};

struct Grouping {
  std::vector<int> state;  // (points)
  int count = 0;
  std::vector<InputTree> rules;  // (states) what happens at which inputs
  double misfit = 0;             // steps that do other than their state's rule says
  bool settled = false;          // within the tolerance, and not cut short by most_states
  bool limited = false;          // the search ended at its work limit: this is the best it had found
  double description = 0;        // nats to tell the states and what happens in them
};

// Exact, for a closed experience: Moore's partition refinement over the memories themselves.
// Not settled where the limit ends it.
Grouping refine_exactly(const Experience& experience, const RefineOptions& options);

// From one state on, cuts the memory by thresholds "cell >= c" where that explains most of what happens, until every
// state's rule explains its steps; then merges states that one rule can explain together.
Grouping refine_by_cuts(const Experience& experience, const RefineOptions& options);

}  // namespace remede

// Each leaf as one sentence.
#pragma once

#include <string>
#include <vector>

#include "remede/analysis/observe.h"
#include "remede/model/model.h"

namespace remede {

struct Rule {
  int tree = 0;
  int leaf = 0;
  std::string
      sentence;  // "When x1 is below 0.5 and m1 is at least 0.13 (something positive was stored): say "0" (99.8%)."
  std::int64_t steps = -1;  // of the data that reached it; -1: no data
};

// Leaves in the order of the tree; with data those reached most first.
std::vector<Rule> find_rules(const Model& model, const Observations* seen = nullptr);

}  // namespace remede

// Static trees grown greedily, best split first, with exact thresholds, for tables that need no memory. The number of
// leaves is chosen on validation data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "remede/data/sequences.h"
#include "remede/model/tree.h"

namespace remede {

struct GreedyOptions {
  int leaves = 64;                // at most
  std::size_t least_in_leaf = 1;  // steps with a target
  double inputs = 1;              // share of the inputs that a tree may test, drawn at random
  bool resample = false;          // learn from as many steps, drawn with replacement
  std::uint64_t seed = 1;
  std::uint64_t stream = 0;  // of the random numbers
};

struct GreedyTree {
  Tree tree;         // no memory, constant leaves: logarithms of frequencies, or means
  double loss = 0;   // on validation data: mean log loss, or mean squared error
  double wrong = 0;  // share of wrong classes there; 0 in regression
};

// Every step with a target is a row; its sequence does not matter. Of the sizes up to the limit, that with the fewest
// wrong answers on validation data is kept, in regression the one with the lowest loss; without validation data the
// largest. REQUIRES: targets in both.
GreedyTree grow_greedy(const Sequences& training, const Sequences* validation, const GreedyOptions& options);

}  // namespace remede

// Looks for a set of boxes that no step can leave and in which the property is never false: a proof for sequences of
// every length.
//
// First breadth first, without giving anything up: boxes that lie in one already found are dropped. That ends where the
// memory has few values or settles at once; it gives the depth up to which the property holds in any case, and the
// shortest way of boxes to a possible violation. Then with a few boxes for each region: boxes are joined, those that
// keep growing are widened, and the result is drawn in again as far as it stays closed under steps. Where a violation
// is still possible, the regions that lead to it are cut, and all is done again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "remede/verify/search.h"
#include "remede/verify/step.h"

namespace remede {

struct ProofState {
  MemoryBox box;
  MonitorState monitor;
};

struct Levels {
  bool proved = false;
  std::size_t depth = 0;           // no violation is possible within so many steps
  std::vector<BoxStep> violation;  // the shortest way of boxes to a possible one, or empty
  std::vector<ProofState> reached;
  std::uint64_t work = 0;
};
Levels explore_levels(const CheckedSystem& system, std::uint64_t most_work);

struct Invariant {
  bool closed = false;  // no step leaves it
  bool proved = false;  // and none breaks the property
  std::vector<ProofState> states;
  std::size_t stuck = 0;  // not proved: the state from which a violation is possible
  std::uint64_t work = 0;
  int halvings = 0;
  int rounds = 0;
};
// The system's cuts are refined and stay so.
Invariant find_invariant(CheckedSystem& system, std::uint64_t most_work);

struct InvariantOptions {
  std::size_t boxes = 1;  // in one region
  int halvings = 0;
  std::uint64_t most_work = 0;
};
Invariant close_invariant(const CheckedSystem& system, const InvariantOptions& options);

}  // namespace remede

// Learns a finite-state machine whose states are the last few symbols (an n-gram of variable order), for event logs: a
// context is lengthened by an older symbol where that tells more about the class than it costs.
#pragma once

#include <cstddef>
#include <optional>

#include "remede/train/state_merging.h"

namespace remede {

struct ContextLimits {
  std::size_t symbols = 32;    // distinct rows of inputs; with more the data are not symbolic
  std::size_t states = 64;     // of the machine
  std::size_t order = 5;       // symbols of a context
  double nats_per_number = 1;  // of likelihood that a number of the machine must gain
};

// Nothing where the inputs are not symbolic, no step carries a class, or there are more symbols than states.
std::optional<SymbolMachine> learn_contexts(const Sequences& data, const ContextLimits& limits = {});

}  // namespace remede

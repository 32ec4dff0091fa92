// What data does in a model: how often each leaf is reached and how well it does there, and how large each feature is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "remede/data/sequences.h"
#include "remede/model/model.h"

namespace remede {

struct LeafCount {
  std::int64_t steps = 0;
  double weight = 0;   // of the steps that carry a target
  double correct = 0;  // their weight where this tree alone says the right class; 0 in regression
  double squared = 0;  // their weighted mean over outputs of this tree's squared errors; 0 in classification
};

struct Observations {
  std::vector<std::vector<LeafCount>> leaves;  // (trees, leaves)
  std::vector<std::vector<float>> scale;       // (trees, n_v) standard deviation of each feature over the steps
};

Observations observe(const Model& model, const Sequences& sequences);

// "1,432 steps, 99.8% right", "1,432 steps, off by 0.3", "never reached".
std::string count_text(const LeafCount& count, Task task);

}  // namespace remede

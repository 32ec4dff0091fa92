// Within one state of the machine: which inputs lead to which answer and which next state. A small decision tree over
// inputs.
#pragma once

#include <cstddef>
#include <vector>

#include "remede/analysis/experience.h"
#include "remede/analysis/work.h"

namespace remede {

// What happens: the answer, and the state after; next -1: not known.
struct Outcome {
  int output = 0;
  int next = -1;

  bool operator==(const Outcome&) const = default;
};

struct InputTree {
  struct Node {
    int input = -1;       // -1: an end
    float threshold = 0;  // right iff x >= threshold; a missing value goes left
    int left = -1, right = -1;
    Outcome outcome;    // the most frequent one
    double count = 0;   // steps
    double misfit = 0;  // steps with another outcome
  };
  std::vector<Node> nodes;  // nodes[0] is the root

  const Node& find(const float* x) const;
};

struct InputItem {
  const float* x = nullptr;
  Outcome outcome;
};

struct InputTreeFit {
  InputTree tree;
  double cost = 0;    // nats to tell every outcome, given its end, and the tree itself
  double misfit = 0;  // steps whose outcome is not the most frequent one of their end
};

// Grows the tree while a split tells more than it costs; exact: while outcomes at an end differ and inputs can tell
// them apart. An outcome whose next state is unknown agrees with every outcome of the same answer. Where the limit is
// reached the tree stops growing: it describes the items as well, at a higher cost.
InputTreeFit fit_input_tree(const Experience& experience, std::vector<InputItem> items, bool exact, WorkLimit& work);

// The simplest number t with low < t <= high.
float simplest_between(float low, float high);

}  // namespace remede

// The fast loss and gradient: 16 sequences or windows at a time, one in each lane, reading only the numbers that are in
// use. Tested against plain.h.
#pragma once

#include <cstdint>
#include <vector>

#include "remede/base/aligned.h"
#include "remede/executor/laws/lanes.h"
#include "remede/executor/laws/parameters.h"

namespace remede::laws {

// One product of a sum: the weight's place among the parameters, and which row of the step it weighs: an input, then
// the cells' outputs, then their levels after the step.
struct Term {
  std::int32_t weight = 0;
  std::int32_t source = 0;
};

// Terms [begin, end) of a program.
struct Terms {
  std::int32_t begin = 0, end = 0;
};

// The numbers in use of some parameters, as lists. The values may change without a new program.
struct Program {
  Shape shape;
  std::vector<Term> term;
  std::vector<Terms> argument;          // (K) inputs and outputs of earlier cells
  std::vector<Terms> tap;               // (K) inputs
  std::vector<std::uint8_t> tap_level;  // (K) whether in use
  std::vector<std::uint8_t> tap_leaf;   // (K) whether any leaf shifts the tap
  std::vector<Terms> answer;            // (n_y)
  std::vector<Terms> leaf_answer;       // (leaves, n_y), or empty
  std::vector<std::int32_t> feature;    // (nodes)
  std::vector<std::uint8_t> missing_right;
  std::vector<Side> side;
  bool learn_index = false;  // feature choices have a gradient
};
Program program_of(const Parameters& parameters, bool learn_index);

// Sums over the steps of blocks.
struct Sums {
  double loss = 0;    // weighted
  double wrong = 0;   // weight of the wrong answers, in classification
  double weight = 0;  // of the targets
};

// Scratch of one thread; grows, never shrinks.
struct Scratch {
  AlignedVector<float> state;  // (steps + 1, 2 K, kLanes) outputs and levels after each step; before the first: levels
  AlignedVector<float> share;  // (steps, K, kLanes)
  AlignedVector<float> argument;     // (steps, K, kLanes)
  AlignedVector<float> d_y;          // (steps, n_y, kLanes) answers, then their derivatives
  AlignedVector<float> d_a, d_z;     // (steps, K, kLanes)
  AlignedVector<float> d_split;      // (steps, nodes, kLanes)
  AlignedVector<float> d_level;      // (K, kLanes) handed from step to step
  std::vector<std::uint16_t> right;  // (steps, nodes) a bit per lane
  std::vector<std::uint16_t> leaf;   // (steps, leaves) a bit per lane
};

// Runs a block from `level` (K, kLanes), which becomes what its last step leaves behind. values: (total) as floats.
// smoothing: of labels. gradient: (total) ADDs the derivative of the summed loss, or null.
void run_block(const Program& program, const float* values, const Block& block, const Objective& objective,
               float smoothing, float* level, Scratch& scratch, Sums& sums, double* gradient);

// All of the data, each lane from where its block says; the levels of continued windows are not known here and start
// empty.
Sums run_all(const Program& program, const float* values, const LaneData& data, float smoothing, Scratch& scratch);

}  // namespace remede::laws

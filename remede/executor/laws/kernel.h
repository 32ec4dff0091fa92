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

// A weight of an answer, listed under the cell that it reads.
struct Reader {
  std::int32_t weight = 0;
  std::int32_t output = 0;
  std::int32_t leaf = -1;  // where it applies; -1: everywhere
};

// The numbers in use of some parameters, as lists. The values may change without a new program.
struct Program {
  Shape shape;
  std::vector<Term> term;
  std::vector<Terms> input;             // (K) inputs of the argument
  std::vector<Terms> earlier;           // (K) outputs of earlier cells in the argument
  std::vector<Terms> tap;               // (K) inputs of the tap
  std::vector<std::uint8_t> tap_level;  // (K) whether in use
  std::vector<std::uint8_t> tap_leaf;   // (K) whether any leaf shifts the tap
  std::vector<Terms> answer;            // (n_y)
  std::vector<Terms> leaf_answer;       // (leaves, n_y), or empty
  std::vector<Reader> reader;           // the terms of the answers that read cells, grouped by
  std::vector<Terms> read_by;           // (2 K) what they read: the outputs, then the levels
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

// A row of kLanes numbers at every step: at step t, first + t * stride.
struct Row {
  const float* first = nullptr;
  std::size_t stride = 0;
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
  std::vector<Row> rows;             // what one derivative is multiplied with,
  std::vector<std::size_t> weights;  // the numbers that these products are the gradient of,
  std::vector<double> sums;          // and their sums over the steps
};

// Runs a block from `level` (K, kLanes), which becomes what its last step leaves behind, and ADDs to the sums.
// values: (total) as floats. smoothing: of labels.
void run_block(const Program& program, const float* values, const Block& block, const Objective& objective,
               float smoothing, float* level, Scratch& scratch, Sums& sums);

// Runs a block in the same way, but ADDs the derivative of the summed loss to gradient (total) instead of the loss to
// the sums. x: used instead of the block's inputs. Returns the weight of the targets.
double run_gradient(const Program& program, const float* values, const Block& block, const float* x,
                    const Objective& objective, float smoothing, float* level, Scratch& scratch, double* gradient);

// What is added to inputs: an offset that all steps share, and noise.
struct Disturbance {
  std::vector<const float*> steady;  // (n_x) kLanes normally distributed numbers each; an offset is one of them
  std::vector<float> offset;         // (n_x) times this
  const float* normal = nullptr;     // normally distributed numbers; the noise of a row is kLanes of them
  std::vector<std::uint32_t> first;  // (steps, n_x) from here on,
  float noise = 0;                   // times this
};
void disturb(const Block& block, const Disturbance& by, AlignedVector<float>& to);

// All of the data, each lane from where its block says; the levels of continued windows are not known here and start
// empty.
Sums run_all(const Program& program, const float* values, const LaneData& data, float smoothing, Scratch& scratch);

}  // namespace remede::laws

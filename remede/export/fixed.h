// A model as C99 in fixed point, for processors without floating point: values are integers of 16 or 32 bits, each with
// a scale of its own, a power of two. The answers are close to those of the library, not the same; the program states
// how close.
#pragma once

#include <string>
#include <vector>

#include "remede/data/sequences.h"
#include "remede/export/c.h"

namespace remede {

enum class FixedType { kQ15, kQ31 };

// The largest values that a model receives: scales are made for twice as much, and larger values are clipped.
struct FixedRanges {
  std::vector<double> input;   // (n_x) largest magnitude
  std::vector<double> cell;    // (n_m)
  std::vector<double> output;  // (n_y)
};
// REQUIRES: the sequences have the model's inputs.
FixedRanges fixed_ranges(const Model& model, const Sequences& data);

// How far the program may be from the library in the first steps of a sequence: while inputs and cells stay in
// their ranges, inputs are rounded to the nearest, and no tested value comes closer to its threshold than its margin.
struct FixedBound {
  std::vector<double> output;  // (n_y)
  std::vector<double> cell;    // (n_m)
  std::vector<double> margin;  // (n_x + n_m)
};

struct FixedProgram {
  CProgram program;
  FixedBound bound;
  std::vector<int> input_bits;   // (n_x) of a value the integer is round(value 2^bits)
  std::vector<int> cell_bits;    // (n_m)
  std::vector<int> output_bits;  // (n_y)
};

// One tree whose cells are written by its leaves, with constant answers or, in regression, linear ones. Throws Error
// for other models, which is to say for forests, cells with laws, first-order outputs, and softmax of linear leaves.
// steps: of a sequence, for which the bound is stated.
inline constexpr int kFixedSteps = 1000;
FixedProgram to_fixed_c(const Model& model, const std::string& name, FixedType type, const FixedRanges& ranges,
                        int steps = kFixedSteps);

}  // namespace remede

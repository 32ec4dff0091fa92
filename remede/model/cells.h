// Cells with laws: a second form of memory beside the paper's leaf writes (LeafForm::memory == Memory::kLaws). Cells
// are ordered, each has one law that all leaves share, and a cell reads inputs and the outputs of earlier cells in the
// same step. The tree shifts, closes or opens a cell's tap per leaf and gives the answer's constant.
//
// A step, with x's missing values replaced by the model's `fill` everywhere but in splits:
//   1. The tree walks on x and the levels m before the step and reaches leaf l.
//   2. For each cell k = 0 .. K-1 in order, m its own level before the step:
//        q = 0 if tap_leaf[l][k] is -infinity, 1 if it is +infinity, else
//            sigmoid(bounded(tap + tap_input . x + tap_level m + tap_leaf[l][k]))
//        a = bounded(bias + input . x + earlier . outputs of cells 0 .. k-1)
//        store:    in = max(0, a), S = m + in, output = q S, new m = S - output
//        average:  u = a, or max(0, a) for kPositiveAverage; new m = m + q (u - m), output = new m;
//                  with `first`, the first step of a sequence gives new m = u instead, whatever the tap
//   3. y = output_l + linear . v + leaf_linear_l . v, v = (x, outputs, new levels), the shared terms before the leaf's
//      (with OutputOrder::kFirst the previous y is added last, as in the other form).
//
// Sums run from left to right in the order written; every product and every sum is rounded to float once, none is
// fused. A term whose weight is zero (of either sign) is left out, everywhere: so it changes no bit, not even the sign
// of a zero, and an infinite input with weight zero gives no NaN. The same holds for tap_level and a finite
// tap_leaf of zero. bounded(a) clamps to +-kCellBound and makes 0 of NaN (a sum that overflowed both ways), so levels
// stay finite: a store stops growing near 2^24 kCellBound, where adding kCellBound no longer changes it.
// max(0, a) is `a > 0 ? a : 0`, which never gives -0. The reference is step() in model/predict.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "remede/base/arithmetic.h"

namespace remede {

struct Tree;

enum class Law : std::uint8_t { kStore, kAverage, kPositiveAverage };

inline constexpr float kCellBound = 1e30F;

struct Cells {                      // K = Tree::n_m cells in order; all empty in the other form
  std::vector<Law> law;             // (K)
  std::vector<float> bias;          // (K)
  std::vector<float> input;         // (K, n_x)
  std::vector<float> earlier;       // (K, K) strictly lower triangle: weight of the output of cell j < k; the rest is 0
  std::vector<float> tap;           // (K)
  std::vector<float> tap_input;     // (K, n_x)
  std::vector<float> tap_level;     // (K) weight of the cell's own level before the step
  std::vector<float> tap_leaf;      // (leaves, K) added to the tap; -infinity: closed, +infinity: open
  std::vector<std::uint8_t> first;  // (K) 1: an average that starts at its first u instead of 0; 0 for stores
  std::vector<float> linear;        // (n_y, n_x + 2 K) shared by all leaves: inputs, outputs, new levels
  std::vector<float> leaf_linear;   // (leaves, n_y, n_x + 2 K) a leaf's own weights, or empty

  int count() const { return static_cast<int>(law.size()); }
  bool any_first() const;
};

// In the order and with the rounding that the comment above states.
template <typename T>
T bounded(T a) {
  constexpr T kBound = static_cast<T>(kCellBound);
  if (a > kBound) return kBound;
  if (a < -kBound) return -kBound;
  return a == a ? a : T{0};
}
template <typename T>
T positive(T a) {
  return a > T{0} ? a : T{0};
}

// Inputs as arithmetic sees them.
struct FilledInputs {
  const float* x;     // (n_x) NaN where missing
  const float* fill;  // (n_x)
  float operator[](int i) const { return x[i] == x[i] ? x[i] : fill[i]; }
};

// One cell's step. `first_step`: of the sequence. The share of the tap and the argument of the law come from
// tap_share() and cell_argument(); `level` is updated, the output returned.
inline float step_cell(Law law, bool starts_at_first, bool first_step, float share, float argument, float& level) {
  if (law == Law::kStore) {
    const float sum = level + positive(argument);
    const float release = share * sum;
    level = sum - release;
    return release;
  }
  const float u = law == Law::kPositiveAverage ? positive(argument) : argument;
  level = starts_at_first && first_step ? u : level + share * (u - level);
  return level;
}

// The share q of cell k at a leaf, given its level before the step.
float tap_share(const Tree& tree, int leaf, int k, const FilledInputs& x, float level);
// The argument a of cell k's law. outputs: (k) of the earlier cells.
float cell_argument(const Tree& tree, int k, const FilledInputs& x, const float* outputs);

// One step of all cells at a leaf: updates memory (Tree::memory_size: the levels, then, if any cell has `first`, a flag
// that is 0 before the first step and 1 after it), assigns outputs (K).
void step_cells(const Tree& tree, int leaf, const FilledInputs& x, float* memory, float* outputs);
// constant + linear . v + leaf_linear . v of output o. levels: (K) after the step.
float cell_answer(const Tree& tree, int leaf, int o, const FilledInputs& x, const float* outputs, const float* levels);

// Throws Error naming `where` when shapes or values are not as stated above.
void check_cells(const Tree& tree, const std::string& where);

}  // namespace remede

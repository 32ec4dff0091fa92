// The vector kernels' view of a batch: 16 sequences at a time, one per lane, all walking the same tree.
//
// A leaf's parameters stand in one row: output (n_y), write (n_m, n_w), bias (n_m), linear (n_y, n_v), gate (n_m), rate
// (n_m). The derivative of the loss by the reached leaf's row is then one vector F per lane; the sum of F over the
// steps that reach a leaf is its gradient, and F . row(l) is what leaf l would be worth (docs/mathematics.md,
// docs/performance.md).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "remede/base/aligned.h"
#include "remede/base/lanes.h"
#include "remede/executor/engine.h"
#include "remede/executor/pieces.h"

namespace remede::cpu {

// Up to this depth visiting every node costs less than following every lane's path (docs/performance.md).
inline constexpr int kDenseDepth = 8;
// From so many numbers in a leaf's row on, cells lie side by side instead of sequences, which are then computed one by
// one; fewer where a batch does not fill the lanes with sequences. Where the two kernels are equally quick
// (docs/performance.md).
inline constexpr int kCellsRow = 256;
// Numbers behind the last row that kernels may read (and not use): they take columns several at a time.
inline constexpr int kOverRead = 4;

// What a node tests, for the same kernel.
struct CellSplit {
  float threshold;
  std::int32_t place;          // of the feature in v
  std::int32_t missing_right;  // 1 where a missing value goes right
  std::int32_t cell;           // that is tested; kLanes where it is an input
};

// The leaves in the layout of the kernel that lays cells side by side (cells-inl.h). Offsets count floats.
struct CellLayout {
  bool used = false;  // this kernel takes the tree
  bool linear = false;
  int n_x = 0, n_m = 0, n_y = 0;
  int n_read = 0;          // cells that writes read: n_m or none
  std::size_t v_step = 0;  // memory (kLanes), inputs, a one, zeros: whole vectors
  // In a leaf, (kLanes) each, 0 beyond n_m: the writes' biases, then these.
  static constexpr int kGate = kLanes;  // as in PreparedTree
  static constexpr int kBlend = 2 * kLanes;
  static constexpr int kBlendSlope = 3 * kLanes;
  static constexpr int kGateLogit = 4 * kLanes;
  static constexpr int kRateLogit = 5 * kLanes;
  static constexpr int kOutputs = 6 * kLanes;  // (n_y, v_step) what the outputs read of v
  int inputs = 0;                              // (n_x, kLanes) what the writes read of each input
  int memory = 0;                              // (n_read, kLanes) and of each cell
  int reads = 0;                               // (n_read, kLanes) the same, write by write
  std::size_t stride = 0;                      // from one leaf to the next
  // In the sums of a leaf: of the gates (kLanes), then these.
  static constexpr int kSumRate = kLanes;         // (kLanes)
  static constexpr int kSumOutputs = 2 * kLanes;  // (n_y, v_step)
  int sum_writes = 0;                             // (v_step, kLanes)
  std::size_t sum_stride = 0;
  std::vector<CellSplit> splits;  // (nodes)
  AlignedVector<float> leaves;    // (leaves, stride)
  AlignedVector<float> one_hot;   // (kLanes + 1, kLanes), of an input zeros
  const float* leaf(std::int32_t l) const { return leaves.data() + static_cast<std::size_t>(l) * stride; }
};

// The other side of a decision on the path of a step.
struct Side {
  const float* leaf;  // that it leads to
  float sign;         // of what it would gain: + where it is the right
  std::int32_t node;  // that decides; -1 where what it tests is missing
};

// The parameters of a batch in the kernels' layout. Read-only while the pieces of the batch run.
struct PreparedTree {
  Shape shape;
  GradientForm form;
  Objective objective;
  bool dense = true;  // shallow enough to visit every node at every step
  int used = 0;       // floats of a leaf's row
  int row = 0;        // the same rounded up to a multiple of 4: the width of F and of the sums
  int stride = 0;     // floats from one leaf's row to the next: behind the parameters stand what is derived from them
  int gate =
      0;  // where in a row these begin, (n_m) each: s (1 - s) with s = sigmoid(gate), negative where the gate is closed
  int blend = 0;                      // a = sigmoid(rate); only where writes blend
  int blend_slope = 0;                // a (1 - a)
  int node_row = 0;                   // floats of a node's sums: n_v, then one for the sum of r; rounded up likewise
  std::array<int, kGroups> at{};      // where in a row each group of the leaf begins
  std::vector<std::int32_t> feature;  // (nodes)
  std::vector<std::ptrdiff_t> place;  // (nodes) of the feature in v: 16 times its number
  std::vector<float> threshold;       // (nodes)
  std::vector<std::uint8_t> missing_right;       // (nodes)
  std::vector<std::int32_t> missing_goes_right;  // (nodes) the same, for gathers
  std::vector<float> feature_number;             // (nodes) the feature as a float, for comparisons in lanes
  AlignedVector<float> rows;                     // (leaves, stride), then kOverRead
  // What a leaf is worth is F . worths, columns [worth_begin, used). Where the objective is shift-invariant
  // (classes), the derivatives by the outputs sum to 0: outputs count from the first one, whose column is left out.
  // Where no derivative comes back from later steps, only the columns before worth_outputs are not 0.
  AlignedVector<float> worths;  // (leaves, row)
  CellLayout cells;
  int worth_begin = 0;
  int worth_outputs = 0;
  const float* leaf_row(std::int32_t leaf) const { return rows.data() + static_cast<std::ptrdiff_t>(leaf) * stride; }
  const float* worth_row(std::int32_t leaf) const { return worths.data() + static_cast<std::ptrdiff_t>(leaf) * row; }
  std::size_t v_step() const {
    return static_cast<std::size_t>(node_row) * kLanes;
  }  // from the v of a step to that of the next
  bool blends() const { return shape.form.write_rule == WriteRule::kBlend; }
};

// Sums of one piece.
struct PieceSums {
  AlignedVector<float> node;  // (nodes, node_row) sum of r v, then sum of r
  AlignedVector<float> leaf;  // (leaves, row)
  BatchLoss loss;
};

// Scratch of one thread; grows, never shrinks.
struct Scratch {
  // (T + 1, node_row, kLanes) inputs (filled) and memory before each step, then a one, then zeros
  AlignedVector<float> v;
  AlignedVector<float> split_v;             // the same with missing inputs as NaN; used only where there are any
  AlignedVector<float> u;                   // (T, n_m, kLanes)
  AlignedVector<float> y;                   // (T, n_y, kLanes) outputs, then the derivative of the loss by them
  AlignedVector<float> target;              // (T, 1 or targets, kLanes) class number, or values
  AlignedVector<float> weight;              // (T, kLanes)
  std::vector<std::int32_t> leaf;           // (T, kLanes)
  AlignedVector<float> values;              // shallow: (nodes + leaves, kLanes) the worth of the leaf below each
  std::vector<std::uint16_t> right;         // shallow: (T, nodes) the lanes that go right
  std::vector<std::uint16_t> active;        // shallow: (T, nodes + leaves) the lanes on each
  std::vector<std::uint16_t> need;          // shallow: (nodes + leaves) the lanes that need its worth
  AlignedVector<float> f;                   // (row, kLanes) the derivative F
  AlignedVector<float> v_rows;              // (kLanes, node_row)
  AlignedVector<float> of_leaf;             // (stride + kOverRead, kLanes) the numbers of the leaf each lane reached
  AlignedVector<float> memory;              // (n_m, kLanes) that a block starts from
  AlignedVector<float> q;                   // (3, n_m, kLanes)
  AlignedVector<float> r;                   // (depth, kLanes)
  AlignedVector<float> lane_sums;           // shallow: (leaves, row, kLanes) sums of F of this piece, lane by lane
  std::vector<std::uint8_t> has_lane_sums;  // (leaves) those that are begun
  AlignedVector<float> cell_columns;        // cells side by side: (T, kLanes) base + W v of the reached leaf
  AlignedVector<float> cell_a;              // (T, kLanes) the derivative by them
  AlignedVector<float> cell_turned;         // (v_step, kLanes) v of sixteen steps
  std::vector<std::uint32_t> cell_order;    // (T) the steps of a sequence, leaf by leaf
  std::vector<std::size_t> cell_begin;      // (leaves + 1) where in it each leaf's steps begin
  AlignedVector<float> cell_sums;           // (leaves, sum_stride)
  AlignedVector<float> cell_node_sums;      // (nodes, v_step)
  std::vector<Side> cell_sides;             // (sequences of a group, steps of a chunk, depth)
  AlignedVector<float> cell_side_sums;      // (the same, kLanes) base + W v of their leaves, or what they would change
  AlignedVector<float> cell_slopes;         // (the same) the surrogate derivatives
  AlignedVector<float> cell_by_gate;        // (a chunk of steps, kLanes)
  AlignedVector<float> cell_by_rate;        // (the same)
  AlignedVector<float> tested;              // shallow: (depth, kLanes) the number of the feature each lane's path tests
};

struct Piece {
  const Sequences* data;
  std::span<const float> fill;               // (n_x) or empty
  std::span<const std::uint32_t> sequences;  // longest first
  bool gradient;                             // else the loss alone
  const Carry* carry;                        // or null
};

// The kernels of the widest vectors this machine has, or of those that REMEDE_VECTOR names (avx512, avx2, sse4,
// portable). finish: the gradient of scale * loss.
void prepare(const Parameters<float>& parameters, const GradientForm& form, const Objective& objective,
             std::size_t sequences, PreparedTree& tree);
void run_piece(const PreparedTree& tree, const Piece& piece, Scratch& scratch, PieceSums& sums);
void finish(const Parameters<float>& parameters, const PreparedTree& tree, const PieceSums& sums, float scale,
            Parameters<float>& gradient);
const char* vector_name();

}  // namespace remede::cpu

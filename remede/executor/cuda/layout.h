// What the host and the kernels of the GPU both know: how a start, its tree and a batch lie in the device's memory.
// Plain numbers and pointers only.
//
// A step of a batch has a RECORD, a row of floats that the phases of an update hand on to one another (phases.cuh):
//   v      (n_v + 1)      inputs with missing values filled, memory before the step, and a 1
//   g      (n_y)          the derivative of the loss by the outputs
//   gate   (n_m)          first the argument of the tanh, then the derivative by the gate for q = 1, then for q itself
//   write  (n_m)          first the tanh, then the same by the argument of the tanh
//   rate   (n_m)          the same by the rate; only where writes blend
//   split  (depth)        r: the derivative by the split at each level
//   slope  (depth, n_m)   r = base + q . slope: how r follows from the derivative q by the memory after the step
//   base   (depth)
//   direct (n_m)          what goes back into memory through a linear output; only there
// Each part begins at a multiple of four floats.
#pragma once

#include <cstdint>

namespace remede::cuda {

inline constexpr int kGroups = 8;      // of parameters, as remede::Group
inline constexpr int kMostDepth = 10;  // of a tree on the device
inline constexpr int kMostCells = 64;
inline constexpr int kThreads = 512;  // of a block

// Floats that are added up over the steps, four at a time: sums[row] += vector * scalar, both parts of the record.
struct SumUnit {
  std::int32_t vector;  // place in the record
  std::int32_t scalar;  // place in the record
  std::int32_t shift;   // the row is that of the node, or leaf, (leaf + leaves) >> shift, counted from 1
  std::int32_t pitch;   // of such rows
  std::int32_t begin;   // of row 0
};

struct Layout {
  int depth, nodes, leaves, n_x, n_m, n_y, n_v, n_w, n_t;
  int n_g;  // outputs of the stepwise form: of classes only differences count, from the last one, which is left out
  int blends, reads_memory, has_bias, linear, first_order;
  int missing;                     // some input of the data is
  int softsign, softmax, effects;  // gradient form
  float slope;
  int begin[kGroups + 1];  // of the groups of parameters

  int v, g, gate, write, rate, split, slopes, base, direct, record;  // places in a record, and its length
  int cells;                                                         // n_m rounded up to a multiple of four

  // The tree as the phases read it, and scratch: in shared memory, or in global memory where that is too small.
  int node, output, gate_value, gate_slope, rate_value, blend, bias, writes, linears;  // places
  int write_pitch, linear_pitch;       // odd: neighbouring rows lie in different banks
  int stage, stage_warp, stage_pitch;  // of each warp: rows of records (weigh_by_thread); where there are few cells
  int stage_rate, stage_direct;        // places in a row behind the bases
  int scratch, scratch_pitch;          // of each group of lanes: inputs filled, inputs as they are, memory, exchange
  int sums, tables, sums_size;         // `tables` tables of sums, each of this size
  int node_pitch, leaf_pitch, leaf_begin;  // rows of a table
  int arena;                               // floats in all
  int units;                               // of the sums
};

// Steps of a sequence.
struct Span {
  std::int64_t first, length;
};

struct Sequences {
  const float* x;
  const std::int32_t* label;
  const float* value;
  const float* weight;
  const Span* spans;
};

struct Entry {
  std::uint32_t sequence;
  std::uint32_t base;  // its first step, counted within the chunk
};

struct Chunk {
  std::uint32_t first, count;  // entries
  std::uint32_t steps;
};

// One mini-batch update, but for the numbers that the device computes.
struct Update {
  std::uint32_t first_chunk, chunks;
  float scale;    // one over the weight of the batch
  float factor;   // on the rates
  float small;    // Adam's, bias corrected
  float shrink;   // what writes and linear outputs come closer to 0, in parts of their rates
  float average;  // weight of the newest parameters
  double weight;
  std::uint64_t drawn;  // what the noise of the epoch is drawn from
};

struct Totals {
  double loss, weight, correct;
  std::uint32_t made;  // updates
  std::uint32_t lost;
};

struct List {
  const float* at;
  int count;
};

// Everything of a start but its layout, which is that of a launch.
struct Start {
  int loss;  // remede::Loss
  List quantiles, scale;
  Sequences data;
  const float* fill;                  // (n_x)
  const std::uint8_t* continues;      // (sequences) or null
  std::uint32_t sequences;            // training sequences
  const std::uint8_t* missing_right;  // (nodes)
  const std::uint32_t* slot;          // (total) place of each parameter of a leaf in a table of sums
  const SumUnit* units;
  float *parameters, *average, *mean, *square;  // (total)
  float *before, *after;                        // (sequences, n_m) carried memory, or null
  float* gradient;                              // (total)
  const float *noise, *offset_noise;            // (n_x) largest noise and offset, or null
  float rates[kGroups];
  float clip;
  const Update* updates;
  std::uint32_t update_count;
  std::uint32_t gradient_only;  // stop before the optimiser
  const Chunk* chunks;
  const Entry* entries;
  float* records;
  std::int32_t* leaf;     // (steps)
  std::uint32_t* at;      // (steps) number of the step in the data
  float* noisy;           // (steps, n_x) inputs with noise, or null
  float* arena;           // where it is not in shared memory
  float *table, *staged;  // sums and entries of the stepwise form
  Totals* totals;
};

// The loss of one tree on one chunk of data.
struct LossJob {
  std::uint32_t start;  // which tree
  std::uint32_t chunk;
};

// Memory of a block that computes losses; that of the next begins a pitch further on.
struct LossScratch {
  float* records;
  std::int32_t* leaf;
  std::uint32_t* at;
  float* arena;
  std::uint64_t records_pitch, steps_pitch, arena_pitch;
};

}  // namespace remede::cuda

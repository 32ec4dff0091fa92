// The form of an update that goes through the steps of all sequences of a chunk side by side (step_*.cuh), as the host
// and the kernels that are compiled for a shape both know it. It has no records: what a step adds to the gradient is
// staged in shared memory and added up at once, by tensor cores.
//
// A sequence is the work of `lanes` threads. A TEAM of warps adds up what its sequences staged: every warp has its part
// of the sums in registers.
//
// Staged rows, a column for each sequence: inputs (missing values filled), memory, a 1, and the derivatives of the
// step. Every sum is that of a product of two rows over the sequences that reach a leaf or node. Where a team has more
// than sixteen sequences, their columns are ordered by their leaves: sixteen columns then reach few tiles of sums.
#pragma once

#include "remede/executor/cuda/layout.h"

namespace remede::cuda {

struct Stepper {
  int threads = 0;               // of a block; 0: not for this shape
  int lanes = 0, sequences = 0;  // threads of a sequence, sequences of a chunk
  int pitch = 0;                 // of staged rows
  int team = 0;                  // warps
  bool by_cells = false;         // lanes share the cells of a sequence, else the levels of the tree

  // Staged rows.
  int memory = 0, one = 0, g = 0, gate = 0, rate = 0, write = 0, split = 0, rows = 0;
  int look = 0;         // rows of inputs and memory as splits see them; columns in the order of the threads
  bool sorted = false;  // other columns are in the order of leaves

  // Places in the row of a leaf: what a write reads, what an answer is, and what only the reached leaf needs.
  int blend = 0, gate_value = 0, writes = 0, write_pitch = 0, bias = 0, output = 0, linear = 0, linear_pitch = 0,
      rate_value = 0, slope = 0, row = 0;
  int written = 0;               // the writes' part ends here
  int worth = 0, worth_end = 0;  // part that a leaf's worth depends on

  // Places in shared memory, in floats; and its size.
  int nodes = 0, leaf_rows = 0, stage = 0, index = 0, bins = 0, bins_pitch = 0, floats = 0;

  // Sums: columns of a leaf (the first `pure` are rows by themselves) and of a node; tiles of 16 leaves or nodes and 8
  // columns, in a grid of the team's warps.
  int columns = 0, pure = 0, node_columns = 0;
  int leaf_tiles = 0, leaf_n = 0, node_tiles = 0, node_n = 0;  // in all
  int grid_m = 0, grid_n = 0;                                  // warps
  int lt = 0, ln = 0, nt = 0, nn = 0;  // tiles of a warp; of nodes without the first, which all share
  int accumulators = 0;                // of a thread
  int trace = 0;                       // floats that the forward pass leaves of a step
};

constexpr int kTile = 16;              // leaves or nodes
constexpr int kTileColumns = 8;        // columns of sums
constexpr int kMostCellsOfThread = 8;  // where lanes share levels
constexpr int kMostRowOfThread = 64;   // floats of a leaf's row
constexpr int kMostAccumulators = 56;  // registers
constexpr int kFewAccumulators = 24;   // where a larger team could be taken
constexpr int kStepThreads = 512;      // of a multiprocessor: 128 registers each

constexpr int step_ceil(int n, int by) { return (n + by - 1) / by; }
constexpr int step_four(int n) { return step_ceil(n, 4) * 4; }
constexpr int step_min(int a, int b) { return a < b ? a : b; }
constexpr int step_max(int a, int b) { return a > b ? a : b; }

constexpr void place_staged_rows(const Layout& l, Stepper& p) {
  int next = l.n_v;
  p.memory = l.n_x;
  p.look = l.missing || p.sorted ? next : 0;
  next += p.look;
  p.one = next++;
  p.g = next;
  next += l.n_y;
  p.gate = next;
  next += l.n_m;
  p.rate = next;
  if (l.blends) next += l.n_m;
  p.write = next;
  next += l.n_m;
  p.split = next;
  next += l.depth;
  p.rows = next;
}

constexpr void place_leaf_row(const Layout& l, Stepper& p) {
  int next = 0;
  p.blend = next;
  if (l.blends) next += l.n_m;
  p.gate_value = next;
  next += l.n_m;
  if (l.has_bias) {
    p.bias = next;
    next += l.n_m;
  }
  if (p.by_cells) next = step_four(next);
  // By cells: rows of an odd number of quads, which neighbouring lanes read at the same time.
  p.write_pitch = p.by_cells ? (step_ceil(l.n_w, 4) | 1) * 4 : l.n_w;
  p.writes = next;
  next += l.n_m * p.write_pitch;
  p.written = next;
  p.output = next;
  next += l.n_y;
  if (p.by_cells) next = step_four(next);
  p.linear_pitch = p.by_cells ? (step_ceil(l.n_v, 4) | 1) * 4 : l.n_v;
  p.linear = next;
  if (l.linear) next += l.n_y * p.linear_pitch;
  p.rate_value = next;
  if (l.blends) next += l.n_m;
  p.worth = l.effects ? 0 : p.gate_value;
  p.worth_end = l.effects ? p.rate_value : next;
  p.slope = next;
  next += l.n_m;
  p.row = (step_ceil(next, 4) | 1) * 4;
}

constexpr void place_sums(const Layout& l, int team, Stepper& p) {
  p.pure = l.n_y + l.n_m * (1 + l.blends + l.has_bias);
  p.columns = p.pure + l.n_m * l.n_w + (l.linear ? l.n_y * l.n_v : 0);
  p.node_columns = l.n_v + 1;
  p.leaf_tiles = step_ceil(l.leaves, kTile);
  p.leaf_n = step_ceil(p.columns, kTileColumns);
  p.node_tiles = step_ceil(l.leaves, kTile);  // nodes are counted from 1, as in a heap
  p.node_n = step_ceil(p.node_columns, kTileColumns);
  p.team = team;
  p.grid_m = step_min(team, p.leaf_tiles);
  p.grid_n = team / p.grid_m;
  p.lt = p.leaf_tiles / p.grid_m;
  p.nt = step_ceil(p.node_tiles - 1, p.grid_m);
  p.ln = step_ceil(p.leaf_n, p.grid_n);
  p.nn = step_ceil(p.node_n, p.grid_n);
  p.accumulators = 4 * (p.lt * p.ln + (p.nt + 1) * p.nn);
}

// REQUIRES: shape of `l` is set (the rest of the layout is not read). batch: sequences of an update. shared: bytes.
constexpr Stepper stepper(const Layout& l, int batch, int shared) {
  Stepper p;
  p.by_cells = l.n_m > kMostCellsOfThread;
  if (p.by_cells) return {};
  place_leaf_row(l, p);
  if (p.row > kMostRowOfThread) return {};
  p.threads = l.depth > 8 ? 512 : 256;
  for (p.lanes = 1; p.lanes < 8 && p.threads / p.lanes >= 2 * batch;) p.lanes *= 2;
  p.sequences = p.threads / p.lanes;
  p.pitch = p.sequences + 16;
  // As few warps as have enough registers for the sums; at least sixteen sequences.
  for (int team = step_max(1, p.lanes / 2);; team *= 2) {
    if (team > p.threads / 32) return {};
    place_sums(l, team, p);
    if (p.accumulators <= (team == p.threads / 32 ? kMostAccumulators : kFewAccumulators)) break;
  }
  p.sorted = p.team > 1 && 32 * p.team / p.lanes > 16;
  place_staged_rows(l, p);
  int next = 0;
  p.nodes = next;
  next += step_four(2 * l.leaves);
  p.leaf_rows = next;
  next += l.leaves * p.row;
  p.stage = next;
  next += p.rows * p.pitch;
  p.index = next;
  next += p.sequences;
  p.bins = next;
  p.bins_pitch = p.sorted ? p.leaf_tiles + 1 : 0;
  next += p.threads / 32 * p.bins_pitch;
  p.floats = next;
  if (p.rows * p.pitch >= 1 << 16 || p.floats * 4 > shared) return {};
  p.trace = l.n_m + 1 + (l.first_order ? l.n_y : 0) + (p.sorted ? 1 : 0);
  return p;
}

}  // namespace remede::cuda

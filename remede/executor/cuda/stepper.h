// The form of an update that goes through the steps of a sequence one after the other, in registers (step_*.cuh), as
// the host and the kernels that are compiled for a shape both know it.
//
// A sequence is the work of `lanes` threads, which share its cells, the levels of the tree, or consecutive steps. Going
// back, every step leaves an ENTRY in memory, in the order of leaves:
//   rows     derivatives by the writes' arguments, the splits on the path and the outputs, then by gates and rates
//   columns  inputs and memory before the step; a further column is 1 and not stored
// The sums of a leaf are the products of all rows and columns, added up over its entries: a product of matrices, by
// tensor cores. Those of a node are those of the leaves below it.
//
// Trees of few leaves have no entries (ONE-HOT): what a warp's sequences add at a step is staged in shared memory, and
// added to sums in registers by a product with the matrix of ones and zeros that says which sequence is at which leaf
// or node.
#pragma once

#include "remede/executor/cuda/layout.h"

namespace remede::cuda {

// By cells. What a step back hands on is affine in what it is handed, q. A warp computes the numbers of this map, the
// RECORD of a step, for a block of steps; then q goes from step to step (step_maps.cuh, step_back.cuh).
struct CellPlaces {
  int block = 0;   // steps
  int width = 0;   // lanes of a step in a block
  int padded = 0;  // n_m rounded up to a multiple of four
  int group = 0;   // n_m rounded up to a multiple of eight

  // In the trace, a row for each step and sequence: memory before the step (n_m), the leaf and how many steps before
  // reached it, outputs (n_g) in the first-order form.
  int leaf = 0, output = 0;

  int exchange = 0;  // in shared memory: (sequences, 2, 2 * padded) q, and derivatives by the writes' arguments

  // In the tile of a warp: inputs and memory of the steps (with missing values filled, and as they are), derivatives by
  // the outputs, and a row for each step. Where `all_leaves`, the row first holds what each leaf would have written
  // and answered: arguments (leaves, group) and outputs (leaves, n_g), then what the outputs are worth (leaves).
  int value_pitch = 0, look = 0, g = 0, rows = 0, row_pitch = 0;
  bool all_leaves = false;

  // Then it holds the record:
  //   derivatives by the writes' arguments, gates and rates for q = 1 (each `padded`)
  //   into    (padded) by the memory before, through linear outputs
  //   slopes  (depth, padded) the derivatives by the splits are base + q . slopes
  //   splits  (depth) base, and the place of the feature
  //   reached the leaf, and the number of the entry
  int write = 0, gate = 0, rate = 0, into = 0, slopes = 0, splits = 0, reached = 0;
  int floats = 0;  // of the tile
};

struct Stepper {
  int threads = 0;               // of a block; 0: not for this shape
  int lanes = 0, sequences = 0;  // threads of a sequence, sequences of a chunk
  bool by_cells = false;         // lanes share the cells of a sequence: a warp for each
  bool by_steps = false;         // lanes share consecutive steps; else the levels of the tree
  int sharers = 0;               // threads of a step: all lanes, or one where these share steps

  // Places in an entry, and its length. full: rows that need other columns than the last.
  int write = 0, split = 0, g = 0, gate = 0, rate = 0, full = 0, rows = 0, columns = 0, entry = 0;

  // One-hot: the same places are rows of the stage, which has a column for each sequence; inputs and memory are its
  // first rows. one: a row of ones.
  bool onehot = false;
  int one = 0, stage = 0, index = 0;     // in shared memory; index: (sequences) the leaf
  int pure = 0, leaf_n = 0, node_n = 0;  // sums of a leaf that are no product; columns of leaves and nodes, in tiles
  int hot_tiles = 0, accumulators = 0;   // tiles of leaves, and of nodes; floats of a thread
  int hot_sums = 0;                      // (accumulators, threads) in shared memory

  // Places in the row of a leaf: what a write reads, what an answer is, and what only the reached leaf needs.
  int blend = 0, gate_value = 0, writes = 0, write_pitch = 0, bias = 0, output = 0, linear = 0, linear_pitch = 0,
      rate_value = 0, slope = 0, row = 0;
  int written = 0;               // the writes' part ends here
  int worth = 0, worth_end = 0;  // part that a leaf's worth depends on

  // Places in shared memory, in floats; and its size.
  int nodes = 0, leaf_rows = 0, look = 0;  // look: inputs and memory as splits see them
  int look_pitch = 0, look_next = 0;       // from one input or cell to the next; from one sequence to the next
  int values = 0;                          // by cells: missing values filled
  int tiles = 0, tile_pitch = 0;           // of each warp, sixteen entries: between registers and memory
  int warp_floats = 0;                     // from the tile of a warp to that of the next
  // Of a chunk, where there is room, else in the device's memory and 0 here; entries have the pitch of a tile.
  int entries = 0, tables = 0;
  int counts = 0;                                 // (warps, leaves) entries, then where the next one of a warp goes
  int first = 0, total = 0, extra = 0, seen = 0;  // (leaves) entries of a leaf; parts before; whether it has sums
  int node_sums = 0, parts = 0;                   // after the entries were added up
  int gradient = 0;                               // then; 0: it has no room here
  int floats = 0;

  // Sums: tiles of 16 rows and 8 columns; the tables of all leaves, then those of further parts.
  int tiles_m = 0, full_m = 0, tiles_n = 0, table = 0;  // full_m: of tiles_m, those with all columns; others have one
  // What the forward pass leaves of a step, rows of all sequences: memory before it (n_m), the leaf, outputs (n_g) in
  // the first-order form, inputs (n_x), weight and class. Where `ahead` is 0, the last three are read from the data
  // again.
  int trace = 0, trace_x = 0;
  int ahead = 0;  // steps whose inputs a warp loads together
  CellPlaces cells;
  int part = 0;  // entries of a leaf that are added up in one go
};

constexpr int kTile = 16;              // rows
constexpr int kEntries = 16;           // that a warp moves at a time
constexpr int kTileColumns = 8;        // columns
constexpr int kMostCellsOfThread = 8;  // where lanes share levels
constexpr int kMostRowOfThread = 64;   // floats of a leaf's row
constexpr int kMostTiles = 16;         // of four registers each
constexpr int kMostHotDepth = 5;       // two tiles of leaves
constexpr int kMostHotSums = 24;       // registers
constexpr int kStepThreads = 512;      // of a multiprocessor: 128 registers each
constexpr int kInputRing = 4;          // steps whose inputs are being loaded, or in use
constexpr int kMostSharedSteps = 64;   // largest batch whose lanes share steps
constexpr int kMostSlopes = 64;        // floats of a step that follow from those of the next one

constexpr int step_ceil(int n, int by) { return (n + by - 1) / by; }
constexpr int step_up(int n, int by) { return step_ceil(n, by) * by; }
constexpr int step_min(int a, int b) { return a < b ? a : b; }
constexpr int step_max(int a, int b) { return a > b ? a : b; }

// Gives out places one after the other.
struct StepPlaces {
  int end = 0;
  constexpr int take(int count) {
    const int at = end;
    end += count;
    return at;
  }
};

constexpr void place_entry(const Layout& l, Stepper& p) {
  StepPlaces entry;
  p.write = entry.take(l.n_m);
  p.split = entry.take(l.depth);
  if (l.linear) p.g = entry.take(l.n_g);
  p.full = entry.end;
  if (!l.linear) p.g = entry.take(l.n_g);
  p.gate = entry.take(l.n_m);
  p.rate = entry.take(l.blends ? l.n_m : 0);
  p.rows = entry.end;
  p.columns = entry.take(l.n_v);
  p.entry = step_up(entry.end, 4);
  p.tiles_m = step_ceil(p.rows, kTile);
  p.full_m = step_ceil(p.full, kTile);
  p.tiles_n = step_ceil(l.n_v + 1, kTileColumns);
  p.table = step_up(p.full_m * kTile * p.tiles_n * kTileColumns + (p.tiles_m - p.full_m) * kTile, 32);
}

// Whether there are so few leaves and numbers of a leaf that their sums have room in registers.
constexpr bool place_onehot(const Layout& l, Stepper& p) {
  if (p.lanes > 2 || l.depth > kMostHotDepth) return false;
  p.pure = l.n_g + l.n_m * (1 + l.blends + l.has_bias);
  p.leaf_n = step_ceil(p.pure + l.n_m * l.n_w + (l.linear ? l.n_g * l.n_v : 0), kTileColumns);
  p.node_n = step_ceil(l.n_v + 1, kTileColumns);
  p.hot_tiles = step_ceil(l.leaves, kTile);
  p.accumulators = 4 * p.hot_tiles * (p.leaf_n + p.node_n);
  return p.accumulators <= kMostHotSums;
}

constexpr void place_leaf_row(const Layout& l, Stepper& p) {
  StepPlaces row;
  // By cells, lanes read quads at the same time: rows of an odd number of them.
  const auto pitch = [&](int n) { return p.by_cells ? (step_ceil(n, 4) | 1) * 4 : n; };
  p.blend = row.take(l.blends ? l.n_m : 0);
  p.gate_value = row.take(l.n_m);
  p.bias = row.take(l.has_bias ? l.n_m : 0);
  if (p.by_cells) row.end = step_up(row.end, 4);
  p.write_pitch = pitch(l.n_w);
  p.writes = row.take(l.n_m * p.write_pitch);
  p.written = row.end;
  p.output = row.take(l.n_g);
  if (p.by_cells) row.end = step_up(row.end, 4);
  p.linear_pitch = pitch(l.n_v);
  p.linear = row.take(l.linear ? l.n_g * p.linear_pitch : 0);
  p.rate_value = row.take(l.blends ? l.n_m : 0);
  p.worth = l.effects ? 0 : p.gate_value;
  p.worth_end = l.effects ? p.rate_value : row.end;
  p.slope = row.take(l.n_m);
  // By cells, the two halves of a warp read rows of leaves that may differ.
  p.row = p.by_cells ? step_up(row.end - 16, 32) + 16 : (step_ceil(row.end, 4) | 1) * 4;
}

// Levels whose nodes have many leaves below them, more than 16 at depth 6 and more than 32 in deeper trees: their
// sums are made in two steps.
constexpr int step_top(const Layout& l) { return l.depth > 7 ? l.depth - 5 : l.depth > 5 ? 2 : 0; }

constexpr void place_cells(const Layout& l, bool all_leaves, Stepper& p) {
  CellPlaces& c = p.cells;
  c.block = all_leaves ? kTile : kTile / 2;
  c.width = l.n_m > 16 ? 32 : 16;
  c.padded = step_up(l.n_m, 4);
  c.group = step_up(l.n_m, kTileColumns);
  StepPlaces trace{step_up(l.n_m, 2)};
  c.leaf = trace.take(2);
  c.output = trace.take(l.first_order ? l.n_g : 0);
  p.trace = step_up(trace.end, 4);
  StepPlaces record;
  c.write = record.take(c.padded);
  c.gate = record.take(c.padded);
  c.rate = record.take(l.blends ? c.padded : 0);
  c.into = record.take(l.linear ? c.padded : 0);
  c.slopes = record.take(l.depth * c.padded);
  c.splits = record.take(2 * l.depth);
  c.reached = record.take(2);
  c.all_leaves = all_leaves;
  const int answers = step_up(l.leaves * (l.linear ? l.n_g : 1), kTileColumns);
  const int columns = step_max(all_leaves ? l.leaves * c.group + answers : 0, step_up(record.end, 8));
  c.row_pitch = step_up(columns - 8, 16) + 8;  // pairs of eight rows lie in different banks
  StepPlaces tile;
  c.value_pitch = (step_up(l.n_v, kTileColumns) / 4 | 1) * 4;  // an odd number of quads: rows lie in different banks
  tile.take(c.block * c.value_pitch);
  c.look = l.missing ? tile.take(c.block * c.value_pitch) : 0;
  c.g = tile.take(step_up(c.block * l.n_g, 4));
  c.rows = tile.take(c.block * c.row_pitch);
  c.floats = tile.end;
}

// longest: as for stepper(). tables, entries: whether they are in shared memory.
constexpr void place_shared(const Layout& l, int longest, bool tables, bool entries, Stepper& p) {
  StepPlaces shared;
  const int steps = p.sequences * longest;
  p.nodes = shared.take(step_up(2 * l.leaves, 4));
  p.first = shared.take(step_up(l.leaves, 4));
  p.total = shared.take(step_up(l.leaves, 4));
  p.extra = shared.take(step_up(l.leaves, 4));
  p.seen = shared.take(step_up(l.leaves, 4));
  p.tables = tables ? shared.take((l.leaves + steps / p.part) * p.table) : 0;
  p.leaf_rows = shared.take(l.leaves * p.row);
  p.look_pitch = p.by_cells ? 1 : p.threads / p.sharers;
  p.look_next = p.by_cells ? step_up(l.n_v, 4) + 4 : 1;
  const int looks = p.by_cells ? kInputRing * p.sequences * p.look_next : l.n_v * p.look_pitch;
  p.look = shared.take(looks);
  p.values = l.missing && p.by_cells ? shared.take(looks) : p.look;
  p.cells.exchange = shared.take(p.by_cells ? 4 * p.sequences * p.cells.padded : 0);
  p.tile_pitch = (p.entry / 4 | 1) * 4;  // an odd number of quads: rows lie in different banks
  p.warp_floats = step_max(kEntries * p.tile_pitch, p.cells.floats);
  p.counts = shared.take(step_up(p.threads / 32 * l.leaves, 4));
  p.entries = entries ? shared.take((steps + 7) * p.tile_pitch + kTile) : 0;  // eight are read at a time
  p.tiles = entries ? 0 : shared.take(p.threads / 32 * p.warp_floats + kTile);
  // The nodes' sums take the place of what is behind the leaves' own.
  StepPlaces sums{p.leaf_rows};
  p.node_sums = sums.take(l.leaves * (l.n_v + 1));
  p.parts = sums.take(step_top(l) * (1 << step_top(l)) * (l.n_v + 1));
  p.floats = shared.end > sums.end ? shared.end : sums.end;
  p.gradient = sums.end + l.begin[kGroups] <= p.floats ? sums.end : 0;
}

constexpr void place_shared_onehot(const Layout& l, Stepper& p) {
  StepPlaces rows;
  rows.take(l.n_v);
  p.one = rows.take(1);
  p.g = rows.take(l.n_g);  // what is pure is side by side
  p.gate = rows.take(l.n_m);
  p.rate = rows.take(l.blends ? l.n_m : 0);
  p.write = rows.take(l.n_m);
  p.split = rows.take(l.depth);
  StepPlaces shared;
  p.nodes = shared.take(step_up(2 * l.leaves, 4));
  p.index = shared.take(p.sequences);
  p.hot_sums = shared.take(p.accumulators * p.threads);
  p.leaf_rows = p.node_sums = shared.end;
  const int sums = step_up(l.leaves * (l.n_v + 1), 4);
  shared.take(l.leaves * p.row > sums ? l.leaves * p.row : sums);
  p.look_pitch = p.sequences + 16;  // four lanes read quads of one row, the next four of the next
  p.look_next = 1;
  p.stage = shared.take(rows.end * p.look_pitch);
  p.look = l.missing ? shared.take(l.n_v * p.look_pitch) : p.stage;
  p.tile_pitch = (p.entry / 4 | 1) * 4;
  p.warp_floats = kEntries * p.tile_pitch;
  p.tiles = shared.take(p.threads / 32 * p.warp_floats + kTile);
  p.floats = shared.end;
}

// Whether lanes share steps: where there are few sequences, and what a step hands on has room in registers.
constexpr bool shares_steps(const Layout& l, int batch) {
  return batch <= kMostSharedSteps && l.n_m > 0 && l.n_m * (l.n_m + l.depth) <= kMostSlopes;
}

constexpr Stepper stepper_by_cells(const Layout& l, int shared) {
  Stepper p;
  p.by_cells = true;
  p.lanes = 32;
  p.sharers = 1;
  place_entry(l, p);
  place_leaf_row(l, p);
  if (l.n_m > 32 || p.full_m * p.tiles_n + p.tiles_m - p.full_m > kMostTiles) return {};
  p.part = 128;
  for (p.threads = kStepThreads; p.threads >= kStepThreads / 2; p.threads /= 2)
    for (const bool all_leaves : {true, false}) {
      p.sequences = p.threads / p.lanes;
      place_cells(l, all_leaves, p);
      place_shared(l, 0, false, false, p);
      if (p.floats * 4 <= shared) return p;
    }
  return {};
}

constexpr Stepper stepper(const Layout& l, int batch, int longest, int shared, bool by_steps) {
  Stepper p;
  p.by_steps = by_steps;
  place_entry(l, p);
  place_leaf_row(l, p);
  if (p.row > kMostRowOfThread) return {};
  if (p.full_m * p.tiles_n + p.tiles_m - p.full_m > kMostTiles) return {};
  p.threads = l.depth > 8 || by_steps ? 512 : 256;
  p.part = by_steps ? 64 : 256;
  for (p.lanes = 1; p.lanes < (by_steps ? 16 : 8) && p.threads / p.lanes >= 2 * batch;) p.lanes *= 2;
  p.sharers = by_steps ? 1 : p.lanes;
  p.sequences = p.threads / p.lanes;
  p.onehot = !by_steps && place_onehot(l, p);
  if (p.onehot)
    place_shared_onehot(l, p);
  else
    for (int kept = by_steps && longest > 0 ? 2 : 0; kept >= 0; --kept) {
      place_shared(l, longest, kept > 1, kept > 0, p);
      if (p.floats * 4 <= shared) break;
    }
  if (p.floats * 4 > shared) return {};
  // A tile takes the inputs of a warp's sequences, with a pitch that spreads them over the banks.
  const int fit = by_steps ? 0 : kEntries * p.tile_pitch / (32 / p.lanes + 1) / l.n_x;
  p.ahead = fit >= 8 ? 8 : fit >= 4 ? 4 : fit >= 2 ? 2 : 0;
  p.trace_x = l.n_m + 1 + (l.first_order ? l.n_g : 0);
  p.trace = p.trace_x + (p.ahead > 0 ? l.n_x + 2 : 0);
  return p;
}

// batch: sequences of an update. longest: steps of a sequence at most; 0: any number. shared: bytes. Of the layout,
// only what the shape is made of is read.
constexpr Stepper stepper(const Layout& l, int batch, int longest, int shared) {
  if (l.n_m > kMostCellsOfThread) return stepper_by_cells(l, shared);
  const Stepper p = shares_steps(l, batch) ? stepper(l, batch, longest, shared, true) : Stepper();
  return p.threads > 0 ? p : stepper(l, batch, longest, shared, false);
}

// Floats of memory for the entries of so many steps.
constexpr unsigned long long entry_floats(const Stepper& p, unsigned long long steps) {
  return p.onehot || p.entries > 0 ? 0 : steps * static_cast<unsigned long long>(p.entry);
}

// Floats of memory for chunks of so many steps: tables of sums, with those of further parts.
constexpr unsigned long long table_floats(const Layout& l, const Stepper& p, unsigned long long steps) {
  if (p.onehot || p.tables > 0) return 0;
  return (static_cast<unsigned long long>(l.leaves) + steps / static_cast<unsigned long long>(p.part)) *
         static_cast<unsigned long long>(p.table);
}

}  // namespace remede::cuda

// Going back for many cells (stepper.h), first part: what each step hands on as a map of what it is handed, the
// derivative q by the memory after it. Nothing here waits for another step. docs/mathematics.md has the formulas.
#pragma once

#include "remede/executor/cuda/step_backward.cuh"
#include "remede/executor/cuda/step_cells.cuh"

namespace remede::cuda {

// A block of steps of a warp's sequence, and where the warp keeps it. Each lane has the numbers of one step: of that
// with its own number, which is taken modulo the steps of a block.
struct StepBlock {
  int first, count;  // steps
  int2 reached;      // the leaf, and how many steps before reached it
  float weight;
  int label;
  float *values, *look, *g, *rows;
};

template <class C>
__device__ __forceinline__ StepBlock own_block() {
  StepBlock b{};
  float* const tile = own_tile<C>(step_memory());
  b.values = tile;
  b.look = tile + C::p.cells.look;
  b.g = tile + C::p.cells.g;
  b.rows = tile + C::p.cells.rows;
  return b;
}

// Begins to load the block from step `first` on. All lanes of the warp call this.
template <class C>
__device__ __forceinline__ void load_block(const Start& s, const OwnSequence& own, float* trace, int first,
                                           StepBlock& b) {
  constexpr Layout l = C::l;
  constexpr int kPitch = C::p.cells.value_pitch, kNext = C::p.sequences * C::p.trace;
  const int thread = static_cast<int>(threadIdx.x) % 32;
  b.first = first;
  b.count = step_min(C::p.cells.block, own.length - first);
  b.reached = {0, 0};
  if (first < 0) return;
  const float* const x = own.x + static_cast<std::size_t>(first) * l.n_x;
#pragma unroll
  for (int begin = 0; begin < C::p.cells.block * l.n_x; begin += 32) {
    const int i = begin + thread, step = i / l.n_x;
    if (step < b.count) copy_later(b.look + step * (kPitch - l.n_x) + i, x + i);
  }
  const float* const memory = traced_at<C>(trace, first);
#pragma unroll
  for (int begin = 0; begin < C::p.cells.block * l.n_m; begin += 32) {
    const int i = begin + thread, step = i / l.n_m;
    if (step < b.count) copy_later(b.look + step * (kPitch - l.n_m) + i + l.n_x, memory + step * (kNext - l.n_m) + i);
  }
  const int step = thread % C::p.cells.block;
  if (step >= b.count) return;
  b.reached = *reinterpret_cast<const int2*>(memory + step * kNext + C::p.cells.leaf);
  b.weight = s.data.weight[own.from + first + step];
  if (C::loss == Loss::kCrossEntropy) b.label = s.data.label[own.from + first + step];
}

// Waits for it. All lanes of the warp call this.
template <class C>
__device__ __forceinline__ void wait_block(const Start& s, const StepBlock& b) {
  constexpr Layout l = C::l;
  constexpr int kPitch = C::p.cells.value_pitch;
  group_copies();
  wait_copies<0>();
  __syncwarp();
  if (!l.missing) return;
  const float* const fill = global(s.fill);
  for (int i = static_cast<int>(threadIdx.x) % 32; i < C::p.cells.block * kPitch; i += 32) {
    const float x = b.look[i];
    b.values[i] = i % kPitch < l.n_x && x != x ? fill[i % kPitch] : x;
  }
  __syncwarp();
}

// Rows of the block times kGroup columns of kCount numbers each; column(i): that of this thread in tile i. c: tiles.
template <int kCount, int kTiles, int kGroup, class Column>
__device__ __forceinline__ void multiply_block(const TwoParts (&rows)[kTiles][4], const Column& column,
                                               float (&c)[kGroup][4]) {
  const int t = static_cast<int>(threadIdx.x) % 4;
  float low[kGroup][4] = {}, last[kGroup][4] = {};  // sums of their own: no product waits for another
#pragma unroll
  for (int k = 0; k < step_ceil(kCount, 8); ++k)
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      const float* const from = column(i) + t + 8 * k;
      const TwoParts first(8 * k + 4 <= kCount || 8 * k + t < kCount ? from[0] : 0.0F);
      const TwoParts second(8 * k + 8 <= kCount || 8 * k + 4 + t < kCount ? from[4] : 0.0F);
      const TwoParts(&r)[4] = rows[k];
      multiply(c[i], r[0].high, r[1].high, r[2].high, r[3].high, first.high, second.high);
      multiply(low[i], r[0].high, r[1].high, r[2].high, r[3].high, first.low, second.low);
      multiply(last[i], r[0].low, r[1].low, r[2].low, r[3].low, first.high, second.high);
    }
#pragma unroll
  for (int i = 0; i < kGroup; ++i)
#pragma unroll
    for (int n = 0; n < 4; ++n) c[i][n] += low[i][n] + last[i][n];
}

// What every leaf would have written and answered, by tensor cores.
template <class C>
__device__ __forceinline__ void ask_all_leaves(const StepBlock& b) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  constexpr CellPlaces places = p.cells;
  constexpr int kTiles = step_ceil(l.n_v, 8), kGroups = places.group / 8;
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
  TwoParts rows[kTiles][4];
  const float* const own = b.values + g * places.value_pitch + t;
#pragma unroll
  for (int k = 0; k < kTiles; ++k)
#pragma unroll
    for (int i = 0; i < 4; ++i) rows[k][i] = TwoParts(own[i % 2 * 8 * places.value_pitch + 8 * k + i / 2 * 4]);
  float* const to = b.rows + g * places.row_pitch + 2 * t;
  const auto put = [&](int column, const float(&c)[4]) {
    *reinterpret_cast<float2*>(to + column) = {c[0], c[1]};
    *reinterpret_cast<float2*>(to + column + 8 * places.row_pitch) = {c[2], c[3]};
  };
  const float* const leaves = step_memory() + p.leaf_rows;
#pragma unroll 1
  for (int leaf = 0; leaf < l.leaves; ++leaf) {
    const float* const row = leaves + leaf * p.row;
    float c[kGroups][4] = {};
    if (l.has_bias)
#pragma unroll
      for (int i = 0; i < kGroups; ++i) {
        c[i][0] = c[i][2] = row[p.bias + step_min(8 * i + 2 * t, l.n_m - 1)];
        c[i][1] = c[i][3] = row[p.bias + step_min(8 * i + 2 * t + 1, l.n_m - 1)];
      }
    multiply_block<l.n_w>(
        rows, [&](int i) { return row + p.writes + step_min(8 * i + g, l.n_m - 1) * p.write_pitch; }, c);
#pragma unroll
    for (int i = 0; i < kGroups; ++i) put(leaf * places.group + 8 * i, c[i]);
  }
  if (!l.linear) return;
  constexpr int kOutputs = l.leaves * l.n_g;
#pragma unroll 1
  for (int tile = 0; tile < step_ceil(kOutputs, 8); ++tile) {
    const auto row_at = [&](int output) { return leaves + step_min(output, kOutputs - 1) / l.n_g * p.row; };
    const auto y_of = [&](int output) { return step_min(output, kOutputs - 1) % l.n_g; };
    float c[1][4];
    c[0][0] = c[0][2] = row_at(8 * tile + 2 * t)[p.output + y_of(8 * tile + 2 * t)];
    c[0][1] = c[0][3] = row_at(8 * tile + 2 * t + 1)[p.output + y_of(8 * tile + 2 * t + 1)];
    multiply_block<l.n_v>(
        rows, [&](int) { return row_at(8 * tile + g) + p.linear + y_of(8 * tile + g) * p.linear_pitch; }, c);
    put(l.leaves * places.group + 8 * tile, c[0]);
  }
}

// Output y of a leaf at a step of the block.
template <class C>
__device__ __forceinline__ float block_output(const StepBlock& b, int step, int leaf, int y) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  const float* const row = step_memory() + p.leaf_rows + leaf * p.row;
  if (!l.linear) return row[p.output + y];
  if (p.cells.all_leaves) return b.rows[step * p.cells.row_pitch + leaf * l.n_g + y + l.leaves * p.cells.group];
  return quad_dot<l.n_v, 1>(row[p.output + y], row + p.linear + y * p.linear_pitch,
                            b.values + step * p.cells.value_pitch, 0);
}

// Derivatives by the outputs, a lane for each step, and what the outputs of each leaf are worth. later: in the
// first-order form, the derivatives of the steps behind the block. All lanes of the warp call this.
template <class C>
__device__ __forceinline__ void block_losses(const Start& s, const OwnSequence& own, const StepBlock& b, float* trace,
                                             float scale, float (&later)[C::l.n_g], LossSums& losses) {
  constexpr Layout l = C::l;
  constexpr CellPlaces places = C::p.cells;
  const int thread = static_cast<int>(threadIdx.x) % 32, step = thread % C::p.cells.block;
  float g[l.n_g] = {};
  if (thread < C::p.cells.block && step < b.count) {
    const int t = b.first + step;
#pragma unroll
    for (int y = 0; y < l.n_g; ++y)
      g[y] = l.first_order ? traced_at<C>(trace, t)[places.output + y] : block_output<C>(b, step, b.reached.x, y);
    step_derivative<C>(s, own.from + t, b.label, b.weight, scale, g, losses);
  }
  if (l.first_order)
#pragma unroll
    for (int y = 0; y < l.n_g; ++y) {
#pragma unroll
      for (int o = 1; o < C::p.cells.block; o *= 2) {
        const float more = __shfl_down_sync(kAll, g[y], o, C::p.cells.block);
        if (step + o < C::p.cells.block) g[y] += more;
      }
      g[y] += later[y];
      later[y] = __shfl_sync(kAll, g[y], 0);
    }
  if (thread >= C::p.cells.block) return;
#pragma unroll
  for (int y = 0; y < l.n_g; ++y) b.g[step * l.n_g + y] = g[y];
  if (!places.all_leaves) return;
  float* const worth = b.rows + step * places.row_pitch + l.leaves * places.group;  // takes the place of the outputs
#pragma unroll 4
  for (int leaf = 0; leaf < l.leaves; ++leaf) {
    float sum = 0.0F;
#pragma unroll
    for (int y = 0; y < l.n_g; ++y) sum = fmaf(g[y], block_output<C>(b, step, leaf, y), sum);
    worth[leaf] = sum;
  }
}

// What the outputs of a leaf are worth at a step: for all lanes of the step.
template <class C>
__device__ __forceinline__ float answer_worth(const StepBlock& b, int step, int leaf, int lane) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  if (p.cells.all_leaves) return b.rows[step * p.cells.row_pitch + leaf + l.leaves * p.cells.group];
  const float* const row = step_memory() + p.leaf_rows + leaf * p.row;
  const float* const g = b.g + step * l.n_g;
  float sum = 0.0F;
  for (int y = lane; y < l.n_g; y += p.cells.width) sum = fmaf(g[y], (row + y)[p.output], sum);
  if (l.linear)
#pragma unroll
    for (int f = 0; f < l.n_v; f += p.cells.width) {
      if (f + p.cells.width > l.n_v && f + lane >= l.n_v) continue;
      float by = 0.0F;
#pragma unroll
      for (int y = 0; y < l.n_g; ++y) by = fmaf(g[y], (row + lane)[p.linear + y * p.linear_pitch + f], by);
      sum = fmaf(by, (b.values + step * p.cells.value_pitch + lane)[f], sum);
    }
  return group_sum<p.cells.width>(sum);
}

// The argument of the tanh of a cell.
template <class C>
__device__ __forceinline__ float block_argument(const StepBlock& b, int step, int leaf, int cell) {
  constexpr Stepper p = C::p;
  if (p.cells.all_leaves) return b.rows[step * p.cells.row_pitch + leaf * p.cells.group + cell];
  const float* const row = step_memory() + p.leaf_rows + leaf * p.row;
  return quad_dot<C::l.n_w, 1>(C::l.has_bias ? row[p.bias + cell] : 0.0F, row + p.writes + cell * p.write_pitch,
                               b.values + step * p.cells.value_pitch, 0);
}

// What a leaf is worth to a cell, for q = 1. row: its numbers in the leaf's row begin here; gate, write, rate: the
// derivatives by those of the reached leaf.
template <class C>
__device__ __forceinline__ float write_worth(const float* row, float argument, float m, float gate, float write,
                                             float rate) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  if (l.effects) {
    const float u = tanh(argument), change = l.blends ? row[p.blend] * (u - m) : u;
    return row[p.gate_value] >= 0.0F ? change : 0.0F;
  }
  const float sum = fmaf(write, argument, gate * row[p.gate_value]);
  return l.blends ? fmaf(rate, row[p.rate_value], sum) : sum;
}

// The record of a step of the block, and of its entry what is known: columns, and derivatives by the outputs. All lanes
// of the warp call this. reached: the leaf, and the number of the entry.
template <class C>
__device__ __forceinline__ void write_map(const StepBlock& b, int step, const int2& reached, float* entries) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  constexpr CellPlaces places = p.cells;
  const CellLane<C> at;
  const int cell = at.has_cell() ? at.lane : 0, path = reached.x + l.leaves;
  float* const shared = step_memory();
  const float* const leaves = shared + p.leaf_rows + cell;
  const float* const row = leaves + reached.x * p.row;
  const float* const look = b.look + step * places.value_pitch;
  const float* const values = b.values + step * places.value_pitch;
  const auto* const nodes = reinterpret_cast<const float2*>(shared + p.nodes);
  const float argument = block_argument<C>(b, step, reached.x, cell), m = (values + cell)[l.n_x];
  const float u = tanh(argument), own_gate = row[p.gate_value];
  const bool open = own_gate >= 0.0F;
  const float a = l.blends ? row[p.blend] : 1.0F, change = l.blends ? a * (u - m) : u;
  const float gate = change * row[p.slope], write = open ? a * (1.0F - u * u) : 0.0F;
  const float rate = l.blends && open ? change * (1.0F - a) : 0.0F;
  float into = 0.0F;
  if (l.linear)
#pragma unroll
    for (int y = 0; y < l.n_g; ++y)
      into = fmaf(b.g[step * l.n_g + y], row[p.linear + y * p.linear_pitch + l.n_x], into);
  const float here = write_worth<C>(row, argument, m, gate, write, rate);
  const float answer = answer_worth<C>(b, step, reached.x, at.lane);
  float slopes[at_least_one(l.depth)], base[at_least_one(l.depth)];
  int features[at_least_one(l.depth)];
#pragma unroll
  for (int d = 0; d < l.depth; ++d) {
    int other = path >> (l.depth - 1 - d) ^ 1;
#pragma unroll
    for (int down = d + 1; down < l.depth; ++down) other = child_of<C>(nodes, look, other);
    other -= l.leaves;
    const float2 node = nodes[path >> (l.depth - d)];
    features[d] = row_of<C>(node);
    const float value = look[features[d]];
    float by = split_slope(l, value - node.x);
    if ((path >> (l.depth - 1 - d) & 1) == 0) by = -by;
    if (l.missing) by = value == value ? by : 0.0F;
    const float there =
        write_worth<C>(leaves + other * p.row, block_argument<C>(b, step, other, cell), m, gate, write, rate);
    slopes[d] = by * (here - there);
    base[d] = by * (answer - answer_worth<C>(b, step, other, at.lane));
  }
  __syncwarp();  // the record takes the place of what was read
  if (step >= b.count) return;
  float* const record = b.rows + step * places.row_pitch;
  const auto put = [&](int to, float x) { (record + at.lane)[to] = at.has_cell() ? x : 0.0F; };
  if (at.lane < places.padded) {
    put(places.write, write);
    put(places.gate, gate);
    if (l.blends) put(places.rate, rate);
    if (l.linear) put(places.into, into);
#pragma unroll
    for (int d = 0; d < l.depth; ++d) put(places.slopes + d * places.padded, slopes[d]);
  }
#pragma unroll
  for (int d = 0; d < l.depth; ++d)
    if (at.lane == d)
      *reinterpret_cast<float2*>(record + places.splits + 2 * d) = {base[d], __int_as_float(features[d])};
  if (at.lane == 0) *reinterpret_cast<int2*>(record + places.reached) = reached;
  float* const to = entries + static_cast<std::size_t>(reached.y) * p.entry + at.lane;
#pragma unroll
  for (int f = 0; f < l.n_v; f += places.width)
    if (f + at.lane < l.n_v) __stcs(to + p.columns + f, (values + at.lane)[f]);
#pragma unroll
  for (int y = 0; y < l.n_g; y += places.width)
    if (y + at.lane < l.n_g) __stcs(to + p.g + y, (b.g + step * l.n_g + at.lane)[y]);
}

// The records of the block. All lanes of the warp call this.
template <class C>
__device__ __forceinline__ void map_block(const Start& s, const OwnSequence& own, const StepBlock& b, float* trace,
                                          float* entries, float scale, float (&later)[C::l.n_g], LossSums& losses) {
  const CellLane<C> at;
  if (C::p.cells.all_leaves) {
    ask_all_leaves<C>(b);
    __syncwarp();
  }
  block_losses<C>(s, own, b, trace, scale, later, losses);
  const int entry = ints<C>(step_memory(), C::p.counts)[own_place<C>() * C::l.leaves + b.reached.x] + b.reached.y;
  __syncwarp();
  // Two steps at a time, with one between them: their rows then lie in different banks.
#pragma unroll 1
  for (int i = 0; i < C::p.cells.block / at.kHalves; ++i) {
    const int first = at.kHalves == 2 ? i / 2 * 4 + i % 2 : i, step = first + 2 * at.half;
    if (first >= b.count) continue;
    write_map<C>(b, step, {__shfl_sync(kAll, b.reached.x, step), __shfl_sync(kAll, entry, step)}, entries);
  }
  __syncwarp();
}

}  // namespace remede::cuda

// Both passes of the stepwise form (stepper.h) for many cells: a lane for each. Inputs, outputs and the path are
// shared.
#pragma once

#include "remede/executor/cuda/step_backward.cuh"

namespace remede::cuda {

// Inputs of a step that a lane loads: f, f + lanes, ...
template <class C>
inline constexpr int kOwnInputs = step_ceil(C::l.n_x, C::p.lanes);

// The sequence of a group of lanes, and what of shared memory is its own.
template <class C>
struct CellPlace {
  int lane;
  float *look, *values, *writing;
  const float* rows;
  const float2* nodes;
  __device__ __forceinline__ CellPlace() {
    constexpr Stepper p = C::p;
    float* const shared = step_memory();
    const int place = own_place<C>();
    lane = static_cast<int>(threadIdx.x) % p.lanes;
    look = shared + p.look + place * p.look_next;
    values = shared + p.values + place * p.look_next;
    writing = shared + p.writing + place * step_up(C::l.n_m, 4);
    rows = shared + p.leaf_rows;
    nodes = reinterpret_cast<const float2*>(shared + p.nodes);
  }
  __device__ __forceinline__ bool has_cell() const { return lane < C::l.n_m; }
};

template <class C>
__device__ __forceinline__ float* traced_at(float* trace, int t) {
  return trace + (static_cast<std::size_t>(t) * C::p.sequences + own_place<C>()) * C::p.trace;
}

// Inputs of step t, where there is one.
template <class C>
__device__ __forceinline__ void load_inputs(const OwnSequence& own, int lane, int t, float (&x)[kOwnInputs<C>]) {
  if (t < 0 || t >= own.length) return;
#pragma unroll
  for (int i = 0; i < kOwnInputs<C>; ++i)
    if (i * C::p.lanes + lane < C::l.n_x) x[i] = own.x[static_cast<std::size_t>(t) * C::l.n_x + i * C::p.lanes + lane];
}

// Puts inputs and memory where all lanes see them; the caller waits.
template <class C>
__device__ __forceinline__ void show_values(const CellPlace<C>& at, const float (&x)[kOwnInputs<C>], float m,
                                            const float* fill) {
  constexpr Layout l = C::l;
#pragma unroll
  for (int i = 0; i < kOwnInputs<C>; ++i) {
    const int f = i * C::p.lanes + at.lane;
    if (f >= l.n_x) continue;
    at.look[f] = x[i];
    if (l.missing) at.values[f] = x[i] != x[i] ? fill[f] : x[i];
  }
  if (at.has_cell()) {
    at.look[l.n_x + at.lane] = m;
    if (l.missing) at.values[l.n_x + at.lane] = m;
  }
}

// row . values over kCount numbers, by quads; what is behind them is 0 in the row.
template <int kCount>
__device__ __forceinline__ float quad_dot(float sum, const float* row, const float* values) {
  float4 a = {sum, 0.0F, 0.0F, 0.0F};
#pragma unroll
  for (int i = 0; i < (kCount + 3) / 4; ++i) {
    const float4 w = reinterpret_cast<const float4*>(row)[i], v = reinterpret_cast<const float4*>(values)[i];
    a.x = fmaf(w.x, v.x, a.x);
    a.y = fmaf(w.y, v.y, a.y);
    a.z = fmaf(w.z, v.z, a.z);
    a.w = fmaf(w.w, v.w, a.w);
  }
  return (a.x + a.y) + (a.z + a.w);
}

// The argument of the tanh of this lane's cell in the leaf with this row.
template <class C>
__device__ __forceinline__ float cell_argument(const CellPlace<C>& at, const float* row) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  if (!at.has_cell()) return 0.0F;
  return quad_dot<l.n_w>(l.has_bias ? row[p.bias + at.lane] : 0.0F, row + p.writes + at.lane * p.write_pitch,
                         at.values);
}

template <class C>
__device__ __forceinline__ float lanes_sum(float x) {
  return group_sum<C::p.lanes>(x);
}

// Output y of the leaf with this row, for all lanes.
template <class C>
__device__ __forceinline__ float cell_output(const CellPlace<C>& at, const float* row, int y) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  if (!l.linear) return row[p.output + y];
  float part = 0.0F;
#pragma unroll
  for (int f = 0; f < l.n_v; f += p.lanes)
    if (f + at.lane < l.n_v)
      part = fmaf(row[p.linear + y * p.linear_pitch + f + at.lane], at.values[f + at.lane], part);
  return row[p.output + y] + lanes_sum<C>(part);
}

template <class C>
__device__ __noinline__ void cells_forward(const Start& s, const Chunk& chunk) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  const CellPlace<C> at;
  const OwnSequence own = own_sequence<C>(s, chunk);
  const float* const fill = global(s.fill);
  float* const trace = global(s.records);
  std::int32_t* const counts = ints<C>(step_memory(), p.counts) + threadIdx.x / 32 * l.leaves;
  const bool carried = own.length > 0 && at.has_cell();
  float m = carried && s.before != nullptr ? s.before[static_cast<std::size_t>(own.sequence) * l.n_m + at.lane] : 0.0F;
  float x[kOwnInputs<C>] = {}, y[l.n_y] = {};
  load_inputs<C>(own, at.lane, 0, x);
  const int most = most_of_warp<1>(own.length);
  for (int t = 0; t < most; ++t) {
    const bool active = t < own.length;
    if (active) show_values<C>(at, x, m, fill);
    load_inputs<C>(own, at.lane, t + 1, x);
    __syncwarp();
    int i = 1;
#pragma unroll
    for (int d = 0; d < l.depth; ++d) i = child_of<C>(at.nodes, at.look, i);
    const int j = i - l.leaves;
    const float* const row = at.rows + j * p.row;
    const float argument = cell_argument<C>(at, row);
    float* const to = traced_at<C>(trace, t);
    if (l.first_order)
#pragma unroll
      for (int k = 0; k < l.n_y; ++k) {
        y[k] += cell_output<C>(at, row, k);
        if (active && at.lane == 0) to[2 * l.n_m + 1 + k] = y[k];
      }
    if (active) {
      if (at.lane == 0) {
        reinterpret_cast<std::int32_t*>(to)[2 * l.n_m] = j;
        atomicAdd(counts + j, 1);
      }
      if (at.has_cell()) {
        to[at.lane] = m;
        to[l.n_m + at.lane] = argument;
        const float u = tanh(argument), change = l.blends ? row[p.blend + at.lane] * (u - m) : u;
        if (row[p.gate_value + at.lane] >= 0.0F) m += change;
      }
    }
    __syncwarp();
  }
  if (carried && s.after != nullptr) s.after[static_cast<std::size_t>(own.sequence) * l.n_m + at.lane] = m;
}

// What a step back begins with, of one lane.
template <class C>
struct CellTraced {
  float x[kOwnInputs<C>] = {};
  float m = 0.0F, argument = 0.0F, weight = 0.0F;
  int leaf = 0, label = 0;
};

template <class C>
__device__ __forceinline__ void load_cell(const Start& s, const CellPlace<C>& at, const OwnSequence& own, float* trace,
                                          int t, CellTraced<C>& to) {
  constexpr Layout l = C::l;
  if (t < 0 || t >= own.length) return;
  load_inputs<C>(own, at.lane, t, to.x);
  const float* const from = traced_at<C>(trace, t);
  if (at.has_cell()) {
    to.m = from[at.lane];
    to.argument = from[l.n_m + at.lane];
  }
  to.leaf = reinterpret_cast<const std::int32_t*>(from)[2 * l.n_m];
  to.weight = s.data.weight[own.from + t];
  if (C::loss == Loss::kCrossEntropy) to.label = s.data.label[own.from + t];
}

// Derivatives by the numbers of this lane's cell in the reached leaf.
struct CellDerivatives {
  float gate = 0.0F, write = 0.0F, rate = 0.0F;
};

// This lane's part of what a leaf is worth.
template <class C>
__device__ __forceinline__ float cell_part(const CellPlace<C>& at, const float* row, float argument, float m, float q,
                                           const CellDerivatives& c, const float (&g)[C::l.n_y]) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  float sum = 0.0F;
#pragma unroll
  for (int y = 0; y < l.n_y; ++y)
    if (at.lane == y % p.lanes) sum = fmaf(g[y], row[p.output + y], sum);
  if (l.linear)
#pragma unroll
    for (int f = 0; f < l.n_v; f += p.lanes) {
      if (f + at.lane >= l.n_v) continue;
      float by = 0.0F;
#pragma unroll
      for (int y = 0; y < l.n_y; ++y) by = fmaf(g[y], row[p.linear + y * p.linear_pitch + f + at.lane], by);
      sum = fmaf(by, at.values[f + at.lane], sum);
    }
  if (!at.has_cell()) return sum;
  const float gate = row[p.gate_value + at.lane];
  if (l.effects) {
    const float u = tanh(argument), change = l.blends ? row[p.blend + at.lane] * (u - m) : u;
    return gate >= 0.0F ? fmaf(q, change, sum) : sum;
  }
  sum = fmaf(c.gate, gate, sum);
  if (l.blends) sum = fmaf(c.rate, row[p.rate_value + at.lane], sum);
  return fmaf(c.write, argument, sum);
}

// The derivatives by this lane's cell; returns what goes through the reached leaf into its memory. All lanes of the
// warp call this.
template <class C>
__device__ __forceinline__ float through_cell(const CellPlace<C>& at, const float* row, const CellTraced<C>& now,
                                              float q, const float (&g)[C::l.n_y], CellDerivatives& c) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  float back = 0.0F;
  if (at.has_cell()) {
    const float u = tanh(now.argument);
    const bool open = row[p.gate_value + at.lane] >= 0.0F;
    const float a = l.blends ? row[p.blend + at.lane] : 1.0F, change = l.blends ? a * (u - now.m) : u;
    c.gate = q * change * row[p.slope + at.lane];
    c.write = open ? q * a * (1.0F - u * u) : 0.0F;
    c.rate = l.blends && open ? q * change * (1.0F - a) : 0.0F;
    back = l.blends && open ? q * (1.0F - a) : q;
    at.writing[at.lane] = c.write;
  }
  __syncwarp();
  if (!at.has_cell()) return back;
  if (l.reads_memory) {
    float sums[4] = {back, 0.0F, 0.0F, 0.0F};
#pragma unroll
    for (int i = 0; i < l.n_m; ++i)
      sums[i % 4] = fmaf(at.writing[i], row[p.writes + i * p.write_pitch + l.n_x + at.lane], sums[i % 4]);
    back = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
  if (l.linear)
#pragma unroll
    for (int y = 0; y < l.n_y; ++y) back = fmaf(g[y], row[p.linear + y * p.linear_pitch + l.n_x + at.lane], back);
  return back;
}

template <class C>
__device__ __forceinline__ void write_cell_entry(const CellPlace<C>& at, float* to, const CellDerivatives& c,
                                                 const float (&g)[C::l.n_y], const float* splits) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  if (at.has_cell()) {
    to[p.write + at.lane] = c.write;
    to[p.gate + at.lane] = c.gate;
    if (l.blends) to[p.rate + at.lane] = c.rate;
  }
#pragma unroll
  for (int d = 0; d < l.depth; ++d)
    if (at.lane == d % p.lanes) to[p.split + d] = splits[d];
#pragma unroll
  for (int y = 0; y < l.n_y; ++y)
    if (at.lane == y % p.lanes) to[p.g + y] = g[y];
#pragma unroll
  for (int f = 0; f < l.n_v; f += p.lanes)
    if (f + at.lane < l.n_v) to[p.columns + f + at.lane] = at.values[f + at.lane];
}

template <class C>
__device__ __noinline__ LossSums cells_backward(const Start& s, const Chunk& chunk, float scale) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  const CellPlace<C> at;
  const OwnSequence own = own_sequence<C>(s, chunk);
  const float* const fill = global(s.fill);
  float* const trace = global(s.records);
  float* const entries = step_entries<C>(s);
  std::int32_t* const counts = ints<C>(step_memory(), p.counts) + threadIdx.x / 32 * l.leaves;
  LossSums losses;
  float q = 0.0F, later[l.n_y] = {};
  const int most = most_of_warp<1>(own.length);
  CellTraced<C> next;
  load_cell<C>(s, at, own, trace, most - 1, next);
  for (int t = most - 1; t >= 0; --t) {
    const bool active = t < own.length;
    const CellTraced<C> now = next;
    load_cell<C>(s, at, own, trace, t - 1, next);
    const int entry = next_entry<C>(counts, now.leaf, active && at.lane == 0);
    if (active) show_values<C>(at, now.x, now.m, fill);
    __syncwarp();
    const float* const row = at.rows + now.leaf * p.row;
    float g[l.n_y], splits[at_least_one(l.depth)];
#pragma unroll
    for (int y = 0; y < l.n_y; ++y) {
      if (l.first_order)
        g[y] = active ? traced_at<C>(trace, t)[2 * l.n_m + 1 + y] : 0.0F;
      else
        g[y] = cell_output<C>(at, row, y);
    }
    step_derivative<C>(s, own.from + t, now.label, active ? now.weight : 0.0F, scale, g, losses);
    if (l.first_order)
#pragma unroll
      for (int y = 0; y < l.n_y; ++y) g[y] = later[y] += g[y];
    CellDerivatives c;
    float back = through_cell<C>(at, row, now, q, g, c);
    const float here = cell_part<C>(at, row, now.argument, now.m, q, c, g);
    const int path = now.leaf + l.leaves;
#pragma unroll
    for (int d = 0; d < l.depth; ++d) {
      int other = path >> (l.depth - 1 - d) ^ 1;
#pragma unroll
      for (int down = d + 1; down < l.depth; ++down) other = child_of<C>(at.nodes, at.look, other);
      const float* const other_row = at.rows + (other - l.leaves) * p.row;
      const float argument = cell_argument<C>(at, other_row);
      const float apart = lanes_sum<C>(here - cell_part<C>(at, other_row, argument, now.m, q, c, g));
      const float2 node = at.nodes[path >> (l.depth - d)];
      const int feature = row_of<C>(node);
      const float value = at.look[feature];
      float by = split_slope(l, value - node.x) * ((path >> (l.depth - 1 - d) & 1) != 0 ? apart : -apart);
      if (l.missing) by = value == value ? by : 0.0F;
      splits[d] = by;
      if (feature == l.n_x + at.lane) back += by;
    }
    if (active) write_cell_entry<C>(at, entries + static_cast<std::size_t>(entry) * p.entry, c, g, splits);
    q = active && at.has_cell() ? fminf(fmaxf(back, -kMostBack), kMostBack) : 0.0F;
    __syncwarp();
  }
  return losses;
}

}  // namespace remede::cuda

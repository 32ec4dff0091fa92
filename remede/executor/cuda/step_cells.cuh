// The forward pass of the stepwise form (stepper.h) for many cells. A warp has a sequence and a lane for each cell;
// with 16 cells or fewer, two lanes share one. step_maps.cuh and step_back.cuh go back.
#pragma once

#include "remede/executor/cuda/step_sums.cuh"

namespace remede::cuda {

// A thread's place among those of its sequence.
template <class C>
struct CellLane {
  static constexpr int kHalves = 32 / C::p.cells.width;
  int thread, lane, half;  // lane: the cell
  __device__ __forceinline__ CellLane() {
    thread = static_cast<int>(threadIdx.x) % 32;
    lane = thread % C::p.cells.width;
    half = thread / C::p.cells.width;
  }
  __device__ __forceinline__ bool has_cell() const { return lane < C::l.n_m; }
};

template <class C>
__device__ __forceinline__ float* traced_at(float* trace, int t) {
  return trace + (static_cast<std::size_t>(t) * C::p.sequences + own_place<C>()) * C::p.trace;
}

// Begins to copy four bytes from the device's memory to shared memory. REQUIRES: both aligned to four bytes.
__device__ __forceinline__ void copy_later(void* to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(from)
               : "memory");
}
// Copies that were begun since the last call are a group; wait_copies() waits for all groups but the last kLast.
__device__ __forceinline__ void group_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kLast>
__device__ __forceinline__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLast) : "memory");
}

// Quads `first`, first + kEvery, ... of row . values over kCount numbers; what is behind them is 0 in the row.
template <int kCount, int kEvery>
__device__ __forceinline__ float quad_dot(float sum, const float* row, const float* values, int first) {
  constexpr int kQuads = (kCount + 3) / 4;
  const auto* const w = reinterpret_cast<const float4*>(row) + first;
  const auto* const v = reinterpret_cast<const float4*>(values) + first;
  float4 a = {sum, 0.0F, 0.0F, 0.0F};
#pragma unroll
  for (int i = 0; i < kQuads; i += kEvery) {
    if (i + kEvery > kQuads && i + first >= kQuads) break;
    a.x = fmaf(w[i].x, v[i].x, a.x);
    a.y = fmaf(w[i].y, v[i].y, a.y);
    a.z = fmaf(w[i].z, v[i].z, a.z);
    a.w = fmaf(w[i].w, v[i].w, a.w);
  }
  return (a.x + a.y) + (a.z + a.w);
}

// The leaf that a warp's sequence reaches. Lanes compare the nodes of the first five levels at the same time; top: that
// of this lane.
template <class C>
__device__ __forceinline__ int descend_warp(const float2& top, const float2* nodes, const float* look) {
  constexpr Layout l = C::l;
  constexpr int kTop = step_min(l.depth, 5);
  int i = 1;
  if (kTop > 0) {
    const unsigned right = __ballot_sync(kAll, goes_right(l, top, look[row_of<C>(top)]) != 0);
#pragma unroll
    for (int d = 0; d < kTop; ++d) i = 2 * i + static_cast<int>(right >> (i - 1) & 1);
  }
#pragma unroll
  for (int d = kTop; d < l.depth; ++d) i = child_of<C>(nodes, look, i);
  return i - l.leaves;
}

// Output y of the leaf with this row, for all lanes of a warp.
template <class C>
__device__ __forceinline__ float warp_output(const float* row, const float* values, int thread, int y) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  if (!l.linear) return row[p.output + y];
  float part = 0.0F;
#pragma unroll
  for (int f = 0; f < l.n_v; f += 32)
    if (f + thread < l.n_v) part = fmaf(row[p.linear + y * p.linear_pitch + f + thread], values[f + thread], part);
  return row[p.output + y] + group_sum<32>(part);
}

// Counts the steps of each leaf: those of a sequence for themselves.
template <class C>
__device__ __noinline__ void cells_forward(const Start& s, const Chunk& chunk) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  const CellLane<C> at;
  const int place = own_place<C>(), cell = at.has_cell() ? at.lane : 0;
  const OwnSequence own = own_sequence<C>(s, chunk);
  float* const shared = step_memory();
  const float* const fill = global(s.fill);
  float* to = traced_at<C>(global(s.records), 0);
  std::int32_t* const counts = ints<C>(shared, p.counts) + place * l.leaves;
  const auto* const nodes = reinterpret_cast<const float2*>(shared + p.nodes);
  const float2 top = at.thread + 1 < step_min(l.leaves, 32) ? nodes[at.thread + 1] : float2{0.0F, 0.0F};
  // Steps take turns between the places of a ring: inputs arrive there while the steps before are being made.
  float* const looks = shared + p.look + place * (kInputRing * p.look_next);
  float* const filled = shared + p.values + place * (kInputRing * p.look_next);
  const float* const own_rows = shared + p.leaf_rows + cell;
  const float* const own_writes = shared + p.leaf_rows + p.writes + cell * p.write_pitch;
  const auto fetch = [&](int t) {
    if (t < own.length)
#pragma unroll
      for (int f = 0; f < l.n_x; f += 32)
        if (f + at.thread < l.n_x)
          copy_later(looks + t % kInputRing * p.look_next + f + at.thread,
                     own.x + static_cast<std::size_t>(t) * l.n_x + f + at.thread);
    group_copies();
  };
  const bool carried = own.length > 0 && at.has_cell();
  float m = carried && s.before != nullptr ? s.before[static_cast<std::size_t>(own.sequence) * l.n_m + at.lane] : 0.0F;
  int count = 0;  // of the leaf with this lane's number, where there are no more than lanes
  float y[l.n_g] = {};
#pragma unroll
  for (int t = 0; t < kInputRing - 1; ++t) fetch(t);
  for (int t = 0; t < own.length; ++t, to += p.sequences * p.trace) {
    float* const look = looks + (t & (kInputRing - 1)) * p.look_next;
    float* const values = filled + (t & (kInputRing - 1)) * p.look_next;
    if (at.has_cell()) {  // both lanes of a cell write the same
      (look + at.lane)[l.n_x] = m;
      if (l.missing) (values + at.lane)[l.n_x] = m;
      to[at.lane] = m;
    }
    wait_copies<kInputRing - 2>();
    if (l.missing)
#pragma unroll
      for (int f = 0; f < l.n_x; f += 32)
        if (f + at.thread < l.n_x) {  // this lane's own copy
          const float x = look[f + at.thread];
          values[f + at.thread] = x != x ? fill[f + at.thread] : x;
        }
    __syncwarp();
    fetch(t + kInputRing - 1);
    const int j = descend_warp<C>(top, nodes, look);
    const float* const row = own_rows + j * p.row;
    float argument = quad_dot<l.n_w, at.kHalves>(l.has_bias && at.half == 0 ? row[p.bias] : 0.0F,
                                                 own_writes + j * p.row, values, at.half);
    if (at.kHalves == 2) argument += __shfl_xor_sync(kAll, argument, 16);
    if (l.leaves > 32) {
      if (at.thread == 0) *reinterpret_cast<int2*>(to + p.cells.leaf) = {j, atomicAdd(counts + j, 1)};
    } else if (at.thread == j) {
      *reinterpret_cast<int2*>(to + p.cells.leaf) = {j, count++};
    }
    if (l.first_order)
#pragma unroll
      for (int k = 0; k < l.n_g; ++k) {
        y[k] += warp_output<C>(shared + p.leaf_rows + j * p.row, values, at.thread, k);
        if (at.thread == 0) to[p.cells.output + k] = y[k];
      }
    const float u = tanh(argument), change = l.blends ? row[p.blend] * (u - m) : u;
    if (row[p.gate_value] >= 0.0F) m += change;
  }
  wait_copies<0>();
  if (l.leaves <= 32 && at.thread < l.leaves) counts[at.thread] = count;
  if (carried && at.half == 0 && s.after != nullptr)
    s.after[static_cast<std::size_t>(own.sequence) * l.n_m + at.lane] = m;
}

}  // namespace remede::cuda

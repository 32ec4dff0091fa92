// Going back for many cells, second part: q goes from step to step (step_maps.cuh), and the entries are completed.
#pragma once

#include "remede/executor/cuda/step_maps.cuh"

namespace remede::cuda {

// What of a record a lane needs before q; loaded a step ahead.
template <class C>
struct OwnRecord {
  static constexpr int kHalves = CellLane<C>::kHalves, kQuads = C::p.cells.padded / 4;
  static constexpr int kOwn = step_ceil(kQuads, kHalves);  // of a cell's two lanes, each takes every other quad
  float write = 0.0F, into = 0.0F, keep, base[at_least_one(C::l.depth)], weight[4 * kOwn];
  int feature[at_least_one(C::l.depth)], entry;

  // leaves: this lane's numbers in the row of the first leaf begin there.
  __device__ __forceinline__ void load(const CellLane<C>& at, const float* record, const float* leaves) {
    constexpr Layout l = C::l;
    constexpr Stepper p = C::p;
    constexpr CellPlaces places = C::p.cells;
    const int2 reached = *reinterpret_cast<const int2*>(record + places.reached);
    const float* const own = record + at.lane;
    entry = reached.y;
    if (at.lane < places.padded) {
      write = own[places.write];
      if (l.linear) into = own[places.into];
    }
#pragma unroll
    for (int d = 0; d < l.depth; ++d) {
      const float2 split = reinterpret_cast<const float2*>(record + places.splits)[d];
      base[d] = split.x;
      feature[d] = __float_as_int(split.y);
    }
    const float* const row = leaves + reached.x * p.row;
    const float blend = l.blends ? row[p.blend] : 0.0F;
    keep = row[p.gate_value] >= 0.0F ? 1.0F - blend : 1.0F;
    const float* const weights = row + 4 * at.half * p.write_pitch;
#pragma unroll
    for (int i = 0; i < 4 * kOwn; ++i) {
      const int from = i / 4 * 4 * kHalves + i % 4;  // cell of the first half
      weight[i] = 0.0F;
      if (l.reads_memory && (from + 4 * (kHalves - 1) < l.n_m || from + 4 * at.half < l.n_m))
        weight[i] = weights[p.writes + l.n_x + from * p.write_pitch];
    }
  }
};

// q through the steps of a block, from the last to the first. All lanes of the warp call this.
template <class C>
__device__ __forceinline__ float block_back(const StepBlock& b, float* entries, float q) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  constexpr CellPlaces places = p.cells;
  using Own = OwnRecord<C>;
  const CellLane<C> at;
  const int cell = at.has_cell() ? at.lane : 0;
  float* const shared = step_memory();
  float* const exchange = shared + places.exchange + own_place<C>() * (4 * places.padded);
  const float* const leaves = shared + p.leaf_rows + cell;
  const float* record = b.rows + (b.count - 1) * places.row_pitch;
  Own next;
  next.load(at, record, leaves);
#pragma unroll 1
  for (int step = b.count - 1; step >= 0; --step, record -= places.row_pitch) {
    const Own now = next;
    const float write = q * now.write;
    float* const shown = exchange + (step & 1) * 2 * places.padded;  // steps take turns between two places
    if (at.lane < places.padded) {
      if (at.half == 0) (shown + at.lane)[0] = q;
      if (at.half == Own::kHalves - 1) (shown + at.lane)[places.padded] = write;
    }
    __syncwarp();
    float sums[4] = {at.half == 0 ? fmaf(q, now.keep, now.into) : 0.0F, 0.0F, 0.0F, 0.0F}, by[at_least_one(l.depth)];
#pragma unroll
    for (int d = 0; d < l.depth; ++d) by[d] = at.half == 0 ? now.base[d] : 0.0F;
    const auto* const handed = reinterpret_cast<const float4*>(shown) + at.half;
    const auto* const slopes = reinterpret_cast<const float4*>(record + places.slopes) + at.half;
#pragma unroll
    for (int i = 0; i < Own::kOwn; ++i) {
      const int quad = i * Own::kHalves;
      if (quad + Own::kHalves > Own::kQuads && quad + at.half >= Own::kQuads) break;
      if (l.reads_memory) {
        const float4 w = handed[quad + Own::kQuads];
        sums[0] = fmaf(w.x, now.weight[4 * i], sums[0]);
        sums[1] = fmaf(w.y, now.weight[4 * i + 1], sums[1]);
        sums[2] = fmaf(w.z, now.weight[4 * i + 2], sums[2]);
        sums[3] = fmaf(w.w, now.weight[4 * i + 3], sums[3]);
      }
      const float4 from = handed[quad];
#pragma unroll
      for (int d = 0; d < l.depth; ++d) {
        const float4 slope = slopes[quad + d * Own::kQuads];
        const float first = fmaf(from.y, slope.y, from.x * slope.x), second = fmaf(from.w, slope.w, from.z * slope.z);
        by[d] += first + second;
      }
    }
    float back = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    if (step > 0) next.load(at, record - places.row_pitch, leaves);
    if (Own::kHalves == 2) {
      back += __shfl_xor_sync(kAll, back, 16);
#pragma unroll
      for (int d = 0; d < l.depth; ++d) by[d] += __shfl_xor_sync(kAll, by[d], 16);
    }
    float own_split = 0.0F;
#pragma unroll
    for (int d = 0; d < l.depth; ++d) {
      if (now.feature[d] == l.n_x + at.lane) back += by[d];
      if (at.thread == d) own_split = by[d];
    }
    float* const to = entries + static_cast<std::size_t>(now.entry) * p.entry + at.lane;
    const float* const own = record + at.lane;
    if (at.has_cell()) {
      if (at.half == 0) __stcs(to + p.write, write);
      if (at.half == Own::kHalves - 1) __stcs(to + p.gate, q * own[places.gate]);
      if (l.blends && at.half == 0) __stcs(to + p.rate, q * own[places.rate]);
    }
    if (at.thread < l.depth) __stcs(to + p.split, own_split);
    q = at.has_cell() ? fminf(fmaxf(back, -kMostBack), kMostBack) : 0.0F;
  }
  __syncwarp();
  return q;
}

// REQUIRES: order_leaves() was called after the forward pass of this chunk.
template <class C>
__device__ __noinline__ LossSums cells_back(const Start& s, const Chunk& chunk, float scale) {
  LossSums losses;
  const OwnSequence own = own_sequence<C>(s, chunk);
  if (own.length == 0) return losses;
  float* const trace = global(s.records);
  float* const entries = step_entries<C>(s);
  StepBlock b = own_block<C>();
  // What lies behind the inputs and memory of a step is 0, and what has no step is finite.
  for (int i = static_cast<int>(threadIdx.x) % 32; i < C::p.cells.floats; i += 32) b.values[i] = 0.0F;
  __syncwarp();
  float later[C::l.n_g] = {}, q = 0.0F;
  load_block<C>(s, own, trace, (own.length - 1) / C::p.cells.block * C::p.cells.block, b);
#pragma unroll 1
  while (b.first >= 0) {
    wait_block<C>(s, b);
    map_block<C>(s, own, b, trace, entries, scale, later, losses);
    const StepBlock now = b;
    load_block<C>(s, own, trace, b.first - C::p.cells.block, b);  // arrives while q goes through the steps
    q = block_back<C>(now, entries, q);
  }
  return losses;
}

}  // namespace remede::cuda

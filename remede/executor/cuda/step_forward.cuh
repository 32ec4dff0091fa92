// The forward pass of the stepwise form (stepper.h): lanes of a sequence do the same. Counts the entries of each leaf.
//
// C is what a kernel is compiled for: C::l (Layout), C::p (Stepper), C::loss (Loss).
#pragma once

#include "remede/executor/cuda/phases.cuh"
#include "remede/executor/cuda/stepper.h"

namespace remede::cuda {

// Each phase is a function of its own: what one keeps in registers is then no burden to the others. It finds the shared
// memory by itself, since the compiler knows where it is only then.
__device__ __forceinline__ float* step_memory() { return reinterpret_cast<float*>(dynamic_shared); }

// The sequence of a thread.
struct OwnSequence {
  std::uint32_t sequence = 0;
  int length = 0;
  const float* x = nullptr;  // (length, n_x)
  std::int64_t from = 0;     // first step
};

template <class C>
__device__ __forceinline__ int own_place() {
  return static_cast<int>(threadIdx.x) / C::p.lanes;
}

template <class C>
__device__ __forceinline__ OwnSequence sequence_at(const Start& s, const Chunk& chunk, int place) {
  OwnSequence own;
  if (static_cast<std::uint32_t>(place) >= chunk.count) return own;
  const Entry entry = global(s.entries)[chunk.first + static_cast<std::uint32_t>(place)];
  const Span span = global(s.data.spans)[entry.sequence];
  own.sequence = entry.sequence;
  own.from = span.first;
  own.length = static_cast<int>(span.length);
  own.x =
      s.noisy != nullptr ? s.noisy + static_cast<std::size_t>(entry.base) * C::l.n_x : s.data.x + own.from * C::l.n_x;
  return own;
}

template <class C>
__device__ __forceinline__ OwnSequence own_sequence(const Start& s, const Chunk& chunk) {
  return sequence_at<C>(s, chunk, own_place<C>());
}

// Arrays have at least one element.
constexpr int at_least_one(int n) { return n > 0 ? n : 1; }

// Quads of a leaf's row that hold the numbers kBegin .. kEnd.
template <int kBegin, int kEnd, int N>
__device__ __forceinline__ void load_row(const float* row, float (&to)[N]) {
#pragma unroll
  for (int i = kBegin / 4; i < (kEnd + 3) / 4; ++i) {
    const float4 four = reinterpret_cast<const float4*>(row)[i];
    to[4 * i] = four.x, to[4 * i + 1] = four.y, to[4 * i + 2] = four.z, to[4 * i + 3] = four.w;
  }
}

// A node in shared memory: its threshold, and the place of its feature's row with the side of missing values.
template <class C>
__device__ __forceinline__ int row_of(const float2& node) {
  return C::l.missing ? __float_as_int(node.y) & 0xffffff : __float_as_int(node.y);
}

// The child of node i, both as in a heap. look: the column of a sequence.
template <class C>
__device__ __forceinline__ int child_of(const float2* nodes, const float* look, int i) {
  constexpr Layout l = C::l;
  const float2 node = nodes[i];
  return 2 * i + goes_right(l, node, look[row_of<C>(node)]);
}

// The argument of the tanh of cell k. r: the row of the leaf, v: inputs and memory.
template <class C, int N, int M>
__device__ __forceinline__ float write_argument(const float (&r)[N], const float (&v)[M], int k) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  float a = l.has_bias ? r[p.bias + k] : 0.0F;
#pragma unroll
  for (int f = 0; f < l.n_w; ++f) a = fmaf(r[p.writes + k * l.n_w + f], v[f], a);
  return a;
}

// The memory after a step. r: the row of the leaf, v: inputs and memory.
template <class C, int N, int M>
__device__ __forceinline__ void write_cells(const float (&r)[N], float (&v)[M]) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  float u[at_least_one(l.n_m)];
#pragma unroll
  for (int k = 0; k < l.n_m; ++k) u[k] = tanh(write_argument<C>(r, v, k));
#pragma unroll
  for (int k = 0; k < l.n_m; ++k) {
    const float m = v[l.n_x + k], change = l.blends ? r[p.blend + k] * (u[k] - m) : u[k];
    v[l.n_x + k] = r[p.gate_value + k] >= 0.0F ? m + change : m;
  }
}

template <class C, int N, int M>
__device__ __forceinline__ float row_output(const float (&r)[N], const float (&v)[M], int y) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  float sum = r[p.output + y];
  if (l.linear)
#pragma unroll
    for (int f = 0; f < l.n_v; ++f) sum = fmaf(r[p.linear + y * l.n_v + f], v[f], sum);
  return sum;
}

// The tile of a warp: sixteen entries in shared memory.
template <class C>
__device__ __forceinline__ float* own_tile(float* shared) {
  return shared + C::p.tiles + static_cast<int>(threadIdx.x) / 32 * C::p.warp_floats;
}

// The next kCount numbers of each of a warp's sequences, of which `left` are left: loaded together, since those of a
// sequence lie side by side in memory, and lanes would load from 32 places. All lanes of the warp call these.
template <class C, int kCount>
struct Together {
  static constexpr int kSequences = 32 / C::p.lanes, kPitch = kSequences + 1;
  static constexpr int kEach = step_ceil(kSequences * kCount, 32);
  float number[kEach];
  unsigned has;  // bits

  __device__ __forceinline__ Together(const float* from, int left) {
    has = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int item = i * 32 + static_cast<int>(threadIdx.x) % 32, at = item % kCount;
      const int of = step_min(item / kCount, kSequences - 1) * C::p.lanes;
      const auto base =
          reinterpret_cast<const float*>(__shfl_sync(kAll, reinterpret_cast<unsigned long long>(from), of));
      const int count = __shfl_sync(kAll, left, of);
      if (item < kSequences * kCount && at < count) {
        number[i] = global(base)[at];
        has |= 1U << i;
      }
    }
  }
  // Number i of a lane's sequence is then at tile[i * kPitch + sequence of the warp].
  __device__ __forceinline__ void put(float* tile) const {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int item = i * 32 + static_cast<int>(threadIdx.x) % 32;
      if ((has >> i & 1) != 0) tile[item % kCount * kPitch + item / kCount] = number[i];
    }
    __syncwarp();
  }
};

// Copies numbers of the warp's sequences, one of each step, into a row of the trace.
template <class C>
__device__ __forceinline__ void trace_together(const Together<C, C::p.ahead>& from, int left, float* tile, float* row) {
  from.put(tile);
  if (threadIdx.x % C::p.lanes == 0)
#pragma unroll
    for (int i = 0; i < C::p.ahead; ++i)
      if (i < left) row[i * C::p.trace * C::p.sequences] = tile[i * from.kPitch + threadIdx.x % 32 / C::p.lanes];
}

// Inputs, weights and classes of the next steps: the inputs to the warp's tile, the others into the trace.
template <class C>
__device__ __forceinline__ void load_ahead(const Start& s, const OwnSequence& own, int t, float* tile, float* to) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  const int left = own.length - t;
  const Together<C, p.ahead * l.n_x> x(own.x + static_cast<std::size_t>(t) * l.n_x, left * l.n_x);
  const Together<C, p.ahead> weight(s.data.weight + own.from + t, left);
  if (C::loss == Loss::kCrossEntropy) {
    const Together<C, p.ahead> label(reinterpret_cast<const float*>(s.data.label) + own.from + t, left);
    trace_together<C>(label, left, tile, to + (p.trace - 1) * p.sequences);
  }
  trace_together<C>(weight, left, tile, to + (p.trace - 2) * p.sequences);
  x.put(tile);
}

template <class C>
__device__ __noinline__ void step_forward(const Start& s, const Chunk& chunk) {
  constexpr Layout l = C::l;
  float* const shared = step_memory();
  float* const trace = global(s.records);
  constexpr Stepper p = C::p;
  constexpr int n_x = l.n_x, n_m = l.n_m;
  const OwnSequence own = own_sequence<C>(s, chunk);
  const int place = own_place<C>();
  const bool writes = threadIdx.x % p.lanes == 0;
  float* const look = shared + p.look + place;
  auto* const counts = reinterpret_cast<std::int32_t*>(shared + p.counts) + threadIdx.x / 32 * l.leaves;
  const auto* const nodes = reinterpret_cast<const float2*>(shared + p.nodes);
  const float* const fill = global(s.fill);
  float v[l.n_v], y[l.n_g], next[p.ahead > 0 ? 1 : n_x];
  float* const tile = own_tile<C>(shared);
  const float* const own_x = tile + threadIdx.x % 32 / p.lanes;  // in the tile
  constexpr int kPitch = 32 / p.lanes + 1;
#pragma unroll
  for (int k = 0; k < n_m; ++k)
    v[n_x + k] =
        own.length > 0 && s.before != nullptr ? s.before[static_cast<std::size_t>(own.sequence) * n_m + k] : 0.0F;
#pragma unroll
  for (int k = 0; k < l.n_g; ++k) y[k] = 0.0F;
  const float* x = own.x;
  if (p.ahead == 0)
#pragma unroll
    for (int f = 0; f < n_x; ++f) next[f] = own.length > 0 ? x[f] : 0.0F;
  float* to = trace + place;
  const int most = most_of_warp<1>(own.length);
  for (int t = 0; t < most; ++t, to += p.trace * p.sequences) {
    const bool active = t < own.length;
    if constexpr (p.ahead > 0) {
      if (t % p.ahead == 0) load_ahead<C>(s, own, t, tile, to);
    }
    if (active) {
#pragma unroll
      for (int f = 0; f < n_x; ++f) {
        const float value = p.ahead > 0 ? own_x[(t % at_least_one(p.ahead) * n_x + f) * kPitch] : next[f];
        if (p.ahead > 0 && writes) to[(p.trace_x + f) * p.sequences] = value;
        v[f] = l.missing && value != value ? fill[f] : value;
        if (writes) look[f * p.look_pitch] = value;
      }
      x += n_x;
      if (p.ahead == 0 && t + 1 < own.length)
#pragma unroll
        for (int f = 0; f < n_x; ++f) next[f] = x[f];
      if (writes)
#pragma unroll
        for (int k = 0; k < n_m; ++k) look[(n_x + k) * p.look_pitch] = to[k * p.sequences] = v[n_x + k];
    }
    if (p.lanes > 1) __syncwarp();
    if (active) {
      int i = 1;
#pragma unroll
      for (int d = 0; d < l.depth; ++d) i = child_of<C>(nodes, look, i);
      const int j = i - l.leaves;
      float r[p.row];
      load_row<0, l.first_order ? p.worth_end : p.written>(shared + p.leaf_rows + j * p.row, r);
      if (writes) {
        reinterpret_cast<std::int32_t*>(to)[n_m * p.sequences] = j;
        if (!p.onehot) atomicAdd(counts + j, 1);
      }
      if (l.first_order)
#pragma unroll
        for (int k = 0; k < l.n_g; ++k) {
          y[k] += row_output<C>(r, v, k);
          if (writes) to[(n_m + 1 + k) * p.sequences] = y[k];
        }
      write_cells<C>(r, v);
    }
    if (p.lanes > 1) __syncwarp();
  }
  if (writes && own.length > 0 && s.after != nullptr)
#pragma unroll
    for (int k = 0; k < n_m; ++k) s.after[static_cast<std::size_t>(own.sequence) * n_m + k] = v[n_x + k];
}

}  // namespace remede::cuda

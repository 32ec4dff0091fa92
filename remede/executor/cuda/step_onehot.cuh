// The sums of the stepwise form where there are few leaves (stepper.h): what a warp's sequences add at a step goes from
// shared memory into sums in registers, a tile of 16 leaves or nodes and 8 numbers each. A number is given to the
// tensor cores as two; ones and zeros are exact. The order of additions is fixed.
#pragma once

#include "remede/executor/cuda/step_sums.cuh"

namespace remede::cuda {

constexpr int kHotSteps = 16;  // that tensor cores add up, which cut off what they add, before a sum is rounded

// Derivatives by the numbers of the reached leaf.
template <class C>
struct LeafDerivatives {
  float g[C::l.n_g];
  float gate[at_least_one(C::l.n_m)], write[at_least_one(C::l.n_m)], rate[at_least_one(C::l.n_m)];
};

template <class C>
struct HotSums {
  static constexpr int kTiles = at_least_one(C::p.hot_tiles);
  float leaf[kTiles][at_least_one(C::p.leaf_n)][4] = {};
  float node[kTiles][at_least_one(C::p.node_n)][4] = {};  // counted from 1, as in a heap
};

// Where a thread finds its columns in the stage: a sum of a leaf is that of the product of two rows.
template <class C>
struct HotColumns {
  int leaf[at_least_one(C::p.leaf_n)], factor[at_least_one(C::p.leaf_n)], node[at_least_one(C::p.node_n)];

  __device__ __forceinline__ HotColumns() {
    constexpr Layout l = C::l;
    constexpr Stepper p = C::p;
    const int g = static_cast<int>(threadIdx.x) % 32 / 4;
#pragma unroll
    for (int n = 0; n < p.leaf_n; ++n) {
      const int column = n * kTileColumns + g, product = column - p.pure, linear = product - l.n_m * l.n_w;
      int row = p.one, by = p.one;
      if (product < 0)
        row = p.g + column;
      else if (linear < 0)
        row = p.write + product / at_least_one(l.n_w), by = product % at_least_one(l.n_w);
      else if (l.linear && linear < l.n_g * l.n_v)
        row = p.g + linear / l.n_v, by = linear % l.n_v;
      leaf[n] = row * p.look_pitch;
      factor[n] = by * p.look_pitch;
    }
#pragma unroll
    for (int n = 0; n < p.node_n; ++n) node[n] = step_min(n * kTileColumns + g, p.one) * p.look_pitch;
  }
};

// What this thread's sequence adds. leaf: negative where it has no such step. All lanes of the warp call this.
template <class C>
__device__ __forceinline__ void stage_step(float* shared, int leaf, const LeafDerivatives<C>& c, const float* splits,
                                           const float (&v)[C::l.n_v]) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  const int lane = static_cast<int>(threadIdx.x) % p.lanes;
  float* const column = shared + p.stage + own_place<C>();
  if (lane == 0) reinterpret_cast<std::int32_t*>(shared + p.index)[own_place<C>()] = leaf;
  if (leaf < 0) return;  // what is there is finite, and goes nowhere
  if (lane == 0) {
    if (l.missing)
#pragma unroll
      for (int f = 0; f < l.n_v; ++f) column[f * p.look_pitch] = v[f];
#pragma unroll
    for (int y = 0; y < l.n_g; ++y) column[(p.g + y) * p.look_pitch] = c.g[y];
#pragma unroll
    for (int k = 0; k < l.n_m; ++k) {
      column[(p.gate + k) * p.look_pitch] = c.gate[k];
      column[(p.write + k) * p.look_pitch] = c.write[k];
      if (l.blends) column[(p.rate + k) * p.look_pitch] = c.rate[k];
    }
  }
#pragma unroll
  for (int i = 0; i < step_ceil(l.depth, p.lanes); ++i)
    if (i * p.lanes + lane < l.depth) column[(p.split + i * p.lanes + lane) * p.look_pitch] = splits[i];
}

// Numbers of four sequences, in two parts each.
struct FourParts {
  TwoParts of[4];
  __device__ __forceinline__ explicit FourParts(const float4& x) {
    of[0] = TwoParts(x.x), of[1] = TwoParts(x.y), of[2] = TwoParts(x.z), of[3] = TwoParts(x.w);
  }
};

// Which of four sequences are at rows `row` and row + 8 of a tile: 1.0F where they are.
struct Reached {
  unsigned at[4][2];
  // Compared as floats, which is one instruction. Numbers are small, and negative ones the same as none.
  static __device__ __forceinline__ unsigned same(int a, int b) {
    return __float_as_uint(__int_as_float(a) == __int_as_float(b) ? 1.0F : 0.0F);
  }
  __device__ __forceinline__ Reached(const int4& index, int row) {
    const int i[4] = {index.x, index.y, index.z, index.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) at[k][0] = same(i[k], row), at[k][1] = same(i[k], row + 8);
  }
};

__device__ __forceinline__ void add_reached(float (&sums)[4], const Reached& r, const FourParts& x) {
#pragma unroll
  for (int half = 0; half < 4; half += 2) {
    const unsigned(&a)[2] = r.at[half];
    const unsigned(&b)[2] = r.at[half + 1];
    multiply(sums, a[0], a[1], b[0], b[1], x.of[half].high, x.of[half + 1].high);
    multiply(sums, a[0], a[1], b[0], b[1], x.of[half].low, x.of[half + 1].low);
  }
}

__device__ __forceinline__ float4 four_at(const float* at) { return *reinterpret_cast<const float4*>(at); }
__device__ __forceinline__ float4 four_products(const float4& a, const float4& b) {
  return {a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w};
}

// ADDS what the warp's sequences staged. All lanes of the warp call this.
template <class C>
__device__ __forceinline__ void add_step(const float* shared, const HotColumns<C>& columns, HotSums<C>& sums) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  constexpr int kSequences = 32 / p.lanes;
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4;
#pragma unroll
  for (int sixteen = 0; sixteen < kSequences; sixteen += 16) {
    const int at = static_cast<int>(threadIdx.x) / 32 * kSequences + sixteen + 4 * (lane % 4);
    const float* const stage = shared + p.stage + at;
    const int4 leaf = *reinterpret_cast<const int4*>(shared + p.index + at);
#pragma unroll
    for (int tile = 0; tile < p.hot_tiles; ++tile) {
      const Reached reached(leaf, tile * kTile + g);
#pragma unroll
      for (int n = 0; n < p.leaf_n; ++n) {
        float4 x = four_at(stage + columns.leaf[n]);
        if ((n + 1) * kTileColumns > p.pure) x = four_products(x, four_at(stage + columns.factor[n]));
        add_reached(sums.leaf[tile][n], reached, FourParts(x));
      }
    }
    float4 values[p.node_n];
#pragma unroll
    for (int n = 0; n < p.node_n; ++n) values[n] = four_at(stage + columns.node[n]);
#pragma unroll
    for (int d = 0; d < l.depth; ++d) {
      const int up = l.depth - d, tile = d < 4 ? 0 : 1;
      const Reached reached(
          {(leaf.x + l.leaves) >> up, (leaf.y + l.leaves) >> up, (leaf.z + l.leaves) >> up, (leaf.w + l.leaves) >> up},
          tile * kTile + g);
      const float4 split = four_at(stage + (p.split + d) * p.look_pitch);
#pragma unroll
      for (int n = 0; n < p.node_n; ++n)
        add_reached(sums.node[tile][n], reached, FourParts(four_products(values[n], split)));
    }
  }
}

// ADDS the sums to those in shared memory, where each thread has its own, and begins again.
template <class C>
__device__ __forceinline__ void put_hot_sums(float* shared, HotSums<C>& sums) {
  constexpr Stepper p = C::p;
  float* to = shared + p.hot_sums + threadIdx.x;
  const auto put = [&](float& sum) {
    *to += sum;
    sum = 0.0F;
    to += p.threads;
  };
#pragma unroll
  for (int tile = 0; tile < p.hot_tiles; ++tile) {
#pragma unroll
    for (int i = 0; i < 4 * p.leaf_n; ++i) put(sums.leaf[tile][i / 4][i % 4]);
#pragma unroll
    for (int i = 0; i < 4 * p.node_n; ++i) put(sums.node[tile][i / 4][i % 4]);
  }
}

// One sum over all warps. first: tile of columns, of those of a thread.
template <class C>
__device__ __forceinline__ float hot_sum(const float* shared, int row, int first, int column) {
  constexpr Stepper p = C::p;
  const int tile = row / kTile * (p.leaf_n + p.node_n) + first + column / kTileColumns;
  const int place = 4 * tile + row % kTile / 8 * 2 + column % 2;
  const float* at = shared + p.hot_sums + place * p.threads + row % 8 * 4 + column % kTileColumns / 2;
  float sum = 0.0F;
#pragma unroll
  for (int warp = 0; warp < p.threads / 32; ++warp) sum += at[warp * 32];
  return sum;
}

template <class C>
__device__ __forceinline__ float hot_leaf_sum(const float* shared, int leaf, int column) {
  return hot_sum<C>(shared, leaf, 0, column);
}

// ASSIGNS the sums of the nodes (nodes from 1, n_v + 1). The leaves' rows in shared memory are lost.
template <class C>
__device__ __forceinline__ void hot_nodes(float* shared) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  constexpr int kColumns = l.n_v + 1;
  for (int i = static_cast<int>(threadIdx.x) + kColumns; i < l.leaves * kColumns; i += p.threads)
    shared[p.node_sums + i] = hot_sum<C>(shared, i / kColumns, p.leaf_n, i % kColumns);
  __syncthreads();
}

// Once, and before every batch.
template <class C>
__device__ __forceinline__ void begin_stage(float* shared) {
  constexpr Stepper p = C::p;
  for (int i = static_cast<int>(threadIdx.x); i < p.sequences; i += p.threads)
    shared[p.stage + p.one * p.look_pitch + i] = 1.0F;
}
template <class C>
__device__ __forceinline__ void begin_hot_sums(float* shared) {
  constexpr Stepper p = C::p;
  for (int i = 0; i < p.accumulators; ++i) shared[p.hot_sums + i * p.threads + threadIdx.x] = 0.0F;
}

}  // namespace remede::cuda

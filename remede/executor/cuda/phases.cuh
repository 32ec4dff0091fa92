// The phases of an update, each a function that all threads of a block call together. A sequence is the work of a GROUP
// of G lanes of a warp; lane l has the cells l, l + G, ... (K of them at most).
//
//   forward    sequence by sequence: memory, leaves
//   answer     step by step: outputs, loss and its derivative
//   weigh      step by step: how the derivative by each split follows from q, the derivative by the memory
//   backward   sequence by sequence: q, which is all that must be computed one step after the other
//   add_up     sum by sum: a thread owns four numbers of a table and adds up the steps in order. No atomics, and no
//              result that depends on the order in which threads run
//
// Only forward and backward are sequential in time. docs/mathematics.md has the formulas.
#pragma once

#include "remede/executor/cuda/arithmetic.cuh"

namespace remede::cuda {

#ifdef __CUDACC_RTC__
constexpr int kUnrolledLevels = kMostDepth;  // the depth is known
#else
constexpr int kUnrolledLevels = 1;
#endif
constexpr float kLowestFloat = -3.402823466e38F;
constexpr unsigned kAll = 0xffffffffU;
constexpr float kMostBack = 1e9F;  // as remede::kMostBack

extern __shared__ float4 dynamic_shared[];

// What the phases hand on. Pointers into global memory, but for the arena: of the tree, scratch and sums.
struct Work {
  float* arena;
  float* records;
  std::int32_t* leaf;
  std::uint32_t* at;
  float scale;  // of the derivatives; 0: the loss alone is wanted
};

struct LossSums {
  double loss = 0, correct = 0;
};

// A pointer that the compiler may take for one into global memory: other stores than through such then leave what was
// read from shared memory alone.
template <typename T>
__device__ __forceinline__ T* global(T* p) {
  __builtin_assume(__isGlobal(p));
  return p;
}

template <int G>
__device__ __forceinline__ float group_sum(float x) {
#pragma unroll
  for (int o = G / 2; o > 0; o /= 2) x += __shfl_xor_sync(kAll, x, o);
  return x;
}

template <int G>
__device__ __forceinline__ int most_of_warp(int x) {
#pragma unroll
  for (int o = 16; o >= G; o /= 2) x = max(x, __shfl_xor_sync(kAll, x, o));
  return x;
}

// The sum over all threads, in a fixed order, for every thread.
__device__ inline double block_sum(double x, double* buffer) {
  for (int o = 16; o > 0; o /= 2) x += __shfl_xor_sync(kAll, x, o);
  __syncthreads();
  if (threadIdx.x % 32 == 0) buffer[threadIdx.x / 32] = x;
  __syncthreads();
  double sum = 0;
  for (int w = 0; w < static_cast<int>(blockDim.x / 32); ++w) sum += buffer[w];
  return sum;
}

// Of three numbers at a time. buffer: (3, warps), not in use since the last barrier but one.
struct ThreeSums {
  double of[3];
};
__device__ inline ThreeSums block_sums(ThreeSums x, double* buffer) {
  const int warps = static_cast<int>(blockDim.x / 32);
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    for (int o = 16; o > 0; o /= 2) x.of[i] += __shfl_xor_sync(kAll, x.of[i], o);
    if (threadIdx.x % 32 == 0) buffer[i * warps + static_cast<int>(threadIdx.x / 32)] = x.of[i];
  }
  __syncthreads();
  ThreeSums sums = {};
#pragma unroll
  for (int i = 0; i < 3; ++i)
    for (int w = 0; w < warps; ++w) sums.of[i] += buffer[i * warps + w];
  return sums;
}

// A node in the arena: its threshold, and its feature packed with the side of missing values.
__device__ __forceinline__ int feature_of(const float2& node) { return __float_as_int(node.y) & 0xffffff; }

// Whether a value goes right at a node. No branch: neighbouring lanes differ.
__device__ __forceinline__ int goes_right(const Layout& l, const float2& node, float value) {
  int right = value >= node.x ? 1 : 0;
  if (l.missing) right |= value != value ? __float_as_int(node.y) >> 24 : 0;
  return right;
}

// Leaf below node i, `levels` further down; both counted from 1, as in a heap. value(f): of a feature.
template <typename Value>
__device__ __forceinline__ int descend(const Layout& l, int i, int levels, const float2* nodes, const Value& value) {
#pragma unroll kUnrolledLevels
  for (int d = 0; d < levels; ++d) {
    const float2 node = nodes[i - 1];
    i = 2 * i + goes_right(l, node, value(feature_of(node)));
  }
  return i;
}

// The tree as the phases read it, from its parameters.
__device__ __forceinline__ void prepare(const Layout& l, const std::uint8_t* missing_right, const float* p,
                                        float* arena) {
  const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
  auto* const nodes = reinterpret_cast<float2*>(arena + l.node);
  for (int i = threadIdx.x / 32; i < l.nodes; i += warps) {
    const float* logits = p + l.begin[0] + i * l.n_v;
    float best = kLowestFloat;
    int f = 1 << 30;
    for (int k = lane; k < l.n_v; k += 32)
      if (f == 1 << 30 || logits[k] > best) best = logits[k], f = k;
    for (int o = 16; o > 0; o /= 2) {
      const float other = __shfl_xor_sync(kAll, best, o);
      const int of = __shfl_xor_sync(kAll, f, o);
      if (of != 1 << 30 && (f == 1 << 30 || other > best || (other == best && of < f))) best = other, f = of;
    }
    if (f >= l.n_v) f = 0;
    if (lane == 0)
      nodes[i] = {p[l.begin[1] + i * l.n_v + f], __int_as_float(f | (missing_right[i] != 0 ? 1 << 24 : 0))};
  }
  const int step = blockDim.x, first = threadIdx.x;
  for (int i = first; i < l.leaves * l.n_y; i += step) arena[l.output + i] = p[l.begin[2] + i];
  for (int i = first; i < l.leaves * l.n_m; i += step) {
    const float gate = p[l.begin[3] + i], share = sigmoid(gate);
    arena[l.gate_value + i] = gate;
    arena[l.gate_slope + i] = share * (1.0F - share);
    if (l.has_bias) arena[l.bias + i] = p[l.begin[5] + i];
    if (l.blends) {
      const float rate = p[l.begin[6] + i];
      arena[l.rate_value + i] = rate;
      arena[l.blend + i] = sigmoid(rate);
    }
  }
  const int writes = l.leaves * l.n_m * l.n_w;
  for (int i = first; i < writes; i += step) {
    const int row = i / l.n_w;
    arena[l.writes + row * l.write_pitch + (i - row * l.n_w)] = p[l.begin[4] + i];
  }
  if (l.linear)
    for (int i = first; i < l.leaves * l.n_y * l.n_v; i += step) {
      const int row = i / l.n_v;
      arena[l.linears + row * l.linear_pitch + (i - row * l.n_v)] = p[l.begin[7] + i];
    }
  __syncthreads();
}

// Inputs of the chunk's sequences with the noise of this epoch, as executor/blur.cpp adds it. A thread per sequence.
__device__ __noinline__ inline void add_noise(const Start& s, int n_x, Chunk chunk, std::uint64_t drawn) {
  constexpr std::uint64_t kOffsetSeed = 0x6f6666;
  for (std::uint32_t i = threadIdx.x; i < chunk.count; i += blockDim.x) {
    const Entry entry = s.entries[chunk.first + i];
    const Span span = s.data.spans[entry.sequence];
    const auto steps = static_cast<std::uint32_t>(span.length);
    const float* x = s.data.x + span.first * n_x;
    float* to = s.noisy + static_cast<std::size_t>(entry.base) * n_x;
    Random offsets(drawn ^ kOffsetSeed, entry.sequence);
    for (int f = 0; f < n_x; ++f) {
      const double uniform = static_cast<double>(offsets.bits() >> 11) * 0x1.0p-53;
      const float offset = s.offset_noise[f] * static_cast<float>(-1.0 + 2.0 * uniform);
      for (std::uint32_t t = 0; t < steps; ++t) to[t * n_x + f] = offset;
    }
    Random random(drawn, entry.sequence);
    std::uint64_t bits = 0;
    for (std::uint32_t k = 0, f = 0; k < steps * n_x; ++k, f = f + 1 == n_x ? 0 : f + 1) {
      if (k % 4 == 0) bits = random.bits();
      const float part = (static_cast<float>(bits & 0xffffU) - 32767.5F) / 32768.0F;
      to[k] = x[k] + to[k] + s.noise[f] * part;
      bits >>= 16U;
    }
  }
  __syncthreads();
}

}  // namespace remede::cuda

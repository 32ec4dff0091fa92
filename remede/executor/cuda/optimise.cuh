// From the tables of sums to the gradient, and from there to the next parameters. All threads of a block call these
// together.
#pragma once

#include "remede/executor/cuda/add_up.cuh"

namespace remede::cuda {

constexpr float kAdamFirst = 0.9F, kAdamSecond = 0.999F, kAdamVanished = 1e-30F;  // as remede::Adam

__device__ __forceinline__ float table_sum(const Layout& l, const float* arena, int at) {
  const float* table = arena + l.sums + at;
  float sum = 0.0F;
  for (int p = 0; p < l.tables; ++p, table += l.sums_size) sum += *table;
  return sum;
}

__device__ __forceinline__ float warp_max(float x) {
#pragma unroll
  for (int o = 16; o > 0; o /= 2) x = fmaxf(x, __shfl_xor_sync(kAll, x, o));
  return x;
}

// Of one node, by a warp: the derivative by the one-hot choice is sum r (v - threshold); finish() of executor/plain.h
// says how that by the logits follows. Returns this lane's sum of squares.
__device__ __forceinline__ double node_gradient(const Layout& l, const float* parameters, float* gradient,
                                                const float* arena, int node) {
  const int lane = threadIdx.x % 32, row = node * l.n_v,
            chosen = feature_of(reinterpret_cast<const float2*>(arena + l.node)[node]);
  const float* logits = parameters + l.begin[0] + row;
  const float* thresholds = parameters + l.begin[1] + row;
  const int sums = node * l.node_pitch;
  const float count = table_sum(l, arena, sums + l.n_v);
  float top = kLowestFloat, total = 0.0F, mean = 0.0F;
  for (int f = lane; f < l.n_v; f += 32) top = fmaxf(top, logits[f]);
  top = warp_max(top);
  for (int f = lane; f < l.n_v; f += 32) {
    const float share = exp(logits[f] - top), by_choice = table_sum(l, arena, sums + f) - thresholds[f] * count;
    gradient[l.begin[0] + row + f] = by_choice;
    total += share;
    mean = fmaf(share, by_choice, mean);
  }
  total = group_sum<32>(total);
  mean = group_sum<32>(mean) / total;
  double squares = 0;
  for (int f = lane; f < l.n_v; f += 32) {
    float* const g = gradient + l.begin[0] + row + f;
    if (l.softmax) *g = exp(logits[f] - top) / total * (*g - mean);
    const float threshold = f == chosen ? -count : 0.0F;
    gradient[l.begin[1] + row + f] = threshold;
    squares += static_cast<double>(*g) * *g + static_cast<double>(threshold) * threshold;
  }
  return squares;
}

// ASSIGNS the gradient; returns its squared norm.
__device__ __forceinline__ double gather_gradient(const Layout& l, const Start& s, const float* arena, double* buffer) {
  double squares = 0;
  const float* const parameters = global(s.parameters);
  float* const gradient = global(s.gradient);
  const std::uint32_t* const slot = global(s.slot);
  for (int i = threadIdx.x / 32; i < l.nodes; i += blockDim.x / 32)
    squares += node_gradient(l, parameters, gradient, arena, i);
#pragma unroll 4
  for (int i = l.begin[2] + threadIdx.x; i < l.begin[kGroups]; i += blockDim.x) {
    const float g = table_sum(l, arena, __ldg(slot + i));
    gradient[i] = g;
    squares += static_cast<double>(g) * g;
  }
  return block_sum(squares, buffer);
}

template <typename T>
__device__ __forceinline__ bool finite(T x) {
  return x - x == T(0);
}

// NaN where the norm is not finite.
__device__ __forceinline__ float clip_factor(double squares, float limit) {
  if (!finite(squares)) return __int_as_float(0x7fc00000);
  const double norm = sqrt(squares);
  return limit > 0.0F && norm > limit ? static_cast<float>(limit / norm) : 1.0F;
}

// Some numbers of a thread at a time: all are loaded before the first is stored, since loads take long.
template <int kAtATime = 8>
__device__ __forceinline__ void optimise(const Layout& l, const Start& s, const Update& u, float clip,
                                         const float* gradient) {
  float* const parameters = global(s.parameters);
  float* const averages = global(s.average);
  float* const means = global(s.mean);
  float* const squares = global(s.square);
  const int total = l.begin[kGroups], apart = static_cast<int>(blockDim.x);
  for (int first = static_cast<int>(threadIdx.x); first < total; first += kAtATime * apart) {
    float old[kAtATime], average[kAtATime], mean[kAtATime], square[kAtATime], g[kAtATime];
#pragma unroll
    for (int k = 0; k < kAtATime; ++k) {
      const int i = min(first + k * apart, total - 1);
      old[k] = parameters[i], mean[k] = means[i], square[k] = squares[i];
      average[k] = u.average == 1.0F ? 0.0F : averages[i];  // with weight 1 the old average does not count
      g[k] = clip * gradient[i];
    }
#pragma unroll
    for (int k = 0; k < kAtATime; ++k) {
      const int i = first + k * apart;
      if (i >= total) break;
      int group = 0;
#pragma unroll
      for (int j = 1; j < kGroups; ++j) group += i >= l.begin[j] ? 1 : 0;
      const float rate = s.rates[group];
      mean[k] = kAdamFirst * mean[k] + (1.0F - kAdamFirst) * g[k];
      square[k] = kAdamSecond * square[k] + (1.0F - kAdamSecond) * (g[k] * g[k]);
      mean[k] = fabsf(mean[k]) >= kAdamVanished ? mean[k] : 0.0F;
      square[k] = square[k] >= kAdamVanished ? square[k] : 0.0F;
      float p = old[k] - __fdividef(rate * u.factor * mean[k], sqrtf(square[k]) + u.small);
      if (group == 4 || group == 7)  // writes, linear outputs
        p = copysignf(fmaxf(fabsf(p) - u.shrink * rate, 0.0F), p);
      means[i] = mean[k];
      squares[i] = square[k];
      parameters[i] = p;
      averages[i] = average[k] + u.average * (p - average[k]);
    }
  }
}

// What a window ended with is where the next one begins, from its next turn on.
__device__ __noinline__ inline void carry_over(int n_m, const Start& s, std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t c = 0; c < count; ++c) {
    const Chunk chunk = s.chunks[first + c];
    for (std::uint32_t i = threadIdx.x; i < chunk.count * n_m; i += blockDim.x) {
      const std::uint32_t sequence = s.entries[chunk.first + i / n_m].sequence, k = i % n_m;
      if (sequence + 1 < s.sequences && s.continues[sequence + 1] != 0)
        s.before[static_cast<std::size_t>(sequence + 1) * n_m + k] =
            s.after[static_cast<std::size_t>(sequence) * n_m + k];
    }
  }
}

}  // namespace remede::cuda

// The forward pass (phases.cuh): sequence by sequence.
#pragma once

#include "remede/executor/cuda/phases.cuh"

namespace remede::cuda {

// sum + row . v, in four sums: a single one would wait for itself.
__device__ __forceinline__ float dot(float sum, const float* row, const float* v, int n) {
  float a = 0.0F, b = 0.0F, c = 0.0F;
  int f = 0;
  for (; f + 4 <= n; f += 4) {
    sum = fmaf(row[f], v[f], sum);
    a = fmaf(row[f + 1], v[f + 1], a);
    b = fmaf(row[f + 2], v[f + 2], b);
    c = fmaf(row[f + 3], v[f + 3], c);
  }
  for (; f < n; ++f) sum = fmaf(row[f], v[f], sum);
  return (sum + a) + (b + c);
}

template <int G, int K>
__device__ __forceinline__ void forward(const Layout& l, const Start& s, const Work& w, const Chunk& chunk) {
  const int n_x = l.n_x, n_m = l.n_m;
  const bool learns = w.scale > 0.0F;
  const int lane = threadIdx.x % G, group = threadIdx.x / G, groups = blockDim.x / G;
  const auto* const nodes = reinterpret_cast<const float2*>(w.arena + l.node);
  float* const filled = w.arena + l.scratch + group * l.scratch_pitch;
  float* const raw = filled + n_x;
  float* const memory = raw + n_x;
  const float* const fill = global(s.fill);
  const Entry* const entries = global(s.entries) + chunk.first;
  const Span* const spans = global(s.data.spans);
  const float* const noisy = s.noisy == nullptr ? nullptr : global(s.noisy);
  const float* const all = global(s.data.x);
  const float* const before = s.before;
  float* const after = s.after;
  for (std::uint32_t first = 0; first < chunk.count; first += groups) {
    const bool has = first + group < chunk.count;
    Entry entry = {0, 0};
    std::int64_t from = 0;
    int length = 0;
    if (has) {
      entry = entries[first + group];
      const Span span = spans[entry.sequence];
      from = span.first;
      length = static_cast<int>(span.length);
    }
    const int most = most_of_warp<G>(length);
    float m[K];
#pragma unroll
    for (int c = 0; c < K; ++c) {
      const int k = lane + c * G;
      m[c] = has && k < n_m && before != nullptr ? before[static_cast<std::size_t>(entry.sequence) * n_m + k] : 0.0F;
    }
    const float* x = noisy != nullptr ? noisy + static_cast<std::size_t>(entry.base) * n_x : all + from * n_x;
    float* r = w.records + static_cast<std::size_t>(entry.base) * l.record;
    float next0 = length > 0 && lane < n_x ? x[lane] : 0.0F;
    float next1 = length > 0 && lane + G < n_x ? x[lane + G] : 0.0F;
    for (int t = 0; t < most; ++t, r += l.record) {
      const bool active = t < length;
      if (active) {
        const float now0 = next0, now1 = next1;
        if (t + 1 < length) {
          if (lane < n_x) next0 = x[n_x + lane];
          if (lane + G < n_x) next1 = x[n_x + lane + G];
        }
        const auto take = [&](int f, float value) {
          raw[f] = value;
          if (l.missing) value = value != value ? fill[f] : value;
          filled[f] = r[f] = value;
        };
        if (lane < n_x) take(lane, now0);
        if (lane + G < n_x) take(lane + G, now1);
        if (n_x > 2 * G)
          for (int f = lane + 2 * G; f < n_x; f += G) take(f, x[f]);
#pragma unroll
        for (int c = 0; c < K; ++c) {
          const int k = lane + c * G;
          if (k < n_m) memory[k] = r[n_x + k] = m[c];
        }
        x += n_x;
      }
      __syncwarp();
      if (active) {
        const int j = descend(l, 1, l.depth, nodes, [&](int f) { return raw[f]; }) - l.leaves;
        if (lane == 0) {
          w.leaf[entry.base + t] = j;
          w.at[entry.base + t] = static_cast<std::uint32_t>(from) + t;
          r[l.n_v] = 1.0F;
        }
#pragma unroll
        for (int c = 0; c < K; ++c) {
          const int k = lane + c * G;
          if (k < n_m) {
            const int cell = j * n_m + k;
            const float* row = w.arena + l.writes + cell * l.write_pitch;
            float a = dot(l.has_bias ? w.arena[l.bias + cell] : 0.0F, row, filled, n_x);
            if (l.reads_memory) a = dot(a, row + n_x, memory, n_m);
            const float u = tanh(a);
            if (learns) {
              r[l.gate + k] = a;
              r[l.write + k] = u;
            }
            if (w.arena[l.gate_value + cell] >= 0.0F) m[c] += l.blends ? w.arena[l.blend + cell] * (u - m[c]) : u;
          }
        }
      }
      __syncwarp();
    }
    if (has && after != nullptr)
#pragma unroll
      for (int c = 0; c < K; ++c)
        if (lane + c * G < n_m) after[static_cast<std::size_t>(entry.sequence) * n_m + lane + c * G] = m[c];
  }
  __syncthreads();
}

}  // namespace remede::cuda

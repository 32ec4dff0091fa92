// The backward pass (phases.cuh): sequence by sequence, only what must go one step after the other.
#pragma once

#include "remede/executor/cuda/weigh.cuh"

namespace remede::cuda {

// The parts of a record that going back needs: loaded a step ahead.
template <int K>
struct Back {
  int leaf;
  float gate[K], write[K], rate[K], direct[K];
  float slope[kMostDepth][K], base[kMostDepth];
};

template <int G, int K>
__device__ __forceinline__ void load_back(const Layout& l, const float* r, int leaf, int lane, Back<K>& to) {
  to.leaf = leaf;
#pragma unroll
  for (int c = 0; c < K; ++c) {
    const int k = lane + c * G;
    if (k < l.n_m) {
      to.gate[c] = r[l.gate + k];
      to.write[c] = r[l.write + k];
      if (l.blends) to.rate[c] = r[l.rate + k];
      to.direct[c] = l.linear ? r[l.direct + k] : 0.0F;
    }
  }
#pragma unroll
  for (int d = 0; d < kMostDepth; ++d)
    if (d < l.depth) {
      to.base[d] = r[l.base + d];
#pragma unroll
      for (int c = 0; c < K; ++c)
        to.slope[d][c] = lane + c * G < l.n_m ? r[l.slopes + d * l.cells + lane + c * G] : 0.0F;
    }
}

template <int G, int K>
__device__ __forceinline__ void backward(const Layout& l, const Start& s, const Work& w, const Chunk& chunk) {
  const int n_x = l.n_x, n_m = l.n_m, leaves = l.leaves, depth = l.depth, record = l.record;
  const int lane = threadIdx.x % G, group = threadIdx.x / G, groups = blockDim.x / G;
  const float *gates = w.arena + l.gate_value, *blend = w.arena + l.blend, *writes = w.arena + l.writes;
  const auto* const nodes = reinterpret_cast<const float2*>(w.arena + l.node);
  float* const shared_a = w.arena + l.scratch + group * l.scratch_pitch + 2 * n_x + n_m;
  const Entry* const entries = global(s.entries) + chunk.first;
  const Span* const spans = global(s.data.spans);
  for (std::uint32_t first = 0; first < chunk.count; first += groups) {
    int length = 0;
    std::uint32_t base = 0;
    if (first + group < chunk.count) {
      const Entry entry = entries[first + group];
      base = entry.base;
      length = static_cast<int>(spans[entry.sequence].length);
    }
    const int most = most_of_warp<G>(length);
    float q[K];
#pragma unroll
    for (int c = 0; c < K; ++c) q[c] = 0.0F;
    Back<K> next = {};
    if (length > 0)
      load_back<G, K>(l, w.records + static_cast<std::size_t>(base + length - 1) * record, w.leaf[base + length - 1],
                      lane, next);
    float* r = w.records + (static_cast<std::ptrdiff_t>(base) + length - 1) * record;
    for (int t = length - 1; t >= length - most; --t, r -= record) {
      const bool active = t >= 0;
      const Back<K> now = next;
      if (t > 0) load_back<G, K>(l, r - record, w.leaf[base + t - 1], lane, next);
      const int j = now.leaf;
      float split[kMostDepth];
#pragma unroll
      for (int d = 0; d < kMostDepth; ++d)
        if (d < depth) {
          float part = 0.0F;
#pragma unroll
          for (int c = 0; c < K; ++c) part = fmaf(q[c], now.slope[d][c], part);
          split[d] = part;
        }
#pragma unroll
      for (int o = G / 2; o > 0; o /= 2)
#pragma unroll
        for (int d = 0; d < kMostDepth; ++d)
          if (d < depth) split[d] += __shfl_xor_sync(kAll, split[d], o);
#pragma unroll
      for (int d = 0; d < kMostDepth; ++d)
        if (d < depth) split[d] += now.base[d];
      float back[K], a[K];
#pragma unroll
      for (int c = 0; c < K; ++c) {
        const int k = lane + c * G, cell = j * n_m + k;
        back[c] = a[c] = 0.0F;
        if (active && k < n_m) {
          a[c] = q[c] * now.write[c];
          r[l.gate + k] = q[c] * now.gate[c];
          r[l.write + k] = a[c];
          if (l.blends) r[l.rate + k] = q[c] * now.rate[c];
          back[c] = (l.blends && gates[cell] >= 0.0F ? q[c] * (1.0F - blend[cell]) : q[c]) + now.direct[c];
          if (l.reads_memory) shared_a[k] = a[c];
        }
      }
      if (l.reads_memory) {
        __syncwarp();
        if (active)
#pragma unroll
          for (int c = 0; c < K; ++c) {
            const int k = lane + c * G;
            if (k < n_m) {
              const float* column = writes + j * n_m * l.write_pitch + n_x + k;
              float b0 = 0.0F, b1 = 0.0F, b2 = 0.0F;
              int i = 0;
              for (; i + 4 <= n_m; i += 4, column += 4 * l.write_pitch) {
                back[c] = fmaf(shared_a[i], column[0], back[c]);
                b0 = fmaf(shared_a[i + 1], column[l.write_pitch], b0);
                b1 = fmaf(shared_a[i + 2], column[2 * l.write_pitch], b1);
                b2 = fmaf(shared_a[i + 3], column[3 * l.write_pitch], b2);
              }
              for (; i < n_m; ++i, column += l.write_pitch) back[c] = fmaf(shared_a[i], column[0], back[c]);
              back[c] = (back[c] + b0) + (b1 + b2);
            }
          }
        __syncwarp();
      }
      if (active) {
#pragma unroll
        for (int d = 0; d < kMostDepth; ++d)
          if (d < depth) {
            if (lane == d % G) r[l.split + d] = split[d];
            const int of = feature_of(nodes[((j + leaves) >> (depth - d)) - 1]) - n_x;
#pragma unroll
            for (int c = 0; c < K; ++c)
              if (lane + c * G == of) back[c] += split[d];
          }
#pragma unroll
        for (int c = 0; c < K; ++c) q[c] = fminf(fmaxf(back[c], -kMostBack), kMostBack);
      }
    }
  }
  __syncthreads();
}

}  // namespace remede::cuda

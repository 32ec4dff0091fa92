// The sums of the gradient (phases.cuh).
#pragma once

#include "remede/executor/cuda/backward.cuh"

namespace remede::cuda {

// What one step adds to a unit's sums.
struct Term {
  float4 vector;
  float scalar;
  int leaf;
};

// ADDS the chunk's steps to the tables of sums. Table p has the p-th part of the steps. Numbers are loaded some steps
// before they are added: loads take long.
__device__ __forceinline__ void add_up(const Layout& l, const Start& s, const Work& w, const Chunk& chunk) {
  constexpr int kAhead = 4;
  const int record = l.record, all = l.units * l.tables;
  for (int job = threadIdx.x; job < all; job += blockDim.x) {
    const int part = job / l.units;
    const SumUnit unit = global(s.units)[job - part * l.units];
    float* const table = w.arena + l.sums + part * l.sums_size + unit.begin;
    const auto begin = static_cast<int>(static_cast<std::uint64_t>(chunk.steps) * part / l.tables),
               end = static_cast<int>(static_cast<std::uint64_t>(chunk.steps) * (part + 1) / l.tables);
    const float* const vectors = w.records + unit.vector;
    const float* const scalars = w.records + unit.scalar;
    const auto term = [&](int i) {
      const std::size_t at = static_cast<std::size_t>(i) * record;
      return Term{*reinterpret_cast<const float4*>(vectors + at), scalars[at], w.leaf[i]};
    };
    const auto add = [&](const Term& t) {
      auto* const to = reinterpret_cast<float4*>(table + ((t.leaf + l.leaves) >> unit.shift) * unit.pitch);
      float4 sum = *to;
      sum.x = fmaf(t.scalar, t.vector.x, sum.x);
      sum.y = fmaf(t.scalar, t.vector.y, sum.y);
      sum.z = fmaf(t.scalar, t.vector.z, sum.z);
      sum.w = fmaf(t.scalar, t.vector.w, sum.w);
      *to = sum;
    };
    Term next[kAhead];
    int i = begin;
    if (i + kAhead <= end) {
#pragma unroll
      for (int k = 0; k < kAhead; ++k) next[k] = term(i + k);
      for (; i + kAhead <= end; i += kAhead) {
        Term now[kAhead];
#pragma unroll
        for (int k = 0; k < kAhead; ++k) now[k] = next[k];
        if (i + 2 * kAhead <= end)
#pragma unroll
          for (int k = 0; k < kAhead; ++k) next[k] = term(i + kAhead + k);
#pragma unroll
        for (int k = 0; k < kAhead; ++k) add(now[k]);
      }
    }
    for (; i < end; ++i) add(term(i));
  }
  __syncthreads();
}

}  // namespace remede::cuda

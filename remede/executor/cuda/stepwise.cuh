// All updates of a start in the stepwise form (stepper.h), by one block. Compiled at run time only.
#pragma once

#include "remede/executor/cuda/kernels.cuh"
#include "remede/executor/cuda/step_update.cuh"

namespace remede::cuda {

constexpr int kMostStepsAdded = 128;  // by tensor cores, before a sum is rounded

// ADDS the batch of an update to the sums in memory.
template <class C>
__device__ __forceinline__ void step_batch(const Start& s, const Update& u, float* shared,
                                           const StepColumns<C>& columns, LossSums& losses) {
  StepSums<C> sums = {};
  int added = 0;
  bool first = true;
  for (std::uint32_t c = 0; c < u.chunks; ++c) {
    const Chunk chunk = s.chunks[u.first_chunk + c];
    if (s.noisy != nullptr) add_noise(s, C::l.n_x, chunk, u.drawn);
    step_forward<C>(s, chunk, shared, global(s.records));
    __syncthreads();
    if (C::p.sorted) {
      order_by_leaves<C>(s, chunk, shared, global(s.records));
      __syncthreads();
    }
    step_backward<C>(s, chunk, shared, global(s.records), u.scale, columns, sums, losses);
    __syncthreads();
    const std::uint32_t longest = s.entries[chunk.first].sequence;
    added += static_cast<int>(s.data.offset[longest + 1] - s.data.offset[longest]);
    if (added > kMostStepsAdded || c + 1 == u.chunks) {
      put_sums<C>(sums, global(s.table), first);
      first = false;
      added = 0;
    }
  }
  __syncthreads();
}

template <class C>
__device__ __forceinline__ void advance_stepwise(const Start* starts) {
  __shared__ __align__(16) unsigned char bytes[sizeof(Start)];
  __shared__ double buffer[C::p.threads / 32];
  __shared__ Totals totals;
  Start& s = *reinterpret_cast<Start*>(bytes);
  const Layout l = C::l;
  copy_start(starts + blockIdx.x, s);
  float* const shared = reinterpret_cast<float*>(dynamic_shared);
  for (int i = static_cast<int>(threadIdx.x); i < C::p.rows * C::p.pitch + C::p.sequences; i += C::p.threads)
    shared[C::p.stage + i] = i / C::p.pitch == C::p.one ? 1.0F : 0.0F;
  step_prepare<C>(s, shared);
  if (threadIdx.x == 0) totals = *s.totals;
  __syncthreads();
  const StepColumns<C> columns = step_columns<C>();
  for (std::uint32_t n = 0; n < s.update_count && totals.lost == 0; ++n) {
    const Update u = s.updates[n];
    LossSums sums;
    step_batch<C>(s, u, shared, columns, sums);
    const double loss = block_sum(sums.loss, buffer), correct = block_sum(sums.correct, buffer);
    const float clip = clip_factor(step_gradient<C>(s, shared, buffer), s.clip);
    if (!note_update(s, u, loss, correct, clip, totals)) break;
    optimise(l, s, u, clip);
    if (s.continues != nullptr) carry_over(l.n_m, s, u.first_chunk, u.chunks);
    __syncthreads();
    step_prepare<C>(s, shared);
  }
  if (threadIdx.x == 0) *s.totals = totals;
}

}  // namespace remede::cuda

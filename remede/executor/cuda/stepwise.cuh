// All updates of a start in the stepwise form (stepper.h), by one block. Compiled at run time only.
#pragma once

#include "remede/executor/cuda/kernels.cuh"
#include "remede/executor/cuda/step_back.cuh"
#include "remede/executor/cuda/step_cells.cuh"
#include "remede/executor/cuda/step_together.cuh"
#include "remede/executor/cuda/step_update.cuh"

namespace remede::cuda {

// An update with its first chunk. The next one is loaded from the device's memory while one is being made; the chunks
// of consecutive updates follow one another (Crew::plan_start).
struct Upcoming {
  Update update;
  Chunk chunk;

  __device__ __forceinline__ void load(const Start& s, std::uint32_t n, std::uint32_t first_chunk) {
    static_assert(sizeof(Update) % 4 == 0 && sizeof(Chunk) % 4 == 0);
    constexpr int kUpdate = sizeof(Update) / 4, kChunk = sizeof(Chunk) / 4;
    const int i = static_cast<int>(threadIdx.x);
    if (i < kUpdate)
      copy_later(reinterpret_cast<std::uint32_t*>(&update) + i,
                 reinterpret_cast<const std::uint32_t*>(s.updates + n) + i);
    else if (i < kUpdate + kChunk)
      copy_later(reinterpret_cast<std::uint32_t*>(&chunk) + i - kUpdate,
                 reinterpret_cast<const std::uint32_t*>(s.chunks + first_chunk) + i - kUpdate);
  }
  // Called before a barrier; after it all threads see what was loaded.
  static __device__ __forceinline__ void wait() { asm volatile("cp.async.wait_all;" ::: "memory"); }
};

// ADDS the batch of an update to the tables of sums.
template <class C>
__device__ __forceinline__ void step_batch(const Start& s, const Update& u, const Chunk& first, LossSums& losses,
                                           PhaseClock& clock) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  __shared__ int buffer[2 * p.threads / 32];
  __shared__ int next_job;
  float* const shared = step_memory();
  if constexpr (p.onehot)
    begin_hot_sums<C>(shared);
  else
    for (int i = static_cast<int>(threadIdx.x); i < l.leaves; i += p.threads) ints<C>(shared, p.seen)[i] = 0;
  for (std::uint32_t c = 0; c < u.chunks; ++c) {
    const Chunk chunk = c == 0 ? first : s.chunks[u.first_chunk + c];
    if (threadIdx.x == 0) next_job = 0;
    if constexpr (!p.onehot)
      for (int i = static_cast<int>(threadIdx.x); i < p.threads / 32 * l.leaves; i += p.threads)
        ints<C>(shared, p.counts)[i] = 0;
    if (s.noisy != nullptr) add_noise(s, l.n_x, chunk, u.drawn);
    __syncthreads();
    if constexpr (p.by_cells)
      cells_forward<C>(s, chunk);
    else if constexpr (p.by_steps)
      forward_alone<C>(s, chunk);
    else
      step_forward<C>(s, chunk);
    __syncthreads();
    clock.end(0);
    int parts = 0;
    if constexpr (!p.onehot) parts = order_leaves<C>(buffer);
    clock.end(1);
    LossSums more;
    if constexpr (p.by_cells)
      more = cells_back<C>(s, chunk, u.scale);
    else if constexpr (p.by_steps)
      more = step_backward_together<C>(s, chunk, u.scale);
    else
      more = step_backward<C>(s, chunk, u.scale);
    losses.loss += more.loss;
    losses.correct += more.correct;
    __syncthreads();
    clock.end(2);
    if constexpr (!p.onehot) add_chunk<C>(s, parts, &next_job);
    clock.end(3);
  }
}

template <class C>
__device__ __forceinline__ void advance_stepwise(const Start* starts) {
  __shared__ __align__(16) unsigned char bytes[sizeof(Start)];
  __shared__ double buffer[3 * C::p.threads / 32];
  __shared__ Totals totals;
  __shared__ Upcoming upcoming[2];
  Start& s = *reinterpret_cast<Start*>(bytes);
  copy_start(starts + blockIdx.x, s);
  for (int i = static_cast<int>(threadIdx.x); i < C::p.floats; i += C::p.threads) step_memory()[i] = 0.0F;
  __syncthreads();
  if constexpr (C::p.onehot) begin_stage<C>(step_memory());
  if (s.update_count > 0) upcoming[0].load(s, 0, s.updates[0].first_chunk);
  Upcoming::wait();
  step_prepare<C>(s);
  if (threadIdx.x == 0) totals = *s.totals;
  __syncthreads();
  PhaseClock clock;
  for (std::uint32_t n = 0; n < s.update_count && totals.lost == 0; ++n) {
    const Update u = upcoming[n % 2].update;
    const Chunk first = upcoming[n % 2].chunk;
    if (n + 1 < s.update_count) upcoming[(n + 1) % 2].load(s, n + 1, u.first_chunk + u.chunks);
    LossSums sums;
    step_batch<C>(s, u, first, sums, clock);
    const ThreeSums all = block_sums({sums.loss, sums.correct, step_gradient<C>(s)}, buffer);
    const double loss = all.of[0], correct = all.of[1];
    const float clip = clip_factor(all.of[2], s.clip);
    clock.end(4);
    if (s.gradient_only != 0) give_gradient<C>(s);
    if (!note_update(s, u, loss, correct, clip, totals)) break;
    step_optimise<C>(s, u, clip);
    if (s.continues != nullptr) carry_over(C::l.n_m, s, u.first_chunk, u.chunks);
    __syncthreads();
    clock.end(5);
    Upcoming::wait();
    step_prepare<C>(s);
    clock.end(6);
  }
  clock.print("forward, order, backward, sums, gradient, optimise, prepare", totals.made);
  if (threadIdx.x == 0) *s.totals = totals;
}

}  // namespace remede::cuda

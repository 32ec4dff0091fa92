// What a block of threads does: all updates of a start, or the losses of some trees. Compiled with the program for
// layouts that are known at run time only, and at run time for the layout of a start (compile.h).
#pragma once

#include "remede/executor/cuda/optimise.cuh"

namespace remede::cuda {

#ifdef REMEDE_CUDA_PROFILE  // cycles of each phase, of the first block: printed when a launch ends
#define REMEDE_PHASE(i)              \
  if (threadIdx.x == 0) {            \
    const long long now = clock64(); \
    cycles[i] += now - last;         \
    last = now;                      \
  }
#else
#define REMEDE_PHASE(i) static_cast<void>(0)
#endif

// Copies a start's description into shared memory: every phase reads it again and again.
__device__ __forceinline__ void copy_start(const Start* from, Start& to) {
  static_assert(sizeof(Start) % sizeof(std::uint32_t) == 0);
  for (std::size_t i = threadIdx.x; i < sizeof(Start) / sizeof(std::uint32_t); i += blockDim.x)
    reinterpret_cast<std::uint32_t*>(&to)[i] = reinterpret_cast<const std::uint32_t*>(from)[i];
  __syncthreads();
}

// Whether the update is to be made. All threads call it.
__device__ __forceinline__ bool note_update(const Start& s, const Update& u, double loss, double correct, float clip,
                                            Totals& totals) {
  const bool lost = s.gradient_only == 0 && (!finite(loss) || !finite(clip));
  if (threadIdx.x == 0) {
    if (lost) {
      totals.lost = 1;
    } else {
      totals.loss += loss;
      totals.weight += u.weight;
      totals.correct += correct;
      ++totals.made;
    }
  }
  return !lost && s.gradient_only == 0;
}

template <int G, int K>
__device__ __forceinline__ void weigh(const Layout& l, const Start& s, const Work& w, const Chunk& chunk) {
  if constexpr (G <= 8)
    weigh_by_thread<G>(l, s, w, chunk);
  else
    weigh_by_group<G, K>(l, s, w, chunk);
}

// A block for a start: all of its updates.
template <int G, int K, bool kShared>
__device__ __forceinline__ void advance_block(const Layout& l, const Start* starts) {
  __shared__ __align__(16) unsigned char bytes[sizeof(Start)];
  __shared__ double buffer[kThreads / 32];
  __shared__ Totals totals;
  Start& s = *reinterpret_cast<Start*>(bytes);
  copy_start(starts + blockIdx.x, s);
  float* const arena = kShared ? reinterpret_cast<float*>(dynamic_shared) : global(s.arena);
  prepare(l, global(s.missing_right), global(s.parameters), arena);
  if (threadIdx.x == 0) totals = *s.totals;
  __syncthreads();
#ifdef REMEDE_CUDA_PROFILE
  long long cycles[8] = {}, last = clock64();
#endif
  for (std::uint32_t n = 0; n < s.update_count && totals.lost == 0; ++n) {
    const Update u = s.updates[n];
    const Work work = {arena, global(s.records), global(s.leaf), global(s.at), u.scale};
    for (int i = threadIdx.x; i < l.tables * l.sums_size; i += blockDim.x) arena[l.sums + i] = 0.0F;
    LossSums sums;
    for (std::uint32_t c = 0; c < u.chunks; ++c) {
      const Chunk chunk = s.chunks[u.first_chunk + c];
      if (s.noisy != nullptr) add_noise(s, l.n_x, chunk, u.drawn);
      REMEDE_PHASE(0);
      forward<G, K>(l, s, work, chunk);
      REMEDE_PHASE(1);
      answer<G>(l, s, work, chunk, sums);
      REMEDE_PHASE(2);
      weigh<G, K>(l, s, work, chunk);
      REMEDE_PHASE(3);
      backward<G, K>(l, s, work, chunk);
      REMEDE_PHASE(4);
      add_up(l, s, work, chunk);
      REMEDE_PHASE(5);
    }
    const double loss = block_sum(sums.loss, buffer), correct = block_sum(sums.correct, buffer);
    const float clip = clip_factor(gather_gradient(l, s, arena, buffer), s.clip);
    const bool goes_on = note_update(s, u, loss, correct, clip, totals);
    REMEDE_PHASE(6);
    if (!goes_on) break;
    optimise(l, s, u, clip);
    if (s.continues != nullptr) carry_over(l.n_m, s, u.first_chunk, u.chunks);
    __syncthreads();
    prepare(l, global(s.missing_right), global(s.parameters), arena);
    REMEDE_PHASE(7);
  }
  if (threadIdx.x == 0) *s.totals = totals;
#ifdef REMEDE_CUDA_PROFILE
  if (threadIdx.x == 0 && blockIdx.x == 0 && totals.made > 0)
    printf(
        "cycles an update: noise %lld forward %lld answer %lld weigh %lld backward %lld add_up %lld gather %lld "
        "optimise %lld\n",
        cycles[0] / totals.made, cycles[1] / totals.made, cycles[2] / totals.made, cycles[3] / totals.made,
        cycles[4] / totals.made, cycles[5] / totals.made, cycles[6] / totals.made, cycles[7] / totals.made);
#endif
}

// A block takes consecutive jobs: it prepares a tree once.
template <int G, int K, bool kShared>
__device__ __forceinline__ void loss_block(const Layout& l, const Start* starts, const LossJob* jobs,
                                           std::uint32_t count, LossScratch scratch, Totals* losses) {
  __shared__ __align__(16) unsigned char bytes[sizeof(Start)];
  __shared__ double buffer[kThreads / 32];
  Start& s = *reinterpret_cast<Start*>(bytes);
  float* const arena =
      kShared ? reinterpret_cast<float*>(dynamic_shared) : global(scratch.arena + blockIdx.x * scratch.arena_pitch);
  const auto end = static_cast<std::uint32_t>(static_cast<std::uint64_t>(count) * (blockIdx.x + 1) / gridDim.x);
  auto job = static_cast<std::uint32_t>(static_cast<std::uint64_t>(count) * blockIdx.x / gridDim.x);
  for (std::uint32_t prepared = ~0U; job < end; ++job) {
    if (jobs[job].start != prepared) {
      __syncthreads();
      prepared = jobs[job].start;
      copy_start(starts + prepared, s);
      prepare(l, global(s.missing_right), global(s.average), arena);
    }
    const Chunk chunk = s.chunks[jobs[job].chunk];
    const Work work = {arena, global(scratch.records + blockIdx.x * scratch.records_pitch),
                       global(scratch.leaf + blockIdx.x * scratch.steps_pitch),
                       global(scratch.at + blockIdx.x * scratch.steps_pitch), 0.0F};
    LossSums sums;
    forward<G, K>(l, s, work, chunk);
    answer<G>(l, s, work, chunk, sums);
    const double loss = block_sum(sums.loss, buffer), correct = block_sum(sums.correct, buffer);
    if (threadIdx.x == 0) losses[job] = {loss, 0.0, correct, 0, 0};
  }
}

}  // namespace remede::cuda

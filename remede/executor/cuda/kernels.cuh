// What a block of threads does: all updates of a start, or the losses of some trees. Compiled with the program for
// layouts that are known at run time only, and at run time for the layout of a start (compile.h).
#pragma once

#include "remede/executor/cuda/optimise.cuh"

namespace remede::cuda {

// Cycles of the phases of an update, of the first block: printed when a launch ends. Only where REMEDE_CUDA_PROFILE is
// defined; nothing elsewhere. All threads of a block call end().
struct PhaseClock {
#ifdef REMEDE_CUDA_PROFILE
  static constexpr int kPhases = 8;
  long long cycles[kPhases] = {}, last = clock64();
  __device__ void end(int phase) {
    __syncthreads();
    const long long now = clock64();
    cycles[phase] += now - last;
    last = now;
  }
  __device__ void print(const char* names, std::uint32_t updates) const {
    if (threadIdx.x != 0 || blockIdx.x != 0 || updates == 0) return;
    printf("cycles an update (%s):", names);
    for (int i = 0; i < kPhases; ++i) printf(" %lld", cycles[i] / updates);
    printf("; %u updates\n", updates);
  }
#else
  __device__ __forceinline__ void end(int) {}
  __device__ __forceinline__ void print(const char*, std::uint32_t) const {}
#endif
};

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
  PhaseClock clock;
  for (std::uint32_t n = 0; n < s.update_count && totals.lost == 0; ++n) {
    const Update u = s.updates[n];
    const Work work = {arena, global(s.records), global(s.leaf), global(s.at), u.scale};
    for (int i = threadIdx.x; i < l.tables * l.sums_size; i += blockDim.x) arena[l.sums + i] = 0.0F;
    LossSums sums;
    for (std::uint32_t c = 0; c < u.chunks; ++c) {
      const Chunk chunk = s.chunks[u.first_chunk + c];
      if (s.noisy != nullptr) add_noise(s, l.n_x, chunk, u.drawn);
      clock.end(0);
      forward<G, K>(l, s, work, chunk);
      clock.end(1);
      answer<G>(l, s, work, chunk, sums);
      clock.end(2);
      weigh<G, K>(l, s, work, chunk);
      clock.end(3);
      backward<G, K>(l, s, work, chunk);
      clock.end(4);
      add_up(l, s, work, chunk);
      clock.end(5);
    }
    const double loss = block_sum(sums.loss, buffer), correct = block_sum(sums.correct, buffer);
    const float clip = clip_factor(gather_gradient(l, s, arena, buffer), s.clip);
    const bool goes_on = note_update(s, u, loss, correct, clip, totals);
    clock.end(6);
    if (!goes_on) break;
    optimise(l, s, u, clip, global(s.gradient));
    if (s.continues != nullptr) carry_over(l.n_m, s, u.first_chunk, u.chunks);
    __syncthreads();
    prepare(l, global(s.missing_right), global(s.parameters), arena);
    clock.end(7);
  }
  if (threadIdx.x == 0) *s.totals = totals;
  clock.print("noise, forward, answer, weigh, backward, add up, gather, optimise", totals.made);
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

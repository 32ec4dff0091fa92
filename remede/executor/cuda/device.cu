// The kernels, and the calls by which the host uses them.
#include <algorithm>
#include <cstdio>

#include <cuda_runtime.h>

#include "remede/executor/cuda/device.h"
#include "remede/executor/cuda/optimise.cuh"

namespace remede::cuda {
namespace {

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

extern __shared__ float4 dynamic_shared[];

// Copies a start's description into shared memory: every phase reads it again and again.
__device__ void copy_start(const Start* from, Start& to) {
  static_assert(sizeof(Start) % sizeof(std::uint32_t) == 0);
  for (std::size_t i = threadIdx.x; i < sizeof(Start) / sizeof(std::uint32_t); i += blockDim.x)
    reinterpret_cast<std::uint32_t*>(&to)[i] = reinterpret_cast<const std::uint32_t*>(from)[i];
  __syncthreads();
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
__global__ void __launch_bounds__(kThreads) advance_kernel(const __grid_constant__ Layout l, const Start* starts) {
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
    const bool lost = s.gradient_only == 0 && (!isfinite(loss) || !isfinite(clip));
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
    REMEDE_PHASE(6);
    if (lost || s.gradient_only != 0) break;
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
__global__ void __launch_bounds__(kThreads)
    loss_kernel(const __grid_constant__ Layout l, const Start* starts, const LossJob* jobs, std::uint32_t count,
                LossScratch scratch, Totals* losses) {
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

void expect(cudaError_t error, const char* what) {
  if (error != cudaSuccess)
    refuse(std::string("GPU: expected ") + what + " to work, got: " + cudaGetErrorString(error));
}

// Calls visit(kernels of this variant).
template <int G, int K, bool kShared>
struct Kernels {
  static constexpr auto* kAdvance = advance_kernel<G, K, kShared>;
  static constexpr auto* kLosses = loss_kernel<G, K, kShared>;
};
template <typename Visit>
void with_kernels(const Variant& v, const Visit& visit) {
  if (!v.shared) return v.cells == 1 ? visit(Kernels<8, 1, false>()) : visit(Kernels<32, 2, false>());
  if (v.lanes == 4) return visit(Kernels<4, 1, true>());
  if (v.lanes == 8) return visit(Kernels<8, 1, true>());
  if (v.lanes == 16) return visit(Kernels<16, 1, true>());
  return visit(Kernels<32, 2, true>());
}

template <typename Kernel>
void allow_shared(Kernel* kernel, std::size_t bytes) {
  expect(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
         "asking for shared memory");
}

}  // namespace

std::string why_no_gpu() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return cudaGetErrorString(error);
  if (count == 0) return "no GPU found";
  cudaFuncAttributes attributes{};
  if (const cudaError_t code = cudaFuncGetAttributes(&attributes, advance_kernel<8, 1, true>); code != cudaSuccess)
    return "the program was not built for this GPU (" + gpu_name() + "): " + cudaGetErrorString(code);
  return "";
}

std::string gpu_name() {
  cudaDeviceProp properties{};
  return cudaGetDeviceProperties(&properties, 0) == cudaSuccess ? properties.name : "unknown";
}

std::size_t free_bytes() {
  std::size_t free = 0, all = 0;
  expect(cudaMemGetInfo(&free, &all), "asking for free memory");
  return free;
}

std::size_t shared_bytes() {
  int bytes = 0;
  expect(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0), "asking for shared memory");
  return static_cast<std::size_t>(bytes);
}

Buffer::~Buffer() {
  if (at_ != nullptr) cudaFree(at_);
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(at_, other.at_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void Buffer::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return;
  if (at_ != nullptr) expect(cudaFree(at_), "giving back memory");
  at_ = nullptr;
  bytes_ = 0;
  if (cudaMalloc(&at_, bytes) != cudaSuccess) {
    cudaGetLastError();
    at_ = nullptr;
    refuse("GPU: expected " + std::to_string(bytes >> 20U) + " MB of free memory, got " +
           std::to_string(free_bytes() >> 20U) + " MB");
  }
  bytes_ = bytes;
}

void Buffer::put(const void* from, std::size_t bytes) {
  reserve(bytes);
  if (bytes > 0) expect(cudaMemcpy(at_, from, bytes, cudaMemcpyHostToDevice), "copying to it");
}

void Buffer::get(void* to, std::size_t bytes) const {
  if (bytes > 0) expect(cudaMemcpy(to, at_, bytes, cudaMemcpyDeviceToHost), "copying from it");
}

Pinned::~Pinned() {
  if (at_ != nullptr) cudaFreeHost(at_);
}

void Pinned::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return;
  if (at_ != nullptr) expect(cudaFreeHost(at_), "giving back memory");
  at_ = nullptr;
  bytes_ = 0;
  expect(cudaHostAlloc(&at_, bytes, cudaHostAllocDefault), "allocating memory of the host");
  bytes_ = bytes;
}

void Buffer::put_later(const Pinned& from, std::size_t bytes, void* stream) {
  reserve(bytes);
  if (bytes > 0)
    expect(cudaMemcpyAsync(at_, from.as<void>(), bytes, cudaMemcpyHostToDevice, static_cast<cudaStream_t>(stream)),
           "copying to it");
}

void* Streams::copies() {
  if (copies_ == nullptr) {
    cudaStream_t stream = nullptr;
    expect(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    copies_ = stream;
  }
  return copies_;
}

void Streams::wait_for_copies() {
  if (copies_ != nullptr) expect(cudaStreamSynchronize(static_cast<cudaStream_t>(copies_)), "copying to it");
}

Streams::~Streams() {
  if (copies_ != nullptr) cudaStreamDestroy(static_cast<cudaStream_t>(copies_));
  for (void* stream : streams_) cudaStreamDestroy(static_cast<cudaStream_t>(stream));
}

void* Streams::get(std::size_t number) {
  while (streams_.size() <= number) {
    cudaStream_t stream = nullptr;
    expect(cudaStreamCreate(&stream), "making a stream");
    streams_.push_back(stream);
  }
  return streams_[number];
}

void advance(const Variant& variant, const Layout& layout, const Start* starts, std::size_t count, void* stream) {
  const std::size_t bytes = variant.shared ? static_cast<std::size_t>(layout.arena) * sizeof(float) : 0;
  with_kernels(variant, [&](auto kernels) {
    allow_shared(kernels.kAdvance, bytes);
    kernels.kAdvance<<<static_cast<unsigned>(count), kThreads, bytes, static_cast<cudaStream_t>(stream)>>>(layout,
                                                                                                           starts);
  });
  expect(cudaGetLastError(), "starting a kernel");
}

void losses(const Variant& variant, const Layout& layout, const Start* starts, const LossJob* jobs, std::size_t count,
            std::size_t blocks, const LossScratch& scratch, Totals* losses) {
  const std::size_t bytes = variant.shared ? static_cast<std::size_t>(layout.arena) * sizeof(float) : 0;
  with_kernels(variant, [&](auto kernels) {
    allow_shared(kernels.kLosses, bytes);
    kernels.kLosses<<<static_cast<unsigned>(blocks), kThreads, bytes>>>(
        layout, starts, jobs, static_cast<std::uint32_t>(count), scratch, losses);
  });
  expect(cudaGetLastError(), "starting a kernel");
}

void synchronise() { expect(cudaDeviceSynchronize(), "training"); }

}  // namespace remede::cuda

// The kernels, and the calls by which the host uses them.
#include <algorithm>

#include <cuda_runtime.h>

#include "remede/executor/cuda/device.h"
#include "remede/executor/cuda/kernels.cuh"

namespace remede::cuda {
namespace {

template <int G, int K, bool kShared>
__global__ void __launch_bounds__(kThreads) advance_kernel(const __grid_constant__ Layout l, const Start* starts) {
  advance_block<G, K, kShared>(l, starts);
}

template <int G, int K, bool kShared>
__global__ void __launch_bounds__(kThreads)
    loss_kernel(const __grid_constant__ Layout l, const Start* starts, const LossJob* jobs, std::uint32_t count,
                LossScratch scratch, Totals* losses) {
  loss_block<G, K, kShared>(l, starts, jobs, count, scratch, losses);
}

// What grows a little grows again: to get memory takes milliseconds.
std::size_t grown(std::size_t before, std::size_t wanted) {
  return before == 0 ? wanted : std::max(wanted, before + before / 2);
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

// All that a block can have, whatever this launch needs: another thread may launch the same kernel with more of it.
void allow_shared(const void* kernel) {
  cudaFuncAttributes attributes{};
  expect(cudaFuncGetAttributes(&attributes, kernel), "asking for shared memory");
  const std::size_t bytes = device_limits().shared - attributes.sharedSizeBytes;
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

DeviceLimits device_limits() {
  int bytes = 0, major = 0;
  expect(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0), "asking for shared memory");
  expect(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "asking what it is");
  return {static_cast<std::size_t>(bytes), major >= 8};
}

Buffer::~Buffer() {
  if (at_ != nullptr) cudaFree(at_);
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(at_, other.at_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void Buffer::reserve(std::size_t wanted) {
  if (wanted <= bytes_) return;
  const std::size_t bytes = grown(bytes_, wanted);
  if (at_ != nullptr) expect(cudaFree(at_), "giving back memory");
  at_ = nullptr;
  bytes_ = 0;
  for (const std::size_t size : {bytes, wanted}) {
    if (cudaMalloc(&at_, size) == cudaSuccess) {
      bytes_ = size;
      return;
    }
    cudaGetLastError();
    at_ = nullptr;
  }
  refuse_memory(wanted, free_bytes());
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

void Pinned::reserve(std::size_t wanted) {
  if (wanted <= bytes_) return;
  const std::size_t bytes = grown(bytes_, wanted);
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

void Buffer::put_part_later(const Pinned& from, std::size_t first, std::size_t bytes, void* stream) {
  if (bytes > 0)
    expect(cudaMemcpyAsync(as<char>() + first, from.as<char>() + first, bytes, cudaMemcpyHostToDevice,
                           static_cast<cudaStream_t>(stream)),
           "copying to it");
}

void Buffer::get_part_later(const Pinned& to, std::size_t first, std::size_t bytes, void* stream) const {
  if (bytes > 0)
    expect(cudaMemcpyAsync(to.as<char>() + first, as<char>() + first, bytes, cudaMemcpyDeviceToHost,
                           static_cast<cudaStream_t>(stream)),
           "copying from it");
}

void Streams::mark_copies(std::size_t mark) {
  while (marks_.size() <= mark) {
    cudaEvent_t event = nullptr;
    expect(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
    marks_.push_back(event);
  }
  expect(cudaEventRecord(static_cast<cudaEvent_t>(marks_[mark]), static_cast<cudaStream_t>(copies())), "copying");
}

void Streams::wait_for_mark(std::size_t mark) {
  expect(cudaEventSynchronize(static_cast<cudaEvent_t>(marks_[mark])), "copying");
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
  for (void* event : marks_) cudaEventDestroy(static_cast<cudaEvent_t>(event));
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

std::string architecture() {
  cudaDeviceProp properties{};
  expect(cudaGetDeviceProperties(&properties, 0), "asking what it is");
  return "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
}

std::string driver_version() {
  int version = 0;
  expect(cudaDriverGetVersion(&version), "asking for its driver");
  return std::to_string(version);
}

const void* load_kernel(const std::string& code, const char* name) {
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  if (cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0) != cudaSuccess ||
      cudaLibraryGetKernel(&kernel, library, name) != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  return reinterpret_cast<const void*>(kernel);
}

void advance_compiled(const void* kernel, int threads, std::size_t shared, const Start* starts, std::size_t count,
                      void* stream) {
  allow_shared(kernel);
  void* arguments[] = {&starts};
  expect(cudaLaunchKernel(kernel, dim3(static_cast<unsigned>(count)), dim3(static_cast<unsigned>(threads)), arguments,
                          shared, static_cast<cudaStream_t>(stream)),
         "starting a kernel");
}

void advance(const Variant& variant, const Layout& layout, const Start* starts, std::size_t count, void* stream) {
  const std::size_t bytes = variant.shared ? static_cast<std::size_t>(layout.arena) * sizeof(float) : 0;
  with_kernels(variant, [&](auto kernels) {
    allow_shared(reinterpret_cast<const void*>(kernels.kAdvance));
    kernels.kAdvance<<<static_cast<unsigned>(count), kThreads, bytes, static_cast<cudaStream_t>(stream)>>>(layout,
                                                                                                           starts);
  });
  expect(cudaGetLastError(), "starting a kernel");
}

void losses(const Variant& variant, const Layout& layout, const Start* starts, const LossJob* jobs, std::size_t count,
            std::size_t blocks, const LossScratch& scratch, Totals* losses) {
  const std::size_t bytes = variant.shared ? static_cast<std::size_t>(layout.arena) * sizeof(float) : 0;
  with_kernels(variant, [&](auto kernels) {
    allow_shared(reinterpret_cast<const void*>(kernels.kLosses));
    kernels.kLosses<<<static_cast<unsigned>(blocks), kThreads, bytes>>>(
        layout, starts, jobs, static_cast<std::uint32_t>(count), scratch, losses);
  });
  expect(cudaGetLastError(), "starting a kernel");
}

void synchronise() { expect(cudaDeviceSynchronize(), "training"); }

}  // namespace remede::cuda

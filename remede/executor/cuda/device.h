// The few calls by which the host uses a GPU. Implemented by device.cu; nothing else includes CUDA's headers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "remede/executor/cuda/layout.h"

namespace remede::cuda {

// Throw Error and TooLittleMemory: CUDA's compiler does not read the header that defines them.
[[noreturn]] void refuse(const std::string& message);
[[noreturn]] void refuse_memory(std::size_t wanted, std::size_t free);

// Empty where a GPU can be used, else one line that says why not.
std::string why_no_gpu();
std::string gpu_name();
std::size_t free_bytes();

// Memory of the host that the GPU copies from by itself. Grows, as Buffer.
class Pinned {
 public:
  Pinned() = default;
  ~Pinned();
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  void reserve(std::size_t bytes);
  template <typename T>
  T* as() const {
    return static_cast<T*>(at_);
  }

 private:
  void* at_ = nullptr;
  std::size_t bytes_ = 0;
};

// Memory of the GPU. Grows, never shrinks; its contents are lost when it grows. Throws TooLittleMemory.
class Buffer {
 public:
  Buffer() = default;
  ~Buffer();
  Buffer(Buffer&& other) noexcept : at_(other.at_), bytes_(other.bytes_) {
    other.at_ = nullptr;
    other.bytes_ = 0;
  }
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void reserve(std::size_t bytes);
  void put(const void* from, std::size_t bytes);  // reserves
  void put_later(const Pinned& from, std::size_t bytes, void* stream);
  // The same of the bytes from `first` on, which it has already.
  void put_part_later(const Pinned& from, std::size_t first, std::size_t bytes, void* stream);
  void get_part_later(const Pinned& to, std::size_t first, std::size_t bytes, void* stream) const;
  void get(void* to, std::size_t bytes) const;
  template <typename T>
  T* as() const {
    return static_cast<T*>(at_);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  void* at_ = nullptr;
  std::size_t bytes_ = 0;
};

// How a tree is laid out over lanes: which kernel takes it.
struct Variant {
  int lanes = 8;  // of a sequence
  int cells = 1;  // of a lane
  bool shared = true;
  bool operator==(const Variant&) const = default;
};

struct DeviceLimits {
  std::size_t shared = 0;     // bytes that a block may have
  bool tensor_cores = false;  // that multiply float32, if by parts
};
DeviceLimits device_limits();

// Queues of the device: what is in different ones runs at the same time. Plain copies wait for all of them but for
// copies().
class Streams {
 public:
  Streams() = default;
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  void* get(std::size_t number);
  void* copies();
  void wait_for_copies();
  void mark_copies(std::size_t mark);  // what copies() has been given up to now
  void wait_for_mark(std::size_t mark);

 private:
  std::vector<void*> streams_, marks_;
  void* copies_ = nullptr;
};

std::string architecture();    // "sm_90"
std::string driver_version();  // the CUDA it was made for: "13000"
// A kernel from compiled code, or null; it lives as long as the process.
const void* load_kernel(const std::string& code, const char* name);

// Advances the starts, which have one layout, a block each, by a kernel that takes any layout. Returns before they are
// done: synchronise() waits.
void advance(const Variant& variant, const Layout& layout, const Start* starts, std::size_t count, void* stream);
// The same by a kernel for this layout, with so many threads and bytes of shared memory.
void advance_compiled(const void* kernel, int threads, std::size_t shared, const Start* starts, std::size_t count,
                      void* stream);
// losses: (jobs) ASSIGNED. `blocks` work on them, each with its part of the scratch memory.
void losses(const Variant& variant, const Layout& layout, const Start* starts, const LossJob* jobs, std::size_t count,
            std::size_t blocks, const LossScratch& scratch, Totals* losses);
void synchronise();

}  // namespace remede::cuda

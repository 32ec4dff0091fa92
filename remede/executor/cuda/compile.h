// Kernels compiled at run time for the layout of one shape: loops over cells, inputs and outputs have then a fixed
// length, and what a form does not have is not there. By NVRTC, which is a library of CUDA; where it is not installed,
// the kernels that take any layout are used.
#pragma once

#include <span>
#include <string>

#include "remede/executor/cuda/shape.h"

namespace remede::cuda {

struct SourceFile {
  const char* name;
  const char* text;
};
std::span<const SourceFile> kernel_sources();  // made by sources.cmake

// The program text for this shape: includes the files above, defines remede_advance.
std::string kernel_text(const DeviceShape& shape);

// The device's code of it; empty where there is no NVRTC or it fails, and then `why` says so. From any thread.
std::string compile(const DeviceShape& shape, const std::string& architecture, std::string& why);

// Everything that the code depends on.
std::string cache_key(const DeviceShape& shape, const std::string& architecture, const std::string& driver);

// The kernel for this layout: compiled once, and kept for the next process (base/cache.h). Null where there is none,
// and then `why` says so. From any thread.
const void* compiled_kernel(const DeviceShape& shape, std::string& why);

}  // namespace remede::cuda

// Training on a GPU. Built where CUDA is (-DREMEDE_CUDA=ON); elsewhere stub.cpp says so.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "remede/executor/executor.h"

namespace remede {

// Empty where this program can train on a GPU of this machine, else one line that says why not.
std::string why_no_gpu();

// Starts that the GPU does not take (trees too deep, too many cells) run on the CPU. Throws Error where there is no
// GPU, or where the data do not fit into its memory.
std::unique_ptr<Executor> make_gpu_executor(std::vector<const TrainingData*> data, int threads);

// The gradient of a batch as the executor computes it, for tests. The data are copied in every call. compiled: by
// kernels that are compiled for the shape; throws Error where there are none.
std::unique_ptr<Engine> make_gpu_engine(bool compiled = false);

}  // namespace remede

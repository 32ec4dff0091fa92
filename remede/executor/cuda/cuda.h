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

// Starts that the GPU does not take (trees too deep, too many cells, entmax, too little memory) run on the CPU, and
// note() says so. Data that do not fit into its memory are loaded in parts as they are needed, which changes no result.
// Throws Error where there is no GPU. most_bytes: of its memory, for tests; 0: most of what is free.
std::unique_ptr<Executor> make_gpu_executor(std::vector<const TrainingData*> data, int threads,
                                            std::size_t most_bytes = 0);

// The gradient of a batch as the executor computes it, for tests. The data are copied in every call. compiled: by
// kernels that are compiled for the shape; throws Error where there are none.
std::unique_ptr<Engine> make_gpu_engine(bool compiled = false);

}  // namespace remede

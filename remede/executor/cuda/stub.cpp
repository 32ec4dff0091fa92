// In place of the GPU where CUDA is not built.
#include "remede/base/error.h"
#include "remede/executor/cuda/cuda.h"

namespace remede {

std::string why_no_gpu() { return "this program was built without CUDA (see -DREMEDE_CUDA=ON)"; }

std::unique_ptr<Executor> make_gpu_executor(std::vector<const TrainingData*>, int, std::size_t) {
  fail("--device gpu: expected a GPU, got none: {}", why_no_gpu());
}

std::unique_ptr<Engine> make_gpu_engine(bool) { fail("expected a GPU, got none: {}", why_no_gpu()); }

}  // namespace remede

// One harness as libFuzzer wants it: fuzz/CMakeLists.txt says which.
#include "fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  remede::fuzz::REMEDE_HARNESS({reinterpret_cast<const char*>(data), size});
  return 0;
}

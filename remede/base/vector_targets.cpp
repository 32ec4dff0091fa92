#include "remede/base/vector_targets.h"

#include <cstdlib>
#include <string>

#include "remede/base/error.h"

namespace remede {
namespace {

VectorTarget widest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd"))
    return VectorTarget::kAvx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
    return VectorTarget::kAvx2;
  if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul")) return VectorTarget::kSse4;
#endif
  return VectorTarget::kPortable;
}

}  // namespace

const char* name(VectorTarget target) {
  static constexpr const char* kNames[] = {"portable", "sse4", "avx2", "avx512"};
  return kNames[static_cast<int>(target)];
}

VectorTarget vector_target() {
  const VectorTarget most = widest();
  const char* wanted = std::getenv("REMEDE_VECTOR");
  if (wanted == nullptr || *wanted == '\0') return most;
  for (const VectorTarget t :
       {VectorTarget::kPortable, VectorTarget::kSse4, VectorTarget::kAvx2, VectorTarget::kAvx512})
    if (std::string(wanted) == name(t) && t <= most) return t;
  fail("REMEDE_VECTOR: expected portable, sse4, avx2 or avx512, none wider than {}, got '{}'", name(most), wanted);
}

}  // namespace remede

// Which vector instruction sets the kernels are compiled for, and which of them this machine runs. Include before
// Highway.
#pragma once

// SSSE3 alone is not worth a copy; without a wider set the portable copy serves.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

// `function` of the copy for this machine. For the part of a file that Highway compiles once (HWY_ONCE); the function
// stands in remede::HWY_NAMESPACE. Our own choice instead of Highway's: the same for all kernels, and no library to
// ship.
// With HWY_COMPILE_ONLY_STATIC (the fuzz build) there is one copy.
#if defined(__x86_64__) && !defined(HWY_COMPILE_ONLY_STATIC)
#define REMEDE_CHOOSE_KERNEL(function)                          \
  (vector_target() == VectorTarget::kAvx512 ? &N_AVX3::function \
   : vector_target() == VectorTarget::kAvx2 ? &N_AVX2::function \
   : vector_target() == VectorTarget::kSse4 ? &N_SSE4::function \
                                            : &HWY_NAMESPACE::function)
#else
#define REMEDE_CHOOSE_KERNEL(function) (&HWY_NAMESPACE::function)
#endif

namespace remede {

enum class VectorTarget { kPortable, kSse4, kAvx2, kAvx512 };

// The widest set this machine has, or the narrower one that the environment variable REMEDE_VECTOR names (portable,
// sse4, avx2, avx512). Throws Error when the variable names one that is unknown or not there.
VectorTarget vector_target();
const char* name(VectorTarget target);

}  // namespace remede

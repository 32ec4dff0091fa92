// Arithmetic on the device: the functions of base/arithmetic.h and the formulas of the objectives.
#pragma once

#include <cstddef>
#include <cstdint>

#include "remede/executor/cuda/layout.h"

#ifdef __CUDACC_RTC__  // compiled at run time, without the library's headers: compile.cpp writes the constants
#include "constants.h"
namespace remede {
enum class Loss : unsigned char {
#define REMEDE_OBJECTIVE(Name, word) k##Name,
#include "remede/objective/objectives.def"
#undef REMEDE_OBJECTIVE
};
}  // namespace remede
#else
#include "remede/base/arithmetic.h"
#include "remede/objective/objective.h"
#endif

namespace remede::cuda {

// One over x, for x of at least 1: to the last bit but one, and without the cases that only other numbers need.
__device__ __forceinline__ float one_over(float x) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

__device__ __forceinline__ float tanh(float x) {
  using C = TanhConstants;
  constexpr float kP[6] = {C::kP[0], C::kP[1], C::kP[2], C::kP[3], C::kP[4], C::kP[5]};
  constexpr float kQ[4] = {C::kQ[0], C::kQ[1], C::kQ[2], C::kQ[3]};
  x = x > C::kLimit ? C::kLimit : x;  // NaN stays NaN
  x = x < -C::kLimit ? -C::kLimit : x;
  const float s = x * x;
  float p = kP[5];
#pragma unroll
  for (int i = 4; i >= 0; --i) p = fmaf(p, s, kP[i]);
  float q = kQ[3];
#pragma unroll
  for (int i = 2; i >= 0; --i) q = fmaf(q, s, kQ[i]);
  float r = x * p * one_over(q);
  r = r > 1.0F ? 1.0F : r;
  return r < -1.0F ? -1.0F : r;
}

__device__ __forceinline__ float exp(float x) {
  using C = ExpConstants;
  if (x < C::kLowest) return 0.0F;
  return ::expf(x > C::kHighest ? C::kHighest : x);
}
__device__ __forceinline__ float log(float x) { return ::logf(x); }

__device__ __forceinline__ float sigmoid(float x) {
  const float e = exp(x < 0.0F ? x : -x);
  return x < 0.0F ? e / (1.0F + e) : 1.0F / (1.0F + e);
}

// Random numbers as base/random.h draws them.
class Random {
 public:
  __device__ Random(std::uint64_t seed, std::uint64_t stream) {
    std::uint64_t s = seed;
    s = splitmix(s) ^ (stream * 0xd1342543de82ef95ULL);
    a_ = splitmix(s);
    b_ = splitmix(s);
    c_ = splitmix(s);
    d_ = splitmix(s);
  }
  __device__ std::uint64_t bits() {
    const std::uint64_t result = turned(a_ + d_, 23) + a_;
    const std::uint64_t t = b_ << 17;
    c_ ^= a_;
    d_ ^= b_;
    b_ ^= c_;
    a_ ^= d_;
    c_ ^= t;
    d_ = turned(d_, 45);
    return result;
  }

 private:
  static __device__ std::uint64_t turned(std::uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }
  static __device__ std::uint64_t splitmix(std::uint64_t& s) {
    std::uint64_t z = (s += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint64_t a_, b_, c_, d_;
};

// An objective as objective/formulas.inc sees it.
struct Numbers {
  List list;
  __device__ bool empty() const { return list.count == 0; }
  __device__ std::size_t size() const { return static_cast<std::size_t>(list.count); }
  __device__ float operator[](std::size_t i) const { return list.at[i]; }
};
struct Objective {
  Loss loss;
  Numbers quantiles, scale;
};

template <typename T>
inline constexpr int kApart = 1;
template <typename T>
__device__ __forceinline__ T load(const T* p) {
  return *p;
}
template <typename T>
__device__ __forceinline__ void store(T value, T* p) {
  *p = value;
}
template <typename T>
__device__ __forceinline__ T number(float x) {
  return x;
}
#define REMEDE_DEVICE_BINARY(name, expression)     \
  template <typename T>                            \
  __device__ __forceinline__ auto name(T a, T b) { \
    return expression;                             \
  }
REMEDE_DEVICE_BINARY(add, a + b)
REMEDE_DEVICE_BINARY(sub, a - b)
REMEDE_DEVICE_BINARY(mul, a* b)
REMEDE_DEVICE_BINARY(div, a / b)
REMEDE_DEVICE_BINARY(gt, a > b)
REMEDE_DEVICE_BINARY(lt, a < b)
REMEDE_DEVICE_BINARY(eq, a == b)
#undef REMEDE_DEVICE_BINARY
template <typename T>
__device__ __forceinline__ T select(bool m, T yes, T no) {
  return m ? yes : no;
}
template <typename T>
__device__ __forceinline__ T keep(bool m, T yes) {
  return m ? yes : T(0);
}

#define REMEDE_FORMULA __device__ inline
#include "remede/objective/formulas.inc"
#undef REMEDE_FORMULA

}  // namespace remede::cuda

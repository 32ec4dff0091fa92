// The model's one arithmetic in float: exp, tanh and sigmoid written as plain multiplications, additions and one
// division, each rounded once, so that C++, vector kernels, exported C and JavaScript (with Math.fround) give the same
// bits. No libm call and no fused operation; the build switches contraction off. Error bounds are stated and tested.
//
// The double versions are for the golden vectors and may use libm.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace remede {

// The constants of tanh, in one place: the vector kernels and the exporters read them from here.
// tanh(x) ~ x P(x^2) / Q(x^2) on |x| <= 9, beyond which it is 1 in float.
struct TanhConstants {
  static constexpr float kLimit = 9.0F;
  static constexpr float kP[6] = {0.99999994F,   0.12919249F,     0.0029207822F,
                                  9.267595e-06F, -1.2780914e-08F, 1.8256329e-11F};
  static constexpr float kQ[4] = {1.0F, 0.4625253F, 0.023763254F, 0.00022810293F};
};

// Within 4e-7 of tanh(x), absolute and relative; never beyond -1 or 1; NaN gives NaN.
inline float tanh(float x) {
  using C = TanhConstants;
  x = x > C::kLimit ? C::kLimit : x;
  x = x < -C::kLimit ? -C::kLimit : x;
  const float s = x * x;
  float p = C::kP[5];
  for (int i = 4; i >= 0; --i) p = p * s + C::kP[i];
  float q = C::kQ[3];
  for (int i = 2; i >= 0; --i) q = q * s + C::kQ[i];
  float r = x * p / q;
  r = r > 1.0F ? 1.0F : r;
  r = r < -1.0F ? -1.0F : r;
  return r;
}

// exp(x) = 2^n e^r with n = round(x / ln 2); below kLowest the result is 0, above kHighest that of kHighest.
struct ExpConstants {
  static constexpr float kLowest = -87.0F;
  static constexpr float kHighest = 88.0F;
  static constexpr float kLog2e = 1.44269504F;
  static constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding and subtracting it rounds to an integer
  static constexpr float kLn2High = 0.693359375F;
  static constexpr float kLn2Low = -2.12194440e-4F;
  static constexpr float kP[6] = {0.5F, 0.16666667F, 0.041666667F, 0.0083333333F, 0.0013888889F, 0.0001984127F};
};

// Within 2e-7 of exp(x), relative, on [-87, 88]; NaN gives NaN.
inline float exp(float x) {
  using C = ExpConstants;
  if (x < C::kLowest) return 0.0F;
  x = x > C::kHighest ? C::kHighest : x;
  const float n = (x * C::kLog2e + C::kRound) - C::kRound;
  float r = x - n * C::kLn2High;
  r = r - n * C::kLn2Low;
  float p = C::kP[5];
  for (int i = 4; i >= 0; --i) p = p * r + C::kP[i];
  p = (p * r) * r;
  p = p + r;
  p = p + 1.0F;
  if (!(n == n)) return n;
  return p * std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
}

// Within 2e-7 of 1 / (1 + exp(-x)), relative, from -87 on; 0 below; NaN gives NaN.
inline float sigmoid(float x) {
  const float e = exp(x < 0.0F ? x : -x);  // of -|x|: never overflows
  return x < 0.0F ? e / (1.0F + e) : 1.0F / (1.0F + e);
}

inline double tanh(double x) { return std::tanh(x); }
inline double exp(double x) { return std::exp(x); }
inline double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// Natural logarithm in double without libm, for what must be the same on every machine (losses that steer the search,
// normal deviates). Relative error below 1e-14. REQUIRES: x > 0 and finite and normal.
double log(double x);
inline float log(float x) { return static_cast<float>(log(static_cast<double>(x))); }

}  // namespace remede

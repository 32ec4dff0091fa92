#include "remede/base/arithmetic.h"

namespace remede {

double log(double x) {
  // x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); then log(1 + f) = 2 atanh(f / (2 + f)) as a series in s^2.
  std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  std::int64_t k = static_cast<std::int64_t>(bits >> 52) - 1023;
  bits = (bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL;
  double m = std::bit_cast<double>(bits);
  if (m > 1.4142135623730951) {
    m = m * 0.5;
    k += 1;
  }
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double sum = 0.0;
  for (int i = 23; i >= 1; i -= 2) sum = sum * z + 1.0 / i;
  return static_cast<double>(k) * 0.6931471805599453 + 2.0 * s * sum;
}

}  // namespace remede

#include "remede/executor/schedule.h"

namespace remede {

double cos_pi(double t) {
  // cos(pi t) = -sin(pi (t - 1/2)); the Taylor series of the sine to z^17 on |z| <= pi/2.
  const double z = 3.14159265358979323846 * (t - 0.5);
  const double s = z * z;
  double sum = 1.0;
  for (int k = 17; k >= 3; k -= 2) sum = 1.0 - sum * s / static_cast<double>(k * (k - 1));
  return -z * sum;
}

float Schedule::factor(std::uint64_t update) const {
  if (update < decay_begin) return 1.0F;
  const std::uint64_t into = update - decay_begin;
  if (into >= decay_length) return 0.0F;
  const double t = static_cast<double>(into) / static_cast<double>(decay_length);
  return static_cast<float>(0.5 * (1.0 + cos_pi(t)));
}

}  // namespace remede

#include "remede/base/random.h"

#include <cmath>

#include "remede/base/arithmetic.h"

namespace remede {

static std::uint64_t splitmix(std::uint64_t& s) {
  std::uint64_t z = (s += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

Random::Random(std::uint64_t seed, std::uint64_t stream) {
  std::uint64_t s = seed;
  s = splitmix(s) ^ (stream * 0xd1342543de82ef95ULL);
  for (auto& word : state_) word = splitmix(s);
}

double Random::uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

double Random::uniform(double low, double high) { return low + (high - low) * uniform(); }

double Random::normal() {
  for (;;) {  // the polar method; only one of the pair is used, so that the state is the whole state
    const double u = uniform(-1.0, 1.0);
    const double v = uniform(-1.0, 1.0);
    const double s = u * u + v * v;
    if (s > 0.0 && s < 1.0) return u * std::sqrt(-2.0 * log(s) / s);
  }
}

}  // namespace remede

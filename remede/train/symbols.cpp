#include "remede/train/symbols.h"

#include <cmath>
#include <cstring>
#include <map>

namespace remede {
namespace {

// All missing values are one, and so are the two zeros.
std::uint32_t bits_of(float value) {
  if (std::isnan(value)) return 0x7fc00000U;
  if (value == 0.0F) return 0U;
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace

Symbols::Symbols(const Sequences& data, std::size_t limit) {
  const auto n_x = static_cast<std::size_t>(data.n_x);
  std::vector<std::uint32_t> key(n_x);
  std::map<std::vector<std::uint32_t>, std::int32_t> known;
  of_step.reserve(data.steps());
  for (std::size_t t = 0; t < data.steps(); ++t) {
    for (std::size_t i = 0; i < n_x; ++i) key[i] = bits_of(data.x[t * n_x + i]);
    const auto [at, is_new] = known.try_emplace(key, static_cast<std::int32_t>(known.size()));
    if (is_new && known.size() > limit) {
      too_many = true;
      return;
    }
    if (is_new)
      inputs.insert(inputs.end(), data.x.begin() + static_cast<std::ptrdiff_t>(t * n_x),
                    data.x.begin() + static_cast<std::ptrdiff_t>((t + 1) * n_x));
    of_step.push_back(at->second);
  }
  count = known.size();
}

}  // namespace remede

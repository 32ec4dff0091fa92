#include "remede/data/sequences.h"

namespace remede {

Sequences none_like(const Sequences& all) {
  Sequences none;
  none.n_x = all.n_x;
  none.n_y = all.n_y;
  none.x = Column<float>(all.x.store());
  none.label = Column<std::int32_t>(all.label.store());
  none.value = Column<float>(all.value.store());
  none.weight = Column<float>(all.weight.store());
  return none;
}

Sequences select(const Sequences& all, std::span<const std::uint32_t> numbers) {
  Sequences some = none_like(all);
  std::size_t steps = 0;
  for (const std::uint32_t s : numbers) steps += all.length(s);
  const auto reserve = [&](auto& to, const auto& from, int width) {
    if (!from.empty()) to.reserve(steps * static_cast<std::size_t>(width));
  };
  some.offset.reserve(numbers.size() + 1);
  reserve(some.x, all.x, all.n_x);
  reserve(some.label, all.label, 1);
  reserve(some.value, all.value, all.n_y);
  reserve(some.weight, all.weight, 1);
  for (const std::uint32_t s : numbers) {
    const auto append = [&](auto& to, const auto& from, int width) {
      if (from.empty()) return;
      to.insert(to.end(), from.begin() + all.offset[s] * width, from.begin() + all.offset[s + 1] * width);
    };
    append(some.x, all.x, all.n_x);
    append(some.label, all.label, 1);
    append(some.value, all.value, all.n_y);
    append(some.weight, all.weight, 1);
    some.offset.push_back(some.offset.back() + all.offset[s + 1] - all.offset[s]);
  }
  return some;
}

}  // namespace remede

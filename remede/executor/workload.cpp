#include "remede/executor/workload.h"

#include "remede/base/random.h"

namespace remede {

Parameters<float> random_parameters(const Shape& shape, std::uint64_t seed) {
  Random random(seed);
  Parameters<float> p(shape);
  for (int g = 0; g < kGroups; ++g) {
    const auto group = static_cast<Group>(g);
    const double scale = group == Group::kThreshold ? 0.5
                         : group == Group::kWrite   ? 2.0
                         : group == Group::kRate    ? 3.0
                                                    : 1.0;
    for (float& value : p[group]) value = static_cast<float>(random.uniform(-scale, scale));
  }
  return p;
}

Sequences random_sequences(const Workload& w, Task task) {
  Random random(w.seed, 1);
  Sequences s;
  s.n_x = w.shape.n_x;
  s.n_y = w.shape.n_y;
  for (std::size_t i = 0; i < w.sequences; ++i) {
    for (std::size_t t = 0; t < w.length; ++t) {
      for (int k = 0; k < s.n_x; ++k) s.x.push_back(static_cast<float>(random.normal()));
      if (task == Task::kClassification) {
        s.label.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(s.n_y))));
      } else {
        for (int k = 0; k < s.n_y; ++k) s.value.push_back(static_cast<float>(random.normal()));
      }
      s.weight.push_back(1.0F);
    }
    s.offset.push_back(s.offset.back() + static_cast<std::int64_t>(w.length));
  }
  return s;
}

}  // namespace remede

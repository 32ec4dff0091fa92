// Small data sets for the tests of training: a delay to bridge, a moving average to follow, and many classes.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "remede/base/random.h"
#include "remede/data/dataset.h"

namespace remede::testing {

// Classes 0, 1, 2: the sign of the first value when the trigger comes after `delay` zeros, 1 at all other steps.
inline Dataset fixed_delay(int sequences, std::uint64_t seed, int delay = 3) {
  Dataset data;
  data.schema.inputs = {"x1"};
  data.schema.targets = {"y"};
  data.schema.classes = {"-1", "0", "1"};
  Sequences& s = data.sequences;
  s.n_x = 1;
  s.n_y = 3;
  Random random(seed);
  for (int i = 0; i < sequences; ++i) {
    const double first = random.uniform(-0.5, 0.5);
    for (int t = 0; t < delay + 2; ++t) {
      const bool trigger = t == delay + 1;
      s.x.push_back(static_cast<float>(t == 0 ? first : trigger ? 1.0 : -0.01 + 0.01 * random.normal()));
      s.label.push_back(!trigger ? 1 : first < 0 ? 0 : 2);
      s.weight.push_back(1.0F);
    }
    s.offset.push_back(static_cast<std::int64_t>(s.x.size()));
  }
  return data;
}

// Two inputs far from the order of one; the value to predict is linear in them, with one change of regime.
inline Dataset regimes(int sequences, std::uint64_t seed, int length = 10) {
  Dataset data;
  data.schema.task = Task::kRegression;
  data.schema.inputs = {"kelvin", "grams"};
  data.schema.targets = {"litres"};
  Sequences& s = data.sequences;
  s.n_x = 2;
  s.n_y = 1;
  Random random(seed);
  for (int i = 0; i < sequences; ++i) {
    for (int t = 0; t < length; ++t) {
      const double kelvin = 300 + 5 * random.normal(), grams = 0.001 * random.normal();
      s.x.push_back(static_cast<float>(kelvin));
      s.x.push_back(static_cast<float>(grams));
      s.value.push_back(static_cast<float>(5000 + (kelvin > 300 ? 400 : -400) + 100000 * grams));
      s.weight.push_back(1.0F);
    }
    s.offset.push_back(static_cast<std::int64_t>(s.value.size()));
  }
  return data;
}

// Noise of many colours, one for each class: an autoregression of its own drives it. The label stands at the last step.
// `seed`: of the noise; the colours are always the same.
inline Dataset colours(int classes, int of_each, std::uint64_t seed, int length) {
  constexpr int kBefore = 50;  // steps until the noise has its colour
  Dataset data;
  data.schema.inputs = {"x1"};
  data.schema.targets = {"y"};
  Sequences& s = data.sequences;
  s.n_x = 1;
  s.n_y = classes;
  Random colours(1), random(seed, 1);
  for (int c = 0; c < classes; ++c) {
    data.schema.classes.push_back("c" + std::to_string(c));
    const double fades = colours.uniform(0.75, 0.97), turns = colours.uniform(0.1, 2.7);
    for (int i = 0; i < of_each; ++i) {
      double last = 0, before = 0;
      for (int t = -kBefore; t < length; ++t) {
        const double now = 2 * fades * std::cos(turns) * last - fades * fades * before + random.normal();
        before = last;
        last = now;
        if (t < 0) continue;
        s.x.push_back(static_cast<float>(now));
        s.label.push_back(c);
        s.weight.push_back(t + 1 == length ? 1.0F : 0.0F);
      }
      s.offset.push_back(static_cast<std::int64_t>(s.x.size()));
    }
  }
  return data;
}

}  // namespace remede::testing

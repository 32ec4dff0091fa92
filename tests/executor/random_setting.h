// Random trees and data for tests of engines: every form, ragged lengths, missing inputs, masked targets.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "remede/base/random.h"
#include "remede/executor/workload.h"
#include "remede/schema/schema.h"

namespace remede {

struct Setting {
  Shape shape;
  GradientForm form;
  Task task = Task::kClassification;
  double missing = 0;
  Objective wanted = default_objective(Task::kClassification);
  const Objective& objective() const { return wanted; }
  int targets() const { return wanted.loss == Loss::kQuantile ? 1 : shape.n_y; }
};

inline Setting random_setting(Random& random, int depth) {
  const auto coin = [&] { return random.below(2) == 1; };
  Setting s;
  s.shape = {depth,
             1 + static_cast<int>(random.below(4)),
             static_cast<int>(random.below(5)),
             2 + static_cast<int>(random.below(3)),
             {}};
  s.shape.form.write_rule = coin() ? WriteRule::kBlend : WriteRule::kAdd;
  s.shape.form.write_reads = coin() ? WriteReads::kInputsAndMemory : WriteReads::kInputs;
  s.shape.form.write_bias = coin();
  s.shape.form.leaf_output = coin() ? LeafOutput::kLinear : LeafOutput::kConstant;
  s.shape.form.output_order = coin() ? OutputOrder::kFirst : OutputOrder::kZero;
  s.form.split = coin() ? SplitGradient::kSoftsign : SplitGradient::kSigmoid;
  s.form.slope = coin() ? 4.0F : 1.0F;
  s.form.index = coin() ? IndexGradient::kIdentity : IndexGradient::kSoftmax;
  s.form.mix = coin() ? Mix::kEffects : Mix::kParameters;
  s.task = coin() ? Task::kRegression : Task::kClassification;
  if (s.task == Task::kRegression) {
    std::vector<float> levels;
    for (int k = 0; k < s.shape.n_y; ++k)
      levels.push_back((static_cast<float>(k) + 0.5F) / static_cast<float>(s.shape.n_y));
    const Objective all[] = {
        {Loss::kSquaredError}, {Loss::kAbsoluteError}, {Loss::kPoisson}, {Loss::kQuantile, levels}};
    s.wanted = all[random.below(4)];
    if (!has_identity_link(s.wanted)) s.shape.form.output_order = OutputOrder::kZero;
  }
  s.missing = coin() ? 0.1 : 0.0;
  return s;
}

// Sequences of 1 .. `longest` steps, or all of `steps`; some inputs missing, some steps without a target.
inline Sequences random_data(const Setting& s, Random& random, std::size_t count, std::size_t steps = 0,
                             std::size_t longest = 12) {
  Sequences data;
  data.n_x = s.shape.n_x;
  data.n_y = s.targets();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t length = steps > 0 ? steps : 1 + random.below(longest);
    for (std::size_t t = 0; t < length; ++t) {
      for (int k = 0; k < s.shape.n_x; ++k)
        data.x.push_back(random.uniform() < s.missing ? std::numeric_limits<float>::quiet_NaN()
                                                      : static_cast<float>(random.normal()));
      if (s.task == Task::kClassification)
        data.label.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(s.shape.n_y))));
      else
        for (int k = 0; k < s.targets(); ++k)
          data.value.push_back(static_cast<float>(s.wanted.loss == Loss::kPoisson ? static_cast<double>(random.below(5))
                                                                                  : random.normal()));
      data.weight.push_back(random.below(4) == 0 ? 0.0F : static_cast<float>(random.uniform(0.5, 2.0)));
    }
    data.offset.push_back(data.offset.back() + static_cast<std::int64_t>(length));
  }
  return data;
}

inline std::vector<std::uint32_t> all_of(const Sequences& data) {
  std::vector<std::uint32_t> numbers(data.count());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint32_t>(i);
  return numbers;
}

}  // namespace remede

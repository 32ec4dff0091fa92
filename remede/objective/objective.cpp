#include "remede/objective/objective.h"

#include <algorithm>
#include <utility>

#include "remede/base/arithmetic.h"
#include "remede/objective/plain.h"
#include "remede/objective/rules.h"

namespace remede {
namespace {

constexpr std::string_view kWords[] = {
#define REMEDE_OBJECTIVE(Name, word) word,
#include "remede/objective/objectives.def"
#undef REMEDE_OBJECTIVE
};

const Rules& rules(const Objective& objective) {
  switch (objective.loss) {
#define REMEDE_OBJECTIVE(Name, word) \
  case Loss::k##Name:                \
    return rules_of_##Name();
#include "remede/objective/objectives.def"
#undef REMEDE_OBJECTIVE
  }
  return rules_of_SquaredError();
}

}  // namespace

const Objective& default_objective(Task task) {
  static const Objective of_classes{Loss::kCrossEntropy};
  static const Objective of_values{Loss::kSquaredError};
  return task == Task::kClassification ? of_classes : of_values;
}

Task task_of(const Objective& objective) { return rules(objective).task; }
std::string_view word_of(const Objective& objective) { return kWords[static_cast<std::size_t>(objective.loss)]; }
std::string_view loss_name(const Objective& objective) { return rules(objective).loss_name; }
bool shift_invariant(const Objective& objective) { return rules(objective).shift_invariant; }

void apply_link(const Objective& objective, std::span<float> y) {
  if (y.empty()) return;
  scalar::with_formula(objective, [&](auto formula) {
    decltype(formula)::template link<float>(objective, y.data(), static_cast<int>(y.size()));
  });
}

void add_loss(const Objective& objective, std::span<const float> y, const Truth& truth, double weight, double& sum) {
  rules(objective).add_loss(objective, y, truth, weight, sum);
}

bool is_correct(const Objective& objective, std::span<const float> y, const Truth& truth) {
  return classifies(objective) && std::max_element(y.begin(), y.end()) - y.begin() == truth.label;
}

double squared_error(const Objective&, std::span<const float> y, const Truth& truth) {
  const std::span<const float> value = truth.value;
  double sum = 0;
  for (std::size_t k = 0; k < value.size(); ++k) {
    const double error = static_cast<double>(y[k]) - static_cast<double>(value[k]);
    sum += error * error;
  }
  return value.empty() ? 0.0 : sum / static_cast<double>(value.size());
}

Mark mark(const Objective& objective, std::span<const float> y, const Truth& truth) {
  return rules(objective).mark(objective, y, truth);
}

void LossSum::add(double weight, float worth, float before) {
  if (!probabilities_) {
    sum_ += weight * (static_cast<double>(worth) - static_cast<double>(before));
  } else if (weight != 1.0) {
    sum_ += weight * log(static_cast<double>(before) / static_cast<double>(worth));
  } else {
    product_ *= static_cast<double>(before) / static_cast<double>(worth);
    if (!(product_ > 1e-200 && product_ < 1e200)) fold();
  }
}

double LossSum::take() {
  fold();
  return std::exchange(sum_, 0.0);
}

void LossSum::fold() {
  if (product_ != 1.0) sum_ += log(product_);
  product_ = 1.0;
}

void add_target(const Objective& objective, const Truth& truth, double weight, TargetSums& to) {
  to.weight += weight;
  if (classifies(objective))
    to.sum[static_cast<std::size_t>(truth.label)] += weight;
  else
    for (std::size_t k = 0; k < to.sum.size(); ++k) to.sum[k] += weight * static_cast<double>(truth.value[k]);
}

void best_constant(const Objective& objective, const TargetSums& targets, const Smoothing& smoothing,
                   std::span<float> y) {
  rules(objective).best_constant(objective, targets, smoothing, y);
}

double constant_loss(const Objective& objective, const Sequences& data) {
  return rules(objective).constant_loss(objective, data);
}

}  // namespace remede

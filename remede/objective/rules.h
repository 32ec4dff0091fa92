// One objective's part of objective.h: a row of functions. Only this room includes it.
#pragma once

#include "remede/objective/objective.h"

namespace remede {

struct Rules {
  Task task = Task::kRegression;
  std::string_view loss_name = {};  // "log loss"
  std::string_view loss_key = {};   // "pinball_loss", where the loss is a figure of its own; else empty
  TargetScale scale = TargetScale::kStandardised;
  bool shift_invariant = false;
  bool uses_scale = false;
  bool needs_values = false;  // best_constant() looks at TargetSums::values
  void (*add_loss)(const Objective&, std::span<const float> y, const Truth&, double weight, double& sum) = nullptr;
  void (*best_constant)(const Objective&, const TargetSums&, const Smoothing&, std::span<float> y) = nullptr;
  // Null: the loss as a number.
  Mark (*mark)(const Objective&, std::span<const float> y, const Truth&) = nullptr;
  // Null: of best_constant().
  double (*constant_loss)(const Objective&, const Sequences&) = nullptr;
};

// The least value so that at least this share of the weight is at or below it. Sorts the values. REQUIRES: some weight.
float weighted_quantile(std::vector<std::pair<float, double>>& values, double share);

#define REMEDE_OBJECTIVE(Name, word) const Rules& rules_of_##Name();
#include "remede/objective/objectives.def"
#undef REMEDE_OBJECTIVE

}  // namespace remede

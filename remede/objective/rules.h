// One objective's part of objective.h: a row of functions. Only this room includes it.
#pragma once

#include "remede/objective/objective.h"

namespace remede {

struct Rules {
  Task task = Task::kRegression;
  std::string_view loss_name;
  bool shift_invariant = false;
  void (*add_loss)(const Objective&, std::span<const float> y, const Truth&, double weight, double& sum) = nullptr;
  Mark (*mark)(const Objective&, std::span<const float> y, const Truth&) = nullptr;
  void (*best_constant)(const Objective&, const TargetSums&, const Smoothing&, std::span<float> y) = nullptr;
  double (*constant_loss)(const Objective&, const Sequences&) = nullptr;
};

#define REMEDE_OBJECTIVE(Name, word) const Rules& rules_of_##Name();
#include "remede/objective/objectives.def"
#undef REMEDE_OBJECTIVE

}  // namespace remede

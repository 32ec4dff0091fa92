// What a model is trained for and judged by: the loss, its derivative, the best constant, the least probability, the
// link from a tree's raw outputs to its answer, and their names. Nothing else in the library knows a formula of a loss.
//
// A tree's RAW outputs are what its leaves hold. The LINK turns them into the ANSWER: class scores into probabilities
// by softmax, values into themselves. Losses are of answers, weighted by the steps' weights, in natural logarithms.
//
// To add an objective: its line in objectives.def, its formula for the kernels in formulas.inc, and a file with its
// Rules (rules.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "remede/data/sequences.h"
#include "remede/schema/schema.h"

namespace remede {

enum class Loss : std::uint8_t {
#define REMEDE_OBJECTIVE(Name, word) k##Name,
#include "remede/objective/objectives.def"
#undef REMEDE_OBJECTIVE
};

// A value: copy it, compare it.
struct Objective {
  Loss loss = Loss::kCrossEntropy;

  bool operator==(const Objective&) const = default;
};

// Classes are learned by cross-entropy, values by squared error, where nothing else is asked for.
const Objective& default_objective(Task task);

Task task_of(const Objective& objective);
inline bool classifies(const Objective& objective) { return task_of(objective) == Task::kClassification; }
std::string_view word_of(const Objective& objective);    // "cross-entropy": in options and files
std::string_view loss_name(const Objective& objective);  // "log loss": in reports

// Probabilities below it count as it, so that no loss is infinite.
inline constexpr double kLeastProbability = 1e-15;

// What is true at a step.
struct Truth {
  std::int32_t label = -1;       // classification
  std::span<const float> value;  // (targets) regression
};
// REQUIRES: the step carries a target.
inline Truth truth_at(const Sequences& data, std::size_t step) {
  const auto n_y = static_cast<std::size_t>(data.n_y);
  if (data.value.empty()) return {data.label[step], {}};
  return {-1, {data.value.data() + step * n_y, n_y}};
}

// Raw outputs of a tree to its answer, in place. The arithmetic of every answer we print.
void apply_link(const Objective& objective, std::span<float> y);

// ADDS weight * loss of the answer y.
void add_loss(const Objective& objective, std::span<const float> y, const Truth& truth, double weight, double& sum);

// Whether the answer is the right class; false in regression.
bool is_correct(const Objective& objective, std::span<const float> y, const Truth& truth);

// The mean over the targets of the squared error of the answer: what RMSE is made of, whatever the objective. 0 in
// classification.
double squared_error(const Objective& objective, std::span<const float> y, const Truth& truth);

// How well one step was answered, in few bytes: what is kept for every step while edits of a model are judged.
struct Mark {
  float worth = 0;  // classification: the probability of the label; else the loss
  bool correct = false;
};
Mark mark(const Objective& objective, std::span<const float> y, const Truth& truth);

// A sum of differences of losses between marks. Of many probabilities the logarithm of the product is taken, not the
// sum of the logarithms.
class LossSum {
 public:
  explicit LossSum(const Objective& objective) : probabilities_(classifies(objective)) {}

  void add(double weight, float worth) { add(weight, worth, probabilities_ ? 1.0F : 0.0F); }  // the loss itself
  void add(double weight, float worth, float before);  // weight * (loss of `worth` - loss of `before`)
  double take();                                       // the sum, which then starts again from 0

 private:
  void fold();

  bool probabilities_;
  double sum_ = 0;
  double product_ = 1;
};

// The targets that some answer is for, summed up.
struct TargetSums {
  double weight = 0;
  std::vector<double> sum;  // (targets, or classes) weight of each class, or weighted sums of the values

  explicit TargetSums(int n = 0) : sum(static_cast<std::size_t>(n)) {}
};
void add_target(const Objective& objective, const Truth& truth, double weight, TargetSums& to);

// How far the shares of classes are kept from 0: a class of weight w among `weight` counts as
// (w + part * weight + count) / (weight * (1 + part * classes) + total).
struct Smoothing {
  double part = 0;
  double count = 0;
  double total = 0;
};

// The raw outputs whose answer has the least loss on these targets: ASSIGNED to y. REQUIRES: some weight, or smoothing.
void best_constant(const Objective& objective, const TargetSums& targets, const Smoothing& smoothing,
                   std::span<float> y);

// The mean loss of the best constant answer. REQUIRES: some step carries a target.
double constant_loss(const Objective& objective, const Sequences& data);

// Whether adding the same to all raw outputs changes nothing: then the derivatives by them sum to 0.
bool shift_invariant(const Objective& objective);

}  // namespace remede

// What a model is trained for and judged by: the loss, its derivative, the best constant, the least probability, the
// link from a tree's raw outputs to its answer, and their names. Nothing else in the library knows a formula of a loss.
//
// A tree's RAW outputs are what its leaves hold. The LINK turns them into the ANSWER: class scores into probabilities
// by softmax, values into themselves, or into positive or ordered values by exp. Losses are of answers, weighted by the
// steps' weights, in natural logarithms.
//
// To add an objective: its line in objectives.def, its formula for the kernels in formulas.inc, and a file with its
// Rules (rules.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "remede/schema/schema.h"

namespace remede {

struct Sequences;

enum class Loss : std::uint8_t {
#define REMEDE_OBJECTIVE(Name, word) k##Name,
#include "remede/objective/objectives.def"
#undef REMEDE_OBJECTIVE
};

// The words of all of them, separated by |.
inline constexpr std::string_view kObjectiveWords = std::string_view(
#define REMEDE_OBJECTIVE(Name, word) "|" word
#include "remede/objective/objectives.def"
#undef REMEDE_OBJECTIVE
                                                        )
                                                        .substr(1);

inline constexpr std::size_t kMostQuantiles = 32;

// A value: copy it, compare it.
struct Objective {
  Loss loss = Loss::kCrossEntropy;
  std::vector<float> quantiles = {};  // of kQuantile: rising, between 0 and 1, at most kMostQuantiles; else empty
  // (targets) the size of the targets, in their unit; empty: 1 each. Only objectives whose formula is about "large" and
  // "small" errors look at it.
  std::vector<float> scale = {};

  bool operator==(const Objective&) const = default;
};

// Classes are learned by cross-entropy, values by squared error, where nothing else is asked for.
const Objective& default_objective(Task task);

Task task_of(const Objective& objective);
inline bool classifies(const Objective& objective) { return task_of(objective) == Task::kClassification; }
std::string_view word_of(const Objective& objective);    // "cross-entropy": in options and files
std::string_view loss_name(const Objective& objective);  // "log loss": in reports

// The objective with this word of kObjectiveWords; nothing if there is none.
std::optional<Loss> loss_of_word(std::string_view word);

// Throws Error naming `where` when quantiles are not as they must be, or are given to another objective, or when the
// objective is not one of this task or for so many targets.
void check(const Objective& objective, Task task, int targets, const std::string& where);
// Throws Error when a target is one that the objective cannot have: a negative count. Gives the largest count.
double check_signs(const Objective& objective, const Sequences& data);
// The same, for training: also when all counts are 0.
void check_targets(const Objective& objective, const Sequences& data);

// Outputs of a tree: one for each class or target, or one for each quantile of the target.
int outputs_of(const Objective& objective, int targets);
int target_of(const Objective& objective, int output);     // the target that an output is about; of classes: itself
int point_output(const Objective& objective, int target);  // the output that answers with one number for the target
// What outputs are called: as their targets, or "TARGET q0.1".
std::vector<std::string> output_names(const Objective& objective, const std::vector<std::string>& targets);
// "1.5 + x" as raw output k, in words of the answer: as it is, "exp(1.5 + x)", "y q0.5 + exp(1.5 + x)".
std::string link_text(const Objective& objective, const std::vector<std::string>& names, int output,
                      const std::string& raw);
bool has_identity_link(const Objective& objective);

// How targets are scaled while training, and whether the unit of raw output k is that of its target or its logarithm:
// then it takes a scale back by adding the logarithm.
enum class TargetScale : std::uint8_t { kNone, kStandardised, kByMean };
TargetScale target_scale(const Objective& objective);
bool uses_scale(const Objective& objective);  // whether Objective::scale means something to it
bool is_logarithm(const Objective& objective, int output);

// Probabilities below it count as it, so that no loss is infinite.
inline constexpr double kLeastProbability = 1e-15;

// What is true at a step (truth.h takes it from data).
struct Truth {
  std::int32_t label = -1;       // classification
  std::span<const float> value;  // (targets) regression
};

// Raw outputs of a tree to its answer, in place. The arithmetic of every answer we print.
void apply_link(const Objective& objective, std::span<float> y);

// ADDS weight * loss of the answer y.
void add_loss(const Objective& objective, std::span<const float> y, const Truth& truth, double weight, double& sum);

// Whether the answer is the right class; false in regression.
bool is_correct(const Objective& objective, std::span<const float> y, const Truth& truth);

// The mean over the targets of the squared error of the answer: what RMSE is made of, whatever the objective. 0 in
// classification.
double squared_error(const Objective& objective, std::span<const float> y, const Truth& truth);

// A figure of a report.
struct Figure {
  std::string name;   // "pinball_loss": in JSON
  std::string title;  // "pinball loss"
  double value = 0;
};
// What is reported of the objective itself, beside RMSE, MAE and R2. outputs: (steps, n_y) answers.
std::vector<Figure> objective_figures(const Objective& objective, std::span<const float> outputs,
                                      const Sequences& data);

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
  // (targets) every value with its weight, where the best constant is not made of sums
  std::vector<std::vector<std::pair<float, double>>> values;

  TargetSums(const Objective& objective, int n);
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

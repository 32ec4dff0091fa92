#include "remede/model/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "remede/base/arithmetic.h"
#include "remede/base/error.h"
#include "remede/objective/truth.h"

namespace remede {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

double ratio(double part, double whole) { return whole > 0 ? part / whole : kUndefined; }

// Mean of the defined values.
class Mean {
 public:
  void add(double value) {
    if (std::isnan(value)) return;
    sum_ += value;
    ++count_;
  }
  double value() const { return ratio(sum_, count_); }

 private:
  double sum_ = 0;
  double count_ = 0;
};

std::vector<ClassScore> class_scores(const std::vector<double>& confusion, std::size_t n_y) {
  std::vector<ClassScore> scores(n_y);
  for (std::size_t c = 0; c < n_y; ++c) {
    double support = 0;
    double predicted = 0;
    for (std::size_t other = 0; other < n_y; ++other) {
      support += confusion[c * n_y + other];
      predicted += confusion[other * n_y + c];
    }
    const double hit = confusion[c * n_y + c];
    scores[c] = {ratio(hit, support), ratio(hit, predicted), ratio(2 * hit, support + predicted), support};
  }
  return scores;
}

double macro_auc(const Predictions& predictions, const Sequences& sequences, std::size_t n_y) {
  Mean mean;
  std::vector<RankedStep> ranked;
  for (std::size_t c = 0; c < n_y; ++c) {
    ranked.clear();
    for (std::size_t t = 0; t < sequences.steps(); ++t)
      if (sequences.weight[t] > 0)
        ranked.push_back(
            {predictions.output[t * n_y + c], sequences.weight[t], sequences.label[t] == static_cast<int>(c)});
    mean.add(area_under_curve(ranked));
  }
  return mean.value();
}

// `weight`: of all targets, those of unknown classes included.
ClassificationScores classification_scores(const Objective& objective, const Predictions& predictions,
                                           const Sequences& sequences, double weight, const UnknownTargets& unknown) {
  const auto n_y = static_cast<std::size_t>(sequences.n_y);
  ClassificationScores scores;
  scores.confusion.resize(n_y * n_y);
  double loss = 0;
  for (std::size_t t = 0; t < sequences.steps(); ++t) {
    const double w = sequences.weight[t];
    if (w <= 0) continue;
    const std::span<const float> p(predictions.output.data() + t * n_y, n_y);
    const auto truth = static_cast<std::size_t>(sequences.label[t]);
    scores.confusion[truth * n_y + static_cast<std::size_t>(arg_max(p))] += w;
    add_loss(objective, p, truth_at(sequences, t), w, loss);
  }
  scores.log_loss = (unknown.count > 0 ? loss - unknown.weight * log(kLeastProbability) : loss) / weight;
  scores.classes = class_scores(scores.confusion, n_y);
  Mean recall;
  Mean f1;
  double correct = 0;
  for (std::size_t c = 0; c < n_y; ++c) {
    correct += scores.confusion[c * n_y + c];
    recall.add(scores.classes[c].recall);
    f1.add(scores.classes[c].f1);
  }
  if (unknown.count > 0) {
    recall.add(0);
    f1.add(0);
    scores.unknown_support = unknown.weight;
    scores.unknown.resize(n_y);
  }
  for (std::size_t i = 0; i < unknown.step.size(); ++i) {
    const std::span<const float> p(predictions.output.data() + static_cast<std::size_t>(unknown.step[i]) * n_y, n_y);
    scores.unknown[static_cast<std::size_t>(arg_max(p))] += static_cast<double>(unknown.step_weight[i]);
  }
  scores.accuracy = correct / weight;
  scores.balanced_accuracy = recall.value();
  scores.macro_f1 = f1.value();
  scores.auc = macro_auc(predictions, sequences, n_y);
  return scores;
}

// Squares of output o, in two passes: the mean first, for r2.
struct ErrorSums {
  double squared = 0;
  double absolute = 0;
  double variation = 0;  // squared distance of the targets from their mean
};

ErrorSums error_sums(const Objective& objective, const Predictions& predictions, const Sequences& sequences,
                     std::size_t o, double weight) {
  const auto outputs = static_cast<std::size_t>(outputs_of(objective, sequences.n_y));
  const auto point = static_cast<std::size_t>(point_output(objective, static_cast<int>(o)));
  const auto n_y = static_cast<std::size_t>(sequences.n_y);
  double mean = 0;
  for (std::size_t t = 0; t < sequences.steps(); ++t)
    if (sequences.weight[t] > 0) mean += static_cast<double>(sequences.weight[t]) * sequences.value[t * n_y + o];
  mean /= weight;
  ErrorSums sums;
  for (std::size_t t = 0; t < sequences.steps(); ++t) {
    const double w = sequences.weight[t];
    if (w <= 0) continue;
    const double truth = sequences.value[t * n_y + o];
    const double error = predictions.output[t * outputs + point] - truth;
    sums.squared += w * (error * error);
    sums.absolute += w * std::fabs(error);
    sums.variation += w * ((truth - mean) * (truth - mean));
  }
  return sums;
}

RegressionScores regression_scores(const Objective& objective, const Predictions& predictions,
                                   const Sequences& sequences, double weight) {
  const auto n_y = static_cast<std::size_t>(sequences.n_y);
  RegressionScores scores;
  scores.objective = objective_figures(objective, predictions.output, sequences);
  Mean r2;
  double squared = 0;
  double absolute = 0;
  for (std::size_t o = 0; o < n_y; ++o) {
    const ErrorSums sums = error_sums(objective, predictions, sequences, o, weight);
    const double unexplained = ratio(sums.squared, sums.variation);
    scores.outputs.push_back({std::sqrt(sums.squared / weight), sums.absolute / weight, 1 - unexplained});
    squared += sums.squared;
    absolute += sums.absolute;
    r2.add(1 - unexplained);
  }
  const double all = weight * static_cast<double>(n_y);
  scores.overall = {std::sqrt(squared / all), absolute / all, r2.value()};
  return scores;
}

}  // namespace

std::vector<Figure> overall_figures(Task task, const Scores& scores) {
  const ClassificationScores& c = scores.classification;
  if (task == Task::kClassification)
    return {{"accuracy", "accuracy", c.accuracy},
            {"balanced_accuracy", "balanced accuracy", c.balanced_accuracy},
            {"macro_f1", "macro F1", c.macro_f1},
            {"auc", "AUC", c.auc},
            {"log_loss", "log loss", c.log_loss}};
  std::vector<Figure> figures = scores.regression.objective;
  const RegressionScore& r = scores.regression.overall;
  figures.insert(figures.end(), {{"rmse", "RMSE", r.rmse}, {"mae", "MAE", r.mae}, {"r2", "R2", r.r2}});
  return figures;
}

double area_under_curve(std::vector<RankedStep> steps) {
  // A score that is no number ranks lowest, so that the order is one.
  for (RankedStep& s : steps)
    if (std::isnan(s.score)) s.score = -std::numeric_limits<float>::infinity();
  std::stable_sort(steps.begin(), steps.end(),
                   [](const RankedStep& a, const RankedStep& b) { return a.score < b.score; });
  double below = 0;  // weight of the negatives ranked lower
  double area = 0;
  double positives = 0;
  for (std::size_t i = 0; i < steps.size();) {
    double tied_positive = 0;
    double tied_negative = 0;
    std::size_t j = i;
    for (; j < steps.size() && steps[j].score == steps[i].score; ++j)
      (steps[j].positive ? tied_positive : tied_negative) += steps[j].weight;
    area += tied_positive * (below + 0.5 * tied_negative);
    below += tied_negative;
    positives += tied_positive;
    i = j;
  }
  return ratio(area, positives * below);
}

Scores evaluate(const Objective& objective, const Predictions& predictions, const Sequences& sequences,
                const UnknownTargets& unknown) {
  Scores scores;
  scores.sequences = sequences.count();
  for (const float w : sequences.weight) {
    scores.weight += w;
    scores.steps += w > 0 ? 1 : 0;
  }
  scores.steps += unknown.count;
  scores.weight += unknown.weight;
  if (scores.steps == 0) fail("expected steps with a target, got none in {} steps", sequences.steps());
  if (classifies(objective)) {
    scores.classification = classification_scores(objective, predictions, sequences, scores.weight, unknown);
  } else {
    scores.regression = regression_scores(objective, predictions, sequences, scores.weight);
  }
  return scores;
}

}  // namespace remede

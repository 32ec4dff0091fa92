// How good predictions are. Every figure is weighted by the steps' weights; steps without a target do not count.
// A figure that is not defined (the recall of a class that does not occur, r2 of a constant) is NaN.
#pragma once

#include <cstddef>
#include <vector>

#include "remede/data/sequences.h"
#include "remede/model/predict.h"

namespace remede {

struct ClassScore {
  double recall = 0;     // of the steps of this class, the share predicted as it
  double precision = 0;  // of the steps predicted as this class, the share that is it
  double f1 = 0;
  double support = 0;  // weight of the steps of this class
};

struct ClassificationScores {
  double accuracy = 0;
  double balanced_accuracy = 0;  // mean recall of the classes that occur
  double macro_f1 = 0;           // mean over the classes that occur or are predicted
  double log_loss = 0;           // natural logarithm; probabilities below kLeastProbability count as that
  double auc = 0;                // mean over the classes of the area under the ROC curve of that class against the rest
  std::vector<ClassScore> classes;  // (n_y)
  std::vector<double> confusion;    // (n_y, n_y) weight of the steps by class and predicted class
  double unknown_support = 0;       // weight of the steps of classes that the model does not know,
  std::vector<double> unknown;      // (n_y) by predicted class; empty where there are none
};

struct RegressionScore {
  double rmse = 0;
  double mae = 0;
  double r2 = 0;
};

struct RegressionScores {
  std::vector<Figure> objective;         // what the objective itself is judged by, where it is none of the others
  RegressionScore overall;               // rmse and mae over all targets, r2 their mean
  std::vector<RegressionScore> outputs;  // (targets) of the outputs that answer with one number
};

struct Scores {
  std::size_t sequences = 0;
  std::size_t steps = 0;                // that carry a target
  double weight = 0;                    // of them
  ClassificationScores classification;  // or
  RegressionScores regression;
};

// `unknown`: targets of classes that the model does not know, which count as wrong (as a class of recall and F1 0).
// Throws Error when no step carries a target. REQUIRES: predictions are of these sequences.
Scores evaluate(const Objective& objective, const Predictions& predictions, const Sequences& sequences,
                const UnknownTargets& unknown = {});

// The figures of all steps together, in the order of reports: accuracy, balanced_accuracy, macro_f1, auc and log_loss,
// or those of the objective, then rmse, mae and r2.
std::vector<Figure> overall_figures(Task task, const Scores& scores);

// The area under the ROC curve, ties counting half; NaN unless both kinds have weight.
struct RankedStep {
  float score = 0;
  float weight = 0;
  bool positive = false;
};
double area_under_curve(std::vector<RankedStep> steps);

}  // namespace remede

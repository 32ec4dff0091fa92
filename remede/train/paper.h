// The paper's recipe: one random start, trained to the end, the best snapshot on validation data kept.
#pragma once

#include <vector>

#include "remede/model/tree.h"
#include "remede/train/prepare.h"
#include "remede/train/session.h"

namespace remede {

// What a recipe leaves behind.
struct Outcome {
  std::vector<Tree> trees;            // hard, for the numbers the starts saw (scaled)
  int trained_nodes = 0;              // of the trees before they were simplified
  std::vector<double> training_loss;  // curves of the start that won
  std::vector<double> validation_loss;
  bool stopped = false;  // by the session, before its end
};

// The plan of a single start: what the configuration fixes, over the given form.
StartPlan single_plan(const Config& config, const Schema& schema, const LeafForm& form, const GradientForm& gradient);

// Trains one start: constant rates for the budget or until patience is at its end, then the decay.
// The state that the session carries is this start's.
Outcome train_single(const StartPlan& plan, const TrainingData& data, const Budget& budget, int threads,
                     Session& session);

}  // namespace remede

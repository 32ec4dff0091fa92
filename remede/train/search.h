// The default recipe: many starts, few survivors. A portfolio of starts over forms, depths, cells and rates is trained side by
// side; after every round the worse half, by validation loss, is dropped; the finalists are finished with falling rates.
// The best snapshot of every start is kept, so that a solved model is never lost again.
//
// What a start does depends on its plan alone, and rounds end together: the result does not depend on the number of threads.
#pragma once

#include <vector>

#include "remede/train/prepare.h"
#include "remede/train/session.h"
#include "remede/train/start.h"

namespace remede {

// A start that reached the end, best first.
struct Finalist {
  StartPlan plan;
  Parameters<float> parameters;  // the best snapshot
  double loss = 0;               // there, on validation data
  double accuracy = 0;           // 0 in regression
  std::vector<double> training_curve;
  std::vector<double> validation_curve;
};

struct SearchResult {
  std::vector<Finalist> finalists;
  bool stopped = false;  // by the session, before its end
};

// The plans of the portfolio: what the configuration fixes, the rest drawn from each start's own random stream.
std::vector<StartPlan> draw_portfolio(const Config& config, const TrainingData& data, int n_y, bool scaled);

SearchResult search(const Config& config, const std::vector<StartPlan>& portfolio, const TrainingData& data, Session& session);

}  // namespace remede

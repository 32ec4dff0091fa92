// The paper's recipe: one random start, trained to the end, the best snapshot on validation data kept.
#pragma once

#include "remede/train/prepare.h"
#include "remede/train/search.h"
#include "remede/train/session.h"

namespace remede {

// The plan of a single start: what the configuration fixes, over the given form.
StartPlan single_plan(const Config& config, const Schema& schema, const LeafForm& form, const GradientForm& gradient);

// Trains one start: constant rates for the budget or until patience is at its end, then the decay.
// The state that the session carries is this start's.
SearchResult train_single(const StartPlan& plan, const TrainingData& data, const Budget& budget, const Config& config,
                          Session& session);

}  // namespace remede

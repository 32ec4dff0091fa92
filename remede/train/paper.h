// The recipes paper and gradtree: one random start or a few, each trained to the end, the best snapshot of each on
// validation data kept.
#pragma once

#include "remede/train/prepare.h"
#include "remede/train/search.h"
#include "remede/train/session.h"

namespace remede {

// What the recipe says about surrogate derivatives.
GradientForm single_gradient(const Recipe& recipe);

// The plan of a single start: what the configuration fixes, over the given form.
StartPlan single_plan(const Config& config, const Schema& schema, const LeafForm& form, const GradientForm& gradient);

// Trains as many starts as the recipe says: constant rates for the budget or until patience is at its end, then the
// decay, for each start by itself. The state that the session carries is that of the starts, one after the other.
SearchResult train_single(const StartPlan& plan, const TrainingData& data, const Budget& budget, const Config& config,
                          Session& session);

}  // namespace remede

// The sections of the report that have a file of their own. Each is HTML, empty where there is nothing to say.
#pragma once

#include <string>

#include "remede/analysis/observe.h"
#include "remede/data/dataset.h"
#include "remede/model/metrics.h"
#include "remede/model/model.h"

namespace remede {

// How many sequences and steps, how long; each input and the target, with their distributions.
std::string data_section(const Model& model, const Dataset& data);

// Tables of scores, the confusion or the scatter of answers, and how the score depends on the place in the sequence.
std::string score_section(const Model& model, const Sequences& data, const Predictions& predictions,
                          const Scores& scores);

// What a model without inputs would score: the accuracy of always the most frequent class, or the RMSE of always the
// mean. `unknown` targets are wrong. REQUIRES: some step carries a target, or some are unknown.
double naive_score(const Model& model, const Sequences& data, const UnknownTargets& unknown);

// How much each input and cell matters, and how far back the model looks.
std::string importance_section(const Model& model, const Sequences& data, int threads);

// Each leaf as a sentence, to be unfolded.
std::string rule_list(const Model& model, const Observations& seen);

}  // namespace remede

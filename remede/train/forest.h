// Which of the candidates make a model of several trees.
#pragma once

#include <vector>

#include "remede/train/choose.h"

namespace remede {

// At most `trees` of the candidates, best first, the first one always among them. None has more than four times
// (Recipe::forest_most_loss) the lowest validation loss (losses below `solved` count as equal), and members go, the
// worst first, while the forest does worse on validation data than its best member by more than chance explains.
// REQUIRES: at least one candidate.
std::vector<Candidate> select_members(std::vector<Candidate> candidates, std::size_t trees,
                                      const std::vector<Prepared>& folds, double solved, const Recipe& recipe = {});

// The trees of several models as one.
Model assemble(const std::vector<const Model*>& models);

}  // namespace remede

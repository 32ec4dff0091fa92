// Which of the candidates make a model of several trees.
#pragma once

#include <span>
#include <vector>

#include "remede/train/choose.h"

namespace remede {

// At most `trees` of the candidates, best first, the first one always among them. None has more than four times
// (Recipe::forest_most_loss) the lowest validation loss (losses below `solved` count as equal), and members go, the
// worst first, while the forest does worse on validation data than its best member by more than chance explains.
// REQUIRES: at least one candidate.
std::vector<Candidate> select_members(std::vector<Candidate> candidates, std::size_t trees,
                                      std::span<const Prepared> folds, double solved, const Recipe& recipe = {});

// Takes a small model, whose cells have laws, into the forest, and returns whether it did. In either case the first
// copies are compared on `data`, the first fold, and are what is left of the members if the small model is taken in.
// - It is clearly better than the forest: wrong answers, or losses in regression, differ by more than
//   Recipe::forest_errors standard errors. It then comes first, and members are selected anew.
// - There are enough sequences to judge, and the forest has a lower loss with it in place of the last member.
bool take_in(Candidate small, std::vector<Candidate>& members, std::size_t trees, const Prepared& data, double solved,
             const Recipe& recipe = {});

// The trees of several models as one.
Model assemble(const std::vector<const Model*>& models);

}  // namespace remede

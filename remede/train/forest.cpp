#include "remede/train/forest.h"

#include <algorithm>
#include <numeric>

#include "remede/train/score.h"

namespace remede {
namespace {

// Of the forest, each fold by the copies that did not learn from it.
UnitScores score_forest(const std::vector<Candidate>& members, const std::vector<Prepared>& folds) {
  UnitScores all;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    std::vector<const Model*> models;
    for (const Candidate& member : members) models.push_back(&member.copies[f]);
    const UnitScores units = score_units(assemble(models), folds[f].validation);
    all.loss.insert(all.loss.end(), units.loss.begin(), units.loss.end());
    all.wrong.insert(all.wrong.end(), units.wrong.begin(), units.wrong.end());
    all.weight.insert(all.weight.end(), units.weight.begin(), units.weight.end());
  }
  return all;
}

bool lower_loss(const Candidate& a, const Candidate& b) { return a.loss < b.loss; }

// Where both have solved the task, only answers count.
bool holds_its_own(const std::vector<Candidate>& members, const std::vector<Prepared>& folds, double solved,
                   double errors) {
  const UnitScores& best = std::min_element(members.begin(), members.end(), lower_loss)->units;
  const UnitScores forest = score_forest(members, folds);
  const double loss = std::accumulate(forest.loss.begin(), forest.loss.end(), 0.0);
  const double weight = std::accumulate(forest.weight.begin(), forest.weight.end(), 0.0);
  return as_good(forest.wrong, best.wrong, best.weight, errors) &&
         (loss <= solved * weight || as_good(forest.loss, best.loss, best.weight, errors));
}

}  // namespace

Model assemble(const std::vector<const Model*>& models) {
  Model model = *models.front();
  for (std::size_t i = 1; i < models.size(); ++i)
    model.trees.insert(model.trees.end(), models[i]->trees.begin(), models[i]->trees.end());
  return model;
}

std::vector<Candidate> select_members(std::vector<Candidate> candidates, std::size_t trees,
                                      const std::vector<Prepared>& folds, double solved, const Recipe& recipe) {
  const double least = std::min_element(candidates.begin(), candidates.end(), lower_loss)->loss;
  const double most = std::max(recipe.forest_most_loss * least, solved);
  candidates.erase(
      std::remove_if(candidates.begin() + 1, candidates.end(), [&](const Candidate& c) { return !(c.loss <= most); }),
      candidates.end());
  if (candidates.size() > trees) candidates.resize(trees);
  while (candidates.size() > 1 && !holds_its_own(candidates, folds, solved, recipe.forest_errors))
    candidates.erase(std::max_element(candidates.begin() + 1, candidates.end(), lower_loss));
  return candidates;
}

}  // namespace remede

#include "remede/train/forest.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "remede/train/score.h"

namespace remede {
namespace {

// Of the forest, each fold by the copies that did not learn from it.
UnitScores score_forest(const std::vector<Candidate>& members, std::span<const Prepared> folds) {
  UnitScores all;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    std::vector<const Model*> models;
    models.reserve(members.size());
    for (const Candidate& member : members) models.push_back(&member.copies[f]);
    const UnitScores units = score_units(assemble(models), folds[f].validation);
    all.loss.insert(all.loss.end(), units.loss.begin(), units.loss.end());
    all.wrong.insert(all.wrong.end(), units.wrong.begin(), units.wrong.end());
    all.weight.insert(all.weight.end(), units.weight.begin(), units.weight.end());
  }
  return all;
}

double total_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

bool lower_loss(const Candidate& a, const Candidate& b) { return a.loss < b.loss; }

// Where both have solved the task, only answers count.
bool holds_its_own(const std::vector<Candidate>& members, std::span<const Prepared> folds, double solved,
                   double errors) {
  const UnitScores& best = std::min_element(members.begin(), members.end(), lower_loss)->units;
  const UnitScores forest = score_forest(members, folds);
  const double loss = total_of(forest.loss), weight = total_of(forest.weight);
  return as_good(forest.wrong, best.wrong, best.weight, errors) &&
         (loss <= solved * weight || as_good(forest.loss, best.loss, best.weight, errors));
}

// A candidate as its first copy alone is.
Candidate first_copy(const Candidate& c, const Prepared& data) {
  if (c.copies.size() == 1) return c;
  Candidate alone = candidate_of(c.copies.front(), data.validation);
  alone.finalist = c.finalist;
  alone.trained_nodes = c.trained_nodes;
  return alone;
}

bool are_enough(const Prepared& data, const Recipe& recipe) {
  return data.training.count() >= static_cast<std::size_t>(recipe.forest_mixed_sequences) &&
         data.validation.count() >= static_cast<std::size_t>(recipe.judged_alone_sequences);
}

}  // namespace

Model assemble(const std::vector<const Model*>& models) {
  Model model = *models.front();
  for (std::size_t i = 1; i < models.size(); ++i)
    model.trees.insert(model.trees.end(), models[i]->trees.begin(), models[i]->trees.end());
  return model;
}

std::vector<Candidate> select_members(std::vector<Candidate> candidates, std::size_t trees,
                                      std::span<const Prepared> folds, double solved, const Recipe& recipe) {
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

bool take_in(Candidate small, std::vector<Candidate>& members, std::size_t trees, const Prepared& data, double solved,
             const Recipe& recipe) {
  if (!std::isfinite(small.loss)) return false;
  const std::span<const Prepared> fold(&data, 1);
  const bool classes = small.copies.front().classifies();
  std::vector<Candidate> first;
  first.reserve(members.size() + 1);
  for (const Candidate& c : members) first.push_back(first_copy(c, data));
  const UnitScores forest = score_forest(first, fold);
  const bool clearly_better = classes ? !as_good(forest.wrong, small.units.wrong, forest.weight, recipe.forest_errors)
                                      : !as_good(forest.loss, small.units.loss, forest.weight, recipe.forest_errors);
  if (clearly_better) {
    first.insert(first.begin(), std::move(small));
    members = select_members(std::move(first), trees, fold, solved, recipe);
    return true;
  }
  if (!are_enough(data, recipe)) return false;
  if (first.size() == trees) first.pop_back();
  first.push_back(std::move(small));
  if (!(total_of(score_forest(first, fold).loss) < total_of(forest.loss))) return false;
  members = std::move(first);
  return true;
}

}  // namespace remede

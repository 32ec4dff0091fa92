// From finalists to the one model: each is made a hard tree in the data's own units, simplified and improved; then
// validation data choose, and among equals the simplest that holds its memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "remede/data/sequences.h"
#include "remede/model/model.h"
#include "remede/simplify/replay.h"
#include "remede/train/config.h"
#include "remede/train/prepare.h"
#include "remede/train/score.h"
#include "remede/train/session.h"
#include "remede/train/travel.h"

namespace remede {

// What one copy does on its fold.
struct CopyScore {
  UnitScores units;
  double hold = 1;
  double drift = 0;
  std::uint64_t numbers = 0;
};
template <MaybeConst<CopyScore> T>
void fields(T& c, auto&& each) {
  each(c.units, c.hold, c.drift, c.numbers);
}

struct Candidate {
  std::vector<Model> copies;  // one for each fold
  std::size_t kept = 0;  // the copy that stands for all: it does best on its fold, compared with the other candidates
  std::size_t finalist = 0;       // its number in what was given
  std::vector<double> fold_loss;  // of each copy
  // Over all folds:
  double loss = 0;          // on validation data: the objective's mean
  UnitScores units;         // the same, part by part of the validation data
  double accuracy = 0;      // classification
  double hold = 1;          // least accuracy where one step of each sequence is repeated many times; classification
  double drift = 0;         // changes of cells, per step, that cross none of their thresholds: what adds up over time
  std::size_t numbers = 0;  // stored in the trees
  int trained_nodes = 0;

  const Model& model() const { return copies[kept]; }
};

// Whether a score is no worse than another as far as these data can tell: the mean of the differences, unit by unit, is
// at most `errors` of its own standard errors. Larger scores are worse.
bool as_good(const std::vector<double>& score, const std::vector<double>& best, const std::vector<double>& weight,
             double errors);

// How many numbers a reader of the tree would have to take in: tests, answers, weights of open writes and of linear
// leaves.
std::size_t stored_numbers(const Model& model);

// The candidates, each simplified (unless the configuration says no), best first. `models`: (candidates, folds). Below
// the loss `solved` only answers count. With a session trees are left as large as they are when it is in
// a hurry, and it is told how far this has come; `after`: seconds for what follows. REQUIRES: at least one of each.
std::vector<Candidate> choose(std::vector<std::vector<Model>> models, const std::vector<Prepared>& folds,
                              const Config& config, double solved, Session* session = nullptr, double after = 0);

// What choose() does with one copy of a candidate on its fold, and what a peer does with a job of the kind kCopy.
class CopyWork {
 public:
  CopyWork(const std::vector<Prepared>& folds, const Config& config);

  // `improves`: exact moves before it is simplified.
  void work(Model& model, std::size_t fold, bool improves, const std::function<bool()>& stop) const;
  CopyScore assess(const Model& model, std::size_t fold) const;
  // `like`: a model with the schema and settings of the fit.
  std::string do_job(ByteReader& job, const Model& like, const std::function<bool()>& stop) const;

 private:
  const std::vector<Prepared>& folds_;
  const Config& config_;
  std::vector<Sequences> hold_;  // (folds)
};

// A candidate with one copy, scored on the validation data; whether it holds its memory is not tested.
Candidate candidate_of(Model model, const Sequences& validation);

// What simplifying may cost.
Tolerance simplify_tolerance(const Recipe& recipe);

// Whether exact moves are applied to trees of this form. Gradient descent leaves them little to find in linear leaves.
bool makes_exact_moves(const Config& config, const LeafForm& form);

// Seconds that it will take, as far as can be told from how long a validation takes. `best`: the form of the best
// candidate.
double seconds_of_choice(std::size_t candidates, const LeafForm& best, const std::vector<Prepared>& folds,
                         const Config& config, double validation_seconds);

}  // namespace remede

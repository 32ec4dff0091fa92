// From finalists to the one model: each is made a hard tree in the data's own units, simplified and improved; then validation
// data choose, and among equals the simplest that holds its memory.
#pragma once

#include <vector>

#include "remede/data/sequences.h"
#include "remede/model/model.h"
#include "remede/train/config.h"
#include "remede/train/score.h"

namespace remede {

struct Candidate {
  Model model;
  std::size_t finalist = 0;  // its number in what was given
  double loss = 0;           // on validation data: mean log loss, or mean squared error
  UnitScores units;          // the same, part by part of the validation data
  double accuracy = 0;       // classification
  double hold = 1;           // accuracy where one step of each sequence is repeated many times; classification
  double drift = 0;          // changes of cells, per step, that cross none of their thresholds: what adds up over time
  std::size_t numbers = 0;   // stored in the trees
  int trained_nodes = 0;
};

// Whether a score is no worse than another as far as these data can tell: the mean of the differences, unit by unit, is at most
// `errors` of its own standard errors. Larger scores are worse.
bool as_good(const std::vector<double>& score, const std::vector<double>& best, const std::vector<double>& weight, double errors);

// How many numbers a reader of the tree would have to take in: tests, answers, weights of open writes and of linear leaves.
std::size_t stored_numbers(const Model& model);

// The candidates, each simplified (unless the configuration says no), best first. Below the loss `solved` only answers count.
// REQUIRES: at least one model.
std::vector<Candidate> choose(std::vector<Model> models, const Sequences& training, const Sequences& validation, const Config& config,
                              double solved);

}  // namespace remede

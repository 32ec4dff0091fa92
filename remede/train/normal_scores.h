// The quantile transform of an input: its values are replaced by the quantiles of a normal distribution at their ranks.
// It is a rising function, so a split on the transformed input is a split on the input itself.
#pragma once

#include <cstddef>
#include <vector>

#include "remede/data/sequences.h"

namespace remede {

// Quantile of the normal distribution with mean 0 and deviation 1, the same bits on every machine. Within 1e-8.
// REQUIRES: 0 < share < 1.
double normal_quantile(double share);

class NormalScores {
 public:
  // `values`: of the input, in any order, none of them missing. Equal values get the quantile of their mean rank. At
  // most `most` distinct values become knots, evenly spread over the ranks.
  explicit NormalScores(std::vector<float> values, std::size_t most = 1000);

  // Straight between knots and beyond the first and last; missing stays missing, and no finite value becomes infinite.
  float operator()(float raw) const;

  // The smallest raw value whose score is at least this: raw >= raw_of(s) is the same as (*this)(raw) >= s for every
  // finite raw. The largest float where no score is.
  float raw_of(float score) const;

 private:
  std::vector<float> value_;   // of the knots, rising
  std::vector<double> score_;  // there, rising
  double slope_ = 1;           // beyond the first and last
};

// Of every input, from all steps.
std::vector<NormalScores> normal_scores(const Sequences& data);

}  // namespace remede

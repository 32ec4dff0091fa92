// How models are compared on validation data: part by part, so that the uncertainty of a difference can be told.
#pragma once

#include <vector>

#include "remede/data/sequences.h"
#include "remede/model/model.h"
#include "remede/train/travel.h"

namespace remede::frontier {

// Sums over each sequence, or over 20 blocks of consecutive targets where there are fewer than 20 sequences.
struct Units {
  std::vector<double>
      merit;  // what models are compared by: the objective's loss; wrong answers and a tenth of the log loss
  std::vector<double> shown;  // what people are shown: squared error, or wrong answers
  std::vector<double> weight;
  double mean_merit() const;
  double mean_shown() const;
  double error_of_shown() const;  // standard error of mean_shown
};
template <MaybeConst<Units> T>
void fields(T& u, auto&& each) {
  each(u.merit, u.shown, u.weight);
}
Units units_of(const Model& model, const Sequences& data);

// Adds those of the training data, to which a model with so many numbers was fitted. New data would give a larger loss,
// by about (targets + numbers) / (targets - numbers): Akaike's final prediction error. That factor is applied.
void add_learned_units(const Units& learned, double numbers, Units& units);

// The merit of the best constant answer.
double merit_of_constant(const Objective& objective, const Sequences& data);

inline constexpr double kShareOfLogLoss = 0.1;  // beside the wrong answers

}  // namespace remede::frontier

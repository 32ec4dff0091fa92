// What the frontier's models learn from: the data of a fit on one scale, arranged for the kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "remede/data/sequences.h"
#include "remede/executor/laws/kernel.h"
#include "remede/train/recipe/recipe.h"
#include "remede/train/scaling.h"

namespace remede::frontier {

// What a user knows about an input: the answer never falls, or never rises, as it grows.
enum class Trend : std::int8_t { kFalling = -1, kAny = 0, kRising = 1 };

inline constexpr std::size_t kNormals = 8192;  // places at which a row of noise may begin

struct Problem {
  Recipe recipe;
  laws::LaneData training, validation, replay;
  Scaling scaling;             // of inputs, and of values in regression
  std::vector<double> x_zero;  // (n_x) what 0 in the file is on the training scale, with the sign turned
  // (n_y) What takes a constant of the answer to the units of the file: added before it is multiplied by the scale, or
  // alone where the output is a logarithm; 0 in classification.
  std::vector<double> y_zero;
  std::vector<double> y_scale;  // (n_y) what multiplies constants and weights of the answer then
  std::vector<Trend> trend;     // (n_x)
  int n_x = 0, n_y = 0;
  Objective objective;  // of the scaled targets
  bool classes = false;
  double longest = 0;          // steps of the longest sequence
  bool few_targets = false;    // the model would overfit
  bool few_sequences = false;  // are_few()
  std::vector<float> between;  // (n_x) how far recordings of one thing lie apart, in spreads of the input
  std::vector<float>
      normal;  // deviates that noise is taken from, at random places: drawing them costs more than a model
};

// Data as they stand in the file, with the weights to learn by.
// `judging`: what models are compared on. `objective`: null for the usual one.
Problem make_problem(const Sequences& training, const Sequences& judging, std::vector<Trend> trend,
                     const Objective* objective = nullptr, const Recipe& recipe = {});

// More data on the same scale.
laws::LaneData lanes_on_scale(const Problem& problem, Sequences data);

// A constant that is not in use is 0 in the units of the file: on the training scale it then follows from the weights
// beside it. Sets these constants.
void set_free_constants(const Problem& problem, const laws::Parameters& parameters, std::vector<float>& values);
// The same on the way back: adds what the weights do by way of those constants. gradient: (total)
void pass_back_constants(const Problem& problem, const laws::Parameters& parameters, std::vector<double>& gradient);

}  // namespace remede::frontier

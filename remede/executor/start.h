// Where a start begins: its plan, and its first parameters drawn from its own random stream.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "remede/base/random.h"
#include "remede/data/sequences.h"
#include "remede/executor/engine.h"
#include "remede/executor/optimiser.h"

namespace remede {

// How wide the first values are drawn. The defaults suit inputs of the order of one and a memory that must hold a
// single event; on standardised real data write 1 and rates around -4 .. 1 do better (docs/training.md).
struct InitialScales {
  float index = 0.05F;        // uniform in +- this
  float threshold = 0.5F;     // uniform in +- this
  float output = 0.05F;       // standard deviation
  float gate = 0.5F;          // uniform in +- this
  float write = 5.0F;         // standard deviation, divided by sqrt(n_x): what writes take from the inputs
  float write_memory = 0.3F;  // the same by sqrt(n_m): what writes take from the memory
  float bias = 0.5F;          // standard deviation
  float rate_mean = 2.0F;     // blend = sigmoid(rate): near overwriting
  float rate_spread = 1.5F;   // standard deviation
  float linear = 0.0F;        // standard deviation
};

// Sorted values of each input, a sample of the data. From them thresholds can be drawn where the data are.
struct InputQuantiles {
  std::vector<std::vector<float>> values;  // (n_x) each sorted; empty where the input is always missing
  bool missing = false;                    // some value is

  float spread(std::size_t input) const;  // half of the distance that holds the middle two thirds of its values
};
// Looks at no more than `most` values of each input, evenly spread over the steps.
InputQuantiles input_quantiles(const Sequences& data, std::size_t most = 4096);

// How a start is grown (grow.h).
struct GrowthOptions {
  std::array<float, 4> speeds = {0.3F, 0.1F, 0.03F, 0.01F};  // of the averages; cells take tanh of the input
  float slope = 0.5F;                  // of it, so that it stays nearly straight where inputs usually are
  std::size_t most_rows = 8192;        // of the table, and
  std::size_t most_numbers = 2000000;  // in it
  std::size_t leaf_rows = 10;          // at least
  float ahead = 1.0F;                  // of the chosen feature's logit before the others
};

// Everything that makes one start different from another.
struct StartPlan {
  Shape shape;
  GradientForm gradient;
  InitialScales scales;
  Rates rates = {0.03F, 0.006F, 0.1F, 0.2F, 0.2F, 0.1F, 0.05F, 0.02F};  // by Group
  bool thresholds_from_data = false;  // those of the inputs; cells start in +- scales.threshold in any case
  bool grown = false;                 // the tree is grown greedily (grow.h) in place of what is drawn
  float noise = 0.0F;    // noise on the inputs, in spreads of each, drawn anew in every epoch: reduces overfitting of
                         // small data sets
  float offset = 0.0F;   // the same, one value for all steps of a sequence: no two recordings are set up alike
  float clip = 1.0F;     // largest norm of the gradient; 0: no limit
  int batch = 32;        // sequences per update
  float shrink = 0.0F;   // writes and linear leaves come closer to 0 by this part of their rate with every update (L1)
  float average = 1.0F;  // weight of the newest parameters in the moving average that is validated and kept
  std::uint64_t first_round = 400;  // updates before the worse half of the starts is dropped
  std::uint64_t least_rounds = 2;   // however few the starts
  std::uint64_t validations = 4;    // in a round
  double polish_rounds = 1;         // first rounds that the last training on all the data takes
  GrowthOptions growth;
  double budget_share = 1.0;  // of the planned updates, all rounds and the last training alike: what --updates leaves
  std::uint64_t seed = 1;
  std::uint64_t stream = 0;  // the number of the start: every start draws from a stream of its own
};

// Thresholds come from `quantiles` where the plan says so. Where values are missing, each split draws the side that
// they go to.
Parameters<float> initial_parameters(const StartPlan& plan, const InputQuantiles& quantiles, Random& random);

}  // namespace remede

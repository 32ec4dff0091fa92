// Starts for recordings of dynamic systems: a linear state-space model is identified from the data by least squares and
// written as a leaf whose cells are the states, in the nearly linear range of tanh.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "remede/base/random.h"
#include "remede/data/sequences.h"
#include "remede/executor/parameters.h"

namespace remede {

struct LinearSystemOptions {
  int arx_order = 8;             // past steps in the autoregressive model that the impulse response comes from
  int states = 4;                // of the linear system
  double blend = 0.3;            // share of the new value that each cell takes in a step
  int extra_cells = 0;           // drawn at random, without an effect on the answer at first
  int depth = 0;                 // splits at random quantiles of random inputs and states; all leaves begin alike
  double largest_pole = 0.9995;  // modulus: a slower memory would be longer than any recording shows
  double largest_cell = 0.4;     // and largest argument of tanh: beyond, tanh bends what the system says
};

// The systems of one data set. REQUIRES: regression; values and inputs standardised. `continues` as for levenberg().
class LinearSystems {
 public:
  LinearSystems(const Sequences& data, std::span<const std::uint8_t> continues, std::span<const float> fill);
  ~LinearSystems();
  LinearSystems(const LinearSystems&) = delete;
  LinearSystems& operator=(const LinearSystems&) = delete;

  // Fits what starts with these options need: every order and every number of states once.
  void fit(std::span<const LinearSystemOptions> all, int threads, const std::function<bool()>& stop);

  // Nothing where the data do not determine a system: too few rows, no inputs, or a response that is not finite.
  // REQUIRES: fitted.
  std::optional<Parameters<float>> start(const LinearSystemOptions& options, Random& random) const;

 private:
  struct Fitted;
  std::unique_ptr<Fitted> fitted_;
};

// One start alone.
std::optional<Parameters<float>> linear_start(const Sequences& data, std::span<const std::uint8_t> continues,
                                              std::span<const float> fill, const LinearSystemOptions& options,
                                              Random& random);

}  // namespace remede

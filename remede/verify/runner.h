// The system on concrete values: the reference predictor, the atoms and the monitor. What a counterexample is checked
// by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "remede/verify/system.h"

namespace remede {

// What a sequence brings at one step.
struct StepInput {
  std::vector<float> x;     // (inputs) NaN where missing
  std::vector<int> option;  // (columns)
};

struct Configuration {
  std::vector<float> slot;
  MonitorState monitor;

  bool operator==(const Configuration&) const = default;
};

class ConcreteRunner {
 public:
  explicit ConcreteRunner(const CheckedSystem& system);

  Configuration start() const;
  Monitor::Outcome step(const StepInput& input, Configuration& at);

  // Of the last step:
  const std::vector<float>& answer(std::size_t part) const { return answer_[part]; }
  const std::vector<std::int32_t>& leaves() const { return leaf_; }

  // The number of the first step at which the property is false while the assumptions were true up to there; 0: none.
  std::size_t violation(const std::vector<StepInput>& sequence);

 private:
  bool atom_true(const Atom& atom, const StepInput& input, const Configuration& before,
                 const Configuration& after) const;

  const CheckedSystem& system_;
  std::vector<std::vector<float>> answer_;  // (parts, n_y)
  std::vector<float> x_, scratch_;
  std::vector<std::int32_t> leaf_;
};

}  // namespace remede

// Noise on the inputs against overfitting: no two epochs use the same inputs.
//
// Two kinds, both uniform and in spreads of each input: one drawn for every value, and an offset that all steps of a
// sequence share. A memory averages the first away; the second is how recordings differ from one another.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "remede/executor/training_data.h"

namespace remede {

class Blur {
 public:
  // `data` must outlive it.
  Blur(const StartPlan& plan, const TrainingData& data);

  // The training sequences with these numbers, in this order, as this epoch shows them: which others are asked for
  // changes nothing. A missing value stays missing. Valid until the next call.
  const Sequences& batch(std::span<const std::uint32_t> numbers, std::uint64_t epoch);

  // What the noise of an epoch is drawn from, and the largest noise and offset of each input (n_x).
  std::uint64_t drawn(std::uint64_t epoch) const;
  std::span<const float> noise() const { return noise_; }
  std::span<const float> offset() const { return offset_; }

  // Gives back the memory of the last batch: a start that waits for its turn holds none.
  void release() { batch_ = Sequences(); }

 private:
  void add(std::uint64_t drawn, std::uint32_t number, std::span<float> x);  // to all values of one sequence

  const TrainingData* data_;
  std::uint64_t seed_, stream_;
  std::vector<float> noise_, offset_;  // (n_x) the largest of each
  std::vector<float> shift_;           // (n_x) scratch: the offset of a sequence
  Sequences batch_;
};

}  // namespace remede

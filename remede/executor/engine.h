// Loss and gradient of a batch on this machine's processors: what the executors of executor.h are made of. Several
// implementations, one meaning (docs/mathematics.md). An engine owns scratch memory: use one per thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "remede/data/sequences.h"
#include "remede/executor/parameters.h"
#include "remede/objective/objective.h"

namespace remede {

enum class SplitGradient : std::uint8_t { kSigmoid, kSoftsign };
enum class IndexGradient : std::uint8_t { kSoftmax, kIdentity, kEntmax };
enum class Mix : std::uint8_t { kParameters, kEffects };

// The choices that change the gradient and nothing at prediction.
struct GradientForm {
  SplitGradient split = SplitGradient::kSigmoid;
  float slope = 1.0F;
  IndexGradient index = IndexGradient::kSoftmax;
  Mix mix = Mix::kParameters;
  bool operator==(const GradientForm&) const = default;
};

// Sums over the steps of a batch that carry a target.
struct BatchLoss {
  double loss = 0;     // weighted sum of the objective's losses
  double weight = 0;   // sum of the weights
  double correct = 0;  // weighted number of steps whose arg max is the label; 0 in regression

  double mean() const { return weight > 0 ? loss / weight : 0.0; }
  double accuracy() const { return weight > 0 ? correct / weight : 0.0; }
  BatchLoss& operator+=(const BatchLoss& o) {
    loss += o.loss;
    weight += o.weight;
    correct += o.correct;
    return *this;
  }
};

// Largest derivative by a cell that goes back from step to step. Far beyond what is useful: it keeps one that explodes
// finite.
inline constexpr float kMostBack = 1e9F;

// Memory carried over, where a long sequence was cut into windows that are sequences of their own: (sequences of the
// data, n_m).
struct Carry {
  std::span<const float> before;  // that each sequence starts from
  std::span<float> after;         // that each sequence of the batch ends with: ASSIGNED
};

class Engine {
 public:
  virtual ~Engine() = default;

  // The gradient of the mean loss over the batch (the sequences of `data` with these numbers) is ASSIGNED to
  // `gradient`. fill: (n_x) what a missing input counts as in writes and
  // linear leaves. Without `carry` every sequence starts from zero memory. The result does not depend on the number of
  // threads.
  virtual BatchLoss gradient(const Parameters<float>& parameters, const GradientForm& form, const Objective& objective,
                             const Sequences& data, std::span<const float> fill, std::span<const std::uint32_t> batch,
                             Parameters<float>& gradient, const Carry* carry = nullptr) = 0;

  // The loss alone.
  virtual BatchLoss loss(const Parameters<float>& parameters, const Objective& objective, const Sequences& data,
                         std::span<const float> fill, std::span<const std::uint32_t> batch) = 0;
};

// The plain, readable form, in float and in double.
std::unique_ptr<Engine> make_plain_engine(int threads = 1);
std::unique_ptr<Engine> make_double_engine(int threads = 1);
// The fast form for this machine; the plain one where there is none.
std::unique_ptr<Engine> make_engine(int threads = 1);

}  // namespace remede

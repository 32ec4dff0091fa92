// One set of parameters and its optimiser: Adam on the numbers in use. Its course depends on its plan and seed alone.
#pragma once

#include <functional>
#include <vector>

#include "remede/base/random.h"
#include "remede/executor/bytes.h"
#include "remede/train/frontier/problem.h"
#include "remede/train/travel.h"

namespace remede::frontier {

struct LearnerOptions {
  double rate = 0.02;
  double l1 = 0;            // on weights
  double answer_decay = 0;  // classification
  // Standard deviations, in spreads of the inputs: of noise on every value, and of an offset for all steps of a
  // sequence. With few recordings the model overfits.
  double noise = 0;
  double offset = 0;
  bool learn_index = true;
};

// Loss and share of wrong answers on some data, weighted means.
struct Judged {
  double loss = 0;
  double wrong = 0;
};

template <MaybeConst<LearnerOptions> T>
void fields(T& o, auto&& each) {
  each(o.rate, o.l1, o.answer_decay, o.noise, o.offset, o.learn_index);
}
template <MaybeConst<Judged> T>
void fields(T& j, auto&& each) {
  each(j.loss, j.wrong);
}

class Learner {
 public:
  Learner(const Problem& problem, const laws::LaneData& lanes, laws::Parameters parameters, std::vector<double> rates,
          const LearnerOptions& options, std::uint64_t seed, std::uint64_t stream);

  // So many updates, the rate falling from `from` to `to` times that of the options. Ends early where stop() says so.
  void advance(std::size_t updates, double from, double to, const std::function<bool()>& stop);
  Judged judge(const laws::LaneData& data);  // without smoothing
  Judged replay(const laws::Parameters& parameters);
  // Mean of every cell's output and level over the replayed steps. (2 K)
  std::vector<double> usual_state();

  const laws::Parameters& parameters() const { return p_; }
  void set_parameters(laws::Parameters parameters);  // of the same shape; rates and moments stay
  LearnerOptions& options() { return options_; }
  const std::vector<double>& second_moment() const { return v_; }  // of the gradient of every number
  std::size_t updates_per_pass() const;

  // All that moves, exact bits. load() continues a learner that was made in the same way.
  void save(ByteWriter& to) const;
  void load(ByteReader& from);
  double kernel_steps() const { return kernel_steps_; }  // run so far

 private:
  void update(double rate);
  double accumulate(const laws::Block& block, const float* x);  // returns the weight of the targets
  const float* disturbed(const laws::Block& block);  // its inputs, with noise and offsets where there are some
  void step(double rate);
  void prepare();

  const Problem* problem_;
  const laws::LaneData* lanes_;
  laws::Parameters p_;
  std::vector<double> rates_, m_, v_, gradient_;
  std::vector<std::int8_t> sign_;  // of numbers that may have one only
  LearnerOptions options_;
  Random random_;
  laws::Program program_;
  std::vector<float> values_;
  laws::Scratch scratch_;
  laws::Disturbance disturbance_;
  AlignedVector<float> disturbed_;
  std::vector<std::size_t> order_;  // of the blocks in this pass
  std::size_t next_ = 0;
  std::vector<float> after_;  // (windows, K) levels at the end of each window when it was last run
  double m_decay_ = 1, v_decay_ = 1;
  double kernel_steps_ = 0;
};

}  // namespace remede::frontier

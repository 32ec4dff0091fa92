// Judging edits of a model by data, fast: what every tree did at every step is kept, so that for an edit only the sequences that
// visit the changed part are run again, from the first visit on and only while they differ from what is kept, and no further
// than it takes to see that the edit is not acceptable.
//
// Holds a reference to the data, which must outlive it. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "remede/data/sequences.h"
#include "remede/model/model.h"

namespace remede {

// How much worse than the model given the result may be, on each data set.
struct Tolerance {
  double accuracy = 0.0;       // classification: by how much accuracy may fall
  double log_loss = 0.01;      // classification: by how much the mean log loss may rise, in nats
  double squared_error = 0.01;  // regression: by what share the mean squared error may rise
  double effort = 400.0;       // gives up when it has run this many times as many steps as there are data
};

// Sums over steps that carry a target.
struct Tally {
  double weight = 0;
  double correct = 0;  // 0 in regression
  double loss = 0;     // log loss, or the mean over outputs of squared errors
};

// What an edit does to the score.
struct Verdict {
  bool accepted = false;
  double correct = 0;  // change, over both data sets
  double loss = 0;
  bool better_than(const Verdict& other) const {
    return correct != other.correct ? correct > other.correct : loss < other.loss;
  }
};

// One data set and what the trees do on it. An edit is a tree and the leaves whose steps it changes, `touched` (leaves): a step
// that reaches another leaf, with the same memory before, goes as before.
class Replay {
 public:
  // `model` is what is edited, and must outlive the object. The limits are set by what it is worth now.
  Replay(const Model& model, const Sequences& data, const Tolerance& tolerance);
  // Runs everything again, when leaves or cells have been renumbered. The limits stay.
  void restart();

  const Tally& score() const { return now_; }
  std::size_t visits(int t, int leaf) const;  // sequences that reach the leaf
  std::size_t steps_run() const { return steps_run_; }
  // Adds to sums (n_v of tree t) the squares of what the features were, and to `count` the steps.
  void add_squares(int t, std::span<double> sums, double& count) const;

  // Does the edit keep within the tolerance? Adds its changes to `verdict`; false, and perhaps too little added, where not.
  bool judge(int t, const Tree& edited, std::span<const std::uint8_t> touched, Verdict& verdict);
  // Makes the edit the model judged against.
  void commit(int t, const Tree& edited, std::span<const std::uint8_t> touched);

 private:
  // What tree t did.
  struct Track {
    std::vector<float> m;             // (steps, n_m) before the step
    std::vector<float> y;             // (steps, n_y) logits or values
    std::vector<std::int32_t> leaf;   // (steps)
    std::vector<std::vector<std::uint32_t>> visitors;  // (leaves) sequences, in the order of order_
    std::vector<Tally> could_gain;    // (leaves) the visitors' wrong weight and loss: the most an edit can win back
  };
  // Changes while an edit is judged, and how much they scatter from one stretch of steps to the next.
  struct Change {
    double correct = 0;
    double correct_scatter = 0;
    double loss = 0;
    double loss_scatter = 0;
    Tally could_gain;  // left
  };

  void run_sequence(int t, const Tree& tree, std::size_t sequence);
  void score_sequence(std::size_t sequence);
  void sum_up();
  void list_visitors(int t);
  Tally score_step(std::size_t step, int t, const float* y);
  bool judge_sequence(int t, const Tree& edited, std::span<const std::uint8_t> touched, std::size_t sequence, Change& change);
  bool hopeless(const Change& change) const;
  template <typename Call>
  bool for_touched(int t, std::span<const std::uint8_t> touched, const Call& call);

  const Model& model_;
  const Sequences& data_;
  bool judged_ = false;                // there are targets
  std::size_t n_x_;
  std::size_t n_y_;
  std::vector<std::uint32_t> order_;   // the sequences, shuffled: a first look at an edit is then a fair one
  std::vector<Track> tracks_;          // (trees)
  std::vector<float> step_loss_;       // (steps)
  std::vector<std::uint8_t> step_correct_;  // (steps)
  std::vector<Tally> sequence_score_;  // (sequences)
  Tally now_;
  double least_correct_ = 0;           // the limits
  double most_loss_ = 0;
  std::vector<std::uint32_t> stamp_;   // (sequences)
  std::uint32_t stamp_now_ = 0;
  std::size_t steps_run_ = 0;
  std::vector<float> m_, y_, answer_, mean_;  // scratch
};

}  // namespace remede

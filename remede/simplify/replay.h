// Judging edits of a model by data, fast: what every tree did at every step is kept, so that for an edit only the
// sequences that visit the changed part are run again, from the first visit on and only while they differ from what is
// kept, and no further than it takes to see that the edit is not acceptable.
//
// Holds references to the model and the data, which must outlive it. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "remede/data/sequences.h"
#include "remede/model/model.h"

namespace remede {

// How much worse than the model given the result may be, on each data set.
struct Tolerance {
  double accuracy = 0.0;       // classification: by how much accuracy may fall
  double log_loss = 0.01;      // classification: by how much the mean log loss may rise, in nats
  double loss_share = 0.01;    // regression: by what share the mean loss may rise
  double effort = 400.0;       // gives up when it has run this many times as many steps as there are data
  std::function<bool()> stop;  // asked before every edit: true refuses all further ones. From any thread
};

// Sums over steps that carry a target.
struct Tally {
  double weight = 0;
  double correct = 0;  // 0 in regression
  double loss = 0;     // the objective's
};

// What an edit does to the tally, over both data sets.
struct Verdict {
  bool accepted = false;
  double correct = 0;        // change
  double loss = 0;           // change
  std::uint64_t serial = 0;  // of the judgement
  bool better_than(const Verdict& other) const {
    return correct != other.correct ? correct > other.correct : loss < other.loss;
  }
};

// One data set and what the trees do on it. An edit is a tree and the leaves whose steps it changes, `touched`
// (leaves): a step that reaches another leaf, with the same memory before, goes as before.
class Replay {
 public:
  // `model` is what is edited. The limits are set by what it is worth now.
  Replay(const Model& model, const Sequences& data, const Tolerance& tolerance);
  // Runs everything again, when leaves or cells have been renumbered. The limits stay.
  void restart();

  const Tally& tally() const { return now_; }
  std::size_t visits(int t, int leaf) const;  // sequences that reach the leaf
  std::size_t steps_run() const { return steps_run_; }
  // Adds to sums (n_v of tree t) the squares of what the features were, and to `count` the steps.
  void add_squares(int t, std::span<double> sums, double& count) const;

  // Does the edit keep within the limits? Adds its changes to `verdict`; false, and perhaps too little added, where
  // not.
  bool judge(int t, const Tree& edited, std::span<const std::uint8_t> touched, Verdict& verdict);
  // Makes the edit the one that others are judged against. `judged`: it is the last one judged, and was accepted.
  void commit(int t, const Tree& edited, std::span<const std::uint8_t> touched, bool judged);

 private:
  // What tree t did.
  struct Track {
    std::size_t width = 0;                             // Tree::memory_size
    std::vector<float> m;                              // (steps, width) before the step
    std::vector<float> y;                              // (steps, n_y) logits or values
    std::vector<std::int32_t> leaf;                    // (steps)
    std::vector<std::vector<std::uint32_t>> visitors;  // (leaves) sequences, in the order of order_
    std::vector<Tally> could_gain;  // (leaves) the visitors' wrong weight and loss: the most an edit can win back
  };
  // What the edit judged last does differently: the steps run, and the changes by sequence.
  struct Journal {
    std::vector<std::size_t> step;
    std::vector<std::int32_t> leaf;
    std::vector<float> m;  // (steps run, width) after the step
    std::vector<float> y;  // (steps run, n_y)
    std::vector<Mark> mark;
    std::vector<std::pair<std::uint32_t, Tally>> change;
    void clear();
  };
  // Changes while an edit is judged, and how much they scatter from one stretch of steps to the next.
  struct Change {
    double correct = 0;
    double correct_scatter = 0;
    double loss = 0;
    double loss_scatter = 0;
    Tally could_gain;     // left
    bool limited = true;  // false: to be run to the end whatever comes
  };

  int run_step(const Tree& tree, std::size_t i);
  void run_sequence(int t, const Tree& tree, std::size_t sequence);
  void score_sequence(std::size_t sequence);
  void sum_up();
  void list_visitors(int t);
  Mark mark_step(std::size_t step, int t, const float* y);
  bool run_edit(int t, const Tree& edited, std::span<const std::uint8_t> touched, Change& change);
  bool run_edit(int t, const Tree& edited, std::span<const std::uint8_t> touched, std::uint32_t sequence,
                Change& change);
  void apply_journal(int t);
  bool hopeless(const Change& change) const;

  const Model& model_;
  const Sequences& data_;
  bool judged_ = false;  // there are targets
  Objective objective_;
  std::size_t n_x_;
  std::size_t n_y_;
  std::vector<std::uint32_t> order_;   // the sequences, shuffled: the first ones are then a fair sample
  std::vector<Track> tracks_;          // (trees)
  std::vector<Mark> marks_;            // (steps)
  std::vector<Tally> sequence_tally_;  // (sequences)
  Tally now_;
  double least_correct_ = 0;  // the limits
  double most_loss_ = 0;
  std::vector<std::uint32_t> stamp_;  // (sequences)
  std::uint32_t stamp_now_ = 0;
  std::size_t steps_run_ = 0;
  Journal journal_;
  std::vector<float> m_, y_, answer_, mean_;  // scratch
};

}  // namespace remede

// What a fit tells the world while it runs, and how the world interrupts it. None of it changes the result.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "remede/train/checkpoint.h"

namespace remede {

struct Progress {
  double done = 0;            // share of the budget, 0 .. 1; a fit may end before it is 1
  std::uint64_t updates = 0;  // of the start that leads
  double training_loss = 0;   // mean since the last validation
  double validation_loss = 0;
  double best_loss = 0;      // lowest validation loss so far
  double best_accuracy = 0;  // there; 0 in regression
  std::string phase;         // "start", "decay", ...: a word or two for the progress line
};

// All optional. `stop` and `checkpoint_due` are asked after every batch, from any thread, so they must be quick and
// thread-safe; the others are called from the thread that called fit().
struct Callbacks {
  std::function<void(const Progress&)> progress;
  std::function<bool()> stop;                         // true: end after this batch with the best so far
  std::function<bool()> checkpoint_due;               // true: save a checkpoint after this batch
  std::function<void(const Checkpoint&)> checkpoint;  // keeps it; called when due and when stopped
};

// One fit as a recipe sees it. What was once asked for stays asked for: a stop until the end, a checkpoint until it is
// made. stop(), checkpoint_due() and pause() may be called from any thread.
class Session {
 public:
  // `base` is the checkpoint without its state; `resume` the state to continue from, or empty.
  Session(const Callbacks& callbacks, Checkpoint base, std::string resume)
      : callbacks_(callbacks), checkpoint_(std::move(base)), resume_(std::move(resume)) {}

  bool stop() {
    if (!stop_ && callbacks_.stop && callbacks_.stop()) stop_ = true;
    return stop_;
  }
  bool checkpoint_due() {
    if (!due_ && callbacks_.checkpoint && callbacks_.checkpoint_due && callbacks_.checkpoint_due()) due_ = true;
    return due_;
  }
  bool pause() { return stop() || checkpoint_due(); }
  void progress(const Progress& progress) const {
    if (callbacks_.progress) callbacks_.progress(progress);
  }
  void checkpoint(std::string state) {
    due_ = false;
    if (!callbacks_.checkpoint) return;
    checkpoint_.state = std::move(state);
    callbacks_.checkpoint(checkpoint_);
  }
  std::string_view resume() const { return resume_; }

 private:
  const Callbacks& callbacks_;
  Checkpoint checkpoint_;
  std::string resume_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> due_ = false;
};

}  // namespace remede

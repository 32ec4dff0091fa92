// How a fit reports progress and is interrupted. Nothing here changes the result.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "remede/executor/remote/peers.h"
#include "remede/train/checkpoint.h"

namespace remede {

struct Progress {
  double done = 0;            // estimated share of the time that has passed; 1 only at the end
  double seconds_left = -1;   // estimate; negative: not known yet
  bool at_most = false;       // it ends sooner if the task is solved before all stages are done
  std::uint64_t updates = 0;  // of the start that leads
  double training_loss = 0;   // mean since the last validation
  double validation_loss = 0;
  double best_loss = 0;      // lowest validation loss so far
  double best_accuracy = 0;  // there; 0 in regression
  std::string phase;         // "search", "simplify", ...: a word or two for the progress line
};

// All optional. `stop` and `checkpoint_due` are asked after every batch, from any thread, so they must be quick and
// thread-safe; the others are called from the thread that called fit().
struct Callbacks {
  std::function<void(const Progress&)> progress;      // after every round, and when a phase begins
  std::function<void(const Progress&)> tick;          // several times a second, from any thread, one at a time
  std::function<bool()> stop;                         // true: end within seconds with the best so far
  std::function<bool()> checkpoint_due;               // true: save a checkpoint after this batch
  std::function<void(const Checkpoint&)> checkpoint;  // keeps it; called when due and when stopped
  double seconds_spent = 0;                           // before fit() was called; they count towards a time limit
  Peers* peers = nullptr;                             // others who do a part of the work; it outlives the fit
};

// What a fit does one after the other, and the share of a time limit at which each part must have ended.
enum class Phase : std::uint8_t { kSearch, kChoose, kPolish };

// One fit as a recipe sees it. What was once asked for stays asked for: a stop until the end, a checkpoint until it is
// made. All but progress(), checkpoint() and begin() may be called from any thread.
class Session {
 public:
  // `base` is the checkpoint without its state; `resume` the state to continue from, or empty.
  Session(const Callbacks& callbacks, Checkpoint base, std::string resume, std::optional<Seconds> time_limit = {},
          const Recipe& recipe = {});

  bool stop();  // whether a stop was requested; also calls tick() when it is due
  bool late();  // the time for this phase is up, by the time limit
  bool halt() { return stop() || late(); }
  // For what follows the search. After a stop one second remains to simplify what was found.
  bool hurry();
  bool was_late() const { return was_late_; }  // in any phase: then the result depends on the machine

  void begin(Phase phase);
  bool checkpoint_due() {
    if (!due_ && callbacks_.checkpoint && callbacks_.checkpoint_due && callbacks_.checkpoint_due()) due_ = true;
    return due_;
  }
  bool pause() { return halt() || checkpoint_due(); }
  void progress(Progress progress);                   // done and seconds_left are filled in
  void show_phase(const std::string& phase);          // the last progress again, in another phase
  void finish();                                      // the last progress again, all done
  void expect(double seconds, bool at_most = false);  // estimated seconds until the end of the fit
  void begin_part() { phase_begun_ = Clock::now(); }  // of a phase: expect_in_phase() counts from here
  // A phase that has done this share of its work, and what follows it. Before anything is done `otherwise` is taken
  // for the length of the phase, and it counts less and less while the phase goes on.
  void expect_in_phase(double share, double otherwise, double after);
  bool watched() const { return callbacks_.progress || callbacks_.tick; }
  bool keeps_checkpoints() const { return static_cast<bool>(callbacks_.checkpoint); }
  void checkpoint(std::string state) {
    due_ = false;
    if (!callbacks_.checkpoint) return;
    checkpoint_.state = std::move(state);
    callbacks_.checkpoint(checkpoint_);
  }
  std::string_view resume() const { return resume_; }
  Peers* peers() const { return callbacks_.peers; }
  // Jobs that run at once, here and elsewhere. threads: those of this process, 0 for all of the machine's.
  int hands(int threads) const;

 private:
  using Clock = std::chrono::steady_clock;

  void fill_in(Progress& progress);
  void tick();

  const Callbacks& callbacks_;
  Checkpoint checkpoint_;
  std::string resume_;
  std::optional<Seconds> time_limit_;
  std::array<double, 3> time_share_;  // of the time limit, at which each phase ends
  Clock::time_point begun_, phase_begun_;
  std::mutex mutex_;  // of what is shown:
  Progress last_;
  double expected_ = -1;           // seconds left,
  bool at_most_ = false;           // or fewer,
  Clock::time_point expected_at_;  // when that was said
  std::atomic<Clock::duration> next_tick_{Clock::duration(0)};
  std::atomic<Clock::duration> deadline_;                        // of this phase, since the clock's epoch
  std::atomic<Clock::duration> stopped_at_{Clock::duration(0)};  // since the clock's epoch; 0: not stopped
  std::atomic<bool> was_late_ = false;
  std::atomic<bool> due_ = false;
};

}  // namespace remede

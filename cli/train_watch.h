// What stands between a running fit and the person at the terminal: the progress line, Ctrl-C and the checkpoint file.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "remede/train/session.h"

namespace remede {

// While it lives, Ctrl-C (SIGINT), SIGTERM and SIGHUP are remembered instead of ending the program. A second SIGINT or
// SIGTERM ends it at once; a second SIGHUP does not, since a terminal that closes may send several. One at a time.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // The signal that came, or 0. From any thread.
  static int caught();

 private:
  bool hang_up_;  // false: SIGHUP was ignored before (nohup), and stays so
};

// One line on a terminal, written over itself; nothing where standard error is not a terminal. `verbose` adds a line of
// its own for every round, terminal or not. show() and round() may be called from different threads.
class ProgressLine {
 public:
  ProgressLine(bool quiet, bool verbose);
  bool wanted() const { return visible_ || verbose_; }  // else nothing is ever shown
  void show(const Progress& progress);                  // several times a second
  void round(const Progress& progress);                 // a round or a phase has ended
  void clear();

 private:
  void draw(const Progress& progress);

  bool visible_;
  bool verbose_;
  bool shown_ = false;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point begun_;
};

// "0:07", "12:30", "3:05:00".
std::string clock_text(double seconds);

// Writes checkpoints to a file: the first when the fit has run for a while, then again and again, taking little of its
// time.
class CheckpointFile {
 public:
  // `path` empty: none is written. `after`: seconds before the first.
  CheckpointFile(std::string path, double after, std::vector<std::pair<std::string, std::string>> notes);

  bool due() const;                   // from any thread
  void write(Checkpoint checkpoint);  // a failure is told once on standard error: it must not end the fit
  const std::string& path() const { return path_; }
  bool written() const { return written_; }
  void remove();

 private:
  using Clock = std::chrono::steady_clock;
  std::string path_;
  std::vector<std::pair<std::string, std::string>> notes_;
  std::atomic<Clock::duration> next_;  // since the clock's epoch
  bool written_ = false;
  bool complained_ = false;
};

}  // namespace remede

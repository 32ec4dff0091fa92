#include "cli/train_watch.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>

#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/common.h"
#include "remede/base/error.h"

namespace remede {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSecondsBetweenCheckpoints = 1.0;
constexpr double kPatienceOfCheckpoints = 50;  // times as long as writing took, so that they cost 2% at most

// A signal handler can reach nothing but a global.
std::atomic<int> signal_caught = 0;
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void remember_signal(int number) {
  signal_caught = number;
  std::signal(number, number == SIGHUP ? remember_signal : SIG_DFL);  // the second one ends the program
}

double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }
Clock::duration duration_of(double s) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
}

std::size_t terminal_columns() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace

SignalWatch::SignalWatch() : hang_up_(std::signal(SIGHUP, remember_signal) != SIG_IGN) {
  if (!hang_up_) std::signal(SIGHUP, SIG_IGN);
  signal_caught = 0;
  std::signal(SIGINT, remember_signal);
  std::signal(SIGTERM, remember_signal);
}

SignalWatch::~SignalWatch() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  if (hang_up_) std::signal(SIGHUP, SIG_DFL);
}

int SignalWatch::caught() { return signal_caught; }

std::string clock_text(double seconds) {
  const auto s = std::llround(std::max(0.0, seconds));
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

ProgressLine::ProgressLine(bool quiet, bool verbose)
    : visible_(!quiet && isatty(STDERR_FILENO) != 0), verbose_(verbose), begun_(Clock::now()) {}

namespace {

constexpr double kLastSeconds = 5;  // fewer are not told apart: the last steps are too short to forecast

std::string left_text(const Progress& p) {
  if (p.seconds_left < 0) return "?:??";
  if (p.done < 1 && p.seconds_left < kLastSeconds) return "<" + clock_text(kLastSeconds);
  return (p.at_most ? "at most " : "") + clock_text(p.seconds_left);
}

std::string progress_text(const Progress& p) {
  std::string line = fmt::format("{}: update {}, loss {:.4g}, validation {:.4g}, best {:.4g}", p.phase, p.updates,
                                 p.training_loss, p.validation_loss, p.best_loss);
  if (p.best_accuracy > 0) line += fmt::format(", accuracy {:.4f}", p.best_accuracy);
  return line;
}

}  // namespace

void ProgressLine::draw(const Progress& p) {
  const std::string line =
      fmt::format("{:3.0f}%  {} left  {}", 100 * p.done, left_text(p), p.phase.empty() ? "begins" : progress_text(p));
  print_error("\r{}\x1b[K", line.substr(0, terminal_columns() - 1));
  shown_ = true;
}

void ProgressLine::show(const Progress& p) {
  if (!visible_) return;
  const std::lock_guard lock(mutex_);
  draw(p);
}

void ProgressLine::round(const Progress& p) {
  const std::lock_guard lock(mutex_);
  if (verbose_)
    print_error("{}{} {:3.0f}%  {} left  {}\n", shown_ ? "\r\x1b[K" : "", clock_text(seconds(Clock::now() - begun_)),
                100 * p.done, left_text(p), progress_text(p));
  if (visible_) draw(p);
}

void ProgressLine::clear() {
  const std::lock_guard lock(mutex_);
  if (shown_) put_error("\r\x1b[K");
  shown_ = false;
}

CheckpointFile::CheckpointFile(std::string path, double after, std::vector<std::pair<std::string, std::string>> notes)
    : path_(std::move(path)), notes_(std::move(notes)), next_(Clock::now().time_since_epoch() + duration_of(after)) {}

bool CheckpointFile::due() const { return !path_.empty() && Clock::now().time_since_epoch() >= next_.load(); }

void CheckpointFile::write(Checkpoint checkpoint) {
  if (path_.empty()) return;
  const Clock::time_point begin = Clock::now();
  checkpoint.notes = notes_;
  try {
    save_checkpoint(checkpoint, path_);
    written_ = true;
  } catch (const Error& error) {
    if (!complained_) print_error("\rremede: warning: no checkpoint: {}\n", error.what());
    complained_ = true;
  }
  const Clock::time_point end = Clock::now();
  const double pause = std::max(kSecondsBetweenCheckpoints, kPatienceOfCheckpoints * seconds(end - begin));
  next_ = end.time_since_epoch() + duration_of(pause);
}

void CheckpointFile::remove() {
  if (written_) std::remove(path_.c_str());
}

}  // namespace remede

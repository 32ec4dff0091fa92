#include "remede/train/session.h"

#include <algorithm>

#include "remede/base/threads.h"

namespace remede {
namespace {

constexpr double kSecondsAfterStop = 1.0;  // for simplifying the best model after a stop was requested
constexpr double kSecondsBetweenTicks = 0.2;
constexpr double kMostDone = 0.99;  // until the end

}  // namespace

Session::Session(const Callbacks& callbacks, Checkpoint base, std::string resume, std::optional<Seconds> time_limit,
                 const Recipe& recipe)
    : callbacks_(callbacks),
      checkpoint_(std::move(base)),
      resume_(std::move(resume)),
      time_limit_(time_limit),
      time_share_{recipe.search_time, recipe.choice_time, recipe.polish_time},
      begun_(Clock::now()),
      phase_begun_(begun_),
      expected_at_(begun_),
      deadline_(Clock::duration::max()) {
  begin(Phase::kSearch);
}

void Session::begin(Phase phase) {
  phase_begun_ = Clock::now();
  if (!time_limit_) return;
  const double left = time_limit_->value * time_share_[static_cast<std::size_t>(phase)] - callbacks_.seconds_spent;
  deadline_ =
      (begun_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(left))).time_since_epoch();
}

void Session::expect(double seconds, bool at_most) {
  const std::lock_guard lock(mutex_);
  expected_ = seconds;
  at_most_ = at_most;
  expected_at_ = Clock::now();
}

void Session::expect_in_phase(double share, double otherwise, double after) {
  constexpr double kTrusted = 0.3;  // of the phase, after which only the time it took so far counts
  const double spent = std::chrono::duration<double>(Clock::now() - phase_begun_).count();
  const double trust = otherwise > 0 ? std::min(1.0, share / kTrusted) : 1.0;
  const double length = share > 0 ? trust * spent / share + (1 - trust) * otherwise : otherwise;
  expect((1 - share) * length + after);
}

// REQUIRES: the lock is held.
void Session::fill_in(Progress& progress) {
  const Clock::time_point now = Clock::now();
  if (expected_ < 0) return;  // nothing is known yet
  const double since = std::chrono::duration<double>(now - expected_at_).count();
  const double elapsed = std::chrono::duration<double>(now - begun_).count();
  double left = std::max(expected_ - since, 0.1 * expected_);  // what takes longer than expected is not done yet
  if (time_limit_) left = std::min(left, std::max(0.0, time_limit_->value - callbacks_.seconds_spent - elapsed));
  progress.seconds_left = left;
  progress.at_most = at_most_;
  const double done = elapsed + left > 0 ? elapsed / (elapsed + left) : 0.0;
  progress.done = std::max(last_.done, std::min(done, kMostDone));  // a bar does not go back
  last_ = progress;
}

void Session::progress(Progress progress) {
  {
    const std::lock_guard lock(mutex_);
    fill_in(progress);
  }
  if (callbacks_.progress) callbacks_.progress(progress);
}

void Session::show_phase(const std::string& phase) {
  Progress again = last_;
  again.phase = phase;
  progress(again);
}

void Session::finish() {
  last_.phase = "done";
  last_.done = 1;
  last_.seconds_left = 0;
  last_.at_most = false;
  if (callbacks_.progress) callbacks_.progress(last_);
}

void Session::tick() {
  if (!callbacks_.tick) return;
  const Clock::duration now = Clock::now().time_since_epoch();
  Clock::duration due = next_tick_.load(std::memory_order_relaxed);
  if (now < due) return;
  const auto pause = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(kSecondsBetweenTicks));
  if (!next_tick_.compare_exchange_strong(due, now + pause)) return;
  const std::lock_guard lock(mutex_);
  Progress progress = last_;
  fill_in(progress);
  callbacks_.tick(progress);
}

bool Session::stop() {
  tick();
  if (stopped_at_.load() != Clock::duration(0)) return true;
  if (!callbacks_.stop || !callbacks_.stop()) return false;
  stopped_at_ = Clock::now().time_since_epoch();
  return true;
}

bool Session::late() {
  if (!time_limit_ || Clock::now().time_since_epoch() < deadline_.load()) return false;
  was_late_ = true;
  return true;
}

int Session::hands(int threads) const {
  const int here = threads > 0 ? threads : hardware_threads();
  if (callbacks_.peers == nullptr) return here;
  const int elsewhere = static_cast<int>(callbacks_.peers->hands());
  return std::max(1, callbacks_.peers->works_here() ? here + elsewhere : elsewhere);
}

bool Session::hurry() {
  if (late()) return true;
  const auto grace = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(kSecondsAfterStop));
  return stop() && Clock::now().time_since_epoch() - stopped_at_.load() > grace;
}

}  // namespace remede

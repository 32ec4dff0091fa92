#include "remede/executor/mpi/mpi.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "remede/base/error.h"
#include "remede/executor/bytes.h"
#include "remede/executor/mpi/serve.h"
#include "remede/executor/mpi/wire.h"

namespace remede {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenSigns{500};  // of life
constexpr std::chrono::milliseconds kLost{3000};         // of silence
constexpr std::chrono::milliseconds kFarewell{500};      // for the last messages

class RankPeers final : public Peers {
 public:
  RankPeers(Wire& wire, int count) : wire_(wire), ranks_(static_cast<std::size_t>(count)) {}

  void begin(const std::string& fit) override {
    const std::lock_guard lock(mutex_);
    fit_ = fit;
    for (std::size_t r = 1; r < ranks_.size(); ++r) check_fit(r);
    expect_all();
  }
  std::size_t hands() override { return hands_; }
  bool free() override {
    const std::lock_guard lock(mutex_);
    return freest() != 0;
  }

  std::uint64_t send(std::string job) override {
    const std::lock_guard lock(mutex_);
    return send_locked(freest(), job);
  }
  std::size_t others() const override { return ranks_.size() - 1; }
  std::uint64_t send_to(std::size_t rank, const std::string& job) override {
    const std::lock_guard lock(mutex_);
    return send_locked(rank, job);
  }

  std::optional<Answer> receive(std::chrono::milliseconds wait) override {
    const Clock::time_point end = Clock::now() + wait;
    for (Nap nap; true; std::this_thread::sleep_for(nap.next())) {
      const std::lock_guard lock(mutex_);
      const std::size_t hands = hands_;
      listen();
      if (!answers_.empty()) {
        Answer answer = std::move(answers_.front());
        answers_.pop_front();
        return answer;
      }
      if (hands_ != hands || Clock::now() >= end) return std::nullopt;
    }
  }

  void cancel() override {
    const std::lock_guard lock(mutex_);
    ByteWriter to;
    to.put(number_);
    for (std::size_t r = 1; r < ranks_.size(); ++r) wire_.send(static_cast<int>(r), kCancel, to.bytes());
  }

  // Tells the other ranks, once, that the run is over.
  void tell_end() {
    if (told_end_.exchange(true)) return;
    for (std::size_t r = 1; r < ranks_.size(); ++r) wire_.send(static_cast<int>(r), kQuit, "");
  }
  // The same, and waits until each has answered, or until one is lost.
  void end() {
    tell_end();
    for (Nap nap; !silent_ && !all_left(); std::this_thread::sleep_for(nap.next())) watch();
  }

  bool silent() const { return silent_; }
  std::string lost() override {
    const std::lock_guard lock(mutex_);
    return lost_;
  }
  // Also where nobody waits for an answer.
  void watch() {
    const std::lock_guard lock(mutex_);
    listen();
  }

 private:
  struct Rank {
    std::string fit;            // what it fits; empty before it is ready
    std::uint64_t threads = 0;  // 0 before that
    std::uint64_t busy = 0;     // jobs
    bool left = false;          // it has ended, and sends nothing more
    Clock::time_point heard = Clock::now();
  };

  bool all_left() {
    const std::lock_guard lock(mutex_);
    return std::all_of(ranks_.begin() + 1, ranks_.end(), [](const Rank& rank) { return rank.left; });
  }

  // All of what follows: REQUIRES the lock.

  std::uint64_t send_locked(std::size_t rank, const std::string& job) {
    ++ranks_[rank].busy;
    ByteWriter to;
    to.put(++number_);
    note_sent(job.size());
    wire_.send(static_cast<int>(rank), kJob, to.take() + job);
    return number_;
  }

  // The rank with most free hands; 0 for none.
  std::size_t freest() const {
    std::size_t best = 0;
    std::uint64_t most = 0;
    for (std::size_t r = 1; r < ranks_.size(); ++r) {
      const Rank& rank = ranks_[r];
      if (rank.threads <= rank.busy || rank.threads - rank.busy <= most) continue;
      best = r;
      most = rank.threads - rank.busy;
    }
    return best;
  }

  void check_fit(std::size_t r) {
    if (!fit_.empty() && !ranks_[r].fit.empty() && ranks_[r].fit != fit_)
      lose(fmt::format("rank {}: expected the data and settings of rank 0, got others", r));
  }

  void lose(const std::string& why) {
    if (lost_.empty()) lost_ = why;
  }
  void expect_all() const {
    if (!lost_.empty()) throw Error(lost_);
  }

  void listen() {
    while (const std::optional<Message> message = wire_.receive()) take(*message);
    const Clock::time_point now = Clock::now();
    if (now - listened_ > kLost / 4)  // nobody listened: silence says nothing
      for (Rank& rank : ranks_) rank.heard = now;
    listened_ = now;
    for (std::size_t r = 1; r < ranks_.size(); ++r)
      if (!ranks_[r].left && now - ranks_[r].heard >= kLost) {
        silent_ = true;
        lose(fmt::format("rank {} was lost: nothing was heard of it for {} s", r, kLost.count() / 1000));
      }
  }

  void take(const Message& message) {
    const auto r = static_cast<std::size_t>(message.rank);
    ranks_[r].heard = Clock::now();
    ByteReader from(message.bytes, fmt::format("message of rank {}", r));
    if (message.tag == kLeft) ranks_[r].left = true;
    if (message.tag == kFailed) lose(fmt::format("rank {}: {}", r, message.bytes));
    if (message.tag == kReady) {
      from.get(ranks_[r].threads);
      from.get(ranks_[r].fit);
      hands_ += ranks_[r].threads;
      check_fit(r);
    }
    if (message.tag != kAnswer) return;
    --ranks_[r].busy;
    answers_.push_back({from.get<std::uint64_t>(), message.bytes.substr(sizeof(std::uint64_t))});
    note_received(answers_.back().bytes.size());
  }

  Wire& wire_;
  std::atomic<std::size_t> hands_ = 0;
  std::atomic<bool> silent_ = false;  // a rank cannot be waited for
  std::atomic<bool> told_end_ = false;
  std::mutex mutex_;         // of what follows
  std::vector<Rank> ranks_;  // rank 0 is this one
  std::deque<Answer> answers_;
  std::string fit_;
  std::string lost_;          // why this cannot go on, or empty
  std::uint64_t number_ = 0;  // of the last job
  Clock::time_point listened_ = Clock::now();
};

[[noreturn]] void give_up() {
  std::fputs("remede: a rank was lost: it did not end with the others\n", stderr);
  std::_Exit(1);
}

class MpiRanks final : public Ranks {
 public:
  MpiRanks() {
    int support = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &support);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
    if (support < MPI_THREAD_SERIALIZED) fail("expected an MPI library with MPI_THREAD_SERIALIZED, got one with less");
    if (rank_ > 0) remember_signals();
    peers_ = std::make_unique<RankPeers>(wire_, count_);
    if (rank_ == 0)
      signs_ = std::make_unique<Repeat>(kBetweenSigns / 2, [this] { peers_->watch(); });
    else
      signs_ = std::make_unique<Repeat>(kBetweenSigns, [this] { wire_.send(0, kAlive, ""); });
  }

  ~MpiRanks() override {
    signs_.reset();
    if (rank_ > 0 && !left_) wire_.send(0, kLeft, "");
    if (rank_ == 0) left_ ? peers_->tell_end() : peers_->end();
    wire_.flush(kFarewell);
    if (left_ || peers_->silent() || !wire_.idle()) return;
    std::unique_ptr<Repeat> guard;  // MPI_Finalize() waits for every rank, also for one that stands still
    if (rank_ == 0) guard = std::make_unique<Repeat>(kLost, [] { give_up(); });
    MPI_Finalize();
  }
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  int rank() const override { return rank_; }
  int count() const override { return count_; }
  Peers& peers() override { return *peers_; }
  void leave() override { left_ = true; }
  std::string lost() override { return peers_->lost(); }
  void end() override {
    peers_->end();
    if (const std::string why = lost(); !why.empty()) throw Error(why);
  }

  void serve(const std::string& fit, int threads, const DoJob& work) override {
    left_ = !serve_jobs(wire_, fit, threads, work);
  }
  bool fail_all(const std::string& why) override {
    wire_.send(0, kFailed, why);
    left_ = !wait_for_end(wire_);
    return !left_;
  }

 private:
  Wire wire_;
  int rank_ = 0;
  int count_ = 1;
  bool left_ = false;
  std::unique_ptr<RankPeers> peers_;
  std::unique_ptr<Repeat> signs_;  // of life, or listens to them
};

}  // namespace

std::unique_ptr<Ranks> join_ranks() {
  if (launched_count() <= 1) return nullptr;
  return std::make_unique<MpiRanks>();
}

}  // namespace remede

// Peers that are threads of this process: what the tests of shared work, and a benchmark with a slow wire, run on.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "remede/base/error.h"
#include "remede/executor/remote/peers.h"

namespace remede::testing {

class ThreadPeers final : public Peers {
 public:
  using Clock = std::chrono::steady_clock;
  using Work = std::function<std::string(std::string_view job, const std::function<bool()>& stop)>;

  ThreadPeers(std::size_t threads, Work work, bool works_here = true)
      : work_(std::move(work)), hands_(threads), works_here_(works_here) {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { loop(); });
  }
  ~ThreadPeers() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      jobs_.clear();
    }
    cancelled_ = UINT64_MAX;
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  ThreadPeers(const ThreadPeers&) = delete;
  ThreadPeers& operator=(const ThreadPeers&) = delete;

  // A wire that takes its time, in each direction.
  std::chrono::microseconds latency{0};
  double bytes_per_second = 0;  // 0: any number
  std::size_t ahead = 0;        // jobs that are sent although nobody is free
  // The first so many answers get lost, with those who would have given them; another one then does the job.
  std::atomic<int> lose = 0;

  // How many jobs were sent between two answers: with `ahead` large enough, the items of each share().
  const std::vector<std::size_t>& maps() const { return maps_; }

  std::string said;  // to begin()
  void begin(const std::string& fit) override { said = fit; }
  std::size_t hands() override { return hands_; }
  bool works_here() const override { return works_here_; }
  bool free() override {
    const std::lock_guard lock(mutex_);
    return busy_ < hands_ + ahead;
  }
  std::uint64_t send(std::string job) override {
    note_sent(job.size());
    const std::lock_guard lock(mutex_);
    if (busy_++ == 0) maps_.push_back(0);
    ++maps_.back();
    jobs_.push_back({++number_, arrival(job.size()), std::move(job)});
    wake_.notify_one();
    return number_;
  }
  std::optional<Answer> receive(std::chrono::milliseconds wait) override {
    std::unique_lock lock(mutex_);
    const Clock::time_point end = Clock::now() + wait;
    while (true) {
      const Clock::time_point next = answers_.empty() ? end : std::min(end, answers_.front().due);
      if (!answers_.empty() && Clock::now() >= answers_.front().due) break;
      if (Clock::now() >= end) return std::nullopt;
      answered_.wait_until(lock, next);
    }
    Item item = std::move(answers_.front());
    answers_.pop_front();
    --busy_;
    if (!item.error.empty()) throw Error(item.error);
    note_received(item.bytes.size());
    return Answer{item.number, std::move(item.bytes)};
  }
  void cancel() override { cancelled_ = number_.load(); }

 private:
  struct Item {
    std::uint64_t number = 0;
    Clock::time_point due;
    std::string bytes;
    std::string error = {};
  };

  Clock::time_point arrival(std::size_t bytes) const {
    const double seconds = bytes_per_second > 0 ? static_cast<double>(bytes) / bytes_per_second : 0.0;
    return Clock::now() + latency + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  void loop() {
    for (std::unique_lock lock(mutex_); true;) {
      wake_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
      if (ending_) return;
      Item job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      std::this_thread::sleep_until(job.due);
      if (lose.fetch_sub(1) > 0) {
        lock.lock();
        jobs_.push_front(std::move(job));
        continue;
      }
      Item answer{job.number, {}, {}};
      try {
        answer.bytes = work_(job.bytes, [this, &job] { return job.number <= cancelled_; });
      } catch (const std::exception& error) {
        answer.error = error.what();
      }
      lock.lock();
      answer.due = arrival(answer.bytes.size());
      answers_.push_back(std::move(answer));
      answered_.notify_one();
    }
  }

  Work work_;
  std::size_t hands_;
  bool works_here_;
  std::atomic<std::uint64_t> number_ = 0, cancelled_ = 0;
  std::mutex mutex_;  // of what follows
  std::condition_variable wake_, answered_;
  std::deque<Item> jobs_, answers_;
  std::size_t busy_ = 0;
  std::vector<std::size_t> maps_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace remede::testing

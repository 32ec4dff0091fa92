#include "remede/base/threads.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace remede {
namespace {

constexpr int kSpinsBeforeSleep = 2000;  // about ten microseconds: a batch often takes less time than waking a thread

void pause_a_little() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// Returns when `value` is no longer `old`.
template <typename T>
void wait_for_change(const std::atomic<T>& value, T old) {
  for (int i = 0; i < kSpinsBeforeSleep; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause_a_little();
  }
  value.wait(old, std::memory_order_acquire);
}

// Threads that stay, since starting one costs as much as a small batch. One job at a time.
class Pool {
 public:
  // Calls work(0) here and work(1 .. helpers) there. False when another job runs: the caller then does without.
  // REQUIRES: work throws nothing.
  bool run(int helpers, const std::function<void(int)>& work) {
    if (taken_.exchange(true, std::memory_order_acquire)) return false;
    for (const unsigned seen = job_.load(); size_ < helpers;)
      std::thread([this, seen, number = ++size_] { serve(number, seen); }).detach();
    work_ = &work;
    invited_ = helpers;
    busy_.store(size_, std::memory_order_relaxed);
    job_.fetch_add(1, std::memory_order_release);
    job_.notify_all();
    work(0);
    for (int left = busy_.load(std::memory_order_acquire); left != 0; left = busy_.load(std::memory_order_acquire))
      wait_for_change(busy_, left);
    taken_.store(false, std::memory_order_release);
    return true;
  }

 private:
  void serve(int number, unsigned seen) {
    for (;; ++seen) {
      wait_for_change(job_, seen);
      if (number <= invited_) (*work_)(number);
      if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_all();
    }
  }

  std::atomic<bool> taken_{false};
  std::atomic<unsigned> job_{0};
  std::atomic<int> busy_{0};
  const std::function<void(int)>* work_ = nullptr;
  int invited_ = 0;
  int size_ = 0;
};

// Never destroyed: its threads sleep until the process ends. A forked child has none of them and gets a pool of its
// own.
Pool& pool() {
  static std::mutex mutex;
  static Pool* current = nullptr;
  static pid_t owner = 0;
  const std::lock_guard<std::mutex> lock(mutex);
  if (current == nullptr || owner != getpid()) {
    current = new Pool;
    owner = getpid();
  }
  return *current;
}

}  // namespace

int hardware_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t, int)>& task) {
  if (threads <= 0) threads = hardware_threads();
  threads = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(threads), count));
  std::atomic<std::size_t> next{0};
  std::exception_ptr first;
  std::mutex mutex;
  const auto work = [&](int worker) {
    try {
      for (std::size_t i = next++; i < count; i = next++) task(i, worker);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex);
      if (!first) first = std::current_exception();
      next = count;
    }
  };
  if (threads <= 1 || !pool().run(threads - 1, work)) work(0);
  if (first) std::rethrow_exception(first);
}

}  // namespace remede

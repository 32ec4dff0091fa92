#include "remede/base/threads.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace remede {

int hardware_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t, int)>& task) {
  if (threads <= 0) threads = hardware_threads();
  threads = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(threads), count));
  if (threads <= 1) {
    for (std::size_t i = 0; i < count; ++i) task(i, 0);
    return;
  }
  std::atomic<std::size_t> next{0};
  std::exception_ptr first;
  std::mutex mutex;
  auto work = [&](int worker) {
    try {
      for (std::size_t i = next++; i < count; i = next++) task(i, worker);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex);
      if (!first) first = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> pool;
  for (int w = 1; w < threads; ++w) pool.emplace_back(work, w);
  work(0);
  for (auto& thread : pool) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace remede

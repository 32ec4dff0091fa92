#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>
#include <unordered_map>
#include <vector>

#include "remede/base/error.h"
#include "remede/base/threads.h"
#include "remede/executor/remote/peers.h"

namespace remede {
namespace {

constexpr std::chrono::milliseconds kWait{20};  // between two questions whether to stop

// Threads of this process and the peers take items from one queue. One more thread sends and receives; it sleeps most
// of the time.
class Sharing {
 public:
  Sharing(const SharedWork& work, int threads, Peers& peers)
      : work_(work), threads_(threads > 0 ? threads : hardware_threads()), peers_(peers), order_(work.count) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    if (!work.cost) return;
    std::vector<double> cost;
    for (std::size_t i = 0; i < work.count; ++i) cost.push_back(work.cost(i));
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return cost[a] > cost[b]; });
  }

  void run() {
    if (peers_.works_here()) {
      std::thread exchanging([this] { guard([this] { exchange(); }); });
      guard([this] { work_here(); });
      exchanging.join();
    } else {
      guard([this] { exchange(); });
    }
    if (error_) std::rethrow_exception(error_);
    parallel_for(left_.size(), threads_, [this](std::size_t i, int worker) { work_.here(left_[i], worker); });
  }

 private:
  std::optional<std::size_t> next_item() {
    const std::size_t at = next_++;
    if (at >= order_.size()) return std::nullopt;
    return order_[at];
  }

  void work_here() {
    parallel_for(static_cast<std::size_t>(threads_), threads_, [this](std::size_t, int worker) {
      while (const std::optional<std::size_t> item = next_item()) work_.here(*item, worker);
    });
  }

  bool fill_hands() {
    while (peers_.free()) {
      const std::optional<std::size_t> item = next_item();
      if (!item) return false;
      sent_[peers_.send(work_.job(*item))] = *item;
    }
    return next_ < order_.size();
  }

  void exchange() {
    while (fill_hands() || !sent_.empty()) {
      if (failed_) return peers_.cancel();
      if (work_.stop && work_.stop()) return abandon();
      const std::optional<Peers::Answer> answer = peers_.receive(kWait);
      if (!answer) continue;
      const auto at = sent_.find(answer->number);
      if (at == sent_.end()) continue;  // of a job that was cancelled
      work_.take(at->second, answer->bytes);
      sent_.erase(at);
    }
  }

  // Nobody waits for the others: what they have not answered is done here, which is quick now.
  void abandon() {
    peers_.cancel();
    for (const auto& [number, item] : sent_) left_.push_back(item);
    while (const std::optional<std::size_t> item = next_item()) left_.push_back(*item);
    std::sort(left_.begin(), left_.end());
  }

  template <typename Work>
  void guard(const Work& work) {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      failed_ = true;
      next_ = order_.size();
    }
  }

  const SharedWork& work_;
  int threads_;
  Peers& peers_;
  std::vector<std::size_t> order_;
  std::atomic<std::size_t> next_{0};                     // in order_
  std::unordered_map<std::uint64_t, std::size_t> sent_;  // items of jobs without an answer
  std::vector<std::size_t> left_;                        // items to do here in the end
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;  // of the error
  std::exception_ptr error_;
};

}  // namespace

std::uint64_t Peers::send_to(std::size_t process, const std::string& /*job*/) {
  fail("expected processes that hold parts of the data, got none with number {}", process);
}

std::optional<std::vector<std::string>> ask_all(Peers* peers, const std::string& job,
                                                const std::function<std::string()>& here,
                                                const std::function<bool()>& stop) {
  const std::size_t others = peers == nullptr ? 0 : peers->others();
  std::vector<std::string> answers(1 + others);
  std::unordered_map<std::uint64_t, std::size_t> sent;  // number of the job, process
  for (std::size_t p = 1; p <= others; ++p) sent[peers->send_to(p, job)] = p;
  answers[0] = here();
  while (!sent.empty()) {
    if ((stop && stop()) || !peers->lost().empty()) {
      peers->cancel();
      return std::nullopt;
    }
    std::optional<Peers::Answer> answer = peers->receive(kWait);
    const auto at = answer ? sent.find(answer->number) : sent.end();
    if (at == sent.end()) continue;  // nothing, or of a job that was cancelled
    answers[at->second] = std::move(answer->bytes);
    sent.erase(at);
  }
  if (stop && stop()) return std::nullopt;
  return answers;
}

void share(const SharedWork& work, int threads, Peers* peers) {
  if (peers == nullptr || work.count < 2) {
    parallel_for(work.count, threads, work.here);
  } else {
    Sharing(work, threads, *peers).run();
  }
}

}  // namespace remede

#include "remede/executor/mpi/serve.h"

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <thread>

#include "remede/base/error.h"
#include "remede/base/threads.h"
#include "remede/executor/bytes.h"

namespace remede {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kAfterSignal{3000};  // rank 0 has so long to save and to end the run

// A signal handler can reach nothing but a global.
std::atomic<bool> signalled = false;
extern "C" void note_signal(int) { signalled = true; }

// Threads that do jobs. The thread that owns it sends and receives.
class Workers {
 public:
  Workers(int threads, const DoJob& work) : work_(work) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { loop(); });
  }
  ~Workers() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      jobs_.clear();
      cancelled_ = UINT64_MAX;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void add(std::string job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    wake_.notify_one();
  }
  void cancel(std::uint64_t number) { cancelled_ = number; }

  struct Done {
    Tag tag = kAnswer;
    std::string bytes;
  };
  // Waits for an answer, but not longer than `wait`.
  std::optional<Done> next_answer(std::chrono::microseconds wait) {
    std::unique_lock lock(mutex_);
    if (!answered_.wait_for(lock, wait, [this] { return !done_.empty(); })) return std::nullopt;
    Done done = std::move(done_.front());
    done_.pop_front();
    return done;
  }

 private:
  void loop() {
    for (std::unique_lock lock(mutex_); true;) {
      wake_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
      if (ending_) return;
      const std::string job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      Done done = answer(job);
      lock.lock();
      done_.push_back(std::move(done));
      answered_.notify_one();
    }
  }

  Done answer(const std::string& job) {
    try {
      ByteReader from(job, "job");
      const auto number = from.get<std::uint64_t>();
      ByteWriter to;
      to.put(number);
      return {kAnswer, to.take() + work_(std::string_view(job).substr(sizeof(number)),
                                         [this, number] { return number <= cancelled_; })};
    } catch (const std::exception& error) {
      return {kFailed, error.what()};
    }
  }

  const DoJob& work_;
  std::atomic<std::uint64_t> cancelled_ = 0;  // jobs up to this number
  std::mutex mutex_;                          // of what follows
  std::condition_variable wake_, answered_;
  std::deque<std::string> jobs_;  // number, bytes
  std::deque<Done> done_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

// Whether to go on without a word of rank 0.
class Patience {
 public:
  bool over() {
    if (!signalled) return false;
    if (end_ == Clock::time_point()) end_ = Clock::now() + kAfterSignal;
    return Clock::now() >= end_;
  }

 private:
  Clock::time_point end_;
};

}  // namespace

void remember_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, note_signal);
}

bool serve_jobs(Wire& wire, const std::string& fit, int threads, const DoJob& work) {
  if (threads <= 0) threads = hardware_threads();
  ByteWriter ready;
  ready.put(static_cast<std::uint64_t>(threads));
  ready.put(std::string_view(fit));
  wire.send(0, kReady, ready.take());
  Workers workers(threads, work);
  Patience patience;
  Nap nap;
  while (!patience.over()) {
    if (const std::optional<Message> message = wire.receive()) {
      nap.reset();
      if (message->tag == kQuit) return !signalled;
      if (message->tag == kJob) workers.add(message->bytes);
      if (message->tag == kCancel) workers.cancel(ByteReader(message->bytes, "message").get<std::uint64_t>());
      continue;
    }
    if (const std::optional<Workers::Done> done = workers.next_answer(nap.next())) {
      nap.reset();
      wire.send(0, done->tag, done->bytes);
    }
  }
  return false;
}

bool wait_for_end(Wire& wire) {
  Patience patience;
  for (Nap nap; !patience.over(); std::this_thread::sleep_for(nap.next())) {
    const std::optional<Message> message = wire.receive();
    if (message && message->tag == kQuit) return !signalled;
  }
  return false;
}

}  // namespace remede

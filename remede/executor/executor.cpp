// Executors on this machine's processors: a thread for each start, or several for a start that is alone.
#include "remede/executor/executor.h"

#include <algorithm>
#include <chrono>

#include "remede/base/threads.h"
#include "remede/executor/cuda/cuda.h"
#include "remede/executor/engine.h"

namespace remede {
namespace {

// Threads that are worth starting: each must have some steps of a batch to work on. The result is the same.
int useful_threads(int threads, const StartPlan& plan, const Sequences& data) {
  constexpr std::size_t kStepsPerThread = 4096;
  const std::size_t batch = std::min(static_cast<std::size_t>(plan.batch), data.count());
  const std::size_t steps = batch * (data.steps() / std::max<std::size_t>(1, data.count()));
  return std::min(threads, 1 + static_cast<int>(std::min<std::size_t>(steps / kStepsPerThread, 1024)));
}

class HostExecutor final : public Executor {
 public:
  HostExecutor(std::unique_ptr<Engine> (*make)(int threads), std::vector<const TrainingData*> data, int threads)
      : make_(make), data_(std::move(data)), threads_(threads > 0 ? threads : hardware_threads()) {
    for (int w = 0; w < threads_; ++w) engines_.push_back(make_(1));
  }

  std::unique_ptr<Trainer> start(const StartPlan& plan, std::size_t data) override {
    return std::make_unique<Trainer>(plan, *data_[data]);
  }

  void advance(std::span<Trainer* const> starts, std::uint64_t updates, const Pause& pause) override {
    each(starts, [&](Trainer& start, Engine& engine, std::size_t) {
      start.advance_to(start.updates() + updates, engine, pause);
    });
  }

  void validate(std::span<Trainer* const> starts) override {
    each(starts, [](Trainer& start, Engine& engine, std::size_t) {
      if (!start.lost()) start.validate(engine);
    });
  }

  void round(std::span<Trainer* const> starts, const Round& round) override {
    const auto stopped = [&] { return round.stop && round.stop(); };
    each(starts, [&](Trainer& start, Engine& engine, std::size_t i) {
      if (stopped() && (i >= round.in_any_case || start.has_best())) return;
      const std::uint64_t from = start.updates(), validations = start.plan().validations;
      for (std::uint64_t k = 1; k <= validations && !start.lost(); ++k) {
        const std::uint64_t before = start.updates();
        const Clock::time_point begin = Clock::now();
        start.advance_to(from + round.updates * k / validations, engine, round.stop);
        const Clock::time_point middle = Clock::now();
        if (!start.lost()) start.validate(engine);
        if (round.measured)
          round.measured({seconds(middle - begin), start.updates() - before, seconds(Clock::now() - middle)});
        if (stopped()) return;
      }
    });
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

  template <typename Work>
  void each(std::span<Trainer* const> starts, const Work& work) {
    if (starts.size() == 1) {
      work(*starts[0], alone(*starts[0]), 0);
      return;
    }
    parallel_for(starts.size(), threads_,
                 [&](std::size_t i, int worker) { work(*starts[i], *engines_[static_cast<std::size_t>(worker)], i); });
  }

  // The engine of a start that has all threads to itself.
  Engine& alone(const Trainer& start) {
    const int useful = useful_threads(threads_, start.plan(), start.data().training);
    if (useful == 1) return *engines_[0];
    if (alone_ == nullptr || alone_threads_ != useful) alone_ = make_(useful);
    alone_threads_ = useful;
    return *alone_;
  }

  std::unique_ptr<Engine> (*make_)(int threads);
  std::vector<const TrainingData*> data_;
  int threads_;
  std::vector<std::unique_ptr<Engine>> engines_;  // one per thread
  std::unique_ptr<Engine> alone_;                 // with several threads; null until it is needed
  int alone_threads_ = 0;
};

}  // namespace

std::unique_ptr<Executor> make_executor(Device device, std::vector<const TrainingData*> data, int threads) {
  if (device == Device::kGpu) return make_gpu_executor(std::move(data), threads);
  const auto make = device == Device::kPlain ? make_double_engine : make_engine;
  return std::make_unique<HostExecutor>(make, std::move(data), threads);
}

}  // namespace remede

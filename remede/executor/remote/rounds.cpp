#include "remede/executor/remote/rounds.h"

#include <algorithm>
#include <mutex>

#include "remede/base/threads.h"
#include "remede/executor/remote/job.h"

namespace remede {
namespace {

class SharingExecutor final : public Executor {
 public:
  SharingExecutor(Device device, std::vector<const TrainingData*> data, int threads, Peers& peers)
      : device_(device),
        data_(std::move(data)),
        // A GPU takes all of its starts at once.
        threads_(device == Device::kGpu ? 1
                 : threads > 0          ? threads
                                        : hardware_threads()),
        peers_(peers),
        all_(make_executor(device, data_, threads)) {
    for (int w = 0; w < threads_ && device != Device::kGpu; ++w) one_.push_back(make_executor(device, data_, 1));
  }

  std::unique_ptr<Trainer> start(const StartPlan& plan, std::size_t data) override { return all_->start(plan, data); }
  void advance(std::span<Trainer* const> starts, std::uint64_t updates, const Pause& pause) override {
    all_->advance(starts, updates, pause);
  }
  void validate(std::span<Trainer* const> starts) override { all_->validate(starts); }
  std::string note() const override { return all_->note(); }

  void round(std::span<Trainer* const> starts, const Round& round) override {
    if (starts.size() < 2) return all_->round(starts, round);
    const std::size_t size = device_ == Device::kGpu ? (starts.size() + peers_.hands()) / (peers_.hands() + 1) : 1;
    const auto group = [&](std::size_t i) {
      return starts.subspan(i * size, std::min(size, starts.size() - i * size));
    };
    SharedWork work;
    work.count = (starts.size() + size - 1) / size;
    work.here = [&](std::size_t i, int worker) {
      Round part = round;
      part.in_any_case = round.in_any_case - std::min(round.in_any_case, i * size);
      (one_.empty() ? *all_ : *one_[static_cast<std::size_t>(worker)]).round(group(i), part);
    };
    work.job = [&](std::size_t i) { return job_of_round(group(i), round); };
    work.take = [&](std::size_t i, std::string_view answer) { take(group(i), round, answer); };
    work.cost = [&](std::size_t i) { return static_cast<double>(starts[i * size]->plan().shape.total()); };
    work.stop = round.stop;
    share(work, threads_, &peers_);
  }

 private:
  std::string job_of_round(std::span<Trainer* const> starts, const Round& round) const {
    ByteWriter to = job_of(Job::kRound);
    to.put(round.updates);
    to.put(static_cast<std::uint64_t>(starts.size()));
    for (const Trainer* start : starts) {
      const auto at = std::find(data_.begin(), data_.end(), &start->data());
      to.put(static_cast<std::uint64_t>(at - data_.begin()));
      to.put(start->plan().stream);
      start->save(to);
    }
    return to.take();
  }

  static void take(std::span<Trainer* const> starts, const Round& round, std::string_view answer) {
    ByteReader from(answer, "answer of a peer");
    for (auto left = from.get<std::uint64_t>(); left > 0; --left) {
      StretchTime time;
      from.get(time.update_seconds);
      from.get(time.updates);
      from.get(time.validation_seconds);
      if (round.measured) round.measured(time);
    }
    for (Trainer* start : starts) start->load(from);
    from.expect_end();
  }

  Device device_;
  std::vector<const TrainingData*> data_;
  int threads_;
  Peers& peers_;
  std::unique_ptr<Executor> all_;               // with all threads, for a start that is alone
  std::vector<std::unique_ptr<Executor>> one_;  // (threads) with one thread each; none on a GPU
};

}  // namespace

std::unique_ptr<Executor> make_sharing_executor(Device device, std::vector<const TrainingData*> data, int threads,
                                                Peers& peers) {
  return std::make_unique<SharingExecutor>(device, std::move(data), threads, peers);
}

std::string do_round(ByteReader& job, Executor& executor, const std::vector<const TrainingData*>& data,
                     const PlanOf& plan_of, const Pause& stop) {
  Round round;
  job.get(round.updates);
  round.stop = stop;
  std::mutex mutex;
  std::vector<StretchTime> times;
  round.measured = [&](const StretchTime& time) {
    const std::lock_guard lock(mutex);
    times.push_back(time);
  };
  std::vector<std::unique_ptr<Trainer>> starts;
  std::vector<Trainer*> all;
  for (auto left = job.get<std::uint64_t>(); left > 0; --left) {
    const auto fold = job.get<std::uint64_t>();
    if (fold >= data.size()) fail("{}: expected one of {} folds, got {}", job.where(), data.size(), fold);
    starts.push_back(std::make_unique<Trainer>(plan_of(job.get<std::uint64_t>()), *data[fold], false));
    starts.back()->load(job);
    all.push_back(starts.back().get());
  }
  job.expect_end();
  executor.round(all, round);
  ByteWriter answer;
  answer.put(static_cast<std::uint64_t>(times.size()));
  for (const StretchTime& time : times) {
    answer.put(time.update_seconds);
    answer.put(time.updates);
    answer.put(time.validation_seconds);
  }
  for (const Trainer* start : all) start->save(answer);
  return answer.take();
}

}  // namespace remede

// The executor on a GPU: sets of starts through the kernels, a block of threads each.
#include "remede/executor/cuda/cuda.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <mutex>
#include <optional>

#include "remede/base/error.h"
#include "remede/base/threads.h"
#include "remede/executor/cuda/crew.h"

namespace remede {
namespace cuda {

void refuse(const std::string& message) { throw Error(message); }
void refuse_memory(std::size_t wanted, std::size_t free) {
  throw TooLittleMemory(fmt::format("expected {} MB of free memory, got {} MB", (wanted >> 20U) + 1, free >> 20U));
}

namespace {

constexpr double kLaunchSeconds = 0.06;    // of a call of the kernels: how long a request to stop may wait
constexpr std::uint64_t kFirstLaunch = 8;  // updates
constexpr std::uint64_t kLongestLaunch = 4096;
constexpr std::size_t kMostEntries = 1U << 25U;  // sequences of all batches of a launch
constexpr double kShareOfMemory = 0.8;           // of what is free
constexpr std::size_t kPartsOfRoom = 8;          // data in parts: one for each of two launches, and for validation

class GpuExecutor final : public Executor {
 public:
  GpuExecutor(std::vector<const TrainingData*> data, int threads, std::size_t most_bytes)
      : host_data_(std::move(data)), threads_(threads > 0 ? threads : hardware_threads()) {
    std::size_t bytes = 0;
    bool counted = true;  // steps are numbers of 32 bits
    for (const TrainingData* d : host_data_)
      for (const remede::Sequences* set : {&d->training, &d->validation}) {
        bytes += DataSet::bytes(*set);
        counted = counted && set->steps() <= std::numeric_limits<std::uint32_t>::max();
      }
    const auto free = static_cast<std::size_t>(kShareOfMemory * static_cast<double>(free_bytes()));
    room_ = most_bytes > 0 ? std::min(most_bytes, free) : free;
    const bool resident = counted && bytes <= room_ / 2;
    if (resident) room_ -= bytes;
    try {
      for (const TrainingData* d : host_data_) data_.push_back(std::make_unique<FitData>(*d, resident));
    } catch (const TooLittleMemory& error) {
      data_.clear();
      little_ = error.what();
    }
  }

  std::unique_ptr<Trainer> start(const StartPlan& plan, std::size_t data) override {
    return std::make_unique<Trainer>(plan, *host_data_[data]);
  }

  void advance(std::span<Trainer* const> starts, std::uint64_t updates, const Pause& pause) override {
    const Split split = split_up(starts);
    if (!split.host.empty()) host().advance(split.host, updates, pause);
    std::vector<std::uint64_t> to;
    for (const Trainer* t : split.device) to.push_back(t->updates() + updates);
    advance_to(split.device, to, pause);
  }

  void validate(std::span<Trainer* const> starts) override {
    const Split split = split_up(starts);
    if (!split.host.empty()) host().validate(split.host);
    judge(split.device);
  }

  void round(std::span<Trainer* const> starts, const Round& round) override {
    const Split split = split_up(starts);
    const auto stopped = [&] { return round.stop && round.stop(); };
    if (!split.host.empty()) {
      Round on_host = round;
      on_host.in_any_case = round.in_any_case > 0 ? split.host.size() : 0;
      host().round(split.host, on_host);
    }
    std::vector<Trainer*> all = split.device;
    if (stopped()) {
      all.resize(std::min(all.size(), round.in_any_case));
      std::erase_if(all, [](const Trainer* t) { return t->has_best(); });
    }
    std::vector<std::uint64_t> from;
    std::uint64_t validations = 0;
    for (const Trainer* t : all) {
      from.push_back(t->updates());
      validations = std::max(validations, t->plan().validations);
    }
    for (std::uint64_t k = 1; k <= validations; ++k) {
      std::vector<Trainer*> now;
      std::vector<std::uint64_t> to;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i]->lost() || k > all[i]->plan().validations) continue;
        now.push_back(all[i]);
        to.push_back(from[i] + round.updates * k / all[i]->plan().validations);
      }
      if (now.empty()) return;
      stretch(now, to, round);
      if (stopped()) return;
    }
  }

  std::string note() const override {
    std::string text;
    const auto add = [&](const std::string& line) { text += (text.empty() ? "" : "; ") + line; };
    if (on_host_ > 0)
      add(fmt::format(
          "{} of the starts ran on the CPU: the GPU takes trees of depth {} at most with {} cells at most, not trained "
          "with entmax",
          on_host_, kMostDepth, kMostCells));
    if (!little_.empty()) add("GPU: starts ran on the CPU, as its memory was too little: " + little_);
    if (!shapes_.why_not().empty())
      add("GPU: trained without kernels for its shapes, which are faster: " + shapes_.why_not());
    return text;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

  struct Split {
    std::vector<Trainer*> device, host;
  };
  Split split_up(std::span<Trainer* const> starts) {
    Split split;
    if (data_.empty()) return {{}, {starts.begin(), starts.end()}};
    for (Trainer* t : starts)
      (fits_device(t->plan().shape, t->plan().gradient) ? split.device : split.host).push_back(t);
    on_host_ = std::max(on_host_, split.host.size());
    return split;
  }

  Executor& host() {
    if (host_ == nullptr) host_ = make_executor(Device::kCpu, host_data_, threads_);
    return *host_;
  }

  Member member(Trainer* t) {
    const auto at = std::find(host_data_.begin(), host_data_.end(), &t->data());
    const FitData& data = *data_[static_cast<std::size_t>(at - host_data_.begin())];
    return {t, &data, &shapes_.get(t->plan(), data)};
  }

  // From one validation to the next, of all starts together; the time is that of one thread, as the forecast counts it.
  void stretch(const std::vector<Trainer*>& starts, const std::vector<std::uint64_t>& to, const Round& round) {
    std::uint64_t before = 0, after = 0;
    for (const Trainer* t : starts) before += t->updates();
    const Clock::time_point begin = Clock::now();
    advance_to(starts, to, round.stop);
    const Clock::time_point middle = Clock::now();
    judge(starts);
    for (const Trainer* t : starts) after += t->updates();
    if (!round.measured) return;
    const double share = static_cast<double>(threads_) / static_cast<double>(starts.size());
    const double updating = share * seconds(middle - begin), judging = share * seconds(Clock::now() - middle);
    for (std::size_t i = 0; i < starts.size(); ++i)
      round.measured({updating, (after - before) / starts.size(), judging});
  }

  void judge(const std::vector<Trainer*>& starts) {
    const std::lock_guard lock(mutex_);
    std::vector<Member> members;
    for (Trainer* t : starts)
      if (!t->lost()) members.push_back(member(t));
    if (members.empty()) return;
    std::vector<BatchLoss> losses;
    try {
      losses = validation_losses(members, room_ / kPartsOfRoom, *memory_);
    } catch (const TooLittleMemory& error) {
      little_ = error.what();
      host().validate(starts);
      return;
    }
    for (std::size_t i = 0; i < members.size(); ++i) members[i].trainer->note_validation(losses[i]);
  }

  // Those that the device's memory is too small for, each by itself.
  void advance_on_host(const std::vector<Member>& members, const std::vector<std::uint64_t>& to, const Pause& pause) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      Trainer* const only[] = {members[i].trainer};
      host().advance(only, to[i] - only[0]->updates(), pause);
    }
  }

  // Bytes that a start takes, but for its plan and its data.
  static std::size_t bytes_of(const Member& m) { return (state_floats(m) + scratch_floats(m)) * sizeof(float); }

  // As many at a time as the memory holds; which are together changes nothing.
  void advance_to(const std::vector<Trainer*>& starts, const std::vector<std::uint64_t>& to, const Pause& pause) {
    const std::lock_guard lock(mutex_);
    for (Trainer* t : starts) static_cast<void>(member(t));
    shapes_.compile(threads_);
    const std::size_t most = room_ / 2, part = room_ / kPartsOfRoom;
    std::vector<Member> wave, left_out;
    std::vector<std::uint64_t> wave_to, left_out_to;
    std::size_t bytes = 0, parts = 0;
    const auto flush = [&] {
      const bool on = wave.empty() || run_wave(wave, wave_to, pause);
      wave.clear();
      wave_to.clear();
      bytes = parts = 0;
      return on;
    };
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const Member next = member(starts[i]);
      if (bytes_of(next) > most || part_bytes(next) > part) {
        little_ = fmt::format("expected {} MB for a start, got {} MB", ((bytes_of(next) + part_bytes(next)) >> 20U) + 1,
                              room_ >> 20U);
        left_out.push_back(next);
        left_out_to.push_back(to[i]);
        continue;
      }
      if ((bytes + bytes_of(next) > most || parts + part_bytes(next) > part) && !flush()) return;
      wave.push_back(next);
      wave_to.push_back(to[i]);
      bytes += bytes_of(next);
      parts += part_bytes(next);
    }
    if (flush()) advance_on_host(left_out, left_out_to, pause);
  }

  // False when `pause` ended it. Fewer at a time, at last on the CPU, where the memory is too little after all: others
  // may have taken it.
  bool run_wave(const std::vector<Member>& members, const std::vector<std::uint64_t>& to, const Pause& pause) {
    std::optional<Crew> crew;
    try {
      crew.emplace(members, threads_, *memory_);
    } catch (const TooLittleMemory& error) {
      memory_ = std::make_unique<CrewMemory>();
      if (members.size() == 1) {
        little_ = error.what();
        advance_on_host(members, to, pause);
        return !(pause && pause());
      }
      const auto half = static_cast<std::ptrdiff_t>(members.size() / 2);
      return run_wave({members.begin(), members.begin() + half}, {to.begin(), to.begin() + half}, pause) &&
             run_wave({members.begin() + half, members.end()}, {to.begin() + half, to.end()}, pause);
    }
    return run(*crew, members, to, pause);
  }

  // False when `pause` ended it. The next launch is planned while one runs.
  bool run(Crew& crew, const std::vector<Member>& members, std::span<const std::uint64_t> to, const Pause& pause) {
    std::size_t entries = 1, part = 1;
    std::vector<std::uint64_t> at;
    for (const Member& m : members) {
      entries += batch_of(m);
      part += part_bytes(m);
      at.push_back(m.trainer->updates());
    }
    const std::size_t most_entries = std::min(kMostEntries, room_ / kPartsOfRoom / 4 / sizeof(Entry));
    const auto longest = std::clamp<std::uint64_t>(
        std::min(most_entries / entries, part > 1 ? room_ / kPartsOfRoom / part : kMostEntries), 1, kLongestLaunch);
    // Plans up to `most` updates of every start; returns the largest number of one, 0 where none is left to do.
    const auto plan = [&](std::uint64_t most) {
      std::vector<std::uint64_t> updates(members.size());
      std::uint64_t largest = 0;
      for (std::size_t i = 0; i < members.size(); ++i) {
        if (members[i].trainer->lost() || at[i] >= to[i]) continue;
        updates[i] = std::min(std::clamp<std::uint64_t>(most, 1, longest), to[i] - at[i]);
        at[i] += updates[i];
        largest = std::max(largest, updates[i]);
      }
      if (largest > 0) crew.plan(updates);
      return largest;
    };
    bool on = !(pause && pause());
    // Launches grow: the first must be planned before the device has anything to do.
    std::uint64_t size = std::min(launch_, kFirstLaunch);
    std::uint64_t planned = plan(on ? size : 1);
    while (planned > 0) {
      const Clock::time_point begin = Clock::now();
      const std::uint64_t running = planned;
      crew.launch();
      size = std::min(2 * size, launch_);
      planned = on ? plan(size) : 0;
      crew.finish();
      const double each = seconds(Clock::now() - begin) / static_cast<double>(running);
      launch_ =
          std::min<std::uint64_t>(4 * launch_, 1 + static_cast<std::uint64_t>(kLaunchSeconds / std::max(each, 1e-6)));
      if (on) on = !(pause && pause());
    }
    crew.bring_back();
    return on;
  }

  std::vector<const TrainingData*> host_data_;
  int threads_;
  std::vector<std::unique_ptr<FitData>> data_;
  Shapes shapes_;
  std::unique_ptr<CrewMemory> memory_ = std::make_unique<CrewMemory>();
  std::size_t room_ = 0;                 // bytes of the device's memory beside data that stay there
  std::uint64_t launch_ = kFirstLaunch;  // updates of the next: as many as took the right time before
  std::mutex mutex_;                     // the device is used by one call at a time
  std::unique_ptr<Executor> host_;       // for what the device does not take; null until it is needed
  std::size_t on_host_ = 0;              // starts of a call that it took, as the device takes no such tree
  std::string little_;                   // why some, or all, ran on the CPU though it does
};

}  // namespace

void expect_gpu() {
  if (const std::string why = why_no_gpu(); !why.empty()) fail("--device gpu: expected a GPU, got none: {}", why);
}

}  // namespace cuda

std::string why_no_gpu() { return cuda::why_no_gpu(); }

std::unique_ptr<Executor> make_gpu_executor(std::vector<const TrainingData*> data, int threads,
                                            std::size_t most_bytes) {
  cuda::expect_gpu();
  return std::make_unique<cuda::GpuExecutor>(std::move(data), threads, most_bytes);
}

}  // namespace remede

// The executor on a GPU: sets of starts through the kernels, a block of threads each.
#include "remede/executor/cuda/cuda.h"

#include <algorithm>
#include <chrono>
#include <mutex>

#include "remede/base/error.h"
#include "remede/base/threads.h"
#include "remede/executor/cuda/compile.h"
#include "remede/executor/cuda/crew.h"

namespace remede {
namespace cuda {

void refuse(const std::string& message) { throw Error(message); }

namespace {

constexpr double kLaunchSeconds = 0.03;    // of a call of the kernels: how long a request to stop may wait
constexpr std::uint64_t kFirstLaunch = 8;  // updates
constexpr std::uint64_t kLongestLaunch = 4096;
constexpr std::size_t kMostEntries = 1U << 26U;  // sequences of all batches of a launch
constexpr double kShareOfMemory = 0.8;           // of what is free

class GpuExecutor final : public Executor {
 public:
  GpuExecutor(std::vector<const TrainingData*> data, int threads)
      : host_data_(std::move(data)), threads_(threads > 0 ? threads : hardware_threads()) {
    for (const TrainingData* d : host_data_) data_.push_back(std::make_unique<FitData>(*d));
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
    if (on_host_ == 0) {
      return shapes_.why_not().empty()
                 ? ""
                 : "GPU: trained without kernels for its shapes, which are faster: " + shapes_.why_not();
    }
    return fmt::format("{} of the starts ran on the CPU: the GPU takes trees of depth {} at most with {} cells at most",
                       on_host_, kMostDepth, kMostCells);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

  struct Split {
    std::vector<Trainer*> device, host;
  };
  Split split_up(std::span<Trainer* const> starts) {
    Split split;
    for (Trainer* t : starts) (fits_device(t->plan().shape) ? split.device : split.host).push_back(t);
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
    const std::vector<BatchLoss> losses = validation_losses(members, memory_);
    for (std::size_t i = 0; i < members.size(); ++i) members[i].trainer->note_validation(losses[i]);
  }

  // As many at a time as the memory holds; which are together changes nothing.
  void advance_to(const std::vector<Trainer*>& starts, const std::vector<std::uint64_t>& to, const Pause& pause) {
    const std::lock_guard lock(mutex_);
    for (Trainer* t : starts) static_cast<void>(member(t));
    shapes_.compile(threads_);
    const auto most = static_cast<std::size_t>(
        kShareOfMemory * static_cast<double>(free_bytes() + memory_.state.bytes() + memory_.scratch.bytes()));
    for (std::size_t first = 0; first < starts.size();) {
      std::vector<Member> wave;
      std::size_t bytes = 0;
      std::size_t end = first;
      for (; end < starts.size(); ++end) {
        const Member next = member(starts[end]);
        bytes += (state_floats(next) + scratch_floats(next)) * sizeof(float);
        if (bytes > most && end > first) break;
        wave.push_back(next);
      }
      if (!run(wave, {to.data() + first, end - first}, pause)) return;
      first = end;
    }
  }

  // False when `pause` ended it. The next launch is planned while one runs.
  bool run(const std::vector<Member>& members, std::span<const std::uint64_t> to, const Pause& pause) {
    Crew crew(members, threads_, memory_);
    std::size_t entries = 1;
    std::vector<std::uint64_t> at;
    for (const Member& m : members) {
      entries += std::min(static_cast<std::size_t>(m.trainer->plan().batch), m.data->training.count());
      at.push_back(m.trainer->updates());
    }
    const auto longest = std::min<std::uint64_t>(kLongestLaunch, 1 + kMostEntries / entries);
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
  CrewMemory memory_;
  std::uint64_t launch_ = kFirstLaunch;  // updates of the next: as many as took the right time before
  std::mutex mutex_;                     // the device is used by one call at a time
  std::unique_ptr<Executor> host_;       // for what the device does not take; null until it is needed
  std::size_t on_host_ = 0;              // starts of the last call that it took
};

// A start that makes no updates: a trainer with given parameters.
class GpuEngine final : public Engine {
 public:
  explicit GpuEngine(bool compiles) : compiles_(compiles) {}

  BatchLoss gradient(const Parameters<float>& parameters, const GradientForm& form, const Objective& objective,
                     const remede::Sequences& data, std::span<const float> fill, std::span<const std::uint32_t> batch,
                     Parameters<float>& gradient, const Carry* carry) override {
    gradient = Parameters<float>(parameters.shape);
    if (batch.empty()) return {};
    const DataSet set(data);
    LoadedShape shape;
    shape.shape = device_shape(parameters.shape, form, {data.n_y, set.missing(), objective.loss},
                               batch_class(batch.size()), device_limits());
    std::string why;
    if (compiles_) shape.kernel = compiled_kernel(shape.shape, why);
    if (compiles_ && shape.kernel == nullptr) fail("GPU: expected a kernel for the shape, got none: {}", why);
    Batches batches;
    Update update{};
    update.weight = set.weight(batch);
    update.chunks = set.cut(batch, cut_of(set, shape), batches);
    update.scale = static_cast<float>(1.0 / std::max(update.weight, std::numeric_limits<double>::min()));
    const Buffers b(parameters, shape, objective, fill, batches, set);
    Start s = b.describe(objective, set);
    s.gradient_only = 1;
    const auto n_m = static_cast<std::size_t>(parameters.shape.n_m);
    Buffer before, after, updates, totals, start;
    if (carry != nullptr && n_m > 0) {
      before.put(carry->before.data(), carry->before.size_bytes());
      after.put(carry->after.data(), carry->after.size_bytes());
      s.before = before.as<float>();
      s.after = after.as<float>();
    }
    updates.put(&update, sizeof(update));
    s.updates = updates.as<Update>();
    s.update_count = 1;
    Totals result{};
    totals.put(&result, sizeof(result));
    s.totals = totals.as<Totals>();
    start.put(&s, sizeof(s));
    cuda::advance(shape, start.as<Start>(), 1, nullptr);
    synchronise();
    totals.get(&result, sizeof(result));
    b.gradient.get(gradient.values.data(), gradient.values.size() * sizeof(float));
    if (carry != nullptr && n_m > 0) after.get(carry->after.data(), carry->after.size_bytes());
    return {result.loss, result.weight, result.correct};
  }

  BatchLoss loss(const Parameters<float>& parameters, const Objective& objective, const remede::Sequences& data,
                 std::span<const float> fill, std::span<const std::uint32_t> batch) override {
    if (batch.empty()) return {};
    const DataSet set(data);
    LoadedShape loaded;
    loaded.shape = device_shape(parameters.shape, {}, {data.n_y, set.missing(), objective.loss},
                                batch_class(batch.size()), device_limits());
    const DeviceShape& shape = loaded.shape;
    Batches batches;
    const std::uint32_t chunks = set.cut(batch, cut_of(set, loaded), batches);
    const Buffers b(parameters, loaded, objective, fill, batches, set);
    Start s = b.describe(objective, set);
    s.average = s.parameters;
    std::vector<LossJob> jobs;
    for (std::uint32_t c = 0; c < chunks; ++c) jobs.push_back({0, c});
    Buffer start, device_jobs, results;
    start.put(&s, sizeof(s));
    device_jobs.put(jobs.data(), jobs.size() * sizeof(LossJob));
    std::vector<Totals> totals(jobs.size());
    results.reserve(totals.size() * sizeof(Totals));
    cuda::losses(shape.variant, shape.layout, start.as<Start>(), device_jobs.as<LossJob>(), jobs.size(), 1,
                 {s.records, s.leaf, s.at, s.arena, 0, 0, 0}, results.as<Totals>());
    synchronise();
    results.get(totals.data(), totals.size() * sizeof(Totals));
    BatchLoss sum;
    for (const Totals& t : totals) sum += {t.loss, 0.0, t.correct};
    sum.weight = set.weight(batch);
    return sum;
  }

 private:
  bool compiles_;

  struct Buffers {
    const LoadedShape& shape;
    std::size_t steps;  // of a chunk
    Buffer parameters, missing_right, gradient, scratch, fill, quantiles, scale, slot, units, entries, chunks;
    Buffers(const Parameters<float>& p, const LoadedShape& of, const Objective& objective, std::span<const float> given,
            const Batches& batches, const DataSet& set)
        : shape(of) {
      std::vector<float> filled(given.begin(), given.end());
      filled.resize(static_cast<std::size_t>(p.shape.n_x));
      put(p.values, parameters);
      put(p.missing_right, missing_right);
      put(filled, fill);
      put(objective.quantiles, quantiles);
      put(objective.scale, scale);
      put(shape.shape.slot, slot);
      put(shape.shape.units, units);
      put(batches.entries, entries);
      put(batches.chunks, chunks);
      gradient.reserve(p.values.size() * sizeof(float));
      steps = (set.most_steps(batches.entries.size(), cut_of(set, shape)) + 3) / 4 * 4;
      scratch.reserve(scratch_floats(shape, steps, set.longest()) * sizeof(float));
    }
    Start describe(const Objective& objective, const DataSet& set) const {
      Start s{};
      s.loss = static_cast<int>(objective.loss);
      s.quantiles = {quantiles.as<float>(), static_cast<int>(objective.quantiles.size())};
      s.scale = {scale.as<float>(), static_cast<int>(objective.scale.size())};
      s.data = set.on_device();
      s.sequences = static_cast<std::uint32_t>(set.count());
      s.fill = fill.as<float>();
      s.missing_right = missing_right.as<std::uint8_t>();
      s.slot = slot.as<std::uint32_t>();
      s.units = units.as<SumUnit>();
      s.parameters = parameters.as<float>();
      s.gradient = gradient.as<float>();
      s.chunks = chunks.as<Chunk>();
      s.entries = entries.as<Entry>();
      give_scratch(shape, steps, scratch.as<float>(), s);
      return s;
    }
    template <typename T>
    static void put(const std::vector<T>& from, Buffer& to) {
      to.put(from.data(), from.size() * sizeof(T));
    }
  };
};

void expect_gpu() {
  if (const std::string why = cuda::why_no_gpu(); !why.empty()) fail("--device gpu: expected a GPU, got none: {}", why);
}

}  // namespace
}  // namespace cuda

std::string why_no_gpu() { return cuda::why_no_gpu(); }

std::unique_ptr<Executor> make_gpu_executor(std::vector<const TrainingData*> data, int threads) {
  cuda::expect_gpu();
  return std::make_unique<cuda::GpuExecutor>(std::move(data), threads);
}

std::unique_ptr<Engine> make_gpu_engine(bool compiled) {
  cuda::expect_gpu();
  return std::make_unique<cuda::GpuEngine>(compiled);
}

}  // namespace remede

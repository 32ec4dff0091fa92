// The gradient of a batch on a GPU, for tests.
#include <limits>

#include "remede/executor/cuda/compile.h"
#include "remede/executor/cuda/crew.h"
#include "remede/executor/cuda/cuda.h"

namespace remede {
namespace cuda {
namespace {

// A start that makes no updates: a trainer with given parameters.
class GpuEngine final : public Engine {
 public:
  explicit GpuEngine(bool compiles) : compiles_(compiles) {}

  BatchLoss gradient(const Parameters<float>& parameters, const GradientForm& form, const Objective& objective,
                     const remede::Sequences& data, std::span<const float> fill, std::span<const std::uint32_t> batch,
                     Parameters<float>& gradient, const Carry* carry) override {
    gradient = Parameters<float>(parameters.shape);
    if (batch.empty()) return {};
    const DataSet set(data, true);
    LoadedShape shape;
    shape.shape =
        device_shape(parameters.shape, form, {data.n_y, set.missing(), length_class(set.longest()), objective.loss},
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
    const DataSet set(data, true);
    LoadedShape loaded;
    loaded.shape =
        device_shape(parameters.shape, {}, {data.n_y, set.missing(), length_class(set.longest()), objective.loss},
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

}  // namespace
}  // namespace cuda

std::unique_ptr<Engine> make_gpu_engine(bool compiled) {
  cuda::expect_gpu();
  return std::make_unique<cuda::GpuEngine>(compiled);
}

}  // namespace remede

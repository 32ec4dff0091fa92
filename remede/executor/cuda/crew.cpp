#include "remede/executor/cuda/crew.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "remede/base/threads.h"
#include "remede/executor/cuda/compile.h"

namespace remede::cuda {
namespace {

constexpr std::size_t kJudgedSteps = 2048;  // of a chunk of validation data: several blocks share those of a start
constexpr std::size_t kStreams = 32;        // kernels of different shapes at the same time
constexpr std::size_t kLossBlocks = 264;    // two for each multiprocessor of a large GPU

std::size_t up_to_four(std::size_t n) { return (n + 3) / 4 * 4; }

std::size_t total_of(const Member& m) { return up_to_four(m.trainer->plan().shape.total()); }
std::size_t nodes_of(const Member& m) { return up_to_four(static_cast<std::size_t>(m.trainer->plan().shape.nodes())); }
std::size_t carried_of(const Member& m) {
  if (m.data->host->continues.empty()) return 0;
  return up_to_four(m.data->training.count() * static_cast<std::size_t>(m.trainer->plan().shape.n_m));
}
std::size_t steps_of(const Member& m) {
  return up_to_four(m.data->training.most_steps(static_cast<std::size_t>(m.trainer->plan().batch),
                                                cut_of(m.data->training, *m.shape)));
}

template <typename T>
void put_all(const std::vector<T>& from, Buffer& to) {
  to.put(from.data(), from.size() * sizeof(T));
}

// The members of each shape, one after the other.
std::vector<std::size_t> by_shape(std::span<const Member> members) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (std::any_of(order.begin(), order.end(), [&](std::size_t k) { return members[k].shape == members[i].shape; }))
      continue;
    for (std::size_t k = i; k < members.size(); ++k)
      if (members[k].shape == members[i].shape) order.push_back(k);
  }
  return order;
}

// Calls visit(shape, first, count) for each run of one shape in `order`.
template <typename Visit>
void each_shape(std::span<const Member> members, const std::vector<std::size_t>& order, const Visit& visit) {
  for (std::size_t begin = 0; begin < order.size();) {
    const LoadedShape* const shape = members[order[begin]].shape;
    std::size_t end = begin;
    while (end < order.size() && members[order[end]].shape == shape) ++end;
    visit(*shape, begin, end - begin);
    begin = end;
  }
}

}  // namespace

FitData::FitData(const TrainingData& data) : host(&data), training(data.training), validation(data.validation) {
  std::vector<float> filled = data.fill;
  filled.resize(static_cast<std::size_t>(data.training.n_x));
  put_all(filled, fill);
  put_all(data.continues, continues);
  put_all(data.objective.quantiles, quantiles);
  put_all(data.objective.scale, scale);
  std::vector<std::uint32_t> all(validation.count());
  std::iota(all.begin(), all.end(), 0U);
  validation.cut(all, {kJudgedSteps, all.size()}, judged);
  put_all(judged.entries, judged_entries);
  put_all(judged.chunks, judged_chunks);
}

bool Shapes::compiles(const StartPlan& plan, const FitData& data) {
  constexpr double kLeastSteps = 2e7;
  const auto sequences = static_cast<double>(data.training.count());
  const double shown = std::min(static_cast<double>(plan.batch), sequences) / std::max(1.0, sequences);
  return shown * static_cast<double>(data.host->training.steps()) * static_cast<double>(plan.first_round) >=
         kLeastSteps;
}

LoadedShape& Shapes::get(const StartPlan& plan, const FitData& data) {
  const bool compiles = Shapes::compiles(plan, data);
  const int batch = batch_class(std::min(static_cast<std::size_t>(plan.batch), data.training.count()));
  for (const Known& k : known_)
    if (k.shape == plan.shape && k.form == plan.gradient && k.data == data.form() && k.batch == batch &&
        k.compiles == compiles)
      return *k.loaded;
  auto loaded = std::make_unique<LoadedShape>();
  loaded->shape = device_shape(plan.shape, plan.gradient, data.form(), batch, device_limits());
  put_all(loaded->shape.slot, loaded->slot);
  put_all(loaded->shape.units, loaded->units);
  known_.push_back({plan.shape, plan.gradient, data.form(), batch, compiles, std::move(loaded)});
  return *known_.back().loaded;
}

void Shapes::compile(int threads) {
  std::vector<Known*> wanted;
  for (; compiled_ < known_.size(); ++compiled_)
    if (known_[compiled_].compiles) wanted.push_back(&known_[compiled_]);
  std::vector<std::string> why(wanted.size());
  parallel_for(wanted.size(), threads, [&](std::size_t i, int) {
    LoadedShape& to = *wanted[i]->loaded;
    to.kernel = compiled_kernel(to.shape, why[i]);
  });
  for (const std::string& w : why)
    if (!w.empty()) why_not_ = w;
}

Start describe(const Member& m) {
  const TrainingData& data = *m.data->host;
  const StartPlan& plan = m.trainer->plan();
  Start s{};
  s.loss = static_cast<int>(data.objective.loss);
  s.quantiles = {m.data->quantiles.as<float>(), static_cast<int>(data.objective.quantiles.size())};
  s.scale = {m.data->scale.as<float>(), static_cast<int>(data.objective.scale.size())};
  s.data = m.data->training.on_device();
  s.fill = m.data->fill.as<float>();
  s.continues = data.continues.empty() ? nullptr : m.data->continues.as<std::uint8_t>();
  s.sequences = static_cast<std::uint32_t>(m.data->training.count());
  s.slot = m.shape->slot.as<std::uint32_t>();
  s.units = m.shape->units.as<SumUnit>();
  std::copy(plan.rates.begin(), plan.rates.end(), s.rates);
  s.clip = plan.clip;
  return s;
}

std::size_t state_floats(const Member& m) { return 4 * total_of(m) + 2 * carried_of(m) + nodes_of(m); }

DataSet::Cut cut_of(const DataSet& data, const LoadedShape& shape) {
  return shape.stepwise() ? DataSet::stepwise(shape.shape.step.sequences) : data.in_phases();
}

void advance(const LoadedShape& shape, const Start* starts, std::size_t count, void* stream) {
  const DeviceShape& s = shape.shape;
  if (shape.kernel == nullptr) return advance(s.variant, s.layout, starts, count, stream);
  const int floats = shape.stepwise() ? s.step.floats : s.variant.shared ? s.layout.arena : 0;
  advance_compiled(shape.kernel, shape.stepwise() ? s.step.threads : kThreads,
                   static_cast<std::size_t>(floats) * sizeof(float), starts, count, stream);
}

std::size_t scratch_floats(const LoadedShape& shape, std::size_t steps, std::size_t longest) {
  const Layout& l = shape.shape.layout;
  const Stepper& p = shape.shape.step;
  if (shape.stepwise())
    return table_floats(l, p, steps) + steps * static_cast<std::size_t>(p.entry) +
           longest * static_cast<std::size_t>(p.trace) * static_cast<std::size_t>(p.sequences);
  return steps * (static_cast<std::size_t>(l.record) + 2) +
         (shape.shape.variant.shared ? 0 : up_to_four(static_cast<std::size_t>(l.arena)));
}

void give_scratch(const LoadedShape& shape, std::size_t steps, float* scratch, Start& to) {
  if (shape.stepwise()) {
    to.table = scratch;
    to.staged = to.table + table_floats(shape.shape.layout, shape.shape.step, steps);
    to.records = to.staged + steps * static_cast<std::size_t>(shape.shape.step.entry);
    return;
  }
  to.records = scratch;
  scratch += steps * static_cast<std::size_t>(shape.shape.layout.record);
  to.leaf = reinterpret_cast<std::int32_t*>(scratch);
  to.at = reinterpret_cast<std::uint32_t*>(scratch + steps);
  to.arena = shape.shape.variant.shared ? nullptr : scratch + 2 * steps;
}

std::size_t scratch_floats(const Member& m) {
  const std::size_t steps = steps_of(m);
  return total_of(m) + scratch_floats(*m.shape, steps, m.data->training.longest()) +
         (m.trainer->blur() ? up_to_four(steps * static_cast<std::size_t>(m.shape->shape.layout.n_x)) : 0);
}

Crew::Crew(std::vector<Member> members, int threads, CrewMemory& memory)
    : members_(std::move(members)), threads_(threads), memory_(memory) {
  std::vector<float> noise;
  state_at_.assign(1, 0);
  std::size_t scratch = 0;
  for (const Member& m : members_) {
    state_at_.push_back(state_at_.back() + state_floats(m));
    scratch_at_.push_back(scratch);
    scratch += scratch_floats(m);
    if (m.trainer->blur()) {
      noise.insert(noise.end(), m.trainer->blur()->noise().begin(), m.trainer->blur()->noise().end());
      noise.insert(noise.end(), m.trainer->blur()->offset().begin(), m.trainer->blur()->offset().end());
    }
  }
  memory_.image.reserve(state_at_.back() * sizeof(float));
  parallel_for(members_.size(), threads_, [&](std::size_t i, int) {
    const Member& m = members_[i];
    float* to = memory_.image.as<float>() + state_at_[i];
    const Trainer::Moving moving = m.trainer->moving();
    for (const std::span<float> part : {moving.parameters, moving.average, moving.mean, moving.square}) {
      std::copy(part.begin(), part.end(), to);
      to += total_of(m);
    }
    std::copy(moving.before.begin(), moving.before.end(), to);
    to += 2 * carried_of(m);
    std::copy(m.trainer->parameters().missing_right.begin(), m.trainer->parameters().missing_right.end(),
              reinterpret_cast<std::uint8_t*>(to));
  });
  memory_.state.put(memory_.image.as<float>(), state_at_.back() * sizeof(float));
  put_all(noise, memory_.noise);
  memory_.scratch.reserve(scratch * sizeof(float));
}

void Crew::plan_start(const Member& m, std::uint64_t updates, PlannedStart& to) {
  to.batches.entries.clear();
  to.batches.chunks.clear();
  to.updates.clear();
  for (std::uint64_t n = 0; n < updates; ++n) {
    const Trainer::PlannedUpdate next = m.trainer->plan_update();
    const double weight = m.data->training.weight(next.batch);
    const auto first = static_cast<std::uint32_t>(to.batches.chunks.size());
    const std::uint32_t chunks = m.data->training.cut(next.batch, cut_of(m.data->training, *m.shape), to.batches);
    to.updates.push_back({first, chunks, static_cast<float>(1.0 / std::max(weight, std::numeric_limits<double>::min())),
                          next.step.factor, next.step.small, next.shrink, next.average, weight, next.drawn});
  }
}

void Crew::plan(std::span<const std::uint64_t> updates) {
  LaunchPlan& plan = memory_.plans[next_];
  next_ = 1 - next_;
  std::vector<PlannedStart>& parts = memory_.planned;  // kept: to grow them takes longer than to fill them
  parts.resize(members_.size());
  parallel_for(parts.size(), threads_, [&](std::size_t i, int) { plan_start(members_[i], updates[i], parts[i]); });
  std::vector<std::size_t> entries(1), chunks(1);
  plan.count.assign(updates.begin(), updates.end());
  plan.first.assign(1, 0);
  for (const PlannedStart& part : parts) {
    entries.push_back(entries.back() + part.batches.entries.size());
    chunks.push_back(chunks.back() + part.batches.chunks.size());
    plan.first.push_back(plan.first.back() + part.updates.size());
  }
  plan.host_entries.reserve(entries.back() * sizeof(Entry));
  plan.host_chunks.reserve(chunks.back() * sizeof(Chunk));
  plan.host_updates.reserve(plan.first.back() * sizeof(Update));
  parallel_for(parts.size(), threads_, [&](std::size_t i, int) {
    PlannedStart& part = parts[i];
    for (Chunk& chunk : part.batches.chunks) chunk.first += static_cast<std::uint32_t>(entries[i]);
    for (Update& update : part.updates) update.first_chunk += static_cast<std::uint32_t>(chunks[i]);
    std::copy(part.batches.entries.begin(), part.batches.entries.end(), plan.host_entries.as<Entry>() + entries[i]);
    std::copy(part.batches.chunks.begin(), part.batches.chunks.end(), plan.host_chunks.as<Chunk>() + chunks[i]);
    std::copy(part.updates.begin(), part.updates.end(), plan.host_updates.as<Update>() + plan.first[i]);
  });
  plan.entries.put_later(plan.host_entries, entries.back() * sizeof(Entry), memory_.streams.copies());
  plan.chunks.put_later(plan.host_chunks, chunks.back() * sizeof(Chunk), memory_.streams.copies());
  plan.updates.put_later(plan.host_updates, plan.first.back() * sizeof(Update), memory_.streams.copies());
}

std::vector<Start> Crew::described(const LaunchPlan& plan) const {
  std::vector<Start> starts;
  std::size_t noise = 0;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Member& m = members_[i];
    const std::size_t total = total_of(m), steps = steps_of(m), carried = carried_of(m);
    const Layout& l = m.shape->shape.layout;
    Start s = describe(m);
    float* at = memory_.state.as<float>() + state_at_[i];
    for (float** part : {&s.parameters, &s.average, &s.mean, &s.square}) {
      *part = at;
      at += total;
    }
    s.before = carried > 0 ? at : nullptr;
    s.after = carried > 0 ? at + carried : nullptr;
    s.missing_right = reinterpret_cast<std::uint8_t*>(at + 2 * carried);
    float* scratch = memory_.scratch.as<float>() + scratch_at_[i];
    s.gradient = scratch;
    scratch += total;
    give_scratch(*m.shape, steps, scratch, s);
    if (m.trainer->blur()) {
      s.noise = memory_.noise.as<float>() + noise;
      s.offset_noise = s.noise + l.n_x;
      noise += 2 * static_cast<std::size_t>(l.n_x);
      s.noisy = scratch + scratch_floats(*m.shape, steps, m.data->training.longest());
    }
    s.updates = plan.updates.as<Update>() + plan.first[i];
    s.update_count = static_cast<std::uint32_t>(plan.count[i]);
    s.chunks = plan.chunks.as<Chunk>();
    s.entries = plan.entries.as<Entry>();
    s.totals = memory_.totals.as<Totals>() + i;
    starts.push_back(s);
  }
  return starts;
}

void Crew::launch() {
  std::vector<Totals> totals;
  for (const Member& m : members_) {
    const BatchLoss& since = m.trainer->since_validation();
    totals.push_back({since.loss, since.weight, since.correct, 0, m.trainer->lost() ? 1U : 0U});
  }
  put_all(totals, memory_.totals);
  const std::vector<Start> starts = described(memory_.plans[running_]);
  const std::vector<std::size_t> order = by_shape(members_);
  std::vector<Start> sorted;
  for (const std::size_t i : order) sorted.push_back(starts[i]);
  put_all(sorted, memory_.starts);
  memory_.streams.wait_for_copies();
  std::size_t stream = 0;
  each_shape(members_, order, [&](const LoadedShape& shape, std::size_t first, std::size_t count) {
    advance(shape, memory_.starts.as<Start>() + first, count, memory_.streams.get(stream++ % kStreams));
  });
}

void Crew::finish() {
  synchronise();
  std::vector<Totals> totals(members_.size());
  memory_.totals.get(totals.data(), totals.size() * sizeof(Totals));
  const LaunchPlan& plan = memory_.plans[running_];
  running_ = 1 - running_;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Totals& t = totals[i];
    members_[i].trainer->made(plan.count[i], t.made, {t.loss, t.weight, t.correct}, t.lost != 0);
  }
}

void Crew::bring_back() {
  memory_.state.get(memory_.image.as<float>(), state_at_.back() * sizeof(float));
  parallel_for(members_.size(), threads_, [&](std::size_t i, int) {
    const float* from = memory_.image.as<float>() + state_at_[i];
    const Trainer::Moving moving = members_[i].trainer->moving();
    for (const std::span<float> part : {moving.parameters, moving.average, moving.mean, moving.square}) {
      std::copy_n(from, part.size(), part.begin());
      from += total_of(members_[i]);
    }
    std::copy_n(from, moving.before.size(), moving.before.begin());
  });
}

std::vector<BatchLoss> validation_losses(std::span<const Member> members, CrewMemory& memory) {
  std::vector<float> image;  // averages and sides of missing values
  std::vector<std::size_t> at;
  for (const Member& m : members) {
    at.push_back(image.size());
    const Trainer::Moving moving = m.trainer->moving();
    image.insert(image.end(), moving.average.begin(), moving.average.end());
    image.resize(at.back() + total_of(m) + nodes_of(m));
    std::copy(m.trainer->parameters().missing_right.begin(), m.trainer->parameters().missing_right.end(),
              reinterpret_cast<std::uint8_t*>(image.data() + at.back() + total_of(m)));
  }
  Buffer &state = memory.judged_state, &device_starts = memory.judged_starts, &device_jobs = memory.jobs,
         &results = memory.losses, &scratch = memory.judged_scratch;
  put_all(image, state);
  const std::vector<std::size_t> order = by_shape(members);
  std::vector<Start> starts;
  for (const std::size_t i : order) {
    const Member& m = members[i];
    Start s = describe(m);
    s.data = m.data->validation.on_device();
    s.continues = nullptr;
    s.average = state.as<float>() + at[i];
    s.missing_right = reinterpret_cast<std::uint8_t*>(s.average + total_of(m));
    s.chunks = m.data->judged_chunks.as<Chunk>();
    s.entries = m.data->judged_entries.as<Entry>();
    starts.push_back(s);
  }
  put_all(starts, device_starts);
  std::vector<BatchLoss> losses(members.size());
  each_shape(members, order, [&](const LoadedShape& loaded, std::size_t first, std::size_t count) {
    const DeviceShape& shape = loaded.shape;
    std::vector<LossJob> jobs;
    const auto record = static_cast<std::size_t>(shape.layout.record);
    const std::size_t arena = shape.variant.shared ? 0 : up_to_four(static_cast<std::size_t>(shape.layout.arena));
    std::size_t steps = 0;
    for (std::size_t i = first; i < first + count; ++i) {
      const Member& m = members[order[i]];
      for (std::size_t c = 0; c < m.data->judged.chunks.size(); ++c)
        jobs.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(c)});
      steps = std::max(steps, up_to_four(m.data->validation.most_steps(m.data->validation.count(),
                                                                       {kJudgedSteps, m.data->validation.count()})));
    }
    if (jobs.empty()) return;
    const std::size_t blocks = std::min(jobs.size(), kLossBlocks), each = steps * (record + 2) + arena;
    scratch.reserve(blocks * each * sizeof(float));
    put_all(jobs, device_jobs);
    results.reserve(jobs.size() * sizeof(Totals));
    float* const base = scratch.as<float>();
    const LossScratch blocks_memory = {base,
                                       reinterpret_cast<std::int32_t*>(base + blocks * steps * record),
                                       reinterpret_cast<std::uint32_t*>(base + blocks * steps * (record + 1)),
                                       base + blocks * steps * (record + 2),
                                       steps * record,
                                       steps,
                                       arena};
    cuda::losses(shape.variant, shape.layout, device_starts.as<Start>(), device_jobs.as<LossJob>(), jobs.size(), blocks,
                 blocks_memory, results.as<Totals>());
    synchronise();
    std::vector<Totals> of_jobs(jobs.size());
    results.get(of_jobs.data(), of_jobs.size() * sizeof(Totals));
    for (std::size_t i = 0; i < jobs.size(); ++i)
      losses[order[jobs[i].start]] += {of_jobs[i].loss, 0.0, of_jobs[i].correct};
  });
  for (std::size_t i = 0; i < members.size(); ++i) losses[i].weight = members[i].data->validation.weight();
  return losses;
}

}  // namespace remede::cuda

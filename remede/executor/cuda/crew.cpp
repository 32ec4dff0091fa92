#include "remede/executor/cuda/crew.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "remede/base/threads.h"
#include "remede/executor/cuda/compile.h"
#include "remede/executor/cuda/members.h"

namespace remede::cuda {
namespace {

constexpr std::size_t kStreams = 32;  // kernels of different shapes at the same time

std::size_t carried_of(const Member& m) {
  if (m.data->host->continues.empty()) return 0;
  return up_to_line(m.data->training.count() * static_cast<std::size_t>(m.trainer->plan().shape.n_m));
}
std::size_t steps_of(const Member& m) {
  return up_to_line(m.data->training.most_steps(static_cast<std::size_t>(m.trainer->plan().batch),
                                                cut_of(m.data->training, *m.shape)));
}

}  // namespace

FitData::FitData(const TrainingData& data, bool resident)
    : host(&data), training(data.training, resident), validation(data.validation, resident) {
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
  constexpr double kLeastSteps = 1e7;
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
  if (m.data->training.resident()) s.data = m.data->training.on_device();
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
    return table_floats(l, p, steps) + entry_floats(p, steps) +
           up_to_line(longest * static_cast<std::size_t>(p.trace) * static_cast<std::size_t>(p.sequences));
  return steps * (static_cast<std::size_t>(l.record) + 2) +
         (shape.shape.variant.shared ? 0 : up_to_line(static_cast<std::size_t>(l.arena)));
}

void give_scratch(const LoadedShape& shape, std::size_t steps, float* scratch, Start& to) {
  if (shape.stepwise()) {
    to.table = scratch;
    to.staged = to.table + table_floats(shape.shape.layout, shape.shape.step, steps);
    to.records = to.staged + entry_floats(shape.shape.step, steps);
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
         (m.trainer->blur() ? up_to_line(steps * static_cast<std::size_t>(m.shape->shape.layout.n_x)) : 0);
}

std::size_t batch_of(const Member& m) {
  return std::min(static_cast<std::size_t>(m.trainer->plan().batch), m.data->training.count());
}

std::size_t part_bytes(const Member& m) {
  const DataSet& data = m.data->training;
  return data.resident() ? 0 : batch_of(m) * data.longest() * data.step_bytes();
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
  memory_.state.reserve(state_at_.back() * sizeof(float));
  memory_.scratch.reserve(scratch * sizeof(float));
  for (const Piece& piece : pieces()) {
    parallel_for(piece.end - piece.begin, threads_, [&](std::size_t i, int) { put_member(piece.begin + i); });
    memory_.state.put_part_later(memory_.image, piece.at, piece.bytes, memory_.streams.copies());
  }
  put_all(noise, memory_.noise);
}

// Some members at a time: while some are copied by the host, others are on their way.
std::vector<Crew::Piece> Crew::pieces() const {
  constexpr std::size_t kLeastBytes = 16U << 20U;
  std::vector<Piece> all;
  for (std::size_t begin = 0, end = 0; begin < members_.size(); begin = end) {
    do ++end;
    while (end < members_.size() && (state_at_[end] - state_at_[begin]) * sizeof(float) < kLeastBytes);
    all.push_back({begin, end, state_at_[begin] * sizeof(float), (state_at_[end] - state_at_[begin]) * sizeof(float)});
  }
  return all;
}

void Crew::put_member(std::size_t i) {
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
}

void Crew::get_member(std::size_t i) {
  const float* from = memory_.image.as<float>() + state_at_[i];
  const Trainer::Moving moving = members_[i].trainer->moving();
  for (const std::span<float> part : {moving.parameters, moving.average, moving.mean, moving.square}) {
    std::copy_n(from, part.size(), part.begin());
    from += total_of(members_[i]);
  }
  std::copy_n(from, moving.before.size(), moving.before.begin());
}

void Crew::plan_start(const Member& m, LaunchPlan& plan, PlannedStart& place) {
  const DataSet& data = m.data->training;
  const DataSet::Cut cut = cut_of(data, *m.shape);
  std::size_t chunk = place.chunk;
  for (std::uint64_t n = 0; n < place.updates; ++n) {
    const Trainer::PlannedUpdate next = m.trainer->plan_update();
    const double weight = data.weight(next.batch);
    const std::size_t entry = place.entry + place.entries;
    const std::uint32_t chunks = data.cut(next.batch, cut, static_cast<std::uint32_t>(entry),
                                          plan.host_entries.as<Entry>() + entry, plan.host_chunks.as<Chunk>() + chunk);
    plan.host_updates.as<Update>()[place.update + n] = {
        static_cast<std::uint32_t>(chunk),
        chunks,
        static_cast<float>(1.0 / std::max(weight, std::numeric_limits<double>::min())),
        next.step.factor,
        next.step.small,
        next.shrink,
        next.average,
        weight,
        next.drawn};
    place.entries += next.batch.size();
    chunk += chunks;
  }
}

void Crew::plan(std::span<const std::uint64_t> updates) {
  LaunchPlan& plan = memory_.plans[next_];
  next_ = 1 - next_;
  plan.starts.clear();
  PlannedStart end;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Member& m = members_[i];
    end.updates = updates[i];
    plan.starts.push_back(end);
    end.entry += updates[i] * batch_of(m);
    end.chunk += updates[i] * m.data->training.most_chunks(batch_of(m), cut_of(m.data->training, *m.shape));
    end.update += updates[i];
  }
  plan.host_entries.reserve(end.entry * sizeof(Entry));
  plan.host_chunks.reserve(end.chunk * sizeof(Chunk));
  plan.host_updates.reserve(end.update * sizeof(Update));
  parallel_for(members_.size(), threads_, [&](std::size_t i, int) { plan_start(members_[i], plan, plan.starts[i]); });
  plan.entries.put_later(plan.host_entries, end.entry * sizeof(Entry), memory_.streams.copies());
  plan.chunks.put_later(plan.host_chunks, end.chunk * sizeof(Chunk), memory_.streams.copies());
  plan.updates.put_later(plan.host_updates, end.update * sizeof(Update), memory_.streams.copies());
  load_parts(plan);
}

void Crew::load_parts(LaunchPlan& plan) {
  std::map<const FitData*, std::vector<std::span<const Entry>>> wanted;
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (!members_[i].data->training.resident())
      wanted[members_[i].data].emplace_back(plan.host_entries.as<Entry>() + plan.starts[i].entry,
                                            plan.starts[i].entries);
  for (const auto& [data, entries] : wanted) data->training.load(entries, plan.parts[data], memory_.streams.copies());
}

std::vector<Start> Crew::described(const LaunchPlan& plan) const {
  std::vector<Start> starts;
  std::size_t noise = 0;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Member& m = members_[i];
    const std::size_t total = total_of(m), steps = steps_of(m), carried = carried_of(m);
    const Layout& l = m.shape->shape.layout;
    Start s = describe(m);
    if (!m.data->training.resident()) s.data = plan.parts.at(m.data).at;
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
    s.updates = plan.updates.as<Update>() + plan.starts[i].update;
    s.update_count = static_cast<std::uint32_t>(plan.starts[i].updates);
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
  sorted.reserve(order.size());
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
    members_[i].trainer->made(plan.starts[i].updates, t.made, {t.loss, t.weight, t.correct}, t.lost != 0);
  }
}

void Crew::bring_back() {
  const std::vector<Piece> all = pieces();
  for (std::size_t k = 0; k < all.size(); ++k) {
    memory_.state.get_part_later(memory_.image, all[k].at, all[k].bytes, memory_.streams.copies());
    memory_.streams.mark_copies(k);
  }
  for (std::size_t k = 0; k < all.size(); ++k) {
    memory_.streams.wait_for_mark(k);
    parallel_for(all[k].end - all[k].begin, threads_, [&](std::size_t i, int) { get_member(all[k].begin + i); });
  }
}

}  // namespace remede::cuda

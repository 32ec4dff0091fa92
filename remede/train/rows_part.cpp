#include "remede/train/rows_part.h"

#include <algorithm>
#include <numeric>
#include <queue>

#include "remede/base/error.h"
#include "remede/base/random.h"
#include "remede/base/threads.h"
#include "remede/executor/remote/job.h"
#include "remede/train/score.h"

namespace remede {
namespace {

constexpr std::size_t kChunkSteps = 16384;  // rows that are worked on at a time

void clear(Sequences& s) {
  s.offset.clear();
  s.offset.push_back(0);
  s.x.clear();
  s.label.clear();
  s.value.clear();
  s.weight.clear();
}

std::vector<std::uint32_t> all_of(const Sequences& data) {
  std::vector<std::uint32_t> numbers(data.count());
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

}  // namespace

void put_code(ByteWriter& to, const Code& code) {
  put_all(to, code.inputs);
  to.put(static_cast<std::uint64_t>(code.codes.size()));
  for (const InputCode& one : code.codes) {
    put_all(to, one.input);
    put_all(to, one.column);
    to.put(one.gap);
    put_all(to, one.words);
    put_all(to, one.values);
    to.put(one.other.has_value());
    to.put(one.other.value_or(0.0F));
  }
}

Code get_code(ByteReader& from) {
  Code code;
  get_all(from, code.inputs);
  for (auto left = from.get<std::uint64_t>(); left > 0; --left) {
    InputCode& one = code.codes.emplace_back();
    get_all(from, one.input);
    get_all(from, one.column);
    from.get(one.gap);
    get_all(from, one.words);
    get_all(from, one.values);
    bool other = false;
    from.get(other);
    const auto value = from.get<float>();
    if (other) one.other = value;
  }
  return code;
}

struct RowsPart::Scratch {
  std::unique_ptr<Engine> engine;
  RawDataset chunk;
  Parameters<float> gradient;
};

RowsPart::RowsPart(const std::string& path, const Roles& roles, const Config& config, std::size_t process)
    : roles_(roles),
      config_(config),
      files_(path, roles),
      process_(process),
      threads_(config.threads > 0 ? config.threads : hardware_threads()) {}

RowsPart::~RowsPart() = default;

std::string RowsPart::run(std::string_view job, const std::function<bool()>& stop) {
  ByteReader from(job, "job");
  if (static_cast<Job>(from.get<std::uint8_t>()) == Job::kRows) {
    const std::lock_guard lock(mutex_);
    return run_rows(from, stop);
  }
  if (helper_ == nullptr) fail("job: expected one about the rows first, got another");
  return helper_->run(job, stop);
}

std::string RowsPart::run_rows(ByteReader& job, const std::function<bool()>& stop) {
  const auto kind = static_cast<RowsJob>(job.get<std::uint8_t>());
  if (kind != RowsJob::kRead && !shard_) fail("job: expected the rows to be read first");
  switch (kind) {
    case RowsJob::kRead: {
      const auto processes = job.get<std::uint64_t>();
      shard_.emplace(files_, roles_, kDataPieces * process_ / processes, kDataPieces * (process_ + 1) / processes,
                     stop);
      return bytes_of(shard_->summary());
    }
    case RowsJob::kIds: {
      const auto pass = job.get<std::uint64_t>(), passes = job.get<std::uint64_t>();
      std::vector<std::uint64_t> ids;
      std::copy_if(shard_->ids().begin(), shard_->ids().end(), std::back_inserter(ids),
                   [&](std::uint64_t id) { return id % passes == pass; });
      return bytes_of(ids);
    }
    case RowsJob::kAgree:
      return agree(job);
    case RowsJob::kWords:
      return word_sums(stop);
    case RowsJob::kCode:
      encoder_.emplace(facts_.inputs, get_code(job));
      return "";
    case RowsJob::kSample:
      return sample(job);
    case RowsJob::kStatistics:
      return statistics(job, stop);
    case RowsJob::kBegin:
      return begin(job);
    case RowsJob::kGradient:
      return gradient(job, stop);
    case RowsJob::kLoss:
      return loss(job, stop);
    case RowsJob::kScore:
      return score(job, stop);
  }
  fail("job: expected one about rows, got another");
}

std::string RowsPart::agree(ByteReader& job) {
  get_all(job, facts_);
  job.get(held_out_);
  const auto seed = job.get<std::uint64_t>(), steps = job.get<std::uint64_t>();
  shuffled_.emplace(facts_.sequences, seed);
  shard_->agree(facts_, facts_.first.at(process_));
  for (int w = 0; w < threads_; ++w) {
    auto& scratch = *scratch_.emplace_back(std::make_unique<Scratch>());
    scratch.engine = device_of(config_) == Device::kPlain ? make_double_engine(1) : make_engine(1);
    scratch.chunk = shard_->chunk();
  }
  return bytes_of(offer(false, steps), offer(true, steps));
}

// The first sequences with targets in the shuffled order, until they have so many steps.
SampleOffer RowsPart::offer(bool held, std::uint64_t steps) const {
  using Entry = std::pair<std::uint64_t, std::uint64_t>;  // place, sequence
  std::priority_queue<Entry> first;
  std::uint64_t sum = 0;
  for (std::size_t piece = 0; piece < shard_->pieces(); ++piece) {
    const auto [begin, end] = shard_->sequences(piece);
    for (std::uint64_t n = begin; n < end; ++n) {
      const std::uint64_t place = shuffled_->place(n);
      if ((place < held_out_) != held || (sum >= steps && place > first.top().first) || !shard_->has_target(n))
        continue;
      first.emplace(place, n);
      sum += shard_->length(n);
      while (first.size() > 1 && sum - shard_->length(first.top().second) >= steps) {
        sum -= shard_->length(first.top().second);
        first.pop();
      }
    }
  }
  SampleOffer offer;
  for (; !first.empty(); first.pop()) {
    offer.place.push_back(first.top().first);
    offer.sequence.push_back(first.top().second);
    offer.steps.push_back(shard_->length(first.top().second));
  }
  return offer;
}

std::string RowsPart::sample(ByteReader& job) {
  ByteWriter answer;
  for (int side = 0; side < 2; ++side) {
    const auto numbers = get_all<std::vector<std::uint64_t>>(job);
    RawDataset chunk = shard_->chunk();
    const std::uint64_t begin = shard_->sequences(0).first, end = shard_->sequences(shard_->pieces() - 1).second;
    for (const std::uint64_t n : numbers)
      if (n >= begin && n < end) shard_->append(n, 0, shard_->length(n), 0, chunk);
    put_all(answer, encoded(chunk));
  }
  return answer.take();
}

std::string RowsPart::begin(ByteReader& job) {
  get_all(job, training_);
  get_all(job, validation_);
  get_all(job, scaling_);
  get_all(job, class_factor_);
  helper_ = std::make_unique<Helper>(training_, &validation_, config_, &scaling_);
  return helper_->fit();
}

Sequences RowsPart::encoded(RawDataset& chunk) const {
  Sequences s = std::move(chunk.data.sequences);
  chunk.data.sequences = Sequences();
  chunk.data.sequences.n_x = s.n_x;
  chunk.data.sequences.n_y = s.n_y;
  if (encoder_->same()) return s;
  const auto columns = static_cast<std::size_t>(s.n_x);
  Column<float> x;
  x.reserve(s.steps() * encoder_->inputs());
  for (std::size_t t = 0; t < s.steps(); ++t)
    for (std::size_t i = 0; i < encoder_->inputs(); ++i) x.push_back(encoder_->input(i, s.x.data() + t * columns));
  s.x = std::move(x);
  s.n_x = static_cast<int>(encoder_->inputs());
  return s;
}

Sequences RowsPart::scaled(RawDataset& chunk) const {
  Sequences s = encoded(chunk);
  if (!class_factor_.empty())
    for (std::size_t t = 0; t < s.steps(); ++t) s.weight[t] *= class_factor_[static_cast<std::size_t>(s.label[t])];
  apply(scaling_, s);
  return s;
}

void RowsPart::each_chunk(std::size_t piece, bool held, Scratch& scratch, const std::function<bool()>& stop,
                          const std::function<void(RawDataset&)>& work) const {
  RawDataset& chunk = scratch.chunk;
  clear(chunk.data.sequences);
  const auto [begin, end] = shard_->sequences(piece);
  for (std::uint64_t n = begin; n < end; ++n) {
    if (is_held_out(n) == held) shard_->append(n, 0, shard_->length(n), 0, chunk);
    if (chunk.data.sequences.steps() < kChunkSteps && n + 1 < end) continue;
    if (stop && stop()) return;
    if (chunk.data.sequences.steps() > 0) work(chunk);
    clear(chunk.data.sequences);
  }
}

std::string RowsPart::over_pieces(const PieceWork& work) {
  std::vector<std::vector<double>> leaves(shard_->pieces());
  parallel_for(leaves.size(), threads_, [&](std::size_t piece, int worker) {
    work(piece, *scratch_[static_cast<std::size_t>(worker)], leaves[piece]);
  });
  return bytes_of(branches_of(shard_->first_piece(), leaves));
}

// The sums of all columns of words, one after the other.
std::string RowsPart::word_sums(const std::function<bool()>& stop) {
  return over_pieces([&](std::size_t piece, Scratch& scratch, std::vector<double>& sum) {
    std::vector<std::vector<double>> sums(facts_.inputs.size());
    each_chunk(piece, false, scratch, stop, [&](RawDataset& chunk) {
      for (std::size_t i = 0; i < sums.size(); ++i)
        if (facts_.inputs[i].words) add_word_sums(chunk, i, all_of(chunk.data.sequences), sums[i]);
    });
    for (const std::vector<double>& one : sums) sum.insert(sum.end(), one.begin(), one.end());
  });
}

std::string RowsPart::statistics(ByteReader& job, const std::function<bool()>& stop) {
  const auto ranges = get_all<UsualRanges>(job);
  return over_pieces([&](std::size_t piece, Scratch& scratch, std::vector<double>& sum) {
    each_chunk(piece, false, scratch, stop, [&](RawDataset& chunk) { add_scale_sums(ranges, encoded(chunk), sum); });
  });
}

std::vector<RowsPart::Start> RowsPart::get_starts(ByteReader& job, bool drawn) const {
  std::vector<Start> starts;
  for (auto left = job.get<std::uint64_t>(); left > 0; --left) {
    Start& start = starts.emplace_back();
    start.plan = &helper_->plan(job.get<std::uint64_t>());
    if (drawn) job.get(start.drawn);
    if (drawn) job.get(start.batch);
    get_all(job, start.parameters);
    if (start.parameters.values.size() != start.plan->shape.total()) fail("job: expected parameters of the plan");
  }
  return starts;
}

// The sequences of the batch that are here, by piece: each drawn from all that are not held out.
std::vector<std::vector<RowsPart::Draw>> RowsPart::drawn(const Start& start) const {
  std::vector<std::vector<Draw>> draws(shard_->pieces());
  std::vector<std::uint64_t> begin;
  for (std::size_t piece = 0; piece < shard_->pieces(); ++piece) begin.push_back(shard_->sequences(piece).first);
  const std::uint64_t end = shard_->sequences(shard_->pieces() - 1).second;
  Random random(start.drawn);
  for (std::uint64_t i = 0; i < start.batch; ++i) {
    Draw draw;
    do draw.sequence = random.below(facts_.sequences);
    while (is_held_out(draw.sequence));
    draw.word = random.bits();
    if (draw.sequence < begin.front() || draw.sequence >= end) continue;
    const auto behind = std::upper_bound(begin.begin(), begin.end(), draw.sequence);
    draws[static_cast<std::size_t>(behind - begin.begin()) - 1].push_back(draw);
  }
  return draws;
}

// A long sequence is cut into windows. A window begins with the memory that the steps of one window before it leave.
void RowsPart::append_window(const Draw& draw, RawDataset& to) const {
  const std::size_t length = shard_->length(draw.sequence);
  const auto window = static_cast<std::size_t>(config_.recipe.window);
  const bool cut = length > static_cast<std::size_t>(config_.recipe.long_sequence) &&
                   config_.output_order.value_or(OutputOrder::kZero) == OutputOrder::kZero;
  const std::size_t count = cut ? (length + window - 1) / window : 1;
  const auto k = static_cast<std::size_t>(draw.word % count);
  const std::size_t begin = length * k / count, end = length * (k + 1) / count;
  shard_->append(draw.sequence, begin - std::min(begin, window), end, begin, to);
}

// Loss, weight, correct, and the gradient of the loss.
std::vector<double> RowsPart::gradient_of(const Start& start, const std::vector<Draw>& draws, Scratch& scratch) const {
  clear(scratch.chunk.data.sequences);
  for (const Draw& draw : draws) append_window(draw, scratch.chunk);
  const Sequences batch = scaled(scratch.chunk);
  const TrainingData& data = helper_->prepared().data;
  scratch.gradient = Parameters<float>(start.plan->shape);
  const BatchLoss loss = scratch.engine->gradient(start.parameters, start.plan->gradient, data.objective, batch,
                                                  data.fill, all_of(batch), scratch.gradient);
  if (loss.weight == 0) return {};
  std::vector<double> sum = {loss.loss, loss.weight, loss.correct};
  for (const float g : scratch.gradient.values) sum.push_back(static_cast<double>(g) * loss.weight);
  return sum;
}

std::string RowsPart::gradient(ByteReader& job, const std::function<bool()>& stop) {
  const std::vector<Start> starts = get_starts(job, true);
  std::vector<std::vector<std::vector<Draw>>> draws;  // (starts) (pieces)
  std::vector<std::pair<std::size_t, std::size_t>> tasks;
  for (std::size_t s = 0; s < starts.size(); ++s) {
    draws.push_back(drawn(starts[s]));
    for (std::size_t piece = 0; piece < shard_->pieces(); ++piece)
      if (!draws[s][piece].empty()) tasks.emplace_back(s, piece);
  }
  std::vector<std::vector<std::vector<double>>> leaves(starts.size(),
                                                       std::vector<std::vector<double>>(shard_->pieces()));
  parallel_for(tasks.size(), threads_, [&](std::size_t i, int worker) {
    const auto [s, piece] = tasks[i];
    if (stop && stop()) return;
    leaves[s][piece] = gradient_of(starts[s], draws[s][piece], *scratch_[static_cast<std::size_t>(worker)]);
  });
  ByteWriter answer;
  for (const auto& of_start : leaves) put_all(answer, branches_of(shard_->first_piece(), of_start));
  return answer.take();
}

std::string RowsPart::loss(ByteReader& job, const std::function<bool()>& stop) {
  const std::vector<Start> starts = get_starts(job, false);
  const TrainingData& data = helper_->prepared().data;
  return over_pieces([&](std::size_t piece, Scratch& scratch, std::vector<double>& sum) {
    each_chunk(piece, true, scratch, stop, [&](RawDataset& chunk) {
      sum.resize(3 * starts.size());
      const Sequences rows = scaled(chunk);
      const std::vector<std::uint32_t> numbers = all_of(rows);
      for (std::size_t s = 0; s < starts.size(); ++s) {
        const BatchLoss loss = scratch.engine->loss(starts[s].parameters, data.objective, rows, data.fill, numbers);
        sum[3 * s] += loss.loss;
        sum[3 * s + 1] += loss.weight;
        sum[3 * s + 2] += loss.correct;
      }
    });
  });
}

std::string RowsPart::score(ByteReader& job, const std::function<bool()>& stop) {
  Model model = helper_->like();
  get_all(job, model);
  check(model, job.where());
  return over_pieces([&](std::size_t piece, Scratch& scratch, std::vector<double>& sum) {
    each_chunk(piece, true, scratch, stop, [&](RawDataset& chunk) {
      sum.resize(6);
      const Score s = remede::score(model, encoded(chunk));
      const double numbers[] = {static_cast<double>(s.sequences),
                                static_cast<double>(s.targets),
                                s.weight,
                                s.accuracy * s.weight,
                                s.loss * s.weight,
                                s.rmse * s.rmse * s.weight};
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += numbers[i];
    });
  });
}

}  // namespace remede

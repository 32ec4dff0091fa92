#include "remede/train/rows.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "remede/base/error.h"
#include "remede/base/text.h"
#include "remede/executor/remote/job.h"
#include "remede/train/begin.h"
#include "remede/train/objective_of.h"

namespace remede {
namespace {

constexpr std::uint64_t kSplitSeed = 0x726f7773;              // what is held out is drawn apart from all else
constexpr std::uint64_t kIdsAtOnce = std::uint64_t{1} << 22;  // compared at a time

ByteWriter rows_job(RowsJob kind) {
  ByteWriter job = job_of(Job::kRows);
  job.put(static_cast<std::uint8_t>(kind));
  return job;
}

// What has no meaning, or is not built, where rows are distributed.
void expect_possible(const Config& config, const Roles& roles) {
  if (config.recipe.single_start) fail("--shard rows: expected the default recipe, got one with a single start");
  if (config.device != DeviceChoice::kCpu)
    fail("--shard rows: expected --device cpu, got another: processes sum their gradients on the CPU");
  if (validation_fraction(config) == 0)
    fail("--shard rows: expected a --validation-fraction above 0, got 0: models are chosen by rows held out");
  if (roles.horizon.value_or(0) > 0 && !roles.task)
    fail("--shard rows: expected --task with --horizon: the target becomes an input before all of it is read");
}

std::uint64_t held_out_of(std::uint64_t sequences, double fraction) {
  const auto held = static_cast<std::uint64_t>(std::floor(fraction * static_cast<double>(sequences) + 0.5));
  return std::clamp<std::uint64_t>(held, 1, sequences - 1);
}

void append(const Sequences& from, Sequences& to) {
  const std::int64_t before = to.offset.back();
  to.n_x = from.n_x;
  to.n_y = from.n_y;
  for (std::size_t i = 1; i < from.offset.size(); ++i) to.offset.push_back(before + from.offset[i]);
  to.x.insert(to.x.end(), from.x.begin(), from.x.end());
  to.label.insert(to.label.end(), from.label.begin(), from.label.end());
  to.value.insert(to.value.end(), from.value.begin(), from.value.end());
  to.weight.insert(to.weight.end(), from.weight.begin(), from.weight.end());
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

Rows::Rows(const std::string& path, const Roles& roles, const Config& config, Peers* peers)
    : config_(config), peers_(peers), here_(path, roles, config, 0) {
  expect_possible(config, roles);
  ByteWriter read = rows_job(RowsJob::kRead);
  read.put(static_cast<std::uint64_t>(1 + (peers == nullptr ? 0 : peers->others())));
  std::vector<ShardSummary> summaries;
  for (const std::string& answer : expect(read)) take_bytes(answer, summaries.emplace_back());
  facts_ = merged(summaries, here_.files());
  expect_together();
  ByteWriter agree = rows_job(RowsJob::kAgree);
  put_all(agree, facts_);
  agree.put(held_out_of(facts_.sequences, validation_fraction(config)));
  agree.put(static_cast<std::uint64_t>(config.seed) ^ kSplitSeed);
  agree.put(static_cast<std::uint64_t>(config.recipe.judged_steps));
  const std::vector<std::vector<std::uint64_t>> chosen = choose_sample(expect(agree));
  const Code code = learn_code_of_all();
  take_sample(chosen, code);
  measure();
  begin();
  const std::uint64_t sample = training_.sequences.steps() + validation_.sequences.steps();
  batches_ = std::clamp<std::uint64_t>(facts_.steps / std::max<std::uint64_t>(1, sample), 1,
                                       static_cast<std::uint64_t>(config_.recipe.rows_most_batches));
}

std::optional<std::vector<std::string>> Rows::ask(const ByteWriter& job, const Stop& stop) {
  return ask_all(
      peers_, job.bytes(), [&] { return here_.run(job.bytes(), stop); }, stop);
}

std::vector<std::string> Rows::expect(const ByteWriter& job) {
  std::optional<std::vector<std::string>> answers = ask(job);
  if (!answers) throw Error(peers_->lost());
  return std::move(*answers);
}

std::vector<double> Rows::expect_sum(const ByteWriter& job) {
  std::vector<PieceSum> branches;
  for (const std::string& answer : expect(job)) {
    std::vector<PieceSum> some;
    take_bytes(answer, some);
    std::move(some.begin(), some.end(), std::back_inserter(branches));
  }
  return sum_of_branches(branches);
}

// The same id in two pieces would be two sequences.
void Rows::expect_together() {
  const std::uint64_t passes = facts_.sequences / kIdsAtOnce + 1;
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    ByteWriter job = rows_job(RowsJob::kIds);
    job.put(pass);
    job.put(passes);
    std::vector<std::uint64_t> all;
    for (const std::string& answer : expect(job)) {
      std::vector<std::uint64_t> some;
      take_bytes(answer, some);
      all.insert(all.end(), some.begin(), some.end());
    }
    std::sort(all.begin(), all.end());
    if (std::adjacent_find(all.begin(), all.end()) != all.end())
      fail(
          "{}: --shard rows: expected the rows of each sequence one after the other in one file, got an id (column {}) "
          "again elsewhere: sort the rows by it",
          here_.files().name(), shown(facts_.schema.id));
  }
}

// The numbers of the sequences of the sample, rising: to learn from, and held out.
std::vector<std::vector<std::uint64_t>> Rows::choose_sample(const std::vector<std::string>& offers) const {
  const auto most = static_cast<std::uint64_t>(config_.recipe.judged_steps);
  std::vector<SampleOffer> sides[2];
  for (const std::string& answer : offers) take_bytes(answer, sides[0].emplace_back(), sides[1].emplace_back());
  std::vector<std::vector<std::uint64_t>> chosen(2);
  for (std::size_t side = 0; side < 2; ++side) {
    std::vector<std::array<std::uint64_t, 3>> all;  // place, sequence, steps
    for (const SampleOffer& offer : sides[side])
      for (std::size_t i = 0; i < offer.place.size(); ++i)
        all.push_back({offer.place[i], offer.sequence[i], offer.steps[i]});
    std::sort(all.begin(), all.end());
    if (all.empty())
      fail("{}: --shard rows: expected sequences with targets {}, got none among {}", here_.files().name(),
           side == 0 ? "to learn from" : "to hold out", facts_.sequences);
    std::uint64_t steps = 0;
    for (const auto& [place, sequence, length] : all) {
      if (!chosen[side].empty() && steps + length > most) break;
      chosen[side].push_back(sequence);
      steps += length;
    }
    std::sort(chosen[side].begin(), chosen[side].end());
  }
  return chosen;
}

Code Rows::learn_code_of_all() {
  RawDataset inputs;
  inputs.inputs = facts_.inputs;
  inputs.data.schema = facts_.schema;
  std::vector<std::vector<double>> sums(facts_.inputs.size());
  if (std::any_of(facts_.inputs.begin(), facts_.inputs.end(), [](const RawInput& i) { return i.words; })) {
    const std::vector<double> all = expect_sum(rows_job(RowsJob::kWords));
    const auto n_y = static_cast<std::size_t>(facts_.schema.n_y());
    auto at = all.begin();
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (!facts_.inputs[i].words) continue;
      const std::size_t words = facts_.inputs[i].known.size();
      const auto end = at + static_cast<std::ptrdiff_t>(2 * words + words * n_y + n_y + 1);
      sums[i].assign(at, end);
      at = end;
    }
  }
  Code code = learn_code(inputs, sums);
  ByteWriter job = rows_job(RowsJob::kCode);
  put_code(job, code);
  expect(job);
  return code;
}

void Rows::take_sample(const std::vector<std::vector<std::uint64_t>>& chosen, const Code& code) {
  training_.schema = facts_.schema;
  training_.schema.inputs = code.inputs;
  training_.schema.codes = code.codes;
  training_.notes = here_.files().layout().notes;
  validation_.schema = training_.schema;
  ByteWriter job = rows_job(RowsJob::kSample);
  for (const std::vector<std::uint64_t>& side : chosen) put_all(job, side);
  for (const std::string& answer : expect(job)) {
    Sequences training, validation;
    take_bytes(answer, training, validation);
    append(training, training_.sequences);
    append(validation, validation_.sequences);
  }
}

void Rows::measure() {
  const UsualRanges ranges = usual_ranges(training_.sequences);
  ByteWriter job = rows_job(RowsJob::kStatistics);
  put_all(job, ranges);
  const std::vector<double> sums = expect_sum(job);
  const Shifts shifts = shifts_of(config_);
  scaling_ = scaling_of(ranges, sums, objective_of(config_, training_.schema),
                        {config_.standardise, shifts.inputs, shifts.values});
  if (config_.class_weights != ClassWeights::kBalanced || training_.schema.task != Task::kClassification) return;
  const auto classes = sums.end() - static_cast<std::ptrdiff_t>(training_.schema.n_y());
  const double total = std::accumulate(classes, sums.end(), 0.0);
  const auto present = static_cast<double>(std::count_if(classes, sums.end(), [](double n) { return n > 0; }));
  for (auto n = classes; n != sums.end(); ++n)
    class_factor_.push_back(*n > 0 ? static_cast<float>(total / (present * *n)) : 1.0F);
}

void Rows::begin() {
  ByteWriter job = rows_job(RowsJob::kBegin);
  put_all(job, training_);
  put_all(job, validation_);
  put_all(job, scaling_);
  put_all(job, class_factor_);
  const std::vector<std::string> fits = expect(job);
  for (std::size_t p = 1; p < fits.size(); ++p)
    if (fits[p] != fits[0]) fail("rank {}: expected the data and settings of rank 0, got others", p);
}

bool Rows::update(std::span<Trainer* const> starts, const Stop& stop) {
  ByteWriter job = rows_job(RowsJob::kGradient);
  job.put(static_cast<std::uint64_t>(starts.size()));
  for (Trainer* const start : starts) {
    job.put(start->plan().stream);
    job.put(start->draw());
    job.put(batches_ * static_cast<std::uint64_t>(start->plan().batch));
    put_all(job, start->parameters());
  }
  const std::optional<std::vector<std::string>> answers = ask(job, stop);
  if (!answers) return false;
  std::vector<ByteReader> from;
  for (const std::string& answer : *answers) from.emplace_back(answer, "answer of a peer");
  std::vector<float> gradient;
  for (Trainer* const start : starts) {
    std::vector<PieceSum> branches;
    for (ByteReader& one : from)
      for (PieceSum& branch : get_all<std::vector<PieceSum>>(one)) branches.push_back(std::move(branch));
    std::vector<double> sum = sum_of_branches(branches);
    sum.resize(3 + start->plan().shape.total());  // no target in the whole batch: no gradient
    const double weight = std::max(sum[1], std::numeric_limits<double>::min());
    gradient.clear();
    for (std::size_t i = 3; i < sum.size(); ++i) gradient.push_back(static_cast<float>(sum[i] / weight));
    start->update_by({sum[0], sum[1], sum[2]}, gradient);
  }
  return true;
}

bool Rows::validate(std::span<Trainer* const> starts, bool best, const Stop& stop) {
  ByteWriter job = rows_job(RowsJob::kLoss);
  job.put(static_cast<std::uint64_t>(starts.size()));
  for (Trainer* const start : starts) {
    job.put(start->plan().stream);
    put_all(job, best ? start->best() : start->averaged());
  }
  const std::optional<std::vector<std::string>> answers = ask(job, stop);
  if (!answers) return false;
  std::vector<PieceSum> branches;
  for (const std::string& answer : *answers) {
    std::vector<PieceSum> some;
    take_bytes(answer, some);
    std::move(some.begin(), some.end(), std::back_inserter(branches));
  }
  std::vector<double> sum = sum_of_branches(branches);
  sum.resize(3 * starts.size());
  for (std::size_t s = 0; s < starts.size(); ++s) {
    const BatchLoss loss{sum[3 * s], sum[3 * s + 1], sum[3 * s + 2]};
    if (best) {
      starts[s]->judge_best(loss);
    } else {
      starts[s]->note_validation(loss);
    }
  }
  return true;
}

void Rows::round(std::span<Trainer* const> starts, const Round& round) {
  if (starts.empty()) return;
  const auto alive = [&] {
    std::vector<Trainer*> all;
    std::copy_if(starts.begin(), starts.end(), std::back_inserter(all), [](const Trainer* s) { return !s->lost(); });
    return all;
  };
  // So far they were judged by the sample.
  if (const std::vector<Trainer*> all = alive(); all.empty() || !validate(all, true, round.stop)) return;
  const std::uint64_t validations = starts.front()->plan().validations;
  for (std::uint64_t k = 1; k <= validations; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t updates = round.updates * k / validations - round.updates * (k - 1) / validations;
    for (std::uint64_t u = 0; u < updates; ++u) {
      if (round.stop && round.stop()) return;
      if (const std::vector<Trainer*> all = alive(); !all.empty() && !update(all, round.stop)) return;
    }
    const double update_seconds = seconds_since(begin);
    const auto middle = std::chrono::steady_clock::now();
    const std::vector<Trainer*> all = alive();
    if (!all.empty() && !validate(all, false, round.stop)) return;
    // Of one start and one thread, as the other rounds are measured.
    const double share = 1.0 / static_cast<double>(starts.size());
    for (std::size_t s = 0; s < starts.size() && round.measured; ++s)
      round.measured({update_seconds * share, updates, seconds_since(middle) * share});
  }
}

Score Rows::score(const Model& model) {
  ByteWriter job = rows_job(RowsJob::kScore);
  put_all(job, model);
  std::vector<double> sum = expect_sum(job);
  sum.resize(6);
  Score s;
  s.sequences = static_cast<std::size_t>(sum[0]);
  s.targets = static_cast<std::size_t>(sum[1]);
  s.weight = sum[2];
  if (s.weight == 0) return s;
  s.accuracy = sum[3] / s.weight;
  s.loss = sum[4] / s.weight;
  s.rmse = std::sqrt(sum[5] / s.weight);
  return s;
}

Fit fit_rows(Rows& rows, const Config& config, const Callbacks& callbacks, const Checkpoint* resume) {
  Fit result = fit(rows.training(), &rows.validation(), config, callbacks, resume, &rows);
  if (!result.stopped) result.validation = rows.score(result.model);
  return result;
}

}  // namespace remede

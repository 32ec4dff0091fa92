#include "remede/train/frontier/search.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "remede/base/threads.h"
#include "remede/executor/remote/job.h"
#include "remede/train/frontier/start.h"
#include "remede/train/frontier/units.h"

namespace remede::frontier {
namespace {

constexpr double kReplaysOfRound = 80;  // of pruning, about: for its forecast

struct Runner {
  std::uint64_t number = 0;
  Start start;
  std::unique_ptr<Learner> learner;
  laws::Parameters best;
  Judged judged;
  double merit = std::numeric_limits<double>::infinity();
};

Runner make_runner(const Problem& problem, std::uint64_t seed, std::uint64_t number) {
  Runner r;
  r.number = number;
  r.start = draw_start(problem, seed, number);
  r.learner = std::make_unique<Learner>(problem, problem.training, r.start.parameters, r.start.rates, r.start.options,
                                        seed, r.start.stream);
  return r;
}

// What its number does not determine.
void put_runner(const Runner& r, ByteWriter& to) {
  r.learner->save(to);
  put_all(to, r.best);
  put_all(to, r.judged);
  put_all(to, r.merit);
}
void get_runner(ByteReader& from, Runner& r) {
  r.learner->load(from);
  get_all(from, r.best);
  get_all(from, r.judged);
  get_all(from, r.merit);
  from.expect_end();
}

void validate(const Problem& problem, Runner& r) {
  const Judged judged = r.learner->judge(problem.validation);
  const double m = merit(problem, judged);
  if (!(m < r.merit)) return;
  r.merit = m;
  r.judged = judged;
  r.best = r.learner->parameters();
}

// One round. `validated`: called after each of its parts, with their number.
template <typename Validated>
void train_runner(const Problem& problem, Runner& r, std::size_t updates, bool last, const std::function<bool()>& stop,
                  const Validated& validated) {
  constexpr std::size_t kParts = 4;
  for (std::size_t part = 0; part < kParts && !stop(); ++part) {
    const double from = last ? 1.0 - static_cast<double>(part) / kParts : 1.0;
    const double to = last ? 1.0 - static_cast<double>(part + 1) / kParts : 1.0;
    r.learner->advance(updates / kParts + 1, from, std::max(to, 0.02), stop);
    validate(problem, r);
    validated(1.0 / kParts);
  }
}

std::vector<Snapshot> prune_runner(const Problem& problem, Runner& r, std::size_t updates,
                                   const std::function<bool()>& stop) {
  r.learner->set_parameters(r.best);
  return prune(problem, *r.learner, r.start.rates, r.start.stream, updates, stop);
}

// Products of one step, about. asked: the share of the steps that have an answer.
double cost_of(const laws::Parameters& p, double asked) {
  const laws::Shape& s = p.shape;
  const auto used_in = [&](laws::Group g) {
    const auto begin = p.used.begin() + static_cast<std::ptrdiff_t>(s.begin(g));
    return static_cast<double>(std::count(begin, begin + static_cast<std::ptrdiff_t>(s.size(g)), std::uint8_t{1}));
  };
  double all = 0, of_answers = 0;
  for (int g = 0; g < laws::kGroups; ++g) all += used_in(static_cast<laws::Group>(g));
  for (const laws::Group g : {laws::Group::kOutput, laws::Group::kLinear, laws::Group::kLeafLinear})
    of_answers += used_in(g);
  const double answer = of_answers + 20.0 * s.n_y;  // each with its exponential
  return all - of_answers + asked * answer + 25.0 * s.cells() + 20.0 * s.nodes() + 10;
}

double share_asked(const laws::LaneData& data) {
  std::size_t asked = 0;
  for (const laws::Block& block : data.blocks) asked += block.asked.size();
  return static_cast<double>(asked) / static_cast<double>(std::max<std::size_t>(1, data.steps()));
}

// The best of every number of cells, then the best of the rest.
std::vector<std::size_t> paths_of(const std::vector<Runner>& runners, std::size_t most) {
  std::vector<std::size_t> chosen;
  std::vector<int> seen;
  for (std::size_t i = 0; i < runners.size() && chosen.size() < most; ++i) {
    const int cells = runners[i].start.parameters.shape.cells();
    if (std::find(seen.begin(), seen.end(), cells) != seen.end()) continue;
    seen.push_back(cells);
    chosen.push_back(i);
  }
  for (std::size_t i = 0; i < runners.size() && chosen.size() < most; ++i)
    if (std::find(chosen.begin(), chosen.end(), i) == chosen.end()) chosen.push_back(i);
  return chosen;
}

void sort_by_merit(std::vector<Runner>& runners) {
  std::stable_sort(runners.begin(), runners.end(), [](const Runner& a, const Runner& b) { return a.merit < b.merit; });
}

// Half of each number of cells stays: small ones learn less, and are wanted all the same.
void drop_half(std::vector<Runner>& runners) {
  std::map<int, std::size_t> all, taken;
  for (const Runner& r : runners) ++all[r.start.parameters.shape.cells()];
  std::vector<Runner> kept;
  for (Runner& r : runners) {
    const int cells = r.start.parameters.shape.cells();
    if (2 * taken[cells]++ < all[cells]) kept.push_back(std::move(r));
  }
  runners = std::move(kept);
}

class SmallSearch {
 public:
  SmallSearch(const Problem& problem, const SearchOptions& options)
      : problem_(problem), recipe_(problem.recipe), options_(options), asked_(share_asked(problem.training)) {
    double cost = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(options.starts); ++i) {
      Runner r = make_runner(problem, options.seed, i);
      per_update_ = static_cast<double>(problem.training.steps()) / static_cast<double>(r.learner->updates_per_pass());
      cost += cost_of(r.start.parameters, asked_);
      runners_.push_back(std::move(r));
      // Where a start takes long there are fewer of them.
      if (i >= static_cast<std::size_t>(recipe_.small_paths_low) &&
          cost * per_update_ * recipe_.small_fewest_updates > work_of_round())
        break;
    }
  }

  // Seconds, by how long a few updates take now.
  double forecast() {
    constexpr std::size_t kMeasured = 4;  // starts
    constexpr std::size_t kUpdates = 3;   // of each
    double seconds = 0, work = 0;
    for (std::size_t k = 0; k < std::min(kMeasured, runners_.size()) && !options_.stop(); ++k) {
      Runner& r = runners_[runners_.size() * k / std::min(kMeasured, runners_.size())];
      r.learner->advance(1, 1, 1, options_.stop);  // the first one takes longer
      const auto begin = std::chrono::steady_clock::now();
      r.learner->advance(kUpdates, 1, 1, options_.stop);
      seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      work += static_cast<double>(kUpdates) * per_update_ * cost_of(r.start.parameters, asked_);
    }
    const int threads = options_.threads > 0 ? options_.threads : hardware_threads();
    return work > 0 ? seconds / work * planned_work() / threads : 0.0;
  }

  std::vector<Snapshot> run() {
    planned_ = planned_work();
    for (int round = 0; round < recipe_.small_rounds && !options_.stop(); ++round) {
      train(round + 1 == recipe_.small_rounds);
      sort_by_merit(runners_);
      if (round + 1 < recipe_.small_rounds) drop_half(runners_);
      options_.progress(recipe_.small_training_share * (round + 1) / recipe_.small_rounds);
    }
    std::vector<std::vector<Snapshot>> found = prune_paths();
    std::vector<Snapshot> all;
    for (std::vector<Snapshot>& path : found)
      for (Snapshot& s : path) all.push_back(std::move(s));
    options_.progress(1);
    return all;
  }

 private:
  // A round: every runner gets the same share of its work.
  void train(bool last) {
    const std::size_t among = runners_.size();
    const auto cost = [&](std::size_t i) {
      const Runner& r = runners_[i];
      return static_cast<double>(updates_of(r, among)) * per_update_ * cost_of(r.start.parameters, asked_);
    };
    SharedWork work;
    work.count = runners_.size();
    work.here = [&](std::size_t i, int) {
      train_runner(problem_, runners_[i], updates_of(runners_[i], among), last, options_.stop,
                   [&](double share) { note_work(share * cost(i)); });
    };
    work.job = [&](std::size_t i) {
      ByteWriter job = job_of(Job::kSmallRound);
      job.put(runners_[i].number);
      job.put(static_cast<std::uint64_t>(updates_of(runners_[i], among)));
      job.put(last);
      put_runner(runners_[i], job);
      return job.take();
    };
    work.take = [&](std::size_t i, std::string_view answer) {
      ByteReader from(answer, "answer of a peer");
      get_runner(from, runners_[i]);
      note_work(cost(i));
    };
    work.cost = cost;
    work.stop = options_.stop;
    share(work, options_.threads, options_.peers);
  }

  // Of a runner in one round, in which so many take part.
  std::size_t updates_of(const Runner& r, std::size_t among) const {
    const double work = work_of_round() / static_cast<double>(among);
    const double affordable = work / (per_update_ * cost_of(r.start.parameters, asked_));
    return std::min(options_.most_updates,
                    static_cast<std::size_t>(std::clamp(affordable, static_cast<double>(recipe_.small_fewest_updates),
                                                        static_cast<double>(recipe_.small_most_updates))));
  }

  double work_of_round() const { return recipe_.small_training_share / recipe_.small_rounds * options_.work; }

  struct Pruning {
    std::size_t paths = 0;
    std::size_t updates = 0;  // after each removal
    double work = 0;          // of one path
  };

  Pruning plan_pruning() const {
    // What the removals of one path cost, from its size down to nothing.
    double work = 0;
    const double replayed = kReplaysOfRound * static_cast<double>(problem_.replay.steps()) / 3;
    for (const Runner& r : runners_) {
      const double numbers = static_cast<double>(std::min<std::size_t>(400, numbers_in_use(r.start.parameters)));
      const double rounds = 14 * std::log(std::max(2.0, numbers / 5));
      const double fixed = cost_of(r.start.parameters, asked_) - numbers;
      work += (numbers / 0.07 + rounds * std::max(20.0, fixed)) / static_cast<double>(runners_.size());
    }
    const double left = (1 - recipe_.small_training_share) * options_.work;
    const double each = work * (static_cast<double>(recipe_.prune_updates) * per_update_ + replayed);
    const auto count = static_cast<std::size_t>(std::clamp(left / each, static_cast<double>(recipe_.small_paths_low),
                                                           static_cast<double>(recipe_.small_paths_high)));
    const double polish =
        std::min(1.0, left / (each * static_cast<double>(count))) * static_cast<double>(recipe_.prune_updates);
    const std::size_t updates =
        std::min(options_.most_updates,
                 std::max(static_cast<std::size_t>(recipe_.prune_fewest_updates), static_cast<std::size_t>(polish)));
    constexpr double kTaken = 0.6;  // of this work: most of a path is shorter than planned for
    const double share = static_cast<double>(updates) / static_cast<double>(recipe_.prune_updates);
    return {count, updates,
            kTaken * work * (share * static_cast<double>(recipe_.prune_updates) * per_update_ + replayed)};
  }

  // In the units of options_.work; the starts that stay are taken to cost what all cost.
  double planned_work() const {
    double work = 0;
    double share = 1;
    for (int round = 0; round < recipe_.small_rounds; ++round, share /= 2) {
      const auto among = static_cast<std::size_t>(std::max(1.0, share * static_cast<double>(runners_.size())));
      for (const Runner& r : runners_)
        work += share * static_cast<double>(updates_of(r, among)) * per_update_ * cost_of(r.start.parameters, asked_);
    }
    const Pruning pruning = plan_pruning();
    return work + static_cast<double>(std::min(pruning.paths, runners_.size())) * pruning.work;
  }

  void note_work(double work) {
    double now = done_.load();
    while (!done_.compare_exchange_weak(now, now + work)) {
    }
    options_.worked(std::min(1.0, (now + work) / planned_));
  }

  std::vector<std::vector<Snapshot>> prune_paths() {
    const Pruning plan = plan_pruning();
    const std::vector<std::size_t> paths = paths_of(runners_, plan.paths);
    std::vector<std::vector<Snapshot>> found(paths.size());
    SharedWork work;
    work.count = paths.size();
    work.here = [&](std::size_t i, int) {
      Runner& r = runners_[paths[i]];
      if (!std::isfinite(r.merit) || options_.stop()) return;
      found[i] = prune_runner(problem_, r, plan.updates, options_.stop);
      note_work(plan.work);
    };
    work.job = [&](std::size_t i) {
      ByteWriter job = job_of(Job::kPrune);
      job.put(runners_[paths[i]].number);
      job.put(static_cast<std::uint64_t>(plan.updates));
      put_runner(runners_[paths[i]], job);
      return job.take();
    };
    work.take = [&](std::size_t i, std::string_view answer) {
      take_bytes(answer, found[i]);
      note_work(plan.work);
    };
    work.cost = [&](std::size_t i) { return cost_of(runners_[paths[i]].start.parameters, asked_); };
    work.stop = options_.stop;
    share(work, options_.threads, options_.peers);
    return found;
  }

  const Problem& problem_;
  const Recipe& recipe_;
  const SearchOptions& options_;
  double asked_ = 1;
  std::vector<Runner> runners_;
  double per_update_ = 0;  // steps of 16 lanes
  double planned_ = 1;     // work, as options_.work counts it,
  std::atomic<double> done_ = 0;
};

}  // namespace

double merit(const Problem& problem, const Judged& judged) {
  const double loss = std::isfinite(judged.loss) ? judged.loss : 1e30;
  return problem.classes ? judged.wrong + kShareOfLogLoss * loss : loss;
}

double forecast_small_models(const Problem& problem, const SearchOptions& options) {
  return SmallSearch(problem, options).forecast();
}

std::string do_small_round(ByteReader& job, const Problem& problem, std::uint64_t seed,
                           const std::function<bool()>& stop) {
  Runner r = make_runner(problem, seed, job.get<std::uint64_t>());
  const auto updates = job.get<std::uint64_t>();
  bool last = false;
  job.get(last);
  get_runner(job, r);
  train_runner(problem, r, updates, last, stop, [](double) {});
  ByteWriter answer;
  put_runner(r, answer);
  return answer.take();
}

std::string do_prune(ByteReader& job, const Problem& problem, std::uint64_t seed, const std::function<bool()>& stop) {
  Runner r = make_runner(problem, seed, job.get<std::uint64_t>());
  const auto updates = job.get<std::uint64_t>();
  get_runner(job, r);
  return bytes_of(std::isfinite(r.merit) ? prune_runner(problem, r, updates, stop) : std::vector<Snapshot>());
}

std::vector<Snapshot> search_small_models(const Problem& problem, const SearchOptions& options) {
  return SmallSearch(problem, options).run();
}

}  // namespace remede::frontier

#include "remede/train/frontier/search.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "remede/base/threads.h"
#include "remede/train/frontier/start.h"

namespace remede::frontier {
namespace {

constexpr std::size_t kPaths = 12;           // of the survivors are pruned
constexpr std::size_t kPolish = 120;         // updates after each removal
constexpr double kShareOfTraining = 0.5;     // of all work; the rest is for pruning

struct Runner {
  Start start;
  std::unique_ptr<Learner> learner;
  laws::Parameters best;
  Judged judged;
  double merit = 1e300;
};

void validate(const Problem& problem, Runner& r) {
  const Judged judged = r.learner->judge(problem.validation);
  const double m = merit(problem, judged);
  if (!(m < r.merit)) return;
  r.merit = m;
  r.judged = judged;
  r.best = r.learner->parameters();
}

// The best of every number of cells, then the best of the rest.
std::vector<std::size_t> paths_of(const std::vector<Runner>& runners) {
  std::vector<std::size_t> chosen;
  std::vector<int> seen;
  for (std::size_t i = 0; i < runners.size() && chosen.size() < kPaths; ++i) {
    const int cells = runners[i].best.shape.cells();
    if (std::find(seen.begin(), seen.end(), cells) != seen.end()) continue;
    seen.push_back(cells);
    chosen.push_back(i);
  }
  for (std::size_t i = 0; i < runners.size() && chosen.size() < kPaths; ++i)
    if (std::find(chosen.begin(), chosen.end(), i) == chosen.end()) chosen.push_back(i);
  return chosen;
}

}  // namespace

double merit(const Problem& problem, const Judged& judged) {
  const double loss = std::isfinite(judged.loss) ? judged.loss : 1e30;
  return problem.classes ? judged.wrong + 0.1 * loss : loss;
}

std::vector<Snapshot> search_small_models(const Problem& problem, const SearchOptions& options) {
  std::vector<Runner> runners(static_cast<std::size_t>(options.starts));
  for (std::size_t i = 0; i < runners.size(); ++i) {
    runners[i].start = draw_start(problem, options.seed, i);
    runners[i].learner = std::make_unique<Learner>(problem, problem.training, runners[i].start.parameters,
                                                   runners[i].start.rates, runners[i].start.options, options.seed,
                                                   runners[i].start.stream);
  }
  // Rounds of equal work: half of the runners go after each.
  const double per_update = std::max(256.0, static_cast<double>(problem.training.steps()) /
                                                static_cast<double>(runners[0].learner->updates_per_pass()));
  constexpr int kRounds = 3;
  const double round_work = kShareOfTraining * options.work / kRounds;
  for (int round = 0; round < kRounds && !options.stop(); ++round) {
    const bool last = round + 1 == kRounds;
    const auto updates = static_cast<std::size_t>(
        std::clamp(round_work / static_cast<double>(runners.size()) / per_update, 60.0, 4000.0));
    parallel_for(runners.size(), options.threads, [&](std::size_t i, int) {
      constexpr std::size_t kParts = 4;
      Runner& r = runners[i];
      for (std::size_t part = 0; part < kParts && !options.stop(); ++part) {
        const double from = last ? 1.0 - static_cast<double>(part) / kParts : 1.0;
        const double to = last ? 1.0 - static_cast<double>(part + 1) / kParts : 1.0;
        r.learner->advance(updates / kParts + 1, from, std::max(to, 0.02), options.stop);
        validate(problem, r);
      }
    });
    std::stable_sort(runners.begin(), runners.end(), [](const Runner& a, const Runner& b) { return a.merit < b.merit; });
    if (!last) {
      // Small ones learn less and are wanted all the same: half of each number of cells stays.
      std::vector<Runner> kept;
      for (const int cells : {0, 1, 2, 3, 4, 6}) {
        std::size_t all = 0, taken = 0;
        for (const Runner& r : runners) all += r.start.parameters.shape.cells() == cells ? 1U : 0U;
        for (Runner& r : runners)
          if (r.learner != nullptr && r.start.parameters.shape.cells() == cells && 2 * taken < all) {
            ++taken;
            kept.push_back(std::move(r));
          }
      }
      runners = std::move(kept);
    }
    options.progress(0.5 * (round + 1) / kRounds);
  }
  std::stable_sort(runners.begin(), runners.end(), [](const Runner& a, const Runner& b) { return a.merit < b.merit; });
  const std::vector<std::size_t> paths = paths_of(runners);
  std::vector<std::vector<Snapshot>> found(paths.size());
  parallel_for(paths.size(), options.threads, [&](std::size_t i, int) {
    Runner& r = runners[paths[i]];
    if (r.merit >= 1e299 || options.stop()) return;
    r.learner->set_parameters(r.best);
    found[i] = prune(problem, *r.learner, r.start.rates, r.start.stream, kPolish, options.stop);
  });
  std::vector<Snapshot> all;
  for (std::vector<Snapshot>& path : found)
    for (Snapshot& s : path) all.push_back(std::move(s));
  options.progress(1);
  return all;
}

}  // namespace remede::frontier

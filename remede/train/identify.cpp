#include "remede/train/identify.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "remede/base/random.h"
#include "remede/base/threads.h"
#include "remede/train/linear_system.h"

namespace remede {
namespace {

constexpr std::uint64_t kIdentifyStream = 0x6964656e00000000;  // apart from the other random numbers of a fit

template <typename T>
T draw_one(Random& random, std::initializer_list<T> choices) {
  return *(choices.begin() + random.below(choices.size()));
}

LinearSystemOptions draw(Random& random) {
  LinearSystemOptions options;
  options.arx_order = draw_one(random, {4, 8, 12, 20});
  options.states = draw_one(random, {2, 3, 4, 6, 8});
  options.blend = draw_one(random, {0.3, 0.9});
  options.extra_cells = draw_one(random, {0, 1, 2, 4});
  options.depth = draw_one(random, {0, 1, 1, 2});
  return options;
}

// Refines those with a start, at most `most` of them as far as the work allows, and puts the best first.
void refine(std::vector<Identified>& all, const TrainingData& data, const LevenbergOptions& options, double work,
            int threads, const std::function<bool()>& stop) {
  std::size_t affordable = 0;
  for (double spent = 0; affordable < all.size(); ++affordable) {
    spent += levenberg_work(all[affordable].parameters.shape, data.training) * options.iterations;
    if (spent > work) break;
  }
  all.resize(affordable);
  parallel_for(all.size(), threads, [&](std::size_t i, int) {
    if (stop && stop()) return;
    LevenbergResult found =
        levenberg(all[i].parameters, data.training, data.continues, &data.validation, data.fill, options, stop);
    all[i] = {std::move(found.parameters), found.validation_loss, all[i].iterations + found.iterations};
  });
  std::erase_if(all, [](const Identified& one) { return !std::isfinite(one.loss); });
  std::stable_sort(all.begin(), all.end(), [](const Identified& a, const Identified& b) { return a.loss < b.loss; });
}

}  // namespace

std::vector<Identified> identify(const TrainingData& data, std::uint64_t seed, const IdentifyOptions& options,
                                 int threads, const std::function<bool()>& stop) {
  if (data.training.value.empty()) return {};
  std::vector<std::optional<Parameters<float>>> starts(static_cast<std::size_t>(options.starts));
  std::vector<Random> random;
  std::vector<LinearSystemOptions> drawn;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    random.emplace_back(seed, kIdentifyStream + i);
    drawn.push_back(draw(random.back()));
  }
  LinearSystems systems(data.training, data.continues, data.fill);
  systems.fit(drawn, threads, stop);
  parallel_for(starts.size(), threads, [&](std::size_t i, int) {
    if (!(stop && stop())) starts[i] = systems.start(drawn[i], random[i]);
  });
  std::vector<Identified> all;
  for (std::optional<Parameters<float>>& start : starts)
    if (start) all.push_back({std::move(*start), 0.0, 0});
  LevenbergOptions first = options.refine;
  first.iterations = options.first_iterations;
  refine(all, data, first, options.work / 2, threads, stop);
  if (all.size() > static_cast<std::size_t>(options.survivors)) all.resize(static_cast<std::size_t>(options.survivors));
  refine(all, data, options.refine, options.work / 2, threads, stop);
  return all;
}

}  // namespace remede

#include "remede/analysis/observe.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "remede/base/text.h"
#include "remede/model/predict.h"
#include "remede/objective/truth.h"

namespace remede {
namespace {

// Mean and spread in one pass, without the cancellation of sums of squares.
struct Spread {
  double n = 0, mean = 0, sum = 0;

  void add(double v) {
    if (std::isnan(v)) return;
    n += 1;
    const double d = v - mean;
    mean += d / n;
    sum += d * (v - mean);
  }
  float deviation() const { return n > 0 ? static_cast<float>(std::sqrt(sum / n)) : 0.0F; }
};

// y: the answer.
void add_target(const Objective& objective, const Sequences& data, std::size_t step, std::span<const float> y,
                LeafCount& count) {
  if (!data.has_targets() || data.weight[step] == 0) return;
  const auto w = static_cast<double>(data.weight[step]);
  count.weight += w;
  const Truth truth = truth_at(data, step);
  count.correct += is_correct(objective, y, truth) ? w : 0.0;
  count.squared += w * squared_error(objective, y, truth);
}

}  // namespace

Observations observe(const Model& model, const Sequences& data) {
  Observations seen;
  const auto n_x = static_cast<std::size_t>(model.n_x());
  for (const Tree& tree : model.trees) {
    std::vector<LeafCount> leaves(static_cast<std::size_t>(tree.leaf_count()));
    std::vector<Spread> spread(static_cast<std::size_t>(tree.n_v()));
    std::vector<float> m(static_cast<std::size_t>(tree.memory_size())), y(static_cast<std::size_t>(tree.n_y)), answer;
    for (std::size_t s = 0; s < data.count(); ++s) {
      std::fill(m.begin(), m.end(), 0.0F);
      std::fill(y.begin(), y.end(), 0.0F);
      for (auto t = static_cast<std::size_t>(data.offset[s]); t < static_cast<std::size_t>(data.offset[s + 1]); ++t) {
        const float* const x = data.x.data() + t * n_x;
        for (std::size_t f = 0; f < spread.size(); ++f) spread[f].add(static_cast<double>(f < n_x ? x[f] : m[f - n_x]));
        const int leaf = step(tree, x, model.fill.data(), m.data(), y.data());
        ++leaves[static_cast<std::size_t>(leaf)].steps;
        answer = y;
        apply_link(model.objective(), answer);
        add_target(model.objective(), data, t, answer, leaves[static_cast<std::size_t>(leaf)]);
      }
    }
    std::vector<float>& scale = seen.scale.emplace_back();
    for (const Spread& s : spread) scale.push_back(s.deviation());
    seen.leaves.push_back(std::move(leaves));
  }
  return seen;
}

std::string count_text(const LeafCount& count, Task task) {
  if (count.steps == 0) return "never reached";
  std::string text = fmt::format("{} step{}", grouped(count.steps), count.steps == 1 ? "" : "s");
  if (count.weight == 0) return text;
  if (task == Task::kClassification) return fmt::format("{}, {} right", text, percent(count.correct / count.weight));
  return fmt::format("{}, off by {}", text, short_number(std::sqrt(count.squared / count.weight)));
}

}  // namespace remede

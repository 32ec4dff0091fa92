#include "remede/train/frontier/problem.h"

#include <algorithm>
#include <utility>

#include "remede/base/arithmetic.h"
#include "remede/base/random.h"
#include "remede/train/frontier/recordings.h"

namespace remede::frontier {
namespace {

using laws::Group;

constexpr std::uint64_t kNormalSeed = 0x6e6f697365;

// Calls visit(constant, weights' group, first weight, y or -1) for every constant that is not in use; the weights of
// the inputs follow one another from the first.
template <typename Visit>
void each_free_constant(const laws::Parameters& p, const Visit& visit) {
  const laws::Shape& s = p.shape;
  const auto n_x = static_cast<std::size_t>(s.n_x), n_y = static_cast<std::size_t>(s.n_y);
  const auto n_z = static_cast<std::size_t>(s.n_z());
  for (std::size_t k = 0; k < static_cast<std::size_t>(s.cells()); ++k) {
    if (p.used[s.at(Group::kBias, k)] == 0) visit(s.at(Group::kBias, k), s.at(Group::kInput, k * n_x), -1);
    if (p.used[s.at(Group::kTap, k)] == 0) visit(s.at(Group::kTap, k), s.at(Group::kTapInput, k * n_x), -1);
  }
  for (std::size_t row = 0; row < static_cast<std::size_t>(s.leaves()) * n_y; ++row) {
    const std::size_t at = s.at(Group::kOutput, row);
    if (p.used[at] != 0) continue;
    visit(at, s.at(Group::kLinear, row % n_y * n_z), static_cast<int>(row % n_y));
    if (s.leaf_linear) visit(at, s.at(Group::kLeafLinear, row * n_z), -1);
  }
}

void set_answer_scale(Problem& p) {
  p.y_zero.assign(static_cast<std::size_t>(p.n_y), 0.0);
  p.y_scale.assign(static_cast<std::size_t>(p.n_y), 1.0);
  for (int o = 0; o < p.n_y && !p.scaling.y_scale.empty(); ++o) {
    const auto target = static_cast<std::size_t>(target_of(p.objective, o)), at = static_cast<std::size_t>(o);
    const auto scale = static_cast<double>(p.scaling.y_scale[target]);
    const bool logarithm = is_logarithm(p.objective, o);
    p.y_zero[at] = logarithm ? log(scale) : static_cast<double>(p.scaling.y_shift[target]) / scale;
    p.y_scale[at] = logarithm ? 1.0 : scale;
  }
}

}  // namespace

Problem make_problem(const Sequences& training, const Sequences& judging, std::vector<Trend> trend,
                     const Objective* objective, const Recipe& recipe) {
  Problem p;
  p.recipe = recipe;
  p.n_x = training.n_x;
  p.classes = !training.label.empty();
  p.objective =
      objective != nullptr ? *objective : default_objective(p.classes ? Task::kClassification : Task::kRegression);
  p.objective.scale.clear();
  p.n_y = p.classes ? training.n_y : outputs_of(p.objective, training.n_y);
  p.trend = std::move(trend);
  p.trend.resize(static_cast<std::size_t>(p.n_x), Trend::kAny);
  scale_inputs(training, true, p.scaling);
  scale_values(p.objective, training, true, p.scaling);
  for (std::size_t i = 0; i < p.scaling.x_scale.size(); ++i)
    p.x_zero.push_back(static_cast<double>(p.scaling.x_shift[i]) / static_cast<double>(p.scaling.x_scale[i]));
  set_answer_scale(p);
  Sequences scaled = training;
  apply(p.scaling, scaled);
  p.training = laws::training_lanes(scaled);
  p.replay = laws::replay_lanes(scaled, static_cast<std::size_t>(recipe.prune_steps));
  scaled = judging;
  apply(p.scaling, scaled);
  p.validation = laws::scoring_lanes(scaled);
  for (laws::LaneData* lanes : {&p.training, &p.replay, &p.validation}) lanes->objective = p.objective;
  for (std::size_t s = 0; s < training.count(); ++s)
    p.longest = std::max(p.longest, static_cast<double>(training.length(s)));
  p.few_targets = std::count_if(training.weight.begin(), training.weight.end(), [](float w) { return w > 0.0F; }) <
                  recipe.noise_targets;
  p.few_sequences = are_few(training, recipe);
  p.between.assign(static_cast<std::size_t>(p.n_x), 1.0F);
  if (p.classes) {
    const std::vector<double> spread = spread_of_recordings(training);
    for (std::size_t i = 0; i < spread.size(); ++i)
      p.between[i] = static_cast<float>(spread[i] / static_cast<double>(p.scaling.x_scale[i]));
  }
  Random random(kNormalSeed);
  p.normal.resize(kNormals + laws::kLanes);
  for (float& v : p.normal) v = static_cast<float>(random.normal());
  return p;
}

laws::LaneData lanes_on_scale(const Problem& problem, Sequences data) {
  apply(problem.scaling, data);
  laws::LaneData lanes = laws::training_lanes(data);
  lanes.objective = problem.objective;
  return lanes;
}

void set_free_constants(const Problem& problem, const laws::Parameters& p, std::vector<float>& values) {
  std::vector<double> sum(values.size(), 0.0);
  each_free_constant(p, [&](std::size_t constant, std::size_t weights, int y) {
    for (std::size_t i = 0; i < problem.x_zero.size(); ++i) sum[constant] += p.values[weights + i] * problem.x_zero[i];
    if (y >= 0) sum[constant] -= problem.y_zero[static_cast<std::size_t>(y)];
    values[constant] = static_cast<float>(sum[constant]);
  });
}

void pass_back_constants(const Problem& problem, const laws::Parameters& p, std::vector<double>& gradient) {
  each_free_constant(p, [&](std::size_t constant, std::size_t weights, int) {
    for (std::size_t i = 0; i < problem.x_zero.size(); ++i)
      gradient[weights + i] += gradient[constant] * problem.x_zero[i];
  });
}

}  // namespace remede::frontier

#include "cli/reproduce_trials.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "remede/base/random.h"
#include "remede/model/predict.h"
#include "remede/simplify/simplify.h"
#include "remede/train/begin.h"
#include "remede/train/choose.h"
#include "remede/train/fit.h"

namespace remede {
namespace {

TestScore score_on(const Dataset& test, const Model& model, int threads) {
  const Predictions said = predict(model, test.sequences, threads);
  const auto n_y = static_cast<std::size_t>(model.n_y());
  std::vector<int> answers;
  for (std::size_t t = 0; t < test.sequences.steps(); ++t)
    answers.push_back(arg_max(std::span(said.output).subspan(t * n_y, n_y)));
  TestScore score = score_answers(test, answers);
  score.nodes = model.node_count();
  return score;
}

// Of training and what follows it.
double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// As a fit does it after training: simplification and exact moves, judged by training and validation data.
Model simplified(const Model& raw, const TaskParts& parts, const Config& config) {
  const std::vector<Prepared> folds = folds_of_fit(parts.training, &parts.validation, config);
  SimplifyOptions exactly;
  exactly.exact.drop_inputs = false;
  return simplify(choose({{raw}}, folds, config, 0).front().model(), exactly, nullptr, nullptr).model;
}

// Without the paths that no training sequence takes, and without splits whose sides do the same.
Model pruned(const Model& raw, const TaskParts& parts) {
  SimplifyOptions options;
  options.exact.drop_inputs = false;
  options.tolerance.stop = [] { return true; };  // refuses every edit that would have to be judged
  return simplify(raw, options, &parts.training.sequences, nullptr).model;
}

}  // namespace

TaskParts make_parts(const std::string& task, TaskOptions options, std::uint64_t seed) {
  options.seed = seed;
  const Dataset all = generate(task, options);
  const auto n = static_cast<std::uint32_t>(all.sequences.count());
  const std::uint32_t first = n * 6 / 10, second = n * 8 / 10;
  const auto part = [&](std::uint32_t begin, std::uint32_t end) {
    std::vector<std::uint32_t> numbers(end - begin);
    std::iota(numbers.begin(), numbers.end(), begin);
    Dataset d;
    d.schema = all.schema;
    d.sequences = select(all.sequences, numbers);
    return d;
  };
  return {part(0, first), part(first, second), part(second, n)};
}

TestScore score_answers(const Dataset& test, const std::vector<int>& answers) {
  const auto& classes = test.schema.classes;
  const auto zero = static_cast<int>(std::find(classes.begin(), classes.end(), "0") - classes.begin());
  std::int64_t right = 0, remembered = 0, to_remember = 0;
  for (std::size_t t = 0; t < answers.size(); ++t) {
    const int label = test.sequences.label[t];
    right += answers[t] == label;
    if (label == zero) continue;
    remembered += answers[t] == label;
    ++to_remember;
  }
  return {static_cast<double>(right) / static_cast<double>(answers.size()),
          static_cast<double>(remembered) / static_cast<double>(std::max<std::int64_t>(1, to_remember)), 0};
}

Trial run_random(const TaskParts& parts, std::uint64_t seed) {
  Random random(seed, 0x677565737300);
  std::vector<int> answers(parts.test.sequences.steps());
  for (int& answer : answers) answer = static_cast<int>(random.below(parts.test.schema.classes.size()));
  return {score_answers(parts.test, answers), {}, {}, 0};
}

Trial run_naive(const TaskParts& parts) {
  const Sequences &training = parts.training.sequences, &test = parts.test.sequences;
  std::map<std::size_t, std::vector<int>> counts;
  for (std::size_t s = 0; s < training.count(); ++s)
    for (std::size_t t = 0; t < training.length(s); ++t) {
      auto& count = counts[t];
      count.resize(parts.test.schema.classes.size());
      ++count[static_cast<std::size_t>(training.label[static_cast<std::size_t>(training.offset[s]) + t])];
    }
  std::vector<int> answers;
  for (std::size_t s = 0; s < test.count(); ++s)
    for (std::size_t t = 0; t < test.length(s); ++t) {
      const std::vector<int>& count = counts[t];
      answers.push_back(static_cast<int>(std::max_element(count.begin(), count.end()) - count.begin()));
    }
  return {score_answers(parts.test, answers), {}, {}, 0};
}

Trial run_fit(const TaskParts& parts, const Config& config) {
  const auto begin = std::chrono::steady_clock::now();
  const Fit result = fit(parts.training, &parts.validation, config);
  const double seconds = seconds_since(begin);
  return {score_on(parts.test, result.model, config.threads), {}, {}, seconds};
}

Trial run_paper(const TaskParts& parts, const Config& config) {
  const auto begin = std::chrono::steady_clock::now();
  Config as_trained = config;
  as_trained.simplify = false;
  const Model raw = fit(parts.training, &parts.validation, as_trained).model;
  const Model finished = simplified(raw, parts, config);
  Trial trial;
  trial.seconds = seconds_since(begin);
  trial.score = score_on(parts.test, finished, config.threads);
  trial.raw = score_on(parts.test, raw, config.threads);
  trial.pruned = score_on(parts.test, pruned(raw, parts), config.threads);
  return trial;
}

Recipe longer_paper_recipe() {
  Recipe recipe = paper_recipe();
  recipe.rate_index *= 3;
  recipe.rate_threshold *= 3;
  recipe.single_updates *= 3;
  recipe.restarts = 3;
  return recipe;
}

}  // namespace remede

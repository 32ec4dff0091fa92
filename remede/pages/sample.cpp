#include "remede/pages/sample.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "remede/base/arithmetic.h"
#include "remede/base/random.h"
#include "remede/base/text.h"
#include "remede/data/unknown.h"
#include "remede/model/batch.h"
#include "remede/objective/truth.h"

namespace remede {
namespace {

bool has_target(const Sequences& data, std::size_t step) { return data.has_targets() && data.weight[step] > 0; }

// How wrong each step is: the loss to sum, and whether it is marked.
struct StepErrors {
  std::vector<double> loss;          // (steps) log loss, or mean squared error; 0 without target
  std::vector<std::uint8_t> marked;  // (steps)
};

// How far the answer is off target k.
double error_of(const Objective& objective, const Sequences& data, const Predictions& predictions, std::size_t t,
                int k) {
  const auto n_y = static_cast<std::size_t>(outputs_of(objective, data.n_y));
  const float y = predictions.output[t * n_y + static_cast<std::size_t>(point_output(objective, k))];
  return static_cast<double>(y -
                             truth_at(data, t).value[static_cast<std::size_t>(k)]);  // in float, as the page does it
}

// (n_y) only outputs that answer with one number can be far off.
std::vector<float> far_off(const Objective& objective, const Sequences& data, const Predictions& predictions) {
  std::vector<double> sum(static_cast<std::size_t>(data.n_y));
  double count = 0;
  for (std::size_t t = 0; t < data.steps(); ++t) {
    if (!has_target(data, t)) continue;
    count += 1;
    for (int k = 0; k < data.n_y; ++k) {
      const double d = error_of(objective, data, predictions, t, k);
      if (std::isfinite(d)) sum[static_cast<std::size_t>(k)] += d * d;
    }
  }
  std::vector<float> limits(static_cast<std::size_t>(outputs_of(objective, data.n_y)),
                            std::numeric_limits<float>::max());
  for (int k = 0; k < data.n_y; ++k)
    limits[static_cast<std::size_t>(point_output(objective, k))] =
        static_cast<float>(count > 0 ? 2 * std::sqrt(sum[static_cast<std::size_t>(k)] / count) : 0.0);
  return limits;
}

StepErrors class_errors(const Objective& objective, const Sequences& data, const Predictions& predictions) {
  const auto n_y = static_cast<std::size_t>(data.n_y);
  StepErrors errors{std::vector<double>(data.steps()), std::vector<std::uint8_t>(data.steps())};
  for (std::size_t t = 0; t < data.steps(); ++t) {
    if (!has_target(data, t)) continue;
    const std::span<const float> y = std::span(predictions.output).subspan(t * n_y, n_y);
    if (data.label[t] == kUnknownClass) {
      errors.loss[t] = -log(kLeastProbability);
      errors.marked[t] = 1;
      continue;
    }
    add_loss(objective, y, truth_at(data, t), 1.0, errors.loss[t]);
    errors.marked[t] = is_correct(objective, y, truth_at(data, t)) ? 0 : 1;
  }
  return errors;
}

StepErrors value_errors(const Objective& objective, const Sequences& data, const Predictions& predictions,
                        std::span<const float> limits) {
  StepErrors errors{std::vector<double>(data.steps()), std::vector<std::uint8_t>(data.steps())};
  for (std::size_t t = 0; t < data.steps(); ++t) {
    if (!has_target(data, t)) continue;
    for (int k = 0; k < data.n_y; ++k) {
      const double d = error_of(objective, data, predictions, t, k);
      if (std::isfinite(d)) errors.loss[t] += d * d / static_cast<double>(data.n_y);
      if (std::abs(d) > static_cast<double>(limits[static_cast<std::size_t>(point_output(objective, k))]))
        errors.marked[t] = 1;
    }
  }
  return errors;
}

// Where the largest loss is, `length` steps of begin .. end; the first of equals.
std::size_t worst_stretch(const StepErrors& errors, std::size_t begin, std::size_t end, std::size_t length) {
  double sum = 0;
  for (std::size_t t = begin; t < begin + length; ++t) sum += errors.loss[t];
  double most = sum;
  std::size_t best = begin;
  for (std::size_t t = begin; t + length < end; ++t) {
    sum += errors.loss[t + length] - errors.loss[t];
    if (sum > most) {
      most = sum;
      best = t + 1;
    }
  }
  return best;
}

Excerpt excerpt_of(Task task, const Sequences& data, const StepErrors& errors, std::size_t s, std::size_t most_length) {
  Excerpt excerpt;
  excerpt.sequence = s;
  excerpt.begin = static_cast<std::size_t>(data.offset[s]);
  excerpt.end = static_cast<std::size_t>(data.offset[s + 1]);
  if (excerpt.end - excerpt.begin > most_length) {
    excerpt.begin = worst_stretch(errors, excerpt.begin, excerpt.end, most_length);
    excerpt.end = excerpt.begin + most_length;
  }
  for (std::size_t t = excerpt.begin; t < excerpt.end; ++t) {
    if (!has_target(data, t)) continue;
    ++excerpt.targets;
    excerpt.loss += errors.loss[t];
    excerpt.marked += errors.marked[t];
  }
  if (excerpt.targets > 0) excerpt.loss /= static_cast<double>(excerpt.targets);
  if (task == Task::kRegression) excerpt.loss = std::sqrt(excerpt.loss);
  return excerpt;
}

// What is worse comes first: in classification more mistakes, then a larger loss.
void sort_worst_first(Task task, std::vector<Excerpt>& excerpts) {
  std::stable_sort(excerpts.begin(), excerpts.end(), [&](const Excerpt& a, const Excerpt& b) {
    if (task == Task::kClassification && a.marked != b.marked) return a.marked > b.marked;
    return a.loss > b.loss;
  });
}

std::size_t values_of(const Sequences& data, const Excerpt& excerpt) {
  return (excerpt.end - excerpt.begin) * static_cast<std::size_t>(data.n_x + data.n_y + 1);
}

// As many as the room for values allows, at least one.
std::size_t affordable(const Sequences& data, const std::vector<Excerpt>& sorted, const SampleOptions& options) {
  double values = 0;
  for (const Excerpt& excerpt : sorted) values += static_cast<double>(values_of(data, excerpt));
  const double share = values > 0 ? static_cast<double>(options.most_values) / values : 1;
  const auto count = static_cast<double>(sorted.size());
  const auto room = share >= 1 ? sorted.size() : static_cast<std::size_t>(count * share);
  return std::max<std::size_t>(1, std::min({options.most_sequences, room, sorted.size()}));
}

}  // namespace

Sample choose_sample(const Objective& objective, const Sequences& data, const Predictions& predictions,
                     const SampleOptions& options) {
  const Task task = task_of(objective);
  Sample sample;
  if (task == Task::kRegression && data.has_targets()) sample.far_off = far_off(objective, data, predictions);
  StepErrors errors{std::vector<double>(data.steps()), std::vector<std::uint8_t>(data.steps())};
  if (data.has_targets())
    errors = task == Task::kClassification ? class_errors(objective, data, predictions)
                                           : value_errors(objective, data, predictions, sample.far_off);
  std::vector<Excerpt>& all = sample.excerpts;
  for (std::size_t s = 0; s < data.count(); ++s)
    if (data.length(s) > 0)
      all.push_back(excerpt_of(task, data, errors, s, std::max<std::size_t>(1, options.most_length)));
  const std::size_t total = all.size();
  if (data.has_targets()) sort_worst_first(task, all);
  const std::size_t count = total == 0 ? 0 : affordable(data, all, options);
  const auto things = [](std::size_t n) {
    return fmt::format("{} sequence{}", grouped(static_cast<long long>(n)), n == 1 ? "" : "s");
  };
  if (count == total) {
    sample.note = total == 1 ? "1 sequence" : fmt::format("all {}", things(total));
    return sample;
  }
  const std::size_t worst = data.has_targets() ? (count + 1) / 2 : 0;
  Random random(options.seed);
  random.shuffle(std::span(all).subspan(worst));
  all.resize(count);
  if (data.has_targets())
    sort_worst_first(task, all);
  else
    std::sort(all.begin(), all.end(), [](const Excerpt& a, const Excerpt& b) { return a.sequence < b.sequence; });
  sample.note = fmt::format("{} of {}: ", grouped(static_cast<long long>(count)), things(total));
  sample.note += worst == 0 ? "drawn at random" : fmt::format("the {} worst, {} drawn at random", worst, count - worst);
  return sample;
}

Excerpt worst_sequence(const Model& model, const Sequences& data, int threads) {
  SampleOptions options;
  options.most_sequences = data.count();
  options.most_values = static_cast<std::size_t>(-1);
  return choose_sample(model.objective(), data, predict_batch(model, data, threads), options).excerpts.front();
}

}  // namespace remede

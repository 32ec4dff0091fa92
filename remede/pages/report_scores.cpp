// The scores of the report.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "remede/base/text.h"
#include "remede/draw/chart.h"
#include "remede/objective/truth.h"
#include "remede/pages/html.h"
#include "remede/pages/report_parts.h"

namespace remede {
namespace {

constexpr const char* kUnknownClasses = "(not seen in training)";
constexpr std::size_t kMaxConfusionClasses = 30;  // classes of a confusion table
constexpr std::size_t kMaxScatterPlots = 6;
constexpr std::size_t kMaxPositions = 200;

std::string score(double value) { return std::isnan(value) ? "-" : fmt::format("{:.4f}", value); }
std::string size_of(double value) { return std::isnan(value) ? "-" : short_number(value, 5); }
std::string count(double value) {
  return value == std::floor(value) && value < 1e15 ? grouped(static_cast<long long>(value)) : short_number(value, 6);
}

std::string class_scores(const Model& model, const ClassificationScores& scores) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t c = 0; c < scores.classes.size(); ++c) {
    const ClassScore& s = scores.classes[c];
    rows.push_back({fmt::format("<i class=\"dot\" style=\"background:var(--rm-{})\"></i>{}",
                                class_ink(static_cast<int>(c)).name, xml_escaped(model.schema.classes[c])),
                    score(s.recall), score(s.precision), score(s.f1), count(s.support)});
  }
  if (!scores.unknown.empty())
    rows.push_back({kUnknownClasses, score(0), score(std::nan("")), score(0), count(scores.unknown_support)});
  return html::table({"class", "recall", "precision", "F1", "targets"}, rows);
}

// A row per class, a column per answer; as dark as its share of the row, mistakes in red.
std::string confusion(const Model& model, const ClassificationScores& scores) {
  const std::size_t n = scores.classes.size();
  if (n > kMaxConfusionClasses)
    return html::paragraph(fmt::format("The confusion matrix of {} classes is too large to show.", n));
  std::vector<std::string> heading = {"is \\ said"};
  for (const std::string& name : model.schema.classes) heading.push_back(name);
  std::vector<std::vector<std::string>> rows;
  const auto add_row = [&](const std::string& name, const double* weights, std::size_t right) {
    double sum = 0;
    for (std::size_t c = 0; c < n; ++c) sum += weights[c];
    rows.push_back({xml_escaped(name)});
    for (std::size_t c = 0; c < n; ++c) {
      const double share = sum > 0 ? weights[c] / sum : 0;
      rows.back().push_back(
          fmt::format("<span class=\"{}\" style=\"--share:{:.3f}\" title=\"{} of the steps of this class\">{}</span>",
                      right == c ? "hit" : "miss", share, xml_escaped(percent(share)), count(weights[c])));
    }
  };
  for (std::size_t truth = 0; truth < n; ++truth)
    add_row(model.schema.classes[truth], scores.confusion.data() + truth * n, truth);
  if (!scores.unknown.empty()) add_row(kUnknownClasses, scores.unknown.data(), n);
  return "<h3>Confusion matrix</h3>\n" + html::paragraph("Rows: true class. Columns: predicted class.") +
         "<div class=\"confusion\">" + html::table(heading, rows) + "</div>\n";
}

// The share of right answers, or the root of the mean squared error, by the place of the step in its sequence.
std::string over_time(const Model& model, const Sequences& data, const Predictions& predictions) {
  const Objective& objective = model.objective();
  const bool classifies = model.classifies();
  const auto n_y = static_cast<std::size_t>(model.n_y());
  std::size_t longest = 0;
  for (std::size_t s = 0; s < data.count(); ++s) longest = std::max(longest, data.length(s));
  if (longest < 2) return "";
  const std::size_t per_place = (longest + kMaxPositions - 1) / kMaxPositions;
  std::vector<double> sum((longest + per_place - 1) / per_place), weight(sum.size());
  for (std::size_t s = 0; s < data.count(); ++s)
    for (std::size_t i = 0; i < data.length(s); ++i) {
      const std::size_t t = static_cast<std::size_t>(data.offset[s]) + i;
      if (data.weight[t] <= 0) continue;
      const std::span<const float> y = std::span(predictions.output).subspan(t * n_y, n_y);
      const Truth truth = truth_at(data, t);
      const double value =
          classifies ? (is_correct(objective, y, truth) ? 1.0 : 0.0) : squared_error(objective, y, truth);
      sum[i / per_place] += static_cast<double>(data.weight[t]) * value;
      weight[i / per_place] += static_cast<double>(data.weight[t]);
    }
  Series series{
      classifies ? "accuracy by position in the sequence" : "RMSE by position in the sequence", {}, &class_ink(0)};
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const double mean = weight[i] > 0 ? sum[i] / weight[i] : std::nan("");
    series.values.push_back(classifies ? mean : std::sqrt(mean));
  }
  ChartOptions options;
  options.x_name = "step";
  options.share = classifies;
  options.from_zero = true;
  options.height = 220;
  options.step = static_cast<double>(per_place);
  return html::figure(line_chart({series}, options));
}

std::string value_scores(const Model& model, const RegressionScores& scores) {
  if (scores.outputs.size() < 2) return "";
  std::vector<std::vector<std::string>> rows;
  for (std::size_t o = 0; o < scores.outputs.size(); ++o)
    rows.push_back({xml_escaped(model.schema.targets[o]), size_of(scores.outputs[o].rmse),
                    size_of(scores.outputs[o].mae), score(scores.outputs[o].r2)});
  return html::table({"target", "RMSE", "MAE", "R2"}, rows);
}

std::string scatters(const Model& model, const Sequences& data, const Predictions& predictions) {
  const auto n_y = static_cast<std::size_t>(model.n_y()), n_t = model.schema.targets.size();
  std::string body;
  for (std::size_t o = 0; o < std::min(n_t, kMaxScatterPlots); ++o) {
    const auto point = static_cast<std::size_t>(point_output(model.objective(), static_cast<int>(o)));
    std::vector<float> targets, answers;
    for (std::size_t t = 0; t < data.steps(); ++t) {
      if (data.weight[t] <= 0) continue;
      targets.push_back(data.value[t * n_t + o]);
      answers.push_back(predictions.output[t * n_y + point]);
    }
    body += html::figure(scatter_chart(targets, answers, model.schema.targets[o]));
  }
  return body;
}

// One number of every step of a sequence, as means of `every` steps. value(step): NaN where there is none.
template <typename Value>
std::vector<double> means_over_time(std::size_t first, std::size_t length, std::size_t every, const Value& value) {
  std::vector<double> means;
  for (std::size_t begin = 0; begin < length; begin += every) {
    double sum = 0, count = 0;
    for (std::size_t t = first + begin; t < first + std::min(length, begin + every); ++t)
      if (const double v = value(t); std::isfinite(v)) sum += v, ++count;
    means.push_back(count > 0 ? sum / count : std::nan(""));
  }
  return means;
}

// Targets and answers of one sequence over time: the longest one with targets. Long ones as means of several steps.
std::string observed_and_predicted(const Model& model, const Sequences& data, const Predictions& predictions) {
  constexpr std::size_t kMostPoints = 700;
  const auto n_y = static_cast<std::size_t>(model.n_y()), n_t = model.schema.targets.size();
  const Objective& objective = model.objective();
  std::size_t longest = 0;
  for (std::size_t s = 1; s < data.count(); ++s)
    if (data.length(s) > data.length(longest)) longest = s;
  const std::size_t length = data.length(longest), first = static_cast<std::size_t>(data.offset[longest]);
  if (length < 2) return "";
  const std::size_t every = (length + kMostPoints - 1) / kMostPoints;
  std::string body = "<h3>Observed and predicted over time</h3>\n";
  if (data.count() > 1) body += html::paragraph("The longest sequence.");
  if (every > 1) body += html::paragraph(fmt::format("Each point is the mean of {} steps.", every));
  const auto answers = [&](std::size_t output) {
    return means_over_time(first, length, every,
                           [&](std::size_t t) { return static_cast<double>(predictions.output[t * n_y + output]); });
  };
  for (std::size_t o = 0; o < std::min(n_t, kMaxScatterPlots); ++o) {
    const auto targets = means_over_time(first, length, every, [&](std::size_t t) {
      return data.weight[t] > 0 ? static_cast<double>(data.value[t * n_t + o]) : std::nan("");
    });
    const auto point = static_cast<std::size_t>(point_output(objective, static_cast<int>(o)));
    std::vector<Series> lines = {
        {n_t > 1 ? fmt::format("{} observed", model.schema.targets[o]) : "observed", targets, &class_ink(1)},
        {"predicted", answers(point), &class_ink(0)}};
    if (objective.quantiles.size() > 1)
      for (const std::size_t end : {std::size_t{0}, n_y - 1})
        if (end != point) lines.push_back({fmt::format("q{}", objective.quantiles[end]), answers(end), &class_ink(2)});
    ChartOptions options;
    options.width = 1200;
    options.height = 300;
    options.x_name = "step";
    options.step = static_cast<double>(every);
    body += html::figure(line_chart(lines, options));
  }
  return body;
}

}  // namespace

double naive_score(const Model& model, const Sequences& data, const UnknownTargets& unknown) {
  if (!model.classifies()) return std::sqrt(constant_loss(default_objective(Task::kRegression), data));
  TargetSums targets(model.objective(), data.n_y);
  for (std::size_t t = 0; t < data.steps(); ++t)
    if (data.weight[t] > 0)
      add_target(model.objective(), truth_at(data, t), static_cast<double>(data.weight[t]), targets);
  return *std::max_element(targets.sum.begin(), targets.sum.end()) / (targets.weight + unknown.weight);
}

std::string score_section(const Model& model, const Sequences& data, const Predictions& predictions,
                          const Scores& scores) {
  if (model.schema.task == Task::kClassification) {
    const ClassificationScores& c = scores.classification;
    std::string body = html::table({}, {{"accuracy", score(c.accuracy)},
                                        {"balanced accuracy", score(c.balanced_accuracy)},
                                        {"macro F1", score(c.macro_f1)},
                                        {"AUC", score(c.auc)},
                                        {"log loss", score(c.log_loss)}});
    body += class_scores(model, c) + confusion(model, c) + over_time(model, data, predictions);
    return html::section("scores", "Scores", body);
  }
  const RegressionScore& overall = scores.regression.overall;
  std::vector<std::vector<std::string>> figures;
  for (const Figure& f : scores.regression.objective) figures.push_back({xml_escaped(f.title), size_of(f.value)});
  figures.insert(figures.end(),
                 {{"RMSE", size_of(overall.rmse)}, {"MAE", size_of(overall.mae)}, {"R2", score(overall.r2)}});
  std::string body = html::table({}, figures);
  body += observed_and_predicted(model, data, predictions);
  body += value_scores(model, scores.regression);
  body +=
      "<div class=\"row\">\n" + scatters(model, data, predictions) + over_time(model, data, predictions) + "</div>\n";
  return html::section("scores", "Scores", body);
}

}  // namespace remede

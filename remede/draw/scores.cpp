#include "remede/draw/scores.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "remede/base/tables.h"
#include "remede/base/text.h"
#include "remede/draw/json.h"

namespace remede {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no NaN: what is not defined is null.
Json defined(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

// Counts are whole numbers unless steps are weighted.
Json amount(double value) {
  const bool whole = value == std::floor(value) && value < 1e15;
  return whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

Json classification_json(const Schema& schema, const ClassificationScores& scores) {
  Json json = {{"accuracy", defined(scores.accuracy)},
               {"balanced_accuracy", defined(scores.balanced_accuracy)},
               {"log_loss", defined(scores.log_loss)},
               {"macro_f1", defined(scores.macro_f1)},
               {"auc", defined(scores.auc)},
               {"classes", schema.classes},
               {"recall", Json::object()},
               {"precision", Json::object()},
               {"support", Json::object()},
               {"confusion", Json::array()}};
  const std::size_t n_y = schema.classes.size();
  for (std::size_t c = 0; c < n_y; ++c) {
    json["recall"][schema.classes[c]] = defined(scores.classes[c].recall);
    json["precision"][schema.classes[c]] = defined(scores.classes[c].precision);
    json["support"][schema.classes[c]] = amount(scores.classes[c].support);
    Json row = Json::array();
    for (std::size_t p = 0; p < n_y; ++p) row.push_back(amount(scores.confusion[c * n_y + p]));
    json["confusion"].push_back(row);
  }
  if (!scores.unknown.empty()) {
    json["confusion_of_unknown_classes"] = Json::array();
    for (const double weight : scores.unknown) json["confusion_of_unknown_classes"].push_back(amount(weight));
  }
  return json;
}

Json score_json(const RegressionScore& score) {
  return {{"rmse", defined(score.rmse)}, {"mae", defined(score.mae)}, {"r2", defined(score.r2)}};
}

Json regression_json(const Schema& schema, const RegressionScores& scores) {
  Json json = Json::object();
  for (const Figure& f : scores.objective) json[f.name] = defined(f.value);
  json.update(score_json(scores.overall));
  for (std::size_t o = 0; o < schema.targets.size(); ++o)
    json["outputs"][schema.targets[o]] = score_json(scores.outputs[o]);
  return json;
}

std::string score_figure(double value) { return std::isnan(value) ? "-" : fmt::format("{:.4f}", value); }
std::string error_figure(double value) { return std::isnan(value) ? "-" : fmt::format("{:.6g}", value); }
std::string amount_text(double value) {
  return value == std::floor(value) && value < 1e15 ? grouped(static_cast<long long>(value))
                                                    : fmt::format("{:.6g}", value);
}

constexpr const char* kUnknownClasses = "(not seen in training)";

std::string confusion_text(const Schema& schema, const ClassificationScores& scores) {
  constexpr std::size_t kMaxConfusionClasses = 20;  // a wider table does not fit a terminal
  const std::size_t n_y = schema.classes.size();
  if (n_y > kMaxConfusionClasses) return "";
  std::vector<std::vector<std::string>> rows(1, {""});
  for (const std::string& c : schema.classes) rows[0].push_back(printable(c));
  for (std::size_t truth = 0; truth < n_y; ++truth) {
    rows.push_back({printable(schema.classes[truth])});
    for (std::size_t c = 0; c < n_y; ++c) rows.back().push_back(amount_text(scores.confusion[truth * n_y + c]));
  }
  if (!scores.unknown.empty()) {
    rows.push_back({kUnknownClasses});
    for (const double weight : scores.unknown) rows.back().push_back(amount_text(weight));
  }
  return "\nconfusion (a row per class, a column per prediction)\n" + table(rows, "  ");
}

std::string classification_text(const Schema& schema, const Scores& all) {
  const ClassificationScores& scores = all.classification;
  std::string text = table({{"accuracy", score_figure(scores.accuracy)},
                            {"balanced accuracy", score_figure(scores.balanced_accuracy)},
                            {"macro F1", score_figure(scores.macro_f1)},
                            {"AUC", score_figure(scores.auc)},
                            {"log loss", score_figure(scores.log_loss)},
                            {"steps", amount_text(static_cast<double>(all.steps))},
                            {"sequences", amount_text(static_cast<double>(all.sequences))}},
                           "");
  std::vector<std::vector<std::string>> rows = {{"class", "recall", "precision", "F1", "steps"}};
  for (std::size_t c = 0; c < schema.classes.size(); ++c) {
    const ClassScore& score = scores.classes[c];
    rows.push_back({printable(schema.classes[c]), score_figure(score.recall), score_figure(score.precision),
                    score_figure(score.f1), amount_text(score.support)});
  }
  if (!scores.unknown.empty())
    rows.push_back({kUnknownClasses, score_figure(0), score_figure(std::nan("")), score_figure(0),
                    amount_text(scores.unknown_support)});
  return text + "\n" + table(rows, "  ") + confusion_text(schema, scores);
}

std::string regression_text(const Schema& schema, const Scores& all) {
  const RegressionScores& scores = all.regression;
  TableRows figures;
  for (const Figure& f : scores.objective) figures.push_back({f.title, error_figure(f.value)});
  figures.insert(figures.end(), {{"RMSE", error_figure(scores.overall.rmse)},
                                 {"MAE", error_figure(scores.overall.mae)},
                                 {"R2", score_figure(scores.overall.r2)},
                                 {"steps", amount_text(static_cast<double>(all.steps))},
                                 {"sequences", amount_text(static_cast<double>(all.sequences))}});
  std::string text = table(figures, "");
  if (schema.targets.size() < 2) return text;
  std::vector<std::vector<std::string>> rows = {{"target", "RMSE", "MAE", "R2"}};
  for (std::size_t o = 0; o < schema.targets.size(); ++o)
    rows.push_back({printable(schema.targets[o]), error_figure(scores.outputs[o].rmse),
                    error_figure(scores.outputs[o].mae), score_figure(scores.outputs[o].r2)});
  return text + "\n" + table(rows, "  ");
}

}  // namespace

std::string scores_text(const Schema& schema, const Scores& scores) {
  return schema.task == Task::kClassification ? classification_text(schema, scores) : regression_text(schema, scores);
}

std::string scores_json(const Schema& schema, const Scores& scores, std::size_t unknown) {
  Json json = schema.task == Task::kClassification ? classification_json(schema, scores.classification)
                                                   : regression_json(schema, scores.regression);
  json["steps"] = scores.steps;
  if (unknown > 0) json["steps_of_unknown_class"] = unknown;
  json["sequences"] = scores.sequences;
  return json_text(json, -1);
}

}  // namespace remede

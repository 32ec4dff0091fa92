// remede evaluate MODEL DATA: how good a model is on data with known targets.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/files.h"
#include "cli/tables.h"
#include "cli/verbs.h"
#include "remede/base/text.h"
#include "remede/model/batch.h"
#include "remede/model/file.h"
#include "remede/model/metrics.h"
#include <CLI/CLI.hpp>

namespace remede {
namespace {

using Json = nlohmann::ordered_json;

struct EvaluateFlags {
  std::string model;
  std::string data;
  int threads = 0;
  Roles roles;
  bool json = false;
  bool quiet = false;
};

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

std::string figure(double value) { return std::isnan(value) ? "-" : fmt::format("{:.4f}", value); }
std::string error_figure(double value) { return std::isnan(value) ? "-" : fmt::format("{:.6g}", value); }
std::string count(double value) {
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
    for (std::size_t c = 0; c < n_y; ++c) rows.back().push_back(count(scores.confusion[truth * n_y + c]));
  }
  if (!scores.unknown.empty()) {
    rows.push_back({kUnknownClasses});
    for (const double weight : scores.unknown) rows.back().push_back(count(weight));
  }
  return "\nconfusion (a row per class, a column per prediction)\n" + table(rows, "  ");
}

std::string classification_text(const Schema& schema, const Scores& all) {
  const ClassificationScores& scores = all.classification;
  std::string text = table({{"accuracy", figure(scores.accuracy)},
                            {"balanced accuracy", figure(scores.balanced_accuracy)},
                            {"macro F1", figure(scores.macro_f1)},
                            {"AUC", figure(scores.auc)},
                            {"log loss", figure(scores.log_loss)},
                            {"steps", count(static_cast<double>(all.steps))},
                            {"sequences", count(static_cast<double>(all.sequences))}},
                           "");
  std::vector<std::vector<std::string>> rows = {{"class", "recall", "precision", "F1", "steps"}};
  for (std::size_t c = 0; c < schema.classes.size(); ++c) {
    const ClassScore& score = scores.classes[c];
    rows.push_back({printable(schema.classes[c]), figure(score.recall), figure(score.precision), figure(score.f1),
                    count(score.support)});
  }
  if (!scores.unknown.empty())
    rows.push_back({kUnknownClasses, figure(0), figure(std::nan("")), figure(0), count(scores.unknown_support)});
  return text + "\n" + table(rows, "  ") + confusion_text(schema, scores);
}

std::string regression_text(const Schema& schema, const Scores& all) {
  const RegressionScores& scores = all.regression;
  TableRows figures;
  for (const Figure& f : scores.objective) figures.push_back({f.title, error_figure(f.value)});
  figures.insert(figures.end(), {{"RMSE", error_figure(scores.overall.rmse)},
                                 {"MAE", error_figure(scores.overall.mae)},
                                 {"R2", figure(scores.overall.r2)},
                                 {"steps", count(static_cast<double>(all.steps))},
                                 {"sequences", count(static_cast<double>(all.sequences))}});
  std::string text = table(figures, "");
  if (schema.targets.size() < 2) return text;
  std::vector<std::vector<std::string>> rows = {{"target", "RMSE", "MAE", "R2"}};
  for (std::size_t o = 0; o < schema.targets.size(); ++o)
    rows.push_back({printable(schema.targets[o]), error_figure(scores.outputs[o].rmse),
                    error_figure(scores.outputs[o].mae), figure(scores.outputs[o].r2)});
  return text + "\n" + table(rows, "  ");
}

void evaluate_file(const EvaluateFlags& flags) {
  if (flags.model == "-" && flags.data == "-")
    throw UsageError("evaluate: expected model or data from a file, got - for both");
  const Model model = load_model(flags.model);
  const Schema& schema = model.schema;
  const Dataset dataset = read_dataset(flags.data, schema, flags.roles, true);
  if (!flags.quiet) show_notes(flags.data, dataset);
  const Scores scores = evaluate(model.objective(), predict_batch(model, dataset.sequences, flags.threads),
                                 dataset.sequences, dataset.unknown);
  const bool classifies = schema.task == Task::kClassification;
  if (!flags.json) {
    put(classifies ? classification_text(schema, scores) : regression_text(schema, scores));
    return;
  }
  Json json =
      classifies ? classification_json(schema, scores.classification) : regression_json(schema, scores.regression);
  json["steps"] = scores.steps;
  if (dataset.unknown.count > 0) json["steps_of_unknown_class"] = dataset.unknown.count;
  json["sequences"] = scores.sequences;
  put(json.dump() + "\n");
}

}  // namespace

void add_evaluate(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("evaluate", "Score a model on data with targets");
  const auto flags = std::make_shared<EvaluateFlags>();
  reads_file(verb->add_option("model", flags->model, "Model file")->type_name("MODEL")->required());
  reads_file(verb->add_option("data", flags->data, "CSV file with one row per step; columns are matched by name")
                 ->type_name("DATA")
                 ->required());
  add_json_flag(*verb, flags->json);
  add_threads_flag(*verb, flags->threads);
  add_quiet_flag(*verb, flags->quiet);
  add_role_flags(*verb, flags->roles, false);
  verb->footer("Steps without a target are not scored. A score that is undefined is printed as - and is null in JSON.");
  on_run(*verb, [flags] { evaluate_file(*flags); });
}

}  // namespace remede

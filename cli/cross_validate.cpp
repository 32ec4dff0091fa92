// remede cross-validate DATA: how well training does on data it has not seen, over folds of whole sequences or groups.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/parameters.h"
#include "cli/tables.h"
#include "cli/train_watch.h"
#include "cli/verbs.h"
#include "remede/base/error.h"
#include "remede/data/parts.h"
#include "remede/model/batch.h"
#include "remede/model/metrics.h"
#include "remede/simplify/simplify.h"
#include "remede/train/fit.h"
#include <CLI/CLI.hpp>

namespace remede {
namespace {

using Json = nlohmann::ordered_json;

struct CrossValidateFlags {
  std::string data;
  std::string group;
  int folds = 5;
  bool forward = false;
  Roles roles;
  GivenParameters given;
  bool json = false;
  bool quiet = false;
};

// One fold: the figures of its test part, by name.
struct FoldScore {
  std::vector<double> figures;
  int nodes = 0;
};

const std::vector<std::string>& figure_names(Task task) {
  static const std::vector<std::string> of_classes = {"accuracy", "balanced_accuracy", "macro_f1", "auc", "log_loss"};
  static const std::vector<std::string> of_values = {"rmse", "mae", "r2"};
  return task == Task::kClassification ? of_classes : of_values;
}

std::vector<double> figures(Task task, const Scores& scores) {
  const ClassificationScores& c = scores.classification;
  const RegressionScore& r = scores.regression.overall;
  if (task == Task::kClassification) return {c.accuracy, c.balanced_accuracy, c.macro_f1, c.auc, c.log_loss};
  return {r.rmse, r.mae, r.r2};
}

// Mean and standard deviation (of a sample) of one figure over the folds where it is defined.
std::pair<double, double> mean_and_sd(const std::vector<FoldScore>& folds, std::size_t figure) {
  std::vector<double> values;
  for (const FoldScore& fold : folds)
    if (!std::isnan(fold.figures[figure])) values.push_back(fold.figures[figure]);
  constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) return {kUndefined, kUndefined};
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0.0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return {mean, values.size() > 1 ? std::sqrt(squares / (n - 1)) : kUndefined};
}

// Training leaves out inputs that nothing reads.
Sequences for_model(const Dataset& all, const Model& model) {
  std::vector<int> inputs;
  for (const std::string& name : model.schema.inputs)
    inputs.push_back(static_cast<int>(std::find(all.schema.inputs.begin(), all.schema.inputs.end(), name) -
                                      all.schema.inputs.begin()));
  return select_inputs(all.sequences, inputs);
}

FoldScore run_fold(const RawDataset& raw, const Split& fold, const Config& config, const Callbacks& callbacks) {
  const Dataset all = encode(raw, learn_code(raw, fold.training));
  Dataset training;
  training.schema = all.schema;
  training.sequences = select(all.sequences, fold.training);
  const Fit result = fit(training, nullptr, config, callbacks);
  if (result.stopped) throw ExitWith{128 + SignalWatch::caught()};
  const Sequences held = select(for_model(all, result.model), fold.validation);
  FoldScore score;
  score.nodes = result.model.node_count();
  score.figures =
      figures(all.schema.task, evaluate(all.schema.task, predict_batch(result.model, held, config.threads), held));
  return score;
}

std::string text_of(Task task, const std::vector<FoldScore>& folds) {
  const std::vector<std::string>& names = figure_names(task);
  const auto figure = [](double v) { return std::isnan(v) ? "-" : fmt::format("{:.4f}", v); };
  TableRows rows = {{"fold"}};
  for (const std::string& name : names) rows[0].push_back(name);
  rows[0].push_back("nodes");
  for (std::size_t f = 0; f < folds.size(); ++f) {
    rows.push_back({std::to_string(f + 1)});
    for (const double v : folds[f].figures) rows.back().push_back(figure(v));
    rows.back().push_back(std::to_string(folds[f].nodes));
  }
  rows.push_back({"mean"});
  rows.push_back({"sd"});
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [mean, sd] = mean_and_sd(folds, i);
    rows[rows.size() - 2].push_back(figure(mean));
    rows.back().push_back(figure(sd));
  }
  return table(rows, "");
}

Json json_of(Task task, const std::vector<FoldScore>& folds) {
  const auto defined = [](double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); };
  const std::vector<std::string>& names = figure_names(task);
  Json json = {{"folds", Json::array()}, {"mean", Json::object()}, {"sd", Json::object()}};
  for (const FoldScore& fold : folds) {
    Json one = Json::object();
    for (std::size_t i = 0; i < names.size(); ++i) one[names[i]] = defined(fold.figures[i]);
    one["nodes"] = fold.nodes;
    json["folds"].push_back(std::move(one));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [mean, sd] = mean_and_sd(folds, i);
    json["mean"][names[i]] = defined(mean);
    json["sd"][names[i]] = defined(sd);
  }
  return json;
}

// Each fold is tested once, by what was learned from the others.
std::vector<Split> one_against_others(const std::vector<std::vector<std::uint32_t>>& folds) {
  std::vector<Split> all;
  for (std::size_t test = 0; test < folds.size(); ++test) {
    Split& fold = all.emplace_back();
    fold.validation = folds[test];
    for (std::size_t f = 0; f < folds.size(); ++f)
      if (f != test) fold.training.insert(fold.training.end(), folds[f].begin(), folds[f].end());
    std::sort(fold.training.begin(), fold.training.end());
  }
  return all;
}

// Cuts the data where that is needed.
std::vector<Split> folds_of(Dataset& data, const CrossValidateFlags& flags, std::uint64_t seed) {
  const auto count = static_cast<std::size_t>(flags.folds);
  if (flags.forward) return forward_folds(data, count);
  cut_by_group(data);
  if (data.group.empty() && cut_into(data, count))
    data.notes.push_back(fmt::format("fewer sequences than folds: they are cut into {} pieces, each from empty memory",
                                     data.sequences.count()));
  return one_against_others(deal_folds(data, count, seed));
}

void cross_validate(CrossValidateFlags flags) {
  Config config;
  apply_parameters(flags.given, "cross-validate", config);
  if (!flags.group.empty()) flags.roles.group = flags.group;
  RawDataset raw = read_raw(open_files(flags.data), flags.roles);
  const std::vector<Split> folds = folds_of(raw.data, flags, static_cast<std::uint64_t>(config.seed));
  if (!flags.quiet) show_notes(flags.data, raw.data);
  const SignalWatch watch;
  Callbacks callbacks;
  callbacks.stop = [] { return SignalWatch::caught() != 0; };
  std::vector<FoldScore> scores;
  const Task task = raw.data.schema.task;
  for (const Split& fold : folds) {
    scores.push_back(run_fold(raw, fold, config, callbacks));
    if (!flags.quiet)
      print_error("fold {} of {}: {} {:.4f}\n", scores.size(), folds.size(), figure_names(task)[0],
                  scores.back().figures[0]);
  }
  put(flags.json ? json_of(task, scores).dump() + "\n" : text_of(task, scores));
}

}  // namespace

void add_cross_validate(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("cross-validate", "Train and score over folds of the data");
  const auto flags = std::make_shared<CrossValidateFlags>();
  verb->add_option("data", flags->data, "CSV or .ts file, gzip and zstd too; 'data/*.csv' for several")
      ->type_name("DATA")
      ->required();
  verb->add_option("--folds", flags->folds, "Number of folds")
      ->type_name("N")
      ->check(CLI::Range(2, 1000).description(""))
      ->default_str("5");
  CLI::Option* const group =
      verb->add_option("--group", flags->group, "Column of what must not be in two folds (a person, a machine)");
  group->type_name("COLUMN");
  verb->add_flag("--forward", flags->forward, "Learn from the past, test on what came next, fold by fold")
      ->excludes(group);
  verb->add_flag("--json", flags->json, "Print one JSON object instead of a table");
  add_quiet_flag(*verb, flags->quiet);
  add_role_flags(*verb, flags->roles, true);
  add_parameter_flags(*verb, flags->given);
  verb->footer(
      "A sequence is in one fold only, and with --group a group is. Each fold learns what categories count as from its "
      "own\n"
      "training part. With --forward every sequence is cut in time into one piece more than folds, each from empty "
      "memory;\n"
      "fold k learns from the first k and is tested on the next. The sd is that of a sample, over the folds.");
  verb->callback([flags] { cross_validate(*flags); });
}

}  // namespace remede

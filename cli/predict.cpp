// remede predict MODEL DATA: what the model says of every row, in the order of the rows.
#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/files.h"
#include "cli/verbs.h"
#include "remede/data/csv.h"
#include "remede/model/batch.h"
#include "remede/model/file.h"
#include <CLI/CLI.hpp>

namespace remede {
namespace {

struct PredictFlags {
  std::string model;
  std::string data;
  std::string output = "-";
  int threads = 0;
  Roles roles;
  bool last = false;
  bool quiet = false;
};

std::vector<std::string> header(const Dataset& dataset, const Model& model) {
  const Schema& schema = model.schema;
  std::vector<std::string> names;
  if (!dataset.ids.empty()) names.push_back(dataset.schema.id);
  if (!dataset.times.empty()) names.push_back(dataset.schema.time);
  if (model.classifies() || schema.targets.size() == 1) names.emplace_back("prediction");
  for (const float q : model.objective().quantiles) names.push_back(fmt::format("q_{}", q));
  if (model.classifies()) {
    for (const std::string& c : schema.classes) names.push_back("p_" + c);
  } else if (schema.targets.size() > 1) {
    for (const std::string& target : schema.targets) names.push_back("prediction_" + target);
  }
  return names;
}

// The steps in the order of the rows they came from.
std::vector<std::size_t> steps_by_row(const Dataset& dataset) {
  std::vector<std::size_t> steps(dataset.sequences.steps());
  std::iota(steps.begin(), steps.end(), std::size_t{0});
  std::sort(steps.begin(), steps.end(), [&](std::size_t a, std::size_t b) { return dataset.row[a] < dataset.row[b]; });
  return steps;
}

std::vector<std::uint32_t> sequence_of_step(const Sequences& sequences) {
  std::vector<std::uint32_t> of(sequences.steps());
  for (std::size_t s = 0; s < sequences.count(); ++s)
    std::fill(of.begin() + sequences.offset[s], of.begin() + sequences.offset[s + 1], static_cast<std::uint32_t>(s));
  return of;
}

void write_predictions(const PredictFlags& flags, const Model& model, const Dataset& dataset,
                       const Predictions& predictions) {
  CsvWriter csv(flags.output);
  for (const std::string& name : header(dataset, model)) csv.text(name);
  csv.end_row();
  const auto n_y = static_cast<std::size_t>(model.n_y());
  const std::vector<std::uint32_t> sequence = sequence_of_step(dataset.sequences);
  const auto is_last = [&](std::size_t t) {
    return static_cast<std::int64_t>(t) + 1 == dataset.sequences.offset[sequence[t] + 1];
  };
  for (const std::size_t t : steps_by_row(dataset)) {
    if (flags.last && !is_last(t)) continue;
    if (!dataset.ids.empty()) csv.text(dataset.ids[sequence[t]]);
    if (!dataset.times.empty()) csv.text(dataset.times[t]);
    const std::span<const float> y(predictions.output.data() + t * n_y, n_y);
    if (model.classifies()) csv.text(model.schema.classes[static_cast<std::size_t>(arg_max(y))]);
    if (!model.objective().quantiles.empty())
      csv.number(y[static_cast<std::size_t>(point_output(model.objective(), 0))]);
    for (const float v : y) csv.number(v);
    csv.end_row();
  }
  csv.commit();
}

void predict_file(const PredictFlags& flags) {
  if (flags.model == "-" && flags.data == "-")
    throw UsageError("predict: expected model or data from a file, got - for both");
  const Model model = load_model(flags.model);
  const Dataset dataset = read_dataset(flags.data, model.schema, flags.roles, false);
  if (!flags.quiet) show_notes(flags.data, dataset);
  write_predictions(flags, model, dataset, predict_batch(model, dataset.sequences, flags.threads));
}

}  // namespace

void add_predict(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("predict", "Apply a model to data");
  const auto flags = std::make_shared<PredictFlags>();
  reads_file(verb->add_option("model", flags->model, "Model file")->type_name("MODEL")->required());
  reads_file(verb->add_option("data", flags->data, "CSV file with one row per step; columns are matched by name")
                 ->type_name("DATA")
                 ->required());
  writes_file(verb->add_option("-o,--output", flags->output, "CSV file to write (default: standard output)")
                  ->type_name("FILE"));
  verb->add_flag("--last", flags->last, "Write only the last step of every sequence");
  add_threads_flag(*verb, flags->threads);
  add_quiet_flag(*verb, flags->quiet);
  add_role_flags(*verb, flags->roles, false);
  verb->footer(
      "Writes one row per row of the data, in the same order: the id and time columns, `prediction`, and the "
      "probability\n"
      "of each class as `p_CLASS`; in regression only `prediction` (`prediction_TARGET` if there are several "
      "targets).\n"
      "A model of quantiles gives the quantile nearest to the median as `prediction`, and every quantile in a column\n"
      "such as `q_0.1`.");
  on_run(*verb, [flags] { predict_file(*flags); });
}

}  // namespace remede

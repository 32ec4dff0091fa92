// remede predict MODEL DATA: what the model says of every row, in the order of the rows. With a folder as output, file
// by file: then only a few of them are in memory at a time.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/files.h"
#include "cli/verbs.h"
#include "remede/base/error.h"
#include "remede/base/threads.h"
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

void write_predictions(const PredictFlags& flags, const std::string& output, const Model& model, const Dataset& dataset,
                       const Predictions& predictions) {
  CsvWriter csv(output);
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
  write_predictions(flags, flags.output, model, dataset, predict_batch(model, dataset.sequences, flags.threads));
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return path.ends_with('/') || std::filesystem::is_directory(path, error);
}

// "data/a.csv.gz" gives "FOLDER/a.csv".
std::string output_of(const std::string& folder, const std::string& input) {
  std::filesystem::path name = std::filesystem::path(input).filename();
  if (name.extension() == ".gz" || name.extension() == ".zst") name = name.stem();
  return (std::filesystem::path(folder) / name.replace_extension(".csv")).string();
}

// (inputs) Throws UsageError where two would be one file, or one would replace an input.
std::vector<std::string> outputs_of(const std::string& folder, const std::vector<std::string>& inputs) {
  std::vector<std::string> outputs;
  std::map<std::string, std::string> from;
  for (const std::string& input : inputs) {
    outputs.push_back(output_of(folder, input));
    const auto [at, is_new] = from.emplace(outputs.back(), input);
    if (!is_new)
      throw UsageError(
          fmt::format("predict: expected data files with different names, got {} and {}, which both give {}",
                      at->second, input, outputs.back()));
  }
  std::set<std::filesystem::path> read;
  for (const std::string& input : inputs) read.insert(std::filesystem::weakly_canonical(input));
  for (const std::string& output : outputs)
    if (read.contains(std::filesystem::weakly_canonical(output)))
      throw UsageError(fmt::format("predict: expected a folder other than that of the data, got {}", folder));
  return outputs;
}

// Every file by itself, several at the same time. What was written before an error stays.
void predict_files(const PredictFlags& flags) {
  if (flags.data == "-") throw UsageError("predict: expected data files for an output folder, got standard input");
  const std::vector<std::string> inputs = expand_path(flags.data);
  const std::vector<std::string> outputs = outputs_of(flags.output, inputs);
  const Model model = load_model(flags.model);
  std::error_code error;
  std::filesystem::create_directories(flags.output, error);
  if (error) fail("{}: cannot make the folder: {}", flags.output, error.message());
  const int threads = inputs.size() > 1 ? 1 : flags.threads;
  std::mutex mutex;  // of standard error
  parallel_for(inputs.size(), flags.threads, [&](std::size_t i, int) {
    const Dataset dataset = read_dataset(inputs[i], model.schema, flags.roles, false);
    write_predictions(flags, outputs[i], model, dataset, predict_batch(model, dataset.sequences, threads));
    const std::lock_guard lock(mutex);
    if (!flags.quiet) show_notes(inputs[i], dataset);
  });
}

}  // namespace

void add_predict(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("predict", "Apply a model to data");
  const auto flags = std::make_shared<PredictFlags>();
  reads_file(verb->add_option("model", flags->model, "Model file")->type_name("MODEL")->required());
  reads_file(verb->add_option("data", flags->data, "CSV file with one row per step; columns are matched by name")
                 ->type_name("DATA")
                 ->required());
  writes_file(verb->add_option("-o,--output", flags->output,
                               "CSV file to write (default: standard output), or a folder, for a file per data file")
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
      "such as `q_0.1`.\n"
      "With a folder as output ('data/*.csv' -o out/) every data file is read by itself, so a sequence must lie within "
      "one\n"
      "file; --threads of them are in memory at a time.");
  on_run(*verb, [flags] { is_folder(flags->output) ? predict_files(*flags) : predict_file(*flags); });
}

}  // namespace remede

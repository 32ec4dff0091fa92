// remede report MODEL DATA: one HTML page about a model and how it does on data.
#include "remede/pages/report.h"

#include <memory>
#include <string>

#include "cli/common.h"
#include "cli/files.h"
#include "cli/verbs.h"
#include "remede/base/error.h"
#include "remede/model/file.h"
#include "remede/train/config.h"
#include <CLI/CLI.hpp>

namespace remede {
namespace {

struct ReportFlags {
  std::string model;
  std::string data;
  std::string output;
  int threads = 0;
  bool quiet = false;
  Roles roles;
};

// For a shell: in single quotes where it is more than letters, digits and a few signs.
std::string quoted(const std::string& word) {
  const bool plain = !word.empty() &&
                     word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.,:/+-") ==
                         std::string::npos;
  if (plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// The settings that differ from the defaults, as flags. Empty for a model that keeps no settings, or those of another
// version.
std::string command_of(const Model& model) {
  if (model.training.settings.empty()) return "";
  Config config;
  try {
    config = config_from_settings(model.training.settings, "model");
  } catch (const Error&) {
    return "";
  }
  const Schema& schema = model.schema;
  std::string command = "remede train TRAINING.csv -o model.json";
  command += " --id " + quoted(schema.id.empty() ? "none" : schema.id) + " --time " +
             quoted(schema.time.empty() ? "none" : schema.time);
  for (const std::string& target : schema.targets) command += " --target " + quoted(target);
  command += schema.task == Task::kClassification ? " --task classification" : " --task regression";
  for (const HyperParameter& parameter : hyper_parameters())
    if (parameter.saved() && parameter.get(config) != parameter.get(Config()))
      command += " " + parameter.flag() + (parameter.is_switch() ? "" : " " + quoted(parameter.get(config)));
  return command;
}

void report(const ReportFlags& flags) {
  if (flags.model == "-" && flags.data == "-")
    throw UsageError("report: expected model or data from a file, got - for both");
  const Model model = load_model(flags.model);
  const Dataset data = read_dataset(flags.data, model.schema, flags.roles, false);
  if (!flags.quiet) show_notes(flags.data, data);
  if (!flags.quiet && data.unknown.count > 0) print_error("{}: {}\n", flags.data, data.unknown.note);
  ReportOptions options;
  options.model_name = flags.model == "-" ? "" : flags.model;
  options.data_name = flags.data == "-" ? "" : flags.data;
  options.command = command_of(model);
  options.threads = flags.threads;
  write_report(flags.output, model, data, options);
  if (!flags.quiet && flags.output != "-") print_error("wrote {}\n", flags.output);
}

}  // namespace

void add_report(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("report", "Write an HTML report: data, scores, curves, tree, settings");
  const auto flags = std::make_shared<ReportFlags>();
  reads_file(verb->add_option("model", flags->model, "Model file")->type_name("MODEL")->required());
  reads_file(verb->add_option("data", flags->data, "CSV file with one row per step; columns are matched by name")
                 ->type_name("DATA")
                 ->required());
  writes_file(verb->add_option("-o,--output", flags->output, "HTML file to write (default: report.html)")
                  ->type_name("FILE")
                  ->default_str("report.html"));
  flags->output = "report.html";
  add_threads_flag(*verb, flags->threads);
  add_quiet_flag(*verb, flags->quiet);
  add_role_flags(*verb, flags->roles, false);
  verb->footer(
      "The report is a single file without external resources. Data without targets give a report without scores.");
  on_run(*verb, [flags] { report(*flags); });
}

}  // namespace remede

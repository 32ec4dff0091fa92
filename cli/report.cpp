// remede report MODEL DATA: one HTML page about a model and how it does on data.
#include "remede/pages/report.h"

#include <memory>
#include <string>

#include "cli/common.h"
#include "cli/files.h"
#include "cli/verbs.h"
#include "remede/model/file.h"
#include "remede/train/command.h"
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
  options.command = train_command(model);
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

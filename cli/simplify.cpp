// remede simplify MODEL [DATA]: the smallest model that behaves the same, and what was removed and why.
#include "remede/simplify/simplify.h"

#include <memory>
#include <optional>
#include <string>

#include "cli/common.h"
#include "cli/files.h"
#include "cli/verbs.h"
#include "remede/data/dataset.h"
#include "remede/model/file.h"
#include <CLI/CLI.hpp>

namespace remede {
namespace {

struct SimplifyFlags {
  std::string model;
  std::string data;
  std::string validation;
  std::string output;
  bool exact = false;
  bool keep_inputs = false;
  bool json = false;
  bool quiet = false;
  SimplifyOptions options;
  Roles roles;
};

void check_usage(const SimplifyFlags& flags) {
  const bool has_data = !flags.data.empty();
  const int from_stdin = (flags.model == "-") + (flags.data == "-") + (flags.validation == "-");
  if (from_stdin > 1) throw UsageError("simplify: expected at most one file from standard input, got - more than once");
  if (!has_data && flags.options.round_digits > 0) throw UsageError("simplify: --round needs a data file, got none");
  if (!has_data && flags.options.drop_small) throw UsageError("simplify: --drop-small needs a data file, got none");
  if (!has_data && !flags.validation.empty())
    throw UsageError("simplify: --validation needs a data file as well, got none");
}

std::optional<Dataset> read(const std::string& path, const Model& model, const SimplifyFlags& flags) {
  if (path.empty()) return std::nullopt;
  Dataset dataset = read_dataset(path, model.schema, flags.roles, true);
  if (!flags.quiet) show_notes(path, dataset);
  return dataset;
}

void simplify_file(const SimplifyFlags& flags) {
  check_usage(flags);
  const Model model = load_model(flags.model);
  const std::optional<Dataset> data = read(flags.data, model, flags);
  const std::optional<Dataset> validation = read(flags.validation, model, flags);
  SimplifyOptions options = flags.options;
  options.collapse = !flags.exact;
  options.exact.drop_inputs = !flags.keep_inputs;
  const Simplified result =
      simplify(model, options, data ? &data->sequences : nullptr, validation ? &validation->sequences : nullptr);
  if (!flags.output.empty()) save_model(result.model, flags.output);
  const std::string text = flags.json ? removals_json(result) : summary(result);
  if (flags.quiet && !flags.json) return;
  flags.output == "-" ? put_error(text) : put(text);
  if (!data && !flags.exact && !flags.quiet)
    put_error("remede: only exact steps were taken; give a data file to simplify further\n");
}

}  // namespace

void add_simplify(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("simplify", "Make a model smaller and report what was removed and why");
  const auto flags = std::make_shared<SimplifyFlags>();
  reads_file(verb->add_option("model", flags->model, "Model file")->type_name("MODEL")->required());
  reads_file(
      verb->add_option("data", flags->data, "CSV file with targets, to check that the predictions do not get worse")
          ->type_name("DATA"));
  writes_file(
      verb->add_option("--output,-o", flags->output, "Model file to write; without this option nothing is saved")
          ->type_name("FILE"));
  reads_file(
      verb->add_option("--validation", flags->validation, "Additional data on which the model must not get worse")
          ->type_name("FILE"));
  verb->add_flag("--exact", flags->exact, "Only take steps that keep every prediction bit for bit");
  verb->add_option("--round", flags->options.round_digits,
                   "Round numbers to this many significant digits, or to as few more as the limits require")
      ->check(CLI::Range(1, 9))
      ->type_name("DIGITS");
  verb->add_flag("--drop-small", flags->options.drop_small,
                 "Set small weights of writes and linear leaves to 0 within the limits");
  verb->add_flag("--keep-inputs", flags->keep_inputs, "Keep unused inputs");
  add_json_flag(*verb, flags->json);
  add_quiet_flag(*verb, flags->quiet);
  add_role_flags(*verb, flags->roles, false);
  verb->footer(
      "Limits on DATA and on --validation: the accuracy does not fall, and the log loss (or squared error) rises by "
      "at\n"
      "most 0.01 nats (or 1%). See docs/simplify.md.");
  on_run(*verb, [flags] { simplify_file(*flags); });
}

}  // namespace remede

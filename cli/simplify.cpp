// remede simplify MODEL [DATA]: the smallest model that behaves the same, and what was removed and why.
#include "remede/simplify/simplify.h"

#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/files.h"
#include "cli/verbs.h"
#include "remede/data/dataset.h"
#include "remede/model/file.h"
#include <CLI/CLI.hpp>

namespace remede {
namespace {

using Json = nlohmann::ordered_json;

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
  if (from_stdin > 1) throw UsageError("simplify: expected - for one file at most, got it for several");
  if (!has_data && flags.options.round_digits > 0)
    throw UsageError("simplify: expected data to judge --round by, got none");
  if (!has_data && flags.options.drop_small)
    throw UsageError("simplify: expected data to judge --drop-small by, got none");
  if (!has_data && !flags.validation.empty()) throw UsageError("simplify: expected data beside --validation, got none");
}

std::optional<Dataset> read(const std::string& path, const Model& model, const SimplifyFlags& flags) {
  if (path.empty()) return std::nullopt;
  Dataset dataset = read_dataset(path, model.schema, flags.roles, true);
  if (!flags.quiet) show_notes(path, dataset);
  return dataset;
}

Json report(const Simplified& result) {
  Json json = {{"nodes_before", result.nodes_before},
               {"nodes_after", result.nodes_after},
               {"inputs", result.model.schema.inputs},
               {"removed", Json::array()}};
  for (const Removal& removal : result.removed)
    json["removed"].push_back({{"cause", name(removal.cause)},
                               {"exact", is_exact(removal.cause)},
                               {"what", removal.what},
                               {"why", removal.why},
                               {"nodes", removal.nodes}});
  return json;
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
  const std::string text = flags.json ? report(result).dump() + "\n" : summary(result);
  if (flags.quiet && !flags.json) return;
  flags.output == "-" ? put_error(text) : put(text);
  if (!data && !flags.exact && !flags.quiet)
    put_error("remede: without data only the exact steps were made; name a data file to collapse further\n");
}

}  // namespace

void add_simplify(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("simplify", "Make a model smaller, and say what was removed and why");
  const auto flags = std::make_shared<SimplifyFlags>();
  reads_file(verb->add_option("model", flags->model, "Model file")->type_name("MODEL")->required());
  reads_file(verb->add_option("data", flags->data, "CSV file with targets: what it is predicted as well without goes")
                 ->type_name("DATA"));
  writes_file(
      verb->add_option("--output,-o", flags->output, "Where the smaller model goes; without it nothing is saved")
          ->type_name("FILE"));
  reads_file(
      verb->add_option("--validation", flags->validation, "More data, on which the model must not get worse either")
          ->type_name("FILE"));
  verb->add_flag("--exact", flags->exact, "Only steps that keep every prediction, bit for bit");
  verb->add_option("--round", flags->options.round_digits,
                   "Round numbers to so many digits, or as few more as the data allow")
      ->check(CLI::Range(1, 9))
      ->type_name("DIGITS");
  verb->add_flag("--drop-small", flags->options.drop_small,
                 "Drop weights of writes and linear leaves that the data do not need");
  verb->add_flag("--keep-inputs", flags->keep_inputs, "Keep inputs that nothing uses");
  add_json_flag(*verb, flags->json);
  add_quiet_flag(*verb, flags->quiet);
  add_role_flags(*verb, flags->roles, false);
  verb->footer(
      "Collapsing is judged on DATA and --validation: accuracy does not fall, and log loss (or squared error) rises by "
      "0.01 nats "
      "(or 1%) at most. See docs/simplify.md.");
  on_run(*verb, [flags] { simplify_file(*flags); });
}

}  // namespace remede

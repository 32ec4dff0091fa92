// remede evaluate MODEL DATA: how good a model is on data with known targets.
#include <memory>
#include <string>

#include "cli/common.h"
#include "cli/files.h"
#include "cli/verbs.h"
#include "remede/draw/scores.h"
#include "remede/model/batch.h"
#include "remede/model/file.h"
#include "remede/model/metrics.h"
#include <CLI/CLI.hpp>

namespace remede {
namespace {

struct EvaluateFlags {
  std::string model;
  std::string data;
  int threads = 0;
  Roles roles;
  bool json = false;
  bool quiet = false;
};

void evaluate_file(const EvaluateFlags& flags) {
  if (flags.model == "-" && flags.data == "-")
    throw UsageError("evaluate: expected model or data from a file, got - for both");
  const Model model = load_model(flags.model);
  const Schema& schema = model.schema;
  const Dataset dataset = read_dataset(flags.data, schema, flags.roles, true);
  if (!flags.quiet) show_notes(flags.data, dataset);
  const Scores scores = evaluate(model.objective(), predict_batch(model, dataset.sequences, flags.threads),
                                 dataset.sequences, dataset.unknown);
  put(flags.json ? scores_json(schema, scores, dataset.unknown.count) : scores_text(schema, scores));
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

// remede cross-validate DATA: how well training does on data it has not seen, over folds of whole sequences or groups.
#include "remede/train/cross_validate.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/files.h"
#include "cli/parameters.h"
#include "cli/train_watch.h"
#include "cli/verbs.h"
#include "remede/base/tables.h"
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

std::string text_of(const CrossValidation& result) {
  const std::vector<FoldFigure> figures = result.figures();
  const auto figure = [](double v) { return std::isnan(v) ? "-" : fmt::format("{:.4f}", v); };
  TableRows rows = {{"fold"}};
  for (const FoldFigure& f : figures) rows[0].push_back(f.name);
  rows[0].push_back("nodes");
  for (std::size_t k = 0; k < result.folds.size(); ++k) {
    rows.push_back({std::to_string(k + 1)});
    for (const FoldFigure& f : figures) rows.back().push_back(figure(f.values[k]));
    rows.back().push_back(std::to_string(result.folds[k].nodes));
  }
  rows.push_back({"mean"});
  for (const FoldFigure& f : figures) rows.back().push_back(figure(f.mean));
  rows.push_back({"sd"});
  for (const FoldFigure& f : figures) rows.back().push_back(figure(f.sd));
  return table(rows, "");
}

Json json_of(const CrossValidation& result) {
  const auto defined = [](double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); };
  Json json = {{"folds", Json::array()}, {"mean", Json::object()}, {"sd", Json::object()}};
  for (const FoldFigure& f : result.figures()) {
    for (std::size_t k = 0; k < result.folds.size(); ++k) json["folds"][k][f.name] = defined(f.values[k]);
    json["mean"][f.name] = defined(f.mean);
    json["sd"][f.name] = defined(f.sd);
  }
  for (std::size_t k = 0; k < result.folds.size(); ++k) json["folds"][k]["nodes"] = result.folds[k].nodes;
  return json;
}

void run_cross_validate(CrossValidateFlags flags) {
  Config config;
  apply_parameters(flags.given, "cross-validate", config);
  take_task_of(config, flags.roles);
  if (!flags.group.empty()) flags.roles.group = flags.group;
  RawDataset raw = read_raw(open_files(flags.data), flags.roles);
  const std::vector<Split> folds = make_folds(raw.data, {static_cast<std::size_t>(flags.folds), flags.forward},
                                              static_cast<std::uint64_t>(config.seed));
  if (!flags.quiet) show_notes(flags.data, raw.data);
  const SignalWatch watch;
  Callbacks callbacks;
  callbacks.stop = [] { return SignalWatch::caught() != 0; };
  const CrossValidation result = cross_validate(raw, folds, config, callbacks, [&](const CrossValidation& so_far) {
    const FoldFigure first = so_far.figures().front();
    if (!flags.quiet)
      print_error("fold {} of {}: {} {:.4f}\n", so_far.folds.size(), folds.size(), first.name, first.values.back());
  });
  if (result.stopped) throw ExitWith{128 + SignalWatch::caught()};
  put(flags.json ? json_of(result).dump() + "\n" : text_of(result));
}

}  // namespace

void add_cross_validate(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("cross-validate", "Train and score on folds of the data");
  const auto flags = std::make_shared<CrossValidateFlags>();
  reads_file(verb->add_option("data", flags->data,
                              "CSV or .ts file, optionally gzip or zstd compressed; 'data/*.csv' for several files")
                 ->type_name("DATA")
                 ->required());
  verb->add_option("--folds", flags->folds, "Number of folds")
      ->type_name("N")
      ->check(CLI::Range(2, 1000).description(""))
      ->default_str("5");
  CLI::Option* const group = verb->add_option(
      "--group", flags->group, "Column of groups (a person, a machine) that must not be split between folds");
  group->type_name("COLUMN");
  verb->add_flag("--forward", flags->forward, "In every fold, train on the past and test on what follows")
      ->excludes(group);
  add_json_flag(*verb, flags->json);
  add_quiet_flag(*verb, flags->quiet);
  add_role_flags(*verb, flags->roles, true);
  add_parameter_flags(*verb, flags->given);
  verb->footer(
      "Every sequence (with --group, every group) belongs to one fold. The codes of categorical columns are learned "
      "from\n"
      "the training part of each fold. With --forward, every sequence is cut in time into one more piece than there "
      "are\n"
      "folds, each starting with empty memory; fold k trains on the first k pieces and is tested on the next. sd is "
      "the\n"
      "sample standard deviation over the folds.");
  on_run(*verb, [flags] { run_cross_validate(*flags); });
}

}  // namespace remede

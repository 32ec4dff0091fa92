// remede verify MODEL: proves or disproves properties of a model.
// Exit codes: 0 everything holds; 3 something fails; 4 nothing fails, but something is undecided.
#include "remede/verify/verify.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/files.h"
#include "cli/verbs.h"
#include "remede/base/file.h"
#include "remede/data/dataset.h"
#include "remede/model/file.h"
#include "remede/verify/checks.h"
#include <CLI/CLI.hpp>

namespace remede {
namespace {

constexpr int kSomethingFails = 3;
constexpr int kSomethingUndecided = 4;
constexpr std::size_t kMostPropertyBytes = std::size_t{1} << 20;

struct VerifyFlags {
  std::string model;
  std::vector<std::string> properties;
  std::string properties_file;
  std::string equals;
  std::string automaton;
  std::string robust;
  std::string within;
  std::string counterexample;
  std::string certificate;
  VerifyOptions options;
  bool json = false;
  bool quiet = false;
  Roles roles;
};

std::vector<Verification> run_checks(const Model& model, const VerifyFlags& flags) {
  std::vector<std::string> properties = flags.properties;
  if (!flags.properties_file.empty())
    for (std::string& line : property_lines(read_file(flags.properties_file, kMostPropertyBytes)))
      properties.push_back(std::move(line));
  std::vector<Verification> results = verify(model, properties, flags.options);
  if (!flags.automaton.empty())
    results.push_back(verify_language(model, read_language(flags.automaton), flags.options));
  return results;
}

void write_files(const Model& model, const std::vector<Verification>& results, const VerifyFlags& flags) {
  std::vector<const Verification*> failed, proved;
  for (const Verification& one : results) {
    if (one.verdict == Decision::kFails) failed.push_back(&one);
    if (one.verdict == Decision::kHolds) proved.push_back(&one);
  }
  if (!flags.counterexample.empty() && write_counterexamples(model, failed, flags.counterexample) < failed.size())
    put_error(
        "remede: only the first counterexample was written: the model has no id column to tell sequences apart\n");
  if (!flags.certificate.empty() && !proved.empty()) write_file(flags.certificate, certificate_json(model, proved));
}

int exit_code(const std::vector<Verification>& results) {
  int code = 0;
  for (const Verification& one : results) {
    if (one.verdict == Decision::kFails) return kSomethingFails;
    if (one.verdict == Decision::kUndecided) code = kSomethingUndecided;
  }
  return code;
}

Dataset read_data(const std::string& path, const Model& model, const VerifyFlags& flags) {
  Dataset data = read_dataset(path, model.schema, flags.roles, false);
  if (!flags.quiet) show_notes(path, data);
  return data;
}

void verify_file(VerifyFlags flags) {
  if (!flags.certificate.empty() && (!flags.equals.empty() || !flags.automaton.empty()))
    throw UsageError(
        "verify: expected --certificate with --property or --properties only, got --equals or --automaton");
  const Model model = load_model(flags.model);
  if (!flags.within.empty())
    for (std::string& text : assumptions_from(model, read_data(flags.within, model, flags).sequences))
      flags.options.assumptions.push_back(std::move(text));
  std::optional<Robustness> robustness;
  if (!flags.robust.empty()) {
    robustness = check_robustness(model, read_data(flags.robust, model, flags), flags.options);
  }
  std::vector<Verification> results = run_checks(model, flags);
  Model other;
  if (!flags.equals.empty()) {
    other = load_model(flags.equals);
    results.push_back(verify_equal(model, other, flags.options));
  }
  std::optional<ModelChecks> checks;
  if (results.empty() && !robustness) checks = check_model(model, flags.options);
  write_files(model, results, flags);
  if (flags.json) {
    put(verifications_json(results, checks ? &*checks : nullptr, model, robustness ? &*robustness : nullptr) + "\n");
  } else if (!flags.quiet) {
    for (const Verification& one : results) put(verification_text(one));
    if (checks) put(checks_text(model, *checks));
    if (robustness) put(robustness_text(*robustness));
  }
  if (const int code = exit_code(results); code != 0) throw ExitWith{code};
}

}  // namespace

void add_verify(CLI::App& app) {
  CLI::App* const verb =
      app.add_subcommand("verify", "Prove or disprove what a model does, for sequences of every length");
  const auto flags = std::make_shared<VerifyFlags>();
  reads_file(verb->add_option("model", flags->model, "Model file")->type_name("MODEL")->required());
  verb->add_option("--property,-p", flags->properties,
                   "A property, such as \"never says alarm unless once temp >= 40\"; may be repeated")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  reads_file(
      verb->add_option("--properties", flags->properties_file, "File with a property on each line; # begins a comment")
          ->type_name("FILE"));
  verb->add_option("--assume", flags->options.assumptions,
                   "An assumption about the inputs at every step, such as \"temp in -20..60\"; may be repeated")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  reads_file(verb->add_option("--equals", flags->equals,
                              "Another model file: prove or disprove that both give the same answers")
                 ->type_name("MODEL"));
  reads_file(
      verb->add_option("--automaton", flags->automaton,
                       "JSON file with a finite automaton: prove or disprove that the model accepts the same strings")
          ->type_name("FILE"));
  reads_file(verb->add_option("--within", flags->within,
                              "CSV file: assume that every number stays within the range that it has there")
                 ->type_name("DATA"));
  reads_file(verb->add_option("--robust", flags->robust,
                              "CSV file: find how far every number in it may move before an answer changes")
                 ->type_name("DATA"));
  writes_file(verb->add_option("--counterexample", flags->counterexample,
                               "CSV file to write with the sequences that break a property")
                  ->type_name("FILE"));
  writes_file(verb->add_option("--certificate", flags->certificate,
                               "JSON file to write with the proofs, for tools/check_certificate.py")
                  ->type_name("FILE"));
  verb->add_option("--effort", flags->options.effort,
                   "Factor of the work that is spent before a property is reported as undecided")
      ->check(CLI::Range(0.01, 10000.0))
      ->capture_default_str()
      ->type_name("FACTOR");
  add_json_flag(*verb, flags->json);
  add_quiet_flag(*verb, flags->quiet);
  add_role_flags(*verb, flags->roles, false);
  verb->footer(
      "Without --property, --properties, --equals, --automaton and --robust, the output lists bounds of answers and\n"
      "cells, leaves and answers that never occur, and whether answers rise or fall with each input.\n"
      "Exit codes: 0 all hold, 3 one fails, 4 none fails but one is undecided. The language of properties is in "
      "docs/verify.md.");
  on_run(*verb, [flags] { verify_file(*flags); });
}

}  // namespace remede

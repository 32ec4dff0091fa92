// remede verify MODEL: what the model can ever do, proved or disproved.
// Exit codes: 0 everything holds; 3 something fails; 4 nothing fails, but something is undecided.
#include "remede/verify/verify.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/files.h"
#include "cli/verbs.h"
#include "remede/base/file.h"
#include "remede/base/text.h"
#include "remede/model/file.h"
#include <CLI/CLI.hpp>

namespace remede {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSomethingFails = 3;
constexpr int kSomethingUndecided = 4;
constexpr std::size_t kMostPropertyBytes = std::size_t{1} << 20;

struct VerifyFlags {
  std::string model;
  std::vector<std::string> properties;
  std::string properties_file;
  std::string equals;
  std::string automaton;
  std::string counterexample;
  std::string certificate;
  VerifyOptions options;
  bool json = false;
  bool quiet = false;
};

Json result_json(const Verification& one) {
  Json json = {{"property", one.property}, {"meaning", one.meaning}, {"verdict", name(one.verdict)}};
  if (one.verdict == Decision::kFails) {
    json["step"] = one.counterexample.size();
    json["shortest"] = one.shortest;
    json["counterexample"] = Json::array();
    for (const StepInput& input : one.counterexample) {
      Json row = Json::object();
      for (std::size_t c = 0; c < one.system->columns.size(); ++c) {
        const InputColumn& column = one.system->columns[c];
        const InputOption& option = column.options[static_cast<std::size_t>(input.option[c])];
        const float v = input.x[static_cast<std::size_t>(column.inputs[0])];
        if (column.words)
          row[column.name] = option.missing ? Json() : Json(option.word);
        else
          row[column.name] = v == v ? Json(static_cast<double>(v)) : Json();
      }
      json["counterexample"].push_back(std::move(row));
    }
  } else if (one.verdict == Decision::kUndecided) {
    json["depth"] = one.depth;
    json["stuck"] = one.stuck;
  } else {
    json["exact"] = one.exact;
    json["boxes"] = one.invariant.size();
  }
  return json;
}

std::string steps_text(const Verification& one) {
  constexpr std::size_t kMostShown = 12;
  std::string text;
  const std::size_t count = one.counterexample.size();
  for (std::size_t t = 0; t < count; ++t) {
    if (count > kMostShown && t == kMostShown - 2) {
      text += fmt::format("    ... {} more\n", count - kMostShown + 1);
      t = count - 1;
    }
    text += fmt::format("    step {}: {}\n", t + 1, input_text(*one.system, one.counterexample[t]));
  }
  return text;
}

std::string result_text(const Verification& one) {
  std::string text = fmt::format("{}: {}\n", name(one.verdict), printable(one.property));
  if (one.property != one.meaning) text += fmt::format("  read as: {}\n", printable(one.meaning));
  if (one.verdict == Decision::kHolds) {
    text += one.exact
                ? fmt::format("  for sequences of every length: all {} were visited\n",
                              plural(static_cast<long long>(one.invariant.size()), "configuration"))
                : fmt::format("  for sequences of every length: {} of memory values that no step can leave\n",
                              one.invariant.size() == 1
                                  ? "1 box"
                                  : fmt::format("{} boxes", grouped(static_cast<long long>(one.invariant.size()))));
  } else if (one.verdict == Decision::kFails) {
    text += fmt::format("  broken at step {}{}:\n", one.counterexample.size(),
                        one.shortest ? "; no shorter sequence breaks it" : "");
    text += steps_text(one);
  } else {
    text += fmt::format("  holds for sequences of up to {}; {}\n", plural(static_cast<long long>(one.depth), "step"),
                        one.stuck);
  }
  return text;
}

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
  if (!flags.counterexample.empty() && !failed.empty()) write_counterexamples(model, failed, flags.counterexample);
  if (!flags.certificate.empty() && !proved.empty())
    write_file(flags.certificate, certificate_json(model, proved, flags.options.assumptions));
}

void verify_file(const VerifyFlags& flags) {
  if (!flags.certificate.empty() && (!flags.equals.empty() || !flags.automaton.empty()))
    throw UsageError(
        "verify: expected --certificate with --property or --properties only, got --equals or --automaton");
  const Model model = load_model(flags.model);
  std::vector<Verification> results = run_checks(model, flags);
  Model other;
  if (!flags.equals.empty()) {
    other = load_model(flags.equals);
    results.push_back(verify_equal(model, other, flags.options));
  }
  write_files(model, results, flags);
  Json json = Json::array();
  int code = 0;
  for (const Verification& one : results) {
    if (one.verdict == Decision::kFails) code = kSomethingFails;
    if (one.verdict == Decision::kUndecided && code == 0) code = kSomethingUndecided;
    if (flags.json)
      json.push_back(result_json(one));
    else if (!flags.quiet)
      put(result_text(one));
  }
  if (flags.json) put(Json{{"results", std::move(json)}}.dump() + "\n");
  if (code != 0) throw ExitWith{code};
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
                   "What is true of the inputs at every step, such as \"temp in -20..60\"; may be repeated")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  reads_file(verb->add_option("--equals", flags->equals, "Another model file: do both give the same answers?")
                 ->type_name("MODEL"));
  reads_file(verb->add_option("--automaton", flags->automaton,
                              "JSON file with a finite automaton: does the model accept the same strings?")
                 ->type_name("FILE"));
  writes_file(verb->add_option("--counterexample", flags->counterexample,
                               "CSV file to write with the sequences that break a property")
                  ->type_name("FILE"));
  writes_file(verb->add_option("--certificate", flags->certificate,
                               "JSON file to write with the proofs, for tools/check_certificate.py")
                  ->type_name("FILE"));
  verb->add_option("--effort", flags->options.effort, "Factor of the work spent before a property is undecided")
      ->check(CLI::Range(0.01, 10000.0))
      ->capture_default_str()
      ->type_name("FACTOR");
  add_json_flag(*verb, flags->json);
  add_quiet_flag(*verb, flags->quiet);
  verb->footer(
      "Exit codes: 0 all hold, 3 one fails, 4 none fails but one is undecided. The language of properties is in "
      "docs/verify.md.");
  on_run(*verb, [flags] { verify_file(*flags); });
}

}  // namespace remede

// remede explain MODEL DATA: why a model says what it says. One sequence step by step, the state machine behind the
// memory, what matters, the leaves as sentences, or a page with all of it.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/common.h"
#include "cli/files.h"
#include "cli/verbs.h"
#include "remede/base/file.h"
#include "remede/base/text.h"
#include "remede/data/unknown.h"
#include "remede/draw/importance.h"
#include "remede/draw/machine.h"
#include "remede/draw/rules.h"
#include "remede/draw/trace.h"
#include "remede/model/file.h"
#include "remede/pages/explorer.h"
#include "remede/pages/sample.h"
#include <CLI/CLI.hpp>

namespace remede {
namespace {

struct ExplainFlags {
  std::string model;
  std::string data;
  std::string sequence;
  bool machine = false;
  bool importance = false;
  bool rules = false;
  std::string html;
  std::string format;
  bool json = false;
  std::string output = "-";
  std::size_t sequences = SampleOptions().most_sequences;
  std::uint64_t seed = 1;
  int threads = 0;
  bool quiet = false;
  Roles roles;
};

// A way to look at a model: the flag that asks for it, what it can be written as (the default first), and whether it
// needs data.
struct Look {
  const char* flag;
  std::vector<std::string> formats;
  bool needs_data;
};

Look chosen_look(const ExplainFlags& flags) {
  std::vector<Look> looks;
  if (flags.machine) looks.push_back({"--machine", {"text", "json", "svg", "dot"}, false});
  if (flags.importance) looks.push_back({"--importance", {"text", "json"}, true});
  if (flags.rules) looks.push_back({"--rules", {"text", "json"}, false});
  if (!flags.html.empty()) looks.push_back({"--html", {"html"}, true});
  if (looks.size() > 1)
    throw UsageError(fmt::format("explain: expected one view at a time, got {} and {}", looks[0].flag, looks[1].flag));
  return looks.empty() ? Look{"", {"table", "json", "svg"}, true} : looks[0];
}

void check_usage(const ExplainFlags& flags, const Look& look) {
  const std::string flag = look.flag;
  if (flags.data.empty() && look.needs_data)
    throw UsageError(
        fmt::format("explain: expected a data file after the model{}{}", flag.empty() ? "" : " for ", flag));
  if (flags.model == "-" && flags.data == "-")
    throw UsageError("explain: expected model or data from a file, got - for both");
  if (!flags.sequence.empty() && !flag.empty())
    throw UsageError(fmt::format("explain: expected --sequence or {}, got both", flag));
  if (flag == "--html" && flags.output != "-") throw UsageError("explain: expected --html FILE or -o FILE, got both");
}

std::string about(const Dataset& data, std::size_t sequence, bool judged) {
  const std::string id = data.ids.empty() ? std::to_string(sequence + 1) : printable(std::string(data.ids[sequence]));
  return fmt::format("sequence {}: {} of {} sequences; use --sequence ID to choose another\n", id,
                     judged ? "the one with the largest loss" : "the first",
                     grouped(static_cast<long long>(data.sequences.count())));
}

// The one asked for; else the one the model does worst on, or without targets the first.
std::size_t choose_sequence(const ExplainFlags& flags, const Model& model, const Dataset& data) {
  if (data.sequences.steps() == 0) fail("{}: expected at least one step, got none", flags.data);
  if (!flags.sequence.empty()) return find_sequence(data, flags.sequence);
  const Excerpt worst = data.unknown.count == 0
                            ? worst_sequence(model, data.sequences, flags.threads)
                            : worst_sequence(model, with_unknown_targets(data).sequences, flags.threads);
  if (!flags.quiet && data.sequences.count() > 1) put_error(about(data, worst.sequence, worst.targets > 0));
  return worst.sequence;
}

std::string steps_as(const std::string& format, const ExplainFlags& flags, const Model& model, const Dataset& data) {
  const Trace steps = trace(model, data, choose_sequence(flags, model, data));
  if (format == "json") return trace_json(model, steps);
  if (format == "svg") return trace_svg(model, steps);
  return trace_table(model, steps, colours_on(flags.output));
}

std::string machine_as(const std::string& format, const ExplainFlags& flags, const Model& model, const Dataset* data) {
  const Machine machine = data ? find_machine(model, data->sequences) : possible_machine(model);
  if (format == "json") return machine_json(machine);
  if (format == "svg") return machine_svg(machine);
  if (format == "dot") return machine_dot(machine);
  return machine_text(machine, colours_on(flags.output));
}

std::string importance_as(const std::string& format, const ExplainFlags& flags, const Model& model,
                          const Dataset& data) {
  if (data.sequences.steps() == 0) fail("{}: expected at least one step, got none", flags.data);
  ImportanceOptions options;
  options.seed = flags.seed;
  options.threads = flags.threads;
  const Importance importance = find_importance(model, data.sequences, options);
  return format == "json" ? importance_json(importance) : importance_text(importance, colours_on(flags.output));
}

std::string rules_as(const std::string& format, const Model& model, const Dataset* data) {
  Observations seen;
  if (data) seen = observe(model, data->sequences);
  const Observations* const counts = data ? &seen : nullptr;
  return format == "json" ? rules_json(model, counts) : rules_text(model, counts);
}

void write_page(const ExplainFlags& flags, const std::string& path, const Model& model, const Dataset& data) {
  ExplorerOptions options;
  options.sample.most_sequences = flags.sequences;
  options.sample.seed = flags.seed;
  options.data_name = flags.data == "-" ? "" : flags.data;
  options.threads = flags.threads;
  write_explorer(path, model, data, options);
  if (!flags.quiet && path != "-") print_error("wrote {}\n", path);
}

void explain_model(ExplainFlags flags) {
  const bool page_by_name = flags.format.empty() && !flags.json && flags.output.ends_with(".html") && !flags.machine &&
                            !flags.importance && !flags.rules && flags.html.empty();
  if (page_by_name) {
    flags.html = flags.output;
    flags.output = "-";
  }
  const Look look = chosen_look(flags);
  if (flags.json) flags.format = json_format("explain", flags.format);
  check_usage(flags, look);
  const std::string format = chosen_format("explain", flags.format, flags.output, look.formats);
  const Model model = load_model(flags.model);
  Dataset data;
  const bool with_data = !flags.data.empty();
  if (with_data) {
    data = read_dataset(flags.data, model.schema, flags.roles, false);
    if (!flags.quiet) show_notes(flags.data, data);
    if (flags.importance || flags.rules) data = with_unknown_targets(std::move(data));
  }
  if (!flags.html.empty()) return write_page(flags, flags.html, model, data);
  write_file(flags.output, flags.machine      ? machine_as(format, flags, model, with_data ? &data : nullptr)
                           : flags.importance ? importance_as(format, flags, model, data)
                           : flags.rules      ? rules_as(format, model, with_data ? &data : nullptr)
                                              : steps_as(format, flags, model, data));
}

}  // namespace

void add_explain(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("explain", "Explain the predictions of a model");
  const auto flags = std::make_shared<ExplainFlags>();
  reads_file(verb->add_option("model", flags->model, "Model file")->type_name("MODEL")->required());
  reads_file(verb->add_option("data", flags->data, "CSV file with one row per step; columns are matched by name")
                 ->type_name("DATA"));
  verb->add_option("--sequence", flags->sequence,
                   "Sequence to explain: its id, or its number from 1 (default: the one with the largest loss)")
      ->type_name("ID");
  const std::string views = "Instead of one sequence";
  verb->add_flag("--machine", flags->machine,
                 "The state machine that the memory implements; without data, all possible transitions")
      ->group(views);
  verb->add_flag("--importance", flags->importance,
                 "The importance of each input and memory cell, and how far back the model looks")
      ->group(views);
  verb->add_flag("--rules", flags->rules, "Each leaf as one sentence; with data, the most frequently reached first")
      ->group(views);
  writes_file(verb->add_option("--html", flags->html, "Write an interactive page to this file")
                  ->type_name("FILE")
                  ->group(views));
  verb->add_option("--sequences", flags->sequences,
                   "Maximum number of sequences in the page, half of them those with the largest loss (default: 200)")
      ->type_name("N")
      ->check(CLI::Range(1, 100000).description(""))
      ->group(views);
  verb->add_option(
          "--format", flags->format,
          "table, json or svg; with --machine: text, json, svg or dot (default: from the extension of the output file)")
      ->type_name("FORMAT");
  verb->add_flag("--json", flags->json, "The same as --format json");
  writes_file(
      verb->add_option("-o,--output", flags->output, "Output file (default: standard output)")->type_name("FILE"));
  verb->add_option("--seed", flags->seed, "Seed for permutations and samples (default: 1)")->type_name("N");
  add_threads_flag(*verb, flags->threads);
  add_quiet_flag(*verb, flags->quiet);
  add_role_flags(*verb, flags->roles, false);
  verb->footer(
      "Examples:\n"
      "  remede explain model.json data.csv                       the sequence with the largest loss, step by step\n"
      "  remede explain model.json data.csv --sequence 7 -o 7.svg sequence 7, as a picture\n"
      "  remede explain model.json data.csv --machine             the state machine\n"
      "  remede explain model.json data.csv --html explorer.html  an interactive page\n"
      "See docs/explain.md.");
  on_run(*verb, [flags] { explain_model(*flags); });
}

}  // namespace remede

// remede train DATA -o MODEL: learns a tree from data.
// Exit codes beyond main's: 130 after Ctrl-C and 143 after SIGTERM, with the best model so far saved.
#include <charconv>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/declared.h"
#include "cli/files.h"
#include "cli/parameters.h"
#include "cli/train_data.h"
#include "cli/train_frontier.h"
#include "cli/train_watch.h"
#include "cli/verbs.h"
#include "remede/base/error.h"
#include "remede/base/file.h"
#include "remede/base/text.h"
#include "remede/data/parts.h"
#include "remede/data/raw.h"
#include "remede/draw/text.h"
#include "remede/executor/mpi/mpi.h"
#include "remede/model/file.h"
#include "remede/model/size.h"
#include "remede/schema/roles.h"
#include "remede/simplify/simplify.h"
#include "remede/train/adapt.h"
#include "remede/train/fit.h"
#include "remede/train/helper.h"
#include "remede/train/prepare.h"
#include "remede/train/rows.h"
#include <CLI/CLI.hpp>

namespace remede {
namespace {

constexpr double kSecondsBeforeCheckpoint = 10;  // when nobody asked for one
constexpr const char* kModel = "model.json";

// A checkpoint remembers the command, so that `--resume CHECKPOINT` alone continues it.
using Notes = std::vector<std::pair<std::string, std::string>>;

Notes notes_of(const TrainFlags& flags) {
  Notes notes = {{"data", flags.data}, {"output", flags.output}, {"validation", flags.validation}};
  if (!flags.checkpoint.empty()) notes.emplace_back("checkpoint", flags.checkpoint);
  if (!flags.split.empty()) notes.emplace_back("split", flags.split);
  if (!flags.shard.empty()) notes.emplace_back("shard", flags.shard);
  if (!flags.frontier.empty()) notes.emplace_back("frontier", flags.frontier);
  if (!flags.test.empty()) notes.emplace_back("test", flags.test);
  for (const auto& line : role_lines(flags.roles)) notes.push_back(line);
  return notes;
}

Roles roles_from(const Notes& notes) {
  Roles roles;
  for (const auto& [name, text] : notes) take_role_line(name, text, roles);
  return roles;
}

// What the command line leaves out is as it was.
void take_from(const Notes& notes, TrainFlags& flags) {
  for (const auto& [name, text] : notes) {
    if (name == "data" && flags.data.empty() && text != "-") flags.data = text;
    if (name == "output" && flags.output.empty()) flags.output = text;
    if (name == "validation" && flags.validation.empty()) flags.validation = text;
    if (name == "split" && flags.split.empty()) flags.split = text;
    if (name == "shard" && flags.shard.empty()) flags.shard = text;
    if (name == "test" && flags.test.empty()) flags.test = text;
    if (name == "checkpoint" && flags.checkpoint.empty()) flags.checkpoint = text;
    if (name == "frontier" && flags.frontier.empty()) flags.frontier = text;
  }
  if (role_lines(flags.roles).empty()) flags.roles = roles_from(notes);
  if (flags.data.empty())
    throw UsageError("train: expected the data again, since the run to resume read it from standard input");
}

// Hours of training must not end in "cannot write".
void expect_writable(const std::string& path) {
  struct stat there {};
  const bool special =
      path == "-" || (::stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode));
  if (!path.empty() && !special) const AtomicFile probe(path);
}

void show_notes(const std::string& path, const Dataset& data, bool quiet) {
  if (quiet) return;
  for (const std::string& note : data.notes) print_error("{}: {}\n", path == "-" ? "standard input" : path, note);
}

// The result goes where the model does not.
void tell(const TrainFlags& flags, const std::string& text) {
  if (flags.quiet) return;
  if (flags.output == "-") {
    put_error(text);
  } else {
    put(text);
  }
}

// "pinball loss 12.3, " where it is not the RMSE.
std::string objective_score(const Objective& objective, const Score& s) {
  return objective.loss == Loss::kSquaredError ? "" : fmt::format("{} {:.6g}, ", loss_name(objective), s.loss);
}

std::string score_line(const char* what, const Model& model, const Score& s, const char* remark) {
  const std::string figures = model.schema.task == Task::kClassification
                                  ? fmt::format("accuracy {:.4f}, log loss {:.4f}", s.accuracy, s.loss)
                                  : objective_score(model.objective(), s) + fmt::format("RMSE {:.6g}", s.rmse);
  return fmt::format("{}: {} ({} sequences, {} targets; {})\n", what, figures, s.sequences, s.targets, remark);
}

std::string score_text(const Fit& fit) {
  std::string text = fit.held_out ? score_line("validation", fit.model, fit.validation, "used for selection")
                                  : score_line("training", fit.model, fit.validation, "nothing was held out");
  if (fit.test) text += score_line("test", fit.model, *fit.test, "not used for training or selection");
  return text;
}

void report_json(const TrainFlags& flags, const Fit& fit) {
  const Score& s = fit.validation;
  nlohmann::ordered_json score = {{"held_out", fit.held_out}, {"sequences", s.sequences}, {"targets", s.targets}};
  if (fit.model.schema.task == Task::kClassification)
    score.update({{"accuracy", s.accuracy}, {"log_loss", s.loss}});
  else
    score["rmse"] = s.rmse;
  nlohmann::ordered_json json = {{"model", flags.output},
                                 {"nodes", fit.model.node_count()},
                                 {"nodes_before_simplifying", fit.trained_nodes},
                                 {"stopped", fit.stopped},
                                 {"validation", score}};
  for (const auto& [name, value] : fit.model.training.test) json["test"][name] = value;
  put(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");  // a path may be any bytes
}

void report(const TrainFlags& flags, const Fit& fit) {
  if (flags.json) return report_json(flags, fit);
  TextOptions options;
  options.colours = isatty(flags.output == "-" ? STDERR_FILENO : STDOUT_FILENO) != 0;
  std::string text = score_text(fit);
  text += fmt::format("size: {}\n", size_text(fit.model));
  if (flags.output != "-") text += fmt::format("saved: {}\n", flags.output);
  if (const std::string table = frontier_table(fit); !table.empty()) text += "\n" + table;
  tell(flags, text + "\n" + to_text(fit.model, options));
}

// What was stopped is worth keeping; how to go on is worth knowing.
void tell_stopped(const TrainFlags& flags, const CheckpointFile& checkpoint) {
  std::string how;
  if (checkpoint.written()) {
    how =
        fmt::format("; continue with: remede train {}--resume {}", flags.data == "-" ? "DATA " : "", checkpoint.path());
  }
  print_error("stopped: the best model so far is in {}{}\n", flags.output == "-" ? "standard output" : flags.output,
              how);
}

Config config_of(const TrainFlags& flags, const std::optional<Checkpoint>& from) {
  Config config;
  if (from) config = config_from_settings(from->settings, flags.resume);
  apply_parameters(flags.given, "train", config);
  return config;
}

// With --shard rows no process reads all data.
void expect_rows_alone(const TrainFlags& flags) {
  if (flags.shard.empty()) return;
  for (const auto& [name, text] : {std::pair<const char*, const std::string&>{"--validation", flags.validation},
                                   {"--split", flags.split},
                                   {"--start-from", flags.start_from}})
    if (!text.empty()) throw UsageError(fmt::format("train: expected --shard rows or {}, got both", name));
  if (test_share(flags))
    throw UsageError("train: --test with a share cannot be combined with --shard rows; give the test data as a file");
}

void expect_alone(const TrainFlags& flags) {
  expect_rows_alone(flags);
  if (flags.start_from.empty()) return;
  for (const auto& [name, text] : {std::pair<const char*, const std::string&>{"--resume", flags.resume},
                                   {"--checkpoint", flags.checkpoint},
                                   {"--split", flags.split},
                                   {"--frontier", flags.frontier}})
    if (!text.empty()) throw UsageError(fmt::format("train: expected --start-from or {}, got both", name));
}

// The command's files, and those that a checkpoint names. A run that is resumed may go on in its own checkpoint.
void check_train_files(const CLI::App& verb, const TrainFlags& flags, const std::string& checkpoint) {
  CommandFiles files{
      {{"data", flags.data}, {"--validation", flags.validation}, {"--test", test_share(flags) ? "" : flags.test}},
      {{"--output", flags.output}, {"the checkpoint", checkpoint}}};
  for (NamedFile& file : command_files(verb).read)
    if (file.name != "--resume") files.read.push_back(std::move(file));
  check_files(verb, files);
  check_files(verb, {{{"--resume", flags.resume}}, {{"--output", flags.output}}});
  if (flags.frontier.empty()) return;
  files.read.push_back({"--resume", flags.resume});
  for (const std::vector<NamedFile>& some : {files.read, files.written})
    for (const NamedFile& file : some)
      for (const std::string& path : file.path.empty() ? std::vector<std::string>() : expand_path(file.path))
        if (is_frontier_file(flags.frontier, path))
          throw UsageError(
              fmt::format("train: expected {} elsewhere, got {}, which is one of the files of --frontier {}", file.name,
                          shown(path), flags.frontier));
}

// Where a rank was lost the fit has been stopped, and its checkpoint is saved.
void expect_all_ranks(Ranks& ranks) {
  if (const std::string why = ranks.lost(); !why.empty()) throw Error(why);
}

void tell_traffic(Ranks& ranks) {
  const Peers::Traffic& traffic = ranks.peers().traffic();
  print_error("{} ranks: {} jobs were sent, {} bytes; the answers had {} bytes\n", ranks.count(), traffic.jobs,
              traffic.sent, traffic.received);
}

void tell_rows(const TrainFlags& flags, const Rows& rows, const Ranks* ranks) {
  if (flags.quiet) return;
  const std::size_t sample = rows.training().sequences.steps() + rows.validation().sequences.steps();
  print_error("{}: {} sequences, {} steps, held by {}; the search uses a sample of {} steps\n", flags.data,
              rows.sequences(), rows.steps(),
              ranks == nullptr ? "one process" : fmt::format("{} ranks", ranks->count()), sample);
}

// A process that another one, rank 0, sends jobs to. It reads the same data, writes no file and says nothing.
void help(const TrainFlags& flags, const Config& config, Ranks& ranks) {
  if (!flags.shard.empty()) {
    RowsPart part(flags.data, flags.roles, config, static_cast<std::size_t>(ranks.rank()));
    return ranks.serve("", config.threads, [&part](std::string_view job, const std::function<bool()>& stop) {
      return part.run(job, stop);
    });
  }
  std::optional<Dataset> validation, test;
  if (!flags.start_from.empty()) return ranks.serve("", config.threads, {});  // adapting is not shared
  const Dataset training = read_training(flags, config, validation, test);
  Helper helper(training, validation ? &*validation : nullptr, config);
  ranks.serve(helper.fit(), config.threads,
              [&helper](std::string_view job, const std::function<bool()>& stop) { return helper.run(job, stop); });
}

void train(const CLI::App& verb, TrainFlags flags, Ranks* ranks) {
  const auto began = std::chrono::steady_clock::now();
  const bool helps = ranks != nullptr && ranks->rank() > 0;
  expect_alone(flags);
  std::optional<Checkpoint> from;
  if (!flags.resume.empty()) from = load_checkpoint(flags.resume);
  if (from) take_from(from->notes, flags);
  if (from) expect_alone(flags);
  if (flags.data.empty()) throw UsageError("train: expected a data file (see remede train --help)");
  if (!flags.split.empty() && !flags.validation.empty())
    throw UsageError("train: expected --split or --validation, got both");
  if (flags.output.empty()) flags.output = kModel;
  if (flags.json && flags.output == "-") throw UsageError("train: expected --json or -o -, got both");
  const Config config = config_of(flags, from);
  if (config.validation_fraction && !flags.validation.empty())
    throw UsageError("train: --validation-fraction has no effect here: the validation data are given (--validation)");
  take_task_of(config, flags.roles);
  if ((ranks != nullptr || !flags.shard.empty()) && flags.data == "-")
    throw UsageError("train: expected a data file that every process can read, got standard input");
  if (helps) return help(flags, config, *ranks);
  const bool asked = !flags.checkpoint.empty();
  const std::string unasked = flags.output == "-" ? "" : flags.output + ".checkpoint";
  check_train_files(verb, flags, asked ? flags.checkpoint : unasked);
  if (!flags.frontier.empty()) make_frontier_folder(flags.frontier);
  expect_writable(flags.output);
  expect_writable(flags.checkpoint);

  std::optional<Dataset> validation, test;
  std::optional<Model> start;
  if (!flags.start_from.empty()) start = load_model(flags.start_from);
  std::optional<Rows> rows;
  if (!flags.shard.empty()) rows.emplace(flags.data, flags.roles, config, ranks != nullptr ? &ranks->peers() : nullptr);
  if (rows) tell_rows(flags, *rows, ranks);
  const Dataset training = rows    ? read_test_beside(flags, rows->training(), test)
                           : start ? read_for_start(flags, *start, validation, test)
                                   : read_training(flags, config, validation, test);
  show_notes(flags.data, training, flags.quiet);
  if (validation && !flags.validation.empty()) show_notes(flags.validation, *validation, flags.quiet);
  if (test && !test_share(flags)) show_notes(flags.test, *test, flags.quiet);

  CheckpointFile checkpoint(asked ? flags.checkpoint : unasked, asked ? 0.0 : kSecondsBeforeCheckpoint,
                            notes_of(flags));
  ProgressLine line(flags.quiet, flags.verbose);
  const SignalWatch watch;
  Callbacks callbacks;
  if (line.wanted()) {
    callbacks.progress = [&](const Progress& p) { line.round(p); };
    callbacks.tick = [&](const Progress& p) { line.show(p); };
  }
  callbacks.stop = [ranks] { return SignalWatch::caught() != 0 || (ranks != nullptr && !ranks->lost().empty()); };
  callbacks.checkpoint_due = [&] { return checkpoint.due(); };
  callbacks.checkpoint = [&](const Checkpoint& c) {
    checkpoint.write(c);
    if (ranks != nullptr) expect_all_ranks(*ranks);
  };
  if (ranks != nullptr) callbacks.peers = &ranks->peers();
  callbacks.seconds_spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const Dataset* const judged = validation ? &*validation : nullptr;
  const Checkpoint* const resume = from ? &*from : nullptr;
  Fit result = rows    ? fit_rows(*rows, config, callbacks, resume)
               : start ? adapt(*start, training, judged, config, callbacks)
                       : fit(training, judged, config, callbacks, resume);
  if (result.stopped && ranks != nullptr) {
    ranks->leave();
    expect_all_ranks(*ranks);
  }
  if (test) score_on_test(*test, config.threads, result);
  if (config.simplify) result.model = without_unused_inputs(result.model);
  line.clear();
  if (ranks != nullptr && flags.verbose) tell_traffic(*ranks);
  save_model(result.model, flags.output);
  if (!flags.frontier.empty()) save_frontier(result, flags.frontier);
  if (result.stopped) {
    tell_stopped(flags, checkpoint);
    for (const std::string& note : result.model.training.notes) print_error("note: {}\n", note);
  } else if (!asked) {
    checkpoint.remove();
  }
  for (const std::string& note : result.notes)
    if (!flags.quiet) print_error("note: {}\n", note);
  if (result.late && !flags.quiet)
    print_error("note: the time limit ended the search; another run may give another model\n");
  report(flags, result);
  if (result.stopped) throw ExitWith{128 + SignalWatch::caught()};
}

// What goes wrong in another rank is for rank 0 to tell. Where rank 0 knows, this one ends with success: mpirun ends
// all processes as soon as one ends with an error, and rank 0 must be able to say what happened.
void train_as_rank(const CLI::App& verb, const TrainFlags& flags, Ranks* ranks) {
  if (ranks == nullptr) return train(verb, flags, ranks);
  if (ranks->rank() == 0) {
    train(verb, flags, ranks);
    return ranks->end();
  }
  try {
    train(verb, flags, ranks);
  } catch (const std::exception& error) {
    const bool known = ranks->fail_all(error.what());
    throw ExitWith{known ? 0 : 1};
  }
}

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("train", "Learn a tree from data");
  const auto flags = std::make_shared<TrainFlags>();
  reads_file(verb->add_option("data", flags->data,
                              "CSV or .ts file, optionally gzip or zstd compressed; 'data/*.csv' for several files")
                 ->type_name("DATA"));
  writes_file(
      verb->add_option("-o,--output", flags->output, "Model file to write (default: model.json)")->type_name("MODEL"));
  reads_file(verb->add_option("--validation", flags->validation,
                              "Validation data (default: some of the sequences are held out)")
                 ->type_name("FILE"));
  verb->add_option(
          "--test", flags->test,
          "Test data for a score at the end: a file, or a share of the data (whole sequences, or the end of a single "
          "sequence)")
      ->type_name("FILE|FRACTION");
  verb->add_option("--split", flags->split,
                   "What is held out: sequence (whole sequences), time (the end of each sequence), or a column with "
                   "the words training, validation and test, or with groups")
      ->type_name("BY");
  verb->add_option("--shard", flags->shard,
                   "rows: every process of mpirun reads and holds only a part of the rows; the rows of a sequence must "
                   "stand together (docs/scale.md)")
      ->check(one_of({"rows"}))
      ->type_name("rows");
  writes_file(verb->add_option(
                      "--checkpoint", flags->checkpoint,
                      "File for the state of the run (default: MODEL.checkpoint after ten seconds, removed at the end)")
                  ->type_name("FILE"));
  reads_file(
      verb->add_option("--resume", flags->resume, "Continue the run that wrote this checkpoint, to the same model")
          ->type_name("CHECKPOINT"));
  reads_file(verb->add_option("--start-from", flags->start_from,
                              "Keep the structure of this model and adapt its numbers to the data")
                 ->type_name("MODEL"));
  verb->add_option("--frontier", flags->frontier,
                   "Folder for the best model of every size and a page with the curve of their scores")
      ->type_name("FOLDER");
  verb->add_flag("--parameters-page", flags->parameters_page, "Print docs/parameters.md")->group("");
  add_json_flag(*verb, flags->json);
  add_quiet_flag(*verb, flags->quiet);
  verb->add_flag("--verbose,-v", flags->verbose, "Print a line for every round of the search")->excludes("--quiet");
  add_role_flags(*verb, flags->roles, true);
  add_parameter_flags(*verb, flags->given);
  verb->footer(
      "Ctrl-C, SIGTERM and SIGHUP end the run within seconds and save the best model so far (exit codes 130, 143, "
      "129).");
  verb->callback([verb, flags] {
    if (flags->parameters_page) {
      put(parameters_page());
    } else {
      const std::unique_ptr<Ranks> ranks = join_ranks();
      train_as_rank(*verb, *flags, ranks.get());
    }
  });
}

}  // namespace remede

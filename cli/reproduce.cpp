// remede reproduce: the paper's two tables, from our own runs beside the paper's figures.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/common.h"
#include "cli/declared.h"
#include "cli/files.h"
#include "cli/reproduce_lstm.h"
#include "cli/reproduce_trials.h"
#include "cli/verbs.h"
#include "remede/data/tasks.h"
#include "remede/train/config.h"

namespace remede {
namespace {

const std::vector<std::string> kTasks = {"fixed-delay", "fixed-delay-2", "variable-delay", "variable-delay-2",
                                         "sign-memory"};
const std::vector<std::string> kMethods = {"default", "paper-form", "paper-recipe", "paper-best-of-3",
                                           "lstm",    "random",     "naive"};

bool has_tree(const std::string& method) { return method != "lstm" && method != "random" && method != "naive"; }

// What the paper reports, by task.
struct PaperRow {
  const char* name;
  double mean[5];
  double sd[5];
};
constexpr PaperRow kPaperAccuracy[] = {
    {"paper: ReMeDe", {1.000, 1.000, 1.000, 1.000, 1.000}, {0.000, 0.000, 0.000, 0.000, 0.000}},
    {"paper: LSTM", {1.000, 1.000, 1.000, 1.000, 1.000}, {0.000, 0.000, 0.000, 0.000, 0.000}},
    {"paper: random", {0.334, 0.333, 0.332, 0.333, 0.333}, {0.001, 0.001, 0.002, 0.001, 0.001}},
    {"paper: naive", {0.930, 0.930, 0.889, 0.889, 0.877}, {0.002, 0.002, 0.001, 0.002, 0.003}},
};
constexpr double kPaperNodes[5] = {22.2, 20.2, 21.0, 23.0, 43.8};

struct ReproduceFlags {
  std::vector<std::string> tasks = kTasks;
  std::vector<std::string> methods = kMethods;
  int trials = 5;
  TaskOptions options;
  int threads = 0;
  bool json = false;
  bool quiet = false;
};

std::string cell(const std::vector<double>& values, int digits) {
  if (values.empty()) return "-";
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return fmt::format("{:.{}f} ±{:.{}f}", mean, digits, std::sqrt(squares / static_cast<double>(values.size())), digits);
}

using Results = std::map<std::string, std::map<std::string, std::vector<Trial>>>;  // by method and task

std::size_t task_number(const std::string& task) {
  return static_cast<std::size_t>(std::find(kTasks.begin(), kTasks.end(), task) - kTasks.begin());
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The last cell is the mean over the tasks.
void print_row(const std::string& name, const std::vector<std::string>& cells, const std::vector<double>& means,
               int digits) {
  print("{:<24}", name);
  for (const std::string& text : cells) print("  {:>17}", text);
  print("  {:>8.{}f}\n", mean_of(means), digits);
}

void print_head(const ReproduceFlags& flags, const char* title) {
  print("\n{}\n{:<24}", title, "");
  for (const std::string& task : flags.tasks) print("  {:>17}", task);
  print("  {:>8}\n", "mean");
}

// `value` gives a number of a trial, or nothing where the method has none: then there is no such row.
using ValueOf = std::function<std::optional<double>(const Trial&)>;

void print_method(const ReproduceFlags& flags, const Results& results, const std::string& method,
                  const std::string& suffix, const ValueOf& value, int digits) {
  std::vector<std::string> cells;
  std::vector<double> means;
  for (const std::string& task : flags.tasks) {
    std::vector<double> values;
    for (const Trial& trial : results.at(method).at(task))
      if (const std::optional<double> v = value(trial)) values.push_back(*v);
    if (values.empty()) return;
    cells.push_back(cell(values, digits));
    means.push_back(mean_of(values));
  }
  print_row(method + suffix, cells, means, digits);
}

// A row for each method; where there are raw and pruned trees, two more.
void print_scores(const ReproduceFlags& flags, const Results& results, const char* title, double TestScore::*field,
                  int digits, bool trees_only) {
  print_head(flags, title);
  const auto of = [field](const std::optional<TestScore>& score) {
    return score ? std::optional((*score).*field) : std::nullopt;
  };
  for (const std::string& method : flags.methods) {
    if (trees_only && !has_tree(method)) continue;
    print_method(
        flags, results, method, "", [&](const Trial& t) { return t.score.*field; }, digits);
    print_method(
        flags, results, method, ", pruned", [&](const Trial& t) { return of(t.pruned); }, digits);
    print_method(
        flags, results, method, ", raw", [&](const Trial& t) { return of(t.raw); }, digits);
  }
}

// `sd`: null where the paper states none.
void print_paper(const ReproduceFlags& flags, const char* name, const double* mean, const double* sd, int digits) {
  std::vector<std::string> cells;
  std::vector<double> means;
  for (const std::string& task : flags.tasks) {
    const std::size_t i = task_number(task);
    cells.push_back(fmt::format("{:.{}f}", mean[i], digits) + (sd ? fmt::format(" ±{:.{}f}", sd[i], digits) : ""));
    means.push_back(mean[i]);
  }
  print_row(name, cells, means, digits);
}

void print_results(const ReproduceFlags& flags, const Results& results) {
  print_scores(flags, results, "Accuracy over all steps (Table 1)", &TestScore::accuracy, 4, false);
  for (const PaperRow& row : kPaperAccuracy) print_paper(flags, row.name, row.mean, row.sd, 3);
  print_scores(flags, results, "Recall: accuracy on the steps whose target needs memory", &TestScore::recall, 4, false);
  print_scores(flags, results, "Size in nodes, inner and leaves (Table 2)", &TestScore::nodes, 1, true);
  print_paper(flags, "paper: ReMeDe", kPaperNodes, nullptr, 1);
  print_head(flags, "Seconds for a fit");
  for (const std::string& method : flags.methods)
    if (method != "random" && method != "naive")
      print_method(
          flags, results, method, "", [](const Trial& t) { return t.seconds; }, 2);
}

nlohmann::ordered_json json_of(const TestScore& score) {
  return {{"accuracy", score.accuracy}, {"recall", score.recall}, {"nodes", score.nodes}};
}

nlohmann::ordered_json json_of(const std::string& task, const std::string& method, std::uint64_t seed,
                               const Trial& trial) {
  nlohmann::ordered_json json = {{"task", task}, {"method", method}, {"seed", seed}};
  json.update(json_of(trial.score));
  json["seconds"] = trial.seconds;
  if (trial.pruned) json["pruned"] = json_of(*trial.pruned);
  if (trial.raw) json["raw"] = json_of(*trial.raw);
  return json;
}

Trial run_trial(const std::string& method, const TaskParts& parts, std::uint64_t seed, int threads) {
  if (method == "random") return run_random(parts, seed);
  if (method == "naive") return run_naive(parts);
  if (method == "lstm") return run_lstm(parts, seed, threads);
  Config config;
  config.seed = static_cast<std::int64_t>(seed);
  config.threads = threads;
  if (method == "paper-form") config.form = FormChoice::kPaper;
  if (method == "paper-recipe" || method == "paper-best-of-3") {
    config.recipe = method == "paper-recipe" ? paper_recipe() : longer_paper_recipe();
    return run_paper(parts, config);
  }
  return run_fit(parts, config);
}

// Removes the methods that cannot run here. Returns why, by method.
std::map<std::string, std::string> skip_methods(std::vector<std::string>& methods) {
  if (std::find(methods.begin(), methods.end(), "lstm") == methods.end()) return {};
  const std::string why = why_no_lstm();
  if (why.empty()) return {};
  std::erase(methods, "lstm");
  return {{"lstm", why}};
}

void run(ReproduceFlags flags) {
  const std::map<std::string, std::string> skipped = skip_methods(flags.methods);
  Results results;
  nlohmann::ordered_json trials = nlohmann::ordered_json::array();
  const std::size_t all = flags.tasks.size() * flags.methods.size() * static_cast<std::size_t>(flags.trials);
  std::size_t done = 0;
  const bool shows_progress = !flags.quiet && !flags.json && isatty(STDERR_FILENO) != 0;
  for (const std::string& task : flags.tasks)
    for (int k = 0; k < flags.trials; ++k) {
      const std::uint64_t seed = flags.options.seed + static_cast<std::uint64_t>(k);
      const TaskParts parts = make_parts(task, flags.options, seed);
      for (const std::string& method : flags.methods) {
        if (shows_progress) print_error("\r{:>4} of {}: {} {} seed {}\x1b[K", ++done, all, task, method, seed);
        const Trial trial = run_trial(method, parts, seed, flags.threads);
        results[method][task].push_back(trial);
        trials.push_back(json_of(task, method, seed, trial));
      }
    }
  if (flags.json) return print("{}\n", nlohmann::ordered_json{{"trials", trials}, {"skipped", skipped}}.dump());
  if (shows_progress) print_error("\r\x1b[K");
  print(
      "{} sequences per task, 60 / 20 / 20 for training, validation and test; mean ± standard deviation of {} trials\n",
      *flags.options.sequences, flags.trials);
  for (const auto& [method, why] : skipped) print("{}: skipped: {}\n", method, why);
  print_results(flags, results);
}

}  // namespace

void add_reproduce(CLI::App& app) {
  auto flags = std::make_shared<ReproduceFlags>();
  CLI::App* verb = app.add_subcommand("reproduce", "Reproduce the tables of the paper");
  verb->add_option("--tasks", flags->tasks, "Tasks to run (default: the five tasks of the paper)")
      ->check(one_of(kTasks))
      ->delimiter(',');
  verb->add_option("--methods", flags->methods,
                   "Methods to run (default: all): default, paper-form (the paper's leaf form), paper-recipe (its "
                   "single start), "
                   "paper-best-of-3 (three longer starts), lstm (needs python3 with PyTorch), random, naive")
      ->check(one_of(kMethods))
      ->delimiter(',');
  verb->add_option("--trials", flags->trials, "Number of trials, with consecutive seeds")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  TaskOptions& o = flags->options;
  o.sequences = 10000;
  verb->add_option("--seed", o.seed, "Seed of the first trial")->capture_default_str();
  verb->add_option("--sequences", o.sequences, "Sequences per task")
      ->check(CLI::Range(10, 100000000))
      ->default_str("10000");
  verb->add_option("--delay", o.delay, "Delay of the fixed-delay tasks and of sign-memory")->capture_default_str();
  verb->add_option("--delay-min", o.delay_min, "Minimum delay of the variable-delay tasks")->capture_default_str();
  verb->add_option("--delay-max", o.delay_max, "Maximum delay of the variable-delay tasks")->capture_default_str();
  verb->add_option("--noise-mean", o.noise_mean, "Mean of the noise")->capture_default_str();
  verb->add_option("--noise-sd", o.noise_sd, "Standard deviation of the noise")->capture_default_str();
  add_json_flag(*verb, flags->json);
  add_threads_flag(*verb, flags->threads);
  add_quiet_flag(*verb, flags->quiet);
  on_run(*verb, [flags] { run(*flags); });
}

}  // namespace remede

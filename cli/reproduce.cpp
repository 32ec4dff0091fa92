// remede reproduce: the paper's two tables, from our own runs beside the paper's figures.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/common.h"
#include "cli/declared.h"
#include "cli/files.h"
#include "cli/verbs.h"
#include "remede/base/error.h"
#include "remede/base/random.h"
#include "remede/data/tasks.h"
#include "remede/model/predict.h"
#include "remede/train/fit.h"

namespace remede {
namespace {

const std::vector<std::string> kTasks = {"fixed-delay", "fixed-delay-2", "variable-delay", "variable-delay-2",
                                         "sign-memory"};
const std::vector<std::string> kMethods = {"default", "paper-form", "paper-recipe", "random", "naive"};

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

struct Trial {
  double accuracy = 0;
  double recall = 0;  // on the steps whose target is not "0"
  double nodes = 0;
  double seconds = 0;
};

// 60 / 20 / 20 of the generated sequences, in their order: they are independent.
struct TaskParts {
  Dataset training, validation, test;
};

TaskParts make_parts(const std::string& task, TaskOptions options, std::uint64_t seed) {
  options.seed = seed;
  const Dataset all = generate(task, options);
  const auto n = static_cast<std::uint32_t>(all.sequences.count());
  const std::uint32_t first = n * 6 / 10, second = n * 8 / 10;
  const auto part = [&](std::uint32_t begin, std::uint32_t end) {
    std::vector<std::uint32_t> numbers(end - begin);
    std::iota(numbers.begin(), numbers.end(), begin);
    Dataset d;
    d.schema = all.schema;
    d.sequences = select(all.sequences, numbers);
    return d;
  };
  return {part(0, first), part(first, second), part(second, n)};
}

// Counts answers against targets.
class AnswerCount {
 public:
  explicit AnswerCount(const Schema& schema)
      : zero_(static_cast<int>(std::find(schema.classes.begin(), schema.classes.end(), "0") - schema.classes.begin())) {
  }
  void add(int answer, int label) {
    right_ += answer == label;
    ++all_;
    if (label == zero_) return;
    remembered_ += answer == label;
    ++to_remember_;
  }
  Trial trial() const {
    return {static_cast<double>(right_) / static_cast<double>(all_),
            static_cast<double>(remembered_) / static_cast<double>(std::max<std::int64_t>(1, to_remember_)), 0, 0};
  }

 private:
  int zero_;
  std::int64_t right_ = 0, all_ = 0, remembered_ = 0, to_remember_ = 0;
};

Trial run_random(const TaskParts& parts, std::uint64_t seed) {
  Random random(seed, 0x677565737300);
  AnswerCount answers(parts.test.schema);
  for (const std::int32_t label : parts.test.sequences.label)
    answers.add(static_cast<int>(random.below(parts.test.schema.classes.size())), label);
  return answers.trial();
}

// The commonest training target of each position.
Trial run_naive(const TaskParts& parts) {
  const Sequences &training = parts.training.sequences, &test = parts.test.sequences;
  std::map<std::size_t, std::vector<int>> counts;
  for (std::size_t s = 0; s < training.count(); ++s)
    for (std::size_t t = 0; t < training.length(s); ++t) {
      auto& count = counts[t];
      count.resize(parts.test.schema.classes.size());
      ++count[static_cast<std::size_t>(training.label[static_cast<std::size_t>(training.offset[s]) + t])];
    }
  AnswerCount answers(parts.test.schema);
  for (std::size_t s = 0; s < test.count(); ++s)
    for (std::size_t t = 0; t < test.length(s); ++t) {
      const std::vector<int>& count = counts[t];
      const auto mode = static_cast<int>(std::max_element(count.begin(), count.end()) - count.begin());
      answers.add(mode, test.label[static_cast<std::size_t>(test.offset[s]) + t]);
    }
  return answers.trial();
}

Trial run_fit(const std::string& method, const TaskParts& parts, std::uint64_t seed, int threads) {
  Config config;
  config.seed = static_cast<std::int64_t>(seed);
  config.threads = threads;
  if (method == "paper-form") config.form = FormChoice::kPaper;
  if (method == "paper-recipe") config.recipe = paper_recipe();
  const auto begin = std::chrono::steady_clock::now();
  const Fit result = fit(parts.training, &parts.validation, config);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const Sequences& test = parts.test.sequences;
  const Predictions said = predict(result.model, test, threads);
  const auto n_y = static_cast<std::size_t>(result.model.n_y());
  AnswerCount answers(parts.test.schema);
  for (std::size_t t = 0; t < test.steps(); ++t)
    answers.add(arg_max(std::span(said.output).subspan(t * n_y, n_y)), test.label[t]);
  Trial trial = answers.trial();
  trial.nodes = result.model.node_count();
  trial.seconds = seconds;
  return trial;
}

std::string cell(const std::vector<double>& values, int digits) {
  if (values.empty()) return "-";
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return fmt::format("{:.{}f} ±{:.{}f}", mean, digits, std::sqrt(squares / static_cast<double>(values.size())), digits);
}

using Results = std::map<std::string, std::map<std::string, std::vector<Trial>>>;  // by method and task

void print_table(const ReproduceFlags& flags, const Results& results, const char* title, double Trial::*field,
                 int digits, bool fits_only) {
  print("\n{}\n{:<16}", title, "");
  for (const std::string& task : flags.tasks) print("  {:>17}", task);
  print("\n");
  for (const std::string& method : flags.methods) {
    if (fits_only && (method == "random" || method == "naive")) continue;
    print("{:<16}", method);
    for (const std::string& task : flags.tasks) {
      std::vector<double> values;
      for (const Trial& trial : results.at(method).at(task)) values.push_back(trial.*field);
      print("  {:>17}", cell(values, digits));
    }
    print("\n");
  }
}

std::size_t task_number(const std::string& task) {
  return static_cast<std::size_t>(std::find(kTasks.begin(), kTasks.end(), task) - kTasks.begin());
}

void print_results(const ReproduceFlags& flags, const Results& results) {
  print_table(flags, results, "Accuracy over all steps (Table 1)", &Trial::accuracy, 4, false);
  for (const PaperRow& row : kPaperAccuracy) {
    print("{:<16}", row.name);
    for (const std::string& task : flags.tasks)
      print("  {:>17}", fmt::format("{:.3f}  ±{:.3f}", row.mean[task_number(task)], row.sd[task_number(task)]));
    print("\n");
  }
  print_table(flags, results, "Recall: accuracy on the steps whose target needs memory", &Trial::recall, 4, false);
  print_table(flags, results, "Size in nodes, inner and leaves (Table 2)", &Trial::nodes, 1, true);
  print("{:<16}", "paper: ReMeDe");
  for (const std::string& task : flags.tasks) print("  {:>17}", fmt::format("{:.1f}", kPaperNodes[task_number(task)]));
  print("\n");
  print_table(flags, results, "Seconds for a fit", &Trial::seconds, 2, true);
}

void run(const ReproduceFlags& flags) {
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
        const Trial trial = method == "random"  ? run_random(parts, seed)
                            : method == "naive" ? run_naive(parts)
                                                : run_fit(method, parts, seed, flags.threads);
        results[method][task].push_back(trial);
        trials.push_back({{"task", task},
                          {"method", method},
                          {"seed", seed},
                          {"accuracy", trial.accuracy},
                          {"recall", trial.recall},
                          {"nodes", trial.nodes},
                          {"seconds", trial.seconds}});
      }
    }
  if (flags.json) return print("{}\n", nlohmann::ordered_json{{"trials", trials}}.dump());
  if (shows_progress) print_error("\r\x1b[K");
  print(
      "{} sequences per task, 60 / 20 / 20 for training, validation and test; mean ± standard deviation of {} trials\n",
      *flags.options.sequences, flags.trials);
  print_results(flags, results);
}

}  // namespace

void add_reproduce(CLI::App& app) {
  auto flags = std::make_shared<ReproduceFlags>();
  CLI::App* verb = app.add_subcommand("reproduce", "Reproduce the tables of the paper");
  verb->add_option("--tasks", flags->tasks, "Tasks to run (default: the five tasks of the paper)")
      ->check(one_of(kTasks))
      ->delimiter(',');
  verb->add_option("--methods", flags->methods, "Methods to run: default, paper-form, paper-recipe, random, naive")
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

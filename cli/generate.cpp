// remede generate: data sets of tasks that need memory.
#include <memory>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/declared.h"
#include "cli/files.h"
#include "cli/verbs.h"
#include "remede/base/error.h"
#include "remede/data/tasks.h"

namespace remede {
namespace {

struct GenerateFlags {
  std::string task;
  std::string output = "-";
  TaskOptions options;
  bool quiet = false;
};

std::string list_of_tasks() {
  std::string text = "Tasks (columns sequence, step, x1, ..., y):\n";
  for (const TaskInfo& task : tasks()) text += fmt::format("  {:<18}{}\n", task.name, task.summary);
  text += "The first five are the tasks of the paper.";
  return text;
}

std::vector<std::string> names_of_tasks() {
  std::vector<std::string> names;
  for (const TaskInfo& task : tasks()) names.push_back(task.name);
  return names;
}

std::string check_task(const std::string& word) {
  if (find_task(word) != nullptr) return "";
  return fmt::format("unknown task '{}'{}", word, suggestion(word, names_of_tasks()));
}

void add_flags(CLI::App& verb, GenerateFlags& flags) {
  TaskOptions& o = flags.options;
  verb.add_option("TASK", flags.task, "Task to generate, see below")
      ->required()
      ->type_name("")
      ->check(one_of(names_of_tasks()).operation(check_task));
  writes_file(verb.add_option("-o,--output", flags.output, "Output file; - is standard output")
                  ->type_name("FILE")
                  ->capture_default_str());
  const auto add = [&](const char* name, auto& value, const char* help) {
    verb.add_option(name, value, help)->capture_default_str();
  };
  verb.add_option("--sequences", o.sequences, "Number of sequences [10000; runoff: 10]");
  add("--seed", o.seed, "Random seed; the same seed gives the same file on every machine");
  add("--delay", o.delay, "Number of zeros between value and trigger, or between blocks");
  add("--delay-min", o.delay_min, "Minimum delay of the variable-delay tasks");
  add("--delay-max", o.delay_max, "Maximum delay of the variable-delay tasks");
  add("--blocks", o.blocks, "Number of blocks of sign-memory");
  add("--block-length", o.block_length, "Steps per block of sign-memory");
  add("--noise-mean", o.noise_mean, "Mean of the noise added to the zeros (paper's tasks)");
  add("--noise-sd", o.noise_sd, "Standard deviation of the noise");
  add("--length-min", o.length_min, "Minimum length of a sequence (other tasks)");
  add("--length-max", o.length_max, "Maximum length of a sequence (other tasks)");
  add_quiet_flag(verb, flags.quiet);
}

// A flag that changes nothing is a mistake worth telling. --delay sets both ends of a delay that varies.
void settle(const CLI::App& verb, GenerateFlags& flags) {
  const TaskInfo& task = *find_task(flags.task);
  const auto given = [&](const char* flag) { return verb.count(flag) > 0; };
  if (task.delay_range && given("--delay")) {
    if (!given("--delay-min")) flags.options.delay_min = flags.options.delay;
    if (!given("--delay-max")) flags.options.delay_max = flags.options.delay;
  }
  const auto refuse = [&](const char* flag, bool used) {
    if (given(flag) && !used) throw UsageError(fmt::format("generate: task {} does not use {}", flags.task, flag));
  };
  refuse("--delay", task.delay || task.delay_range);
  refuse("--delay-min", task.delay_range);
  refuse("--delay-max", task.delay_range);
  refuse("--blocks", task.blocks);
  refuse("--block-length", task.blocks);
  refuse("--noise-mean", task.noise);
  refuse("--noise-sd", task.noise);
  refuse("--length-min", task.length);
  refuse("--length-max", task.length);
  // One end given beyond the default of the other moves the other.
  TaskOptions& o = flags.options;
  if (given("--length-min") && !given("--length-max")) o.length_max = std::max(o.length_max, o.length_min);
  if (given("--length-max") && !given("--length-min")) o.length_min = std::min(o.length_min, o.length_max);
  if (given("--delay-min") && !given("--delay-max") && !given("--delay"))
    o.delay_max = std::max(o.delay_max, o.delay_min);
  if (given("--delay-max") && !given("--delay-min") && !given("--delay"))
    o.delay_min = std::min(o.delay_min, o.delay_max);
}

Dataset generate_or_refuse(const GenerateFlags& flags) {
  try {
    return generate(flags.task, flags.options);
  } catch (const Error& error) {  // all it finds fault with are flags
    throw UsageError(fmt::format("generate: {}", error.what()));
  }
}

}  // namespace

void add_generate(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("generate", "Generate data for a task that needs memory");
  const auto flags = std::make_shared<GenerateFlags>();
  add_flags(*verb, *flags);
  verb->footer(list_of_tasks());
  on_run(*verb, [verb, flags] {
    settle(*verb, *flags);
    const Dataset data = generate_or_refuse(*flags);
    write_dataset(flags->output, data);
    if (flags->output != "-" && !flags->quiet)
      print_error("{}: {} sequences, {} steps\n", flags->output, data.sequences.count(), data.sequences.steps());
  });
}

}  // namespace remede

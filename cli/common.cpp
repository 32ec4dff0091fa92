#include "cli/common.h"

#include <cstdio>
#include <map>
#include <vector>

#include "remede/base/file.h"

namespace remede {

void add_role_flags(CLI::App& verb, Roles& roles, bool with_task) {
  const std::string group = "Columns";
  verb.add_option("--id", roles.id, "Column that names the sequence; 'row' makes every row its own sequence")
      ->type_name("COLUMN")
      ->group(group);
  verb.add_option("--time", roles.time, "Column that orders the steps of a sequence")
      ->type_name("COLUMN")
      ->group(group);
  // One value per flag, so that `--target y data.csv` does not swallow the file name.
  verb.add_option("--target", roles.target, "Column to predict; repeat for several values")
      ->type_name("COLUMN")
      ->allow_extra_args(false)
      ->group(group);
  verb.add_option("--ignore", roles.ignore, "Column to leave out; repeat for several")
      ->type_name("COLUMN")
      ->allow_extra_args(false)
      ->group(group);
  if (!with_task) return;
  const std::map<std::string, Task> tasks = {{"classification", Task::kClassification},
                                             {"regression", Task::kRegression}};
  verb.add_option_function<std::string>(
          "--task", [&roles, tasks](const std::string& word) { roles.task = tasks.at(word); },
          "What to predict: classification or regression (default: judged by the target column)")
      ->check(CLI::IsMember(std::vector<std::string>{"classification", "regression"}).description(""))
      ->type_name("TASK")
      ->group(group);
}

void add_quiet_flag(CLI::App& verb, bool& quiet) {
  verb.add_flag("--quiet,-q", quiet, "Print nothing but results and errors");
}

void add_threads_flag(CLI::App& verb, int& threads) {
  verb.add_option("--threads", threads, "Number of threads (default: as many as the machine has); changes no result")
      ->type_name("N")
      ->check(CLI::Range(0, 1024).description(""));
}

void show_notes(const std::string& path, const Dataset& dataset) {
  for (const std::string& note : dataset.notes) print_error("{}: {}\n", path == "-" ? "standard input" : path, note);
}

void put(std::string_view text) { write_file("-", text); }

void put_error(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace remede

#include "cli/common.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/declared.h"
#include "cli/files.h"
#include "remede/base/column.h"
#include "remede/base/error.h"
#include "remede/base/file.h"
#include "remede/schema/roles.h"

namespace remede {

namespace {

// a,b,c or one name; a column whose name holds a comma must stand in a role file.
void append_list(std::vector<std::string>& to, const std::string& text) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    to.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

void add_format_flags(CLI::App& verb, TableFormat& format) {
  const std::string group = "Format";
  verb.add_option_function<std::string>(
          "--names", [&format](const std::string& text) { append_list(format.names, text); },
          "Column names of a file without a header line: a,b,c; s1..s21 stands for 21 names")
      ->type_name("NAMES")
      ->group(group);
  verb.add_option_function<std::string>(
          "--separator", [&format](const std::string& text) { format.separator = parse_separator(text); },
          "Separator of the cells: comma, semicolon, tab, space (one or more), or a character (default: detected)")
      ->type_name("SEPARATOR")
      ->group(group);
  verb.add_option_function<std::string>(
          "--comment", [&format](const std::string& text) { format.comment = parse_comment(text); },
          "Skip lines that begin with this character")
      ->type_name("CHARACTER")
      ->group(group);
  verb.add_option("--skip", format.skip, "Skip the first N lines")
      ->type_name("N")
      ->check(CLI::Range(0, 1000000).description(""))
      ->group(group);
}

// One list per flag, so that `--target y data.csv` does not swallow the file name.
void add_list_flag(CLI::App& verb, const std::string& name, std::vector<std::string>& list, const std::string& help) {
  verb.add_option_function<std::vector<std::string>>(
          name,
          [&list](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) append_list(list, text);
          },
          help)
      ->type_name("COLUMN")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false)
      ->group("Columns");
}

void add_schema_flags(CLI::App& verb, Roles& roles) {
  const std::string group = "Columns";
  add_list_flag(verb, "--categorical", roles.categorical,
                "Treat this column as categorical even if it holds numbers; a,b for several");
  verb.add_option("--horizon", roles.horizon, "Predict the target N steps ahead; its current value becomes an input")
      ->type_name("N")
      ->check(CLI::Range(0, 1000000).description(""))
      ->group(group);
  verb.add_flag("--time-gap", roles.time_gap, "Add the time since the previous step as an input")->group(group);
  const std::map<std::string, Task> tasks = {{"classification", Task::kClassification},
                                             {"regression", Task::kRegression}};
  verb.add_option_function<std::string>(
          "--task", [&roles, tasks](const std::string& word) { roles.task = tasks.at(word); },
          "classification or regression (default: depends on the target column)")
      ->check(one_of({"classification", "regression"}))
      ->type_name("TASK")
      ->group(group);
}

// The last of them, so that the flags have been read when it is.
void add_roles_file_flag(CLI::App& verb, Roles& roles) {
  reads_file(verb.add_option_function<std::string>(
                     "--roles", [&roles](const std::string& path) { read_roles(path, roles); },
                     "JSON file with these options (docs/data.md); options on the command line take precedence")
                 ->type_name("FILE")
                 ->group("Columns"));
}

// Number of single-letter edits (insert, delete, replace, swap of neighbours) from one word to the other.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

}  // namespace

std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  constexpr std::size_t kLongestWord = 64;  // a longer one is no typing error, and the table would be large
  if (word.size() > kLongestWord) return "";
  std::string best;
  std::size_t least = std::min<std::size_t>(3, word.size() / 2 + 1);  // one beyond the last accepted
  for (const std::string& k : known) {
    const bool begun = word.size() >= 3 && k.starts_with(word);  // "--val" for "--validation"
    const std::size_t distance = begun ? 1 : edit_distance(word, k);
    if (distance < least) {
      least = distance;
      best = k;
    }
  }
  return best.empty() ? "" : fmt::format(", did you mean '{}'?", best);
}

// Large data go into temporary files beyond the limit, whether it is given or not.
static void add_memory_flag(CLI::App& verb, std::shared_ptr<ColumnStore>& store) {
  store = std::make_shared<ColumnStore>(default_memory_limit());
  verb.add_option_function<std::string>(
          "--memory-limit",
          [&store](const std::string& text) {
            try {
              store = std::make_shared<ColumnStore>(parse_memory_limit(text));
            } catch (const Error& error) {
              throw UsageError(fmt::format("--memory-limit: {}", error.what()));
            }
          },
          "Memory for data, such as 800M or 2G; larger data use temporary files (default: half of the machine's)")
      ->type_name("BYTES");
}

void add_role_flags(CLI::App& verb, Roles& roles, bool with_task) {
  const std::string group = "Columns";
  verb.add_option("--id", roles.id,
                  "Column that identifies the sequence; 'row': every row is a sequence; 'file': every file is one")
      ->type_name("COLUMN")
      ->group(group);
  verb.add_option("--time", roles.time, "Column that orders the steps of a sequence")
      ->type_name("COLUMN")
      ->group(group);
  add_list_flag(verb, "--target", roles.target,
                "Column to predict; a,b for several; 'folder': the name of the folder that contains the file");
  add_list_flag(verb, "--ignore", roles.ignore, "Column to ignore; a,b for several");
  verb.add_option("--weight", roles.weight, "Column with the weight of each step in the loss and in scores")
      ->type_name("COLUMN")
      ->group(group);
  verb.add_option_function<std::string>(
          "--target-per",
          [&roles](const std::string& word) {
            roles.target_per = word == "step" ? TargetPer::kStep : TargetPer::kSequence;
          },
          "Predict at every step, or once per sequence at its last step (default: step)")
      ->check(one_of({"step", "sequence"}))
      ->type_name("step|sequence")
      ->group(group);
  verb.add_flag("--strict-time", roles.strict_time,
                "Reject a time that occurs twice in a sequence (default: such rows keep their order)")
      ->group(group);
  add_format_flags(verb, roles.format);
  if (with_task) add_schema_flags(verb, roles);
  add_roles_file_flag(verb, roles);
  add_memory_flag(verb, roles.store);
}

void add_quiet_flag(CLI::App& verb, bool& quiet) {
  verb.add_flag("--quiet,-q", quiet, "Print only results and errors");
}

void add_json_flag(CLI::App& verb, bool& json) {
  verb.add_flag("--json", json, "Print one JSON object for programs, and nothing else on standard output");
}

void add_threads_flag(CLI::App& verb, int& threads) {
  verb.add_option("--threads", threads, "Number of threads (default: one per processor); does not affect the result")
      ->type_name("N")
      ->check(CLI::Range(0, 1024).description(""));
}

std::string chosen_format(const char* verb, const std::string& asked, const std::string& output,
                          const std::vector<std::string>& formats) {
  const auto known = [&formats](std::string word) {
    if (word == "gv") word = "dot";
    if (word == "text" || word == "table") word = formats.front() == "table" ? "table" : "text";
    return std::find(formats.begin(), formats.end(), word) != formats.end() ? word : std::string();
  };
  if (!asked.empty()) {
    const std::string format = known(asked);
    if (format.empty())
      throw UsageError(fmt::format("{}: expected a --format of {}, got '{}'", verb, fmt::join(formats, ", "), asked));
    return format;
  }
  const std::size_t dot = output.rfind('.');
  const std::string by_name = dot == std::string::npos ? "" : known(output.substr(dot + 1));
  return by_name.empty() ? formats.front() : by_name;
}

std::string json_format(const char* verb, const std::string& asked) {
  if (!asked.empty() && asked != "json")
    throw UsageError(fmt::format("{}: expected --json or --format {}, got both", verb, asked));
  return "json";
}

bool colours_on(const std::string& output) {
  const char* const refused = std::getenv("NO_COLOR");
  return output == "-" && isatty(STDOUT_FILENO) != 0 && (refused == nullptr || refused[0] == '\0');
}

std::size_t columns_of(const std::string& output) {
  constexpr std::size_t kDefault = 100, kLeast = 60;
  winsize size{};
  if (output != "-" || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kDefault;
  return std::max<std::size_t>(size.ws_col, kLeast);
}

void show_notes(const std::string& path, const Dataset& dataset) {
  for (const std::string& note : dataset.notes) print_error("{}: {}\n", path == "-" ? "standard input" : path, note);
}

void put(std::string_view text) { write_file("-", text); }

void put_error(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace remede

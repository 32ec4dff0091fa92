// The program: verbs, and the translation of errors into one line and an exit code.
// 0: success; 1: bad data, a bad model or a system error; 2: bad usage. Further codes are described in the file of a
// verb.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/verbs.h"
#include "remede/base/error.h"
#include "remede/base/file.h"
#include "remede/executor/mpi/mpi.h"
#include <CLI/CLI.hpp>

namespace remede {
namespace {

constexpr int kSuccess = 0;
constexpr int kBadData = 1;
constexpr int kBadUsage = 2;

const char* const kOverview =
    "remede: decision trees that remember.\n"
    "Learns one readable decision tree from sequences. At every step the tree predicts and may write to its "
    "memory.\n";

const char* const kExamples =
    "Examples:\n"
    "  remede generate fixed-delay -o data.csv       generate data\n"
    "  remede train data.csv -o model.json           train a model\n"
    "  remede show model.json                        print the tree\n"
    "  remede evaluate model.json data.csv           compute scores\n"
    "  remede predict model.json data.csv -o out.csv predict\n"
    "  remede explain model.json data.csv            explain one sequence step by step\n"
    "- stands for standard input or output. `remede VERB --help` describes a verb.";

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(verb->get_name());
  return names;
}

std::vector<std::string> flag_names(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// Where to find help.
std::string pointer(const CLI::App& app) {
  const std::vector<CLI::App*> used = app.get_subcommands();
  return used.empty() ? " (see remede --help)" : fmt::format(" (see remede {} --help)", used.front()->get_name());
}

// An unexpected argument is the most likely cause of other errors, so it is reported first.
std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> used = app.get_subcommands();
  const CLI::App& where = used.empty() ? app : *used.front();
  const std::string verb = used.empty() ? "" : where.get_name() + ": ";
  for (const CLI::App* level : {&app, &where})
    for (const std::string& word : level->remaining()) {
      const bool flag = word.size() > 1 && word[0] == '-';
      if (flag) {
        const std::string name = word.substr(0, word.find('='));
        return fmt::format("{}unknown flag '{}'{}", verb, name, suggestion(name, flag_names(where)));
      }
      std::vector<std::string> known = verb_names(app);
      known.emplace_back("--help");
      if (used.empty()) return fmt::format("unknown verb '{}'{}", word, suggestion(word, known));
      std::error_code ignored;
      const bool file = std::filesystem::exists(word, ignored);  // a pattern that the shell has expanded
      return fmt::format("{}unexpected argument '{}'{}", verb, word,
                         file ? "; several files are one argument, a pattern in quotes, such as 'data/*.csv'" : "");
    }
  if (used.empty()) return "expected a verb: " + fmt::format("{}", fmt::join(verb_names(app), ", "));
  return verb + error.what();
}

// Errors are one line, whatever they quote.
std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text;
}

// Of several processes that mpirun started, the first speaks for all.
int report(const std::string& message, int code) {
  if (launched_rank() == 0) print_error("remede: {}\n", one_line(message));
  return code;
}

void parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help and --version
    std::ostringstream text;
    app.exit(asked, text, text);
    put(text.str());
  }
}

int run(CLI::App& app, int argc, char** argv) {
  try {
    parse(app, argc, argv);
    return kSuccess;
  } catch (const ExitWith& exit) {
    return exit.code;
  } catch (const CLI::ParseError& error) {
    return report(explain(app, error) + pointer(app), kBadUsage);
  } catch (const UsageError& error) {
    return report(error.what(), kBadUsage);
  } catch (const BrokenPipe&) {
    return kSuccess;
  } catch (const Error& error) {
    return report(error.what(), kBadData);
  } catch (const std::bad_alloc&) {
    return report("not enough memory", kBadData);
  } catch (const std::exception& error) {
    return report(fmt::format("internal error: {}", error.what()), kBadData);
  }
}

}  // namespace
}  // namespace remede

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a write to a closed pipe fails instead, where it can be handled
  std::signal(SIGXFSZ, SIG_IGN);  // so does one beyond the size that files may have
  CLI::App app(remede::kOverview, "remede");
  app.set_version_flag("-V,--version", "remede " REMEDE_VERSION, "Print the version and exit");
  app.get_formatter()->label("SUBCOMMAND", "VERB");
  app.get_formatter()->column_width(34);
  app.require_subcommand(1);
  remede::add_generate(app);
  remede::add_describe(app);
  remede::add_train(app);
  remede::add_predict(app);
  remede::add_evaluate(app);
  remede::add_cross_validate(app);
  remede::add_stream(app);
  remede::add_serve(app);
  remede::add_show(app);
  remede::add_explain(app);
  remede::add_report(app);
  remede::add_export(app);
  remede::add_rename(app);
  remede::add_simplify(app);
  remede::add_verify(app);
  remede::add_recipe(app);
  remede::add_reproduce(app);
  remede::add_benchmark(app);
  remede::add_completion(app);
  remede::add_manual(app);
  app.footer(remede::kExamples);  // after the verbs, which would inherit it
  for (CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) verb->group("Verbs");
  return remede::run(app, argc, argv);
}

// What the verbs share: flags for the parts that columns play, and printing to pipes that may close early.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "remede/data/dataset.h"
#include <CLI/CLI.hpp>

namespace remede {

// Flags that are each fine and together make no sense. main prints it and ends with exit code 2.
class UsageError : public std::runtime_error {
 public:
  explicit UsageError(const std::string& message) : std::runtime_error(message) {}
};

// Thrown by a verb that has done and said what there was to do, to end with another exit code than 0.
struct ExitWith {
  int code = 0;
};

// Adds --roles, --id, --time, --target, --ignore and the like, --memory-limit, and what decides the schema (--task,
// --categorical,
// --horizon) where `with_task`: for a model it is decided. `roles` is filled while the command line is
// parsed and must live until the verb's callback has run.
void add_role_flags(CLI::App& verb, Roles& roles, bool with_task);

// Adds --quiet: nothing but results and errors.
void add_quiet_flag(CLI::App& verb, bool& quiet);

// Adds --json: one JSON value on standard output, and nothing else there.
void add_json_flag(CLI::App& verb, bool& json);

// Adds --threads; 0, the default, means all of the machine's. The result never depends on it.
void add_threads_flag(CLI::App& verb, int& threads);

// The format asked for, else the one the output's name ends in (tree.svg), else the first. "text" and "table" are one.
// Throws UsageError where it is none of `formats`.
std::string chosen_format(const char* verb, const std::string& asked, const std::string& output,
                          const std::vector<std::string>& formats);

// The format "json", for --json. Throws UsageError where another was asked for.
std::string json_format(const char* verb, const std::string& asked);

// Whether what goes to `output` is read on a terminal that wants colours (NO_COLOR unset), and how wide that is (else
// 100).
bool colours_on(const std::string& output);
std::size_t columns_of(const std::string& output);

// ", did you mean 'train'?", or nothing when no known word is close.
std::string suggestion(const std::string& word, const std::vector<std::string>& known);

// What reading a file had to assume, on standard error, a line each.
void show_notes(const std::string& path, const Dataset& dataset);

// put writes to standard output at once and throws when that fails (BrokenPipe: the reader has gone, main ends
// quietly). put_error writes to standard error and never fails: a closed terminal must not end a training run. Do not
// mix with std::cout or fmt::print to the same stream.
void put(std::string_view text);
void put_error(std::string_view text);

template <typename... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  put(fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void print_error(fmt::format_string<Args...> format, Args&&... args) {
  put_error(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace remede

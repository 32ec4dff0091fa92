#include "cli/files.h"

#include <utility>

#include "cli/common.h"
#include "cli/parameters.h"
#include "remede/base/error.h"
#include "remede/data/dataset.h"

namespace remede {
namespace {

// CLI11 keeps no notes of ours with an option, but validators have names.
constexpr const char* kRead = "file that is read";
constexpr const char* kWritten = "file that is written";

CLI::Option* name_file(CLI::Option* option, const char* use) {
  const auto named = [](const std::string& path) { return path.empty() ? "expected the name of a file, got ''" : ""; };
  return option->check(CLI::Validator([named](std::string& path) { return std::string(named(path)); }, "", use));
}

bool is_named(const CLI::Option& option, const std::string& name) {
  // get_validator() is not const, and throws where there is none.
  try {
    return const_cast<CLI::Option&>(option).get_validator(name) != nullptr;
  } catch (const CLI::OptionNotFound&) {
    return false;
  }
}

// What the option was given, or its default.
std::string path_of(const CLI::Option& option) {
  return option.count() > 0 ? option.results().back() : option.get_default_str();
}

}  // namespace

CLI::Option* reads_file(CLI::Option* option) { return name_file(option, kRead); }
CLI::Option* writes_file(CLI::Option* option) { return name_file(option, kWritten); }

FileUse file_use(const CLI::Option& option) {
  if (is_named(option, kRead)) return FileUse::kRead;
  return is_named(option, kWritten) ? FileUse::kWritten : FileUse::kNone;
}

CommandFiles command_files(const CLI::App& verb) {
  CommandFiles files;
  for (const CLI::Option* option : verb.get_options()) {
    const FileUse use = file_use(*option);
    const bool recipe = option->get_name() == "--recipe" && option->count() > 0 && is_recipe_file(path_of(*option));
    if (use == FileUse::kRead || recipe) files.read.push_back({option->get_name(), path_of(*option)});
    if (use == FileUse::kWritten) files.written.push_back({option->get_name(), path_of(*option)});
  }
  return files;
}

void check_files(const CLI::App& verb, const CommandFiles& files) {
  std::vector<NamedFile> inputs, outputs;
  for (const NamedFile& file : files.read)
    if (!file.path.empty())
      for (std::string& path : expand_path(file.path)) inputs.push_back({file.name, std::move(path)});
  for (const NamedFile& file : files.written)
    if (!file.path.empty()) outputs.push_back(file);
  try {
    expect_separate_files(inputs, outputs);
    expect_separate_files(inputs, {{"standard output", "-"}});
  } catch (const Error& error) {
    throw UsageError(fmt::format("{}: {}", verb.get_name(), error.what()));
  }
}

void on_run(CLI::App& verb, std::function<void()> action) {
  verb.callback([&verb, action = std::move(action)] {
    check_files(verb, command_files(verb));
    action();
  });
}

}  // namespace remede

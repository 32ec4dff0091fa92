// Files on the command line. Each option that names one is declared as read or written; from this follow the check that
// no output destroys an input, the refusal of empty names, and the completion of file names in a shell.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "remede/base/file.h"
#include <CLI/CLI.hpp>

namespace remede {

enum class FileUse { kNone, kRead, kWritten };

// Declares the option as one that names a file, and returns it. Data files may be a pattern or a list.
CLI::Option* reads_file(CLI::Option* option);
CLI::Option* writes_file(CLI::Option* option);
FileUse file_use(const CLI::Option& option);

// The files on a command line, by the names of their options; a default counts where an option has one.
struct CommandFiles {
  std::vector<NamedFile> read;
  std::vector<NamedFile> written;
};
CommandFiles command_files(const CLI::App& verb);

// Throws UsageError when a file that is written, standard output included, is also read or is another one that is
// written. Patterns of data files are expanded; empty paths are left out.
void check_files(const CLI::App& verb, const CommandFiles& files);

// Sets what the verb does, after its files were checked.
void on_run(CLI::App& verb, std::function<void()> action);

}  // namespace remede

// The verbs and options as they were declared, in the form that completions and manual pages need.
#pragma once

#include <string>
#include <vector>

#include "cli/files.h"
#include <CLI/CLI.hpp>

namespace remede {

// A check that the word is one of these; completions offer them.
CLI::Validator one_of(const std::vector<std::string>& words);

struct DeclaredOption {
  std::vector<std::string> names;  // -o, --output; empty for a positional argument
  std::string positional;          // its name, or empty
  std::string value;               // what it takes, as help shows it; empty for a flag
  std::string default_value;
  std::string help;
  std::string group;
  std::vector<std::string> choices;  // the words it accepts, where these are few
  FileUse file = FileUse::kNone;
  bool required = false;
};

struct DeclaredVerb {
  std::string name;
  std::string help;
  std::string footer;
  std::vector<DeclaredOption> options;  // without those that help does not show
};

DeclaredVerb declared(const CLI::App& verb);
std::vector<DeclaredVerb> declared_verbs(const CLI::App& app);

}  // namespace remede

// remede rename MODEL m1=snow m2=soil -o NAMED: gives the cells of a model names that people use.
#include <memory>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/files.h"
#include "cli/verbs.h"
#include "remede/model/file.h"
#include "remede/model/names.h"
#include <CLI/CLI.hpp>

namespace remede {
namespace {

struct RenameFlags {
  std::string model;
  std::vector<std::string> names;
  std::string output;
  bool quiet = false;
};

void rename(const RenameFlags& flags) {
  Model model = load_model(flags.model);
  std::vector<std::pair<std::string, std::string>> names;
  for (const std::string& name : flags.names) {
    const std::size_t equals = name.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == name.size())
      throw UsageError(fmt::format("rename: expected OLD=NEW, such as m1=snow, got '{}'", name));
    names.emplace_back(name.substr(0, equals), name.substr(equals + 1));
  }
  rename_cells(model, names);
  save_model(model, flags.output);
  if (!flags.quiet && flags.output != "-") put(fmt::format("saved: {}\n", flags.output));
}

}  // namespace

void add_rename(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("rename", "Name the memory cells of a model");
  const auto flags = std::make_shared<RenameFlags>();
  reads_file(verb->add_option("model", flags->model, "Model file"))->required()->type_name("MODEL");
  verb->add_option("names", flags->names, "OLD=NEW for each cell to rename; in a forest, 2.m1 is cell m1 of tree 2")
      ->required()
      ->type_name("OLD=NEW");
  writes_file(verb->add_option("-o,--output", flags->output, "Model file to write"))->required()->type_name("MODEL");
  add_quiet_flag(*verb, flags->quiet);
  verb->footer(
      "The names are used wherever the model is shown; predictions stay the same. OLD is the name shown now.\n"
      "Example:\n"
      "  remede rename model.json m1=snow m2=soil -o named.json");
  on_run(*verb, [flags] { rename(*flags); });
}

}  // namespace remede

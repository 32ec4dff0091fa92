// remede show MODEL: the tree, for reading.
#include <memory>
#include <string>

#include <unistd.h>

#include "cli/common.h"
#include "cli/verbs.h"
#include "remede/base/file.h"
#include "remede/explain/text.h"
#include "remede/model/file.h"
#include <CLI/CLI.hpp>

namespace remede {
namespace {

struct ShowFlags {
  std::string model;
  std::string output = "-";
  std::string data;
  Roles roles;
  int terms = 3;
};

void show(const ShowFlags& flags) {
  const Model model = load_model(flags.model);
  Observations seen;
  TextOptions options;
  options.terms = flags.terms;
  options.colours = flags.output == "-" && isatty(STDOUT_FILENO) != 0;
  if (!flags.data.empty()) {
    seen = observe(model, read_dataset(flags.data, model.schema, flags.roles, false).sequences);
    options.seen = &seen;
  }
  write_file(flags.output, to_text(model, options));
}

}  // namespace

void add_show(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("show", "Print the tree for reading");
  const auto flags = std::make_shared<ShowFlags>();
  verb->add_option("model", flags->model, "Model file")->required()->type_name("MODEL");
  verb->add_option("-o,--output", flags->output, "Where to write (default: standard output)")->type_name("FILE");
  verb->add_option("--data", flags->data, "Data to count at the leaves")->type_name("FILE");
  verb->add_option("--terms", flags->terms, "Longest sum to write out; 0: no limit")->check(CLI::NonNegativeNumber);
  add_role_flags(*verb, flags->roles, false);
  verb->callback([flags] { show(*flags); });
}

}  // namespace remede

// remede recipe [NAME]: a recipe of training as a file to change.
#include "remede/train/recipe/recipe.h"

#include <memory>
#include <string>

#include "cli/common.h"
#include "cli/files.h"
#include "cli/parameters.h"
#include "cli/verbs.h"
#include "remede/base/file.h"
#include <CLI/CLI.hpp>

namespace remede {
namespace {

struct RecipeFlags {
  std::string recipe = "default";
  std::string output = "-";
  bool fields = false;
  bool page = false;
};

void show_recipe(const RecipeFlags& flags) {
  if (flags.page) {
    put(recipe_page());
    return;
  }
  const std::string text =
      flags.fields ? recipe_fields_json() : recipe_json(recipe_from_text(recipe_argument(flags.recipe), flags.recipe));
  write_file(flags.output, text);
}

}  // namespace

void add_recipe(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("recipe", "Print a training recipe, to edit and train with");
  const auto flags = std::make_shared<RecipeFlags>();
  verb->add_option("recipe", flags->recipe, "default, paper, gradtree, or a file (default: default)")
      ->type_name("NAME|FILE.json");
  writes_file(
      verb->add_option("-o,--output", flags->output, "Output file (default: standard output)")->type_name("FILE"));
  verb->add_flag("--fields", flags->fields, "List every field instead: type, limits, unit, meaning and reason");
  verb->add_flag("--page", flags->page, "Print docs/recipe.md")->group("");
  verb->footer(
      "Train with an edited recipe: remede train data.csv --recipe mine.json. An option of train overrides the file.");
  on_run(*verb, [flags] { show_recipe(*flags); });
}

}  // namespace remede

// remede show MODEL: the tree, as text, as a picture or for Graphviz.
#include <memory>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/declared.h"
#include "cli/files.h"
#include "cli/verbs.h"
#include "remede/analysis/cells.h"
#include "remede/base/file.h"
#include "remede/data/unknown.h"
#include "remede/draw/dot.h"
#include "remede/draw/rules.h"
#include "remede/draw/svg.h"
#include "remede/draw/text.h"
#include "remede/model/file.h"
#include "remede/model/ranges.h"
#include "remede/model/size.h"
#include <CLI/CLI.hpp>

namespace remede {
namespace {

struct ShowFlags {
  std::string model;
  std::string data;
  std::string format;
  bool json = false;
  std::string output = "-";
  std::string growth = "auto";
  int terms = -1;  // not given
  bool quiet = false;
  Roles roles;
};

std::string as_text(const ShowFlags& flags, const Model& model, const Observations* seen) {
  TextOptions options;
  options.colours = colours_on(flags.output);
  options.columns = columns_of(flags.output);
  options.terms = flags.terms;
  options.seen = seen;
  return to_text(model, options);
}

std::string as_svg(const ShowFlags& flags, const Model& model, const Observations* seen) {
  SvgOptions options;
  if (flags.terms >= 0) options.terms = flags.terms;
  options.seen = seen;
  if (flags.growth != "auto")
    options.growth = flags.growth == "down" ? PictureOptions::Growth::kDown : PictureOptions::Growth::kRight;
  return to_svg(model, options);
}

std::string as_dot(const ShowFlags& flags, const Model& model, const Observations* seen) {
  DotOptions options;
  if (flags.terms >= 0) options.terms = flags.terms;
  options.seen = seen;
  return to_dot(model, options);
}

std::string as_json(const Model& model, const Observations* seen) {
  using Json = nlohmann::ordered_json;
  const Size size = size_of(model);
  Json json = {{"title", title_text(model)},
               {"task", model.schema.task == Task::kClassification ? "classification" : "regression"},
               {"inputs", model.schema.inputs},
               {"targets", model.schema.targets},
               {"classes", model.schema.classes},
               {"numbers", size.numbers},
               {"cells", size.cells},
               {"splits", size.splits},
               {"nodes", model.node_count()},
               {"trees", Json::array()},
               {"cells_in_words", Json::array()},
               {"rules", Json::parse(rules_json(model, seen))}};
  for (const Tree& tree : model.trees)
    json["trees"].push_back({{"nodes", tree.node_count()}, {"leaves", tree.leaf_count()}, {"cells", tree.n_m}});
  for (std::size_t t = 0; t < model.trees.size(); ++t)
    for (const CellStory& story : cell_stories(make_wording(model, t)))
      json["cells_in_words"].push_back({{"tree", t},
                                        {"cell", story.cell},
                                        {"name", story.name},
                                        {"kind", story.kind},
                                        {"words", story.words},
                                        {"facts", story.facts},
                                        {"gain", story.gain},
                                        {"share", story.share}});
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void show(ShowFlags flags) {
  if (flags.json) flags.format = json_format("show", flags.format);
  if (flags.model == "-" && flags.data == "-")
    throw UsageError("show: expected model or data from a file, got - for both");
  const std::string format = chosen_format("show", flags.format, flags.output, {"text", "svg", "dot", "json"});
  Model model = load_model(flags.model);
  Observations seen;
  if (!flags.data.empty()) {
    Dataset data = read_dataset(flags.data, model.schema, flags.roles, false);
    if (!flags.quiet) show_notes(flags.data, data);
    data = with_unknown_targets(std::move(data));
    seen = observe(model, data.sequences);
    note_ranges(model, data.sequences);  // half-lives and ranges on these data
  }
  const Observations* const counts = flags.data.empty() ? nullptr : &seen;
  write_file(flags.output, format == "svg"    ? as_svg(flags, model, counts)
                           : format == "dot"  ? as_dot(flags, model, counts)
                           : format == "json" ? as_json(model, counts)
                                              : as_text(flags, model, counts));
}

}  // namespace

void add_show(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("show", "Print or draw the tree");
  const auto flags = std::make_shared<ShowFlags>();
  reads_file(verb->add_option("model", flags->model, "Model file")->required()->type_name("MODEL"));
  reads_file(verb->add_option("--data", flags->data,
                              "Show for each leaf how many steps of these data reach it and how accurate it is")
                 ->type_name("FILE"));
  verb->add_option("--format", flags->format,
                   "text, svg, dot or json (default: from the extension of the output file, otherwise text)")
      ->type_name("FORMAT");
  writes_file(
      verb->add_option("-o,--output", flags->output, "Output file (default: standard output)")->type_name("FILE"));
  verb->add_option("--terms", flags->terms,
                   "Maximum number of terms of a sum to print; 0: all (default: all in text for a model of at "
                   "most 60 numbers, otherwise 3)")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--growth", flags->growth, "Direction in which a picture grows: down, right or auto (default: auto)")
      ->type_name("DIRECTION")
      ->check(one_of({"auto", "down", "right"}));
  verb->add_flag("--json", flags->json, "The same as --format json");
  add_quiet_flag(*verb, flags->quiet);
  add_role_flags(*verb, flags->roles, false);
  verb->footer(
      "Examples:\n"
      "  remede show model.json                                text\n"
      "  remede show model.json -o tree.svg --data data.csv    a picture with step counts at the leaves\n"
      "  remede show model.json --format dot | dot -Tpdf -O    for Graphviz");
  on_run(*verb, [flags] { show(*flags); });
}

}  // namespace remede

#include "remede/draw/rules.h"

#include <fmt/format.h>

#include "remede/analysis/cells.h"
#include "remede/draw/json.h"

namespace remede {

std::string rules_text(const Model& model, const Observations* seen) {
  std::string text;
  int tree = -1;
  for (const Rule& rule : find_rules(model, seen)) {
    if (rule.tree != tree && model.trees.size() > 1)
      text += fmt::format("{}Tree {}\n", tree < 0 ? "" : "\n", rule.tree + 1);
    if (rule.tree != tree)
      for (const CellStory& story : cell_stories(make_wording(model, static_cast<std::size_t>(rule.tree))))
        text += story_line(story) + ".\n";
    tree = rule.tree;
    text += rule.sentence;
    if (seen)
      text += fmt::format("  [{}]",
                          count_text(seen->leaves[static_cast<std::size_t>(tree)][static_cast<std::size_t>(rule.leaf)],
                                     model.schema.task));
    text += "\n";
  }
  return text;
}

std::string rules_json(const Model& model, const Observations* seen) {
  using Json = nlohmann::ordered_json;
  Json rules = Json::array();
  for (const Rule& r : find_rules(model, seen))
    rules.push_back({{"tree", r.tree},
                     {"leaf", r.leaf},
                     {"rule", r.sentence},
                     {"steps", r.steps < 0 ? Json(nullptr) : Json(r.steps)}});
  return json_text(rules);
}

}  // namespace remede

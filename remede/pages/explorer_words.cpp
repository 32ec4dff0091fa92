#include "remede/pages/explorer_words.h"

#include "remede/analysis/cells.h"
#include "remede/analysis/importance.h"
#include "remede/analysis/observe.h"
#include "remede/analysis/wording.h"
#include "remede/draw/json.h"
#include "remede/draw/machine.h"
#include "remede/draw/rules.h"
#include "remede/draw/svg.h"

namespace remede {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxStates = 60;
constexpr std::size_t kMaxDrawnTreeNodes = 1500;  // nodes; a larger tree is shown by its path and its outline alone

Json leaf_json(const Wording& words, const Wording& unabridged, int leaf) {
  Json writes = Json::array();
  for (int k = 0; k < words.tree->n_m; ++k)
    if (remede::writes(words, leaf, k))
      writes.push_back({{"cell", k}, {"text", write_text(words, leaf, k)}, {"full", write_text(unabridged, leaf, k)}});
  Json json = {{"say", say_texts(words, leaf)}, {"writes", std::move(writes)}};
  const std::vector<std::string> full = say_texts(unabridged, leaf);
  if (full != say_texts(words, leaf)) json["full"] = full;
  return json;
}

// Nodes as lists: id (a leaf is ~leaf), parent (into the list), side ("right" is 1), depth.
Json view_json(const View& view) {
  Json nodes = Json::array();
  for (std::size_t i = 0; i < view.nodes.size(); ++i) {
    const View::Node& node = view.nodes[i];
    const int side =
        node.parent >= 0 && view.nodes[static_cast<std::size_t>(node.parent)].right == static_cast<int>(i) ? 1 : 0;
    nodes.push_back({node.id, node.parent, side, node.depth});
  }
  return nodes;
}

Json cells_json(const Wording& words) {
  Json cells = Json::array();
  for (const CellStory& story : cell_stories(words))
    cells.push_back({{"cell", story.cell},
                     {"kind", story.kind},
                     {"words", story.words},
                     {"facts", story.facts},
                     {"gain", story.gain},
                     {"share", story.share}});
  return cells;
}

// (trees) the cells in use, those that matter most first.
std::vector<std::vector<int>> cells_by_importance(const Model& model, const Sequences& data) {
  std::vector<std::vector<int>> order(model.trees.size());
  ImportanceOptions options;
  options.repeats = 1;
  options.most_steps = 4000;
  for (const FeatureImportance& f : find_importance(model, data, options).features)
    if (f.cell >= 0) order[static_cast<std::size_t>(f.tree)].push_back(f.cell);
  return order;
}

Json tree_json(const Model& model, std::size_t number, const Observations& seen, const std::vector<int>& order) {
  WordOptions options;
  options.symbols = true;
  options.terms = usual_terms(model);
  options.scale = seen.scale[number];
  const Wording words = make_wording(model, number, options);
  Wording unabridged = words;
  unabridged.options.terms = 0;
  unabridged.options.digits = 6;
  const Tree& tree = *words.tree;
  Json tests = Json::array(), leaves = Json::array(), counts = Json::array(), used = Json::array();
  for (int i = 0; i < tree.inner_count(); ++i) tests.push_back(test_text(words, i));
  for (int j = 0; j < tree.leaf_count(); ++j) {
    leaves.push_back(leaf_json(words, unabridged, j));
    counts.push_back(count_text(seen.leaves[number][static_cast<std::size_t>(j)], model.schema.task));
  }
  for (int k = 0; k < tree.n_m; ++k) used.push_back(words.view.cell_in_use(k));
  Json json = {{"features", words.feature},  {"used", used},     {"tests", tests},
               {"leaves", leaves},           {"counts", counts}, {"view", view_json(words.view)},
               {"cells", cells_json(words)}, {"order", order}};
  if (words.view.nodes.size() <= kMaxDrawnTreeNodes) {
    SvgOptions svg;
    svg.seen = &seen;
    svg.heading = false;
    svg.style = false;
    json["svg"] = tree_to_svg(model, number, svg);
  }
  return json;
}

// Nodes as lists: a test is [input, threshold, left, right], an end is [next state, answer].
Json rules_json(const InputTree& tree) {
  Json nodes = Json::array();
  for (const InputTree::Node& node : tree.nodes) {
    if (node.input >= 0)
      nodes.push_back({node.input, json_number(node.threshold), node.left, node.right});
    else
      nodes.push_back({node.outcome.next, node.outcome.output});
  }
  return nodes;
}

}  // namespace

Json words_json(const Model& model, const Sequences& data) {
  const Observations seen = observe(model, data);
  const std::vector<std::vector<int>> order = cells_by_importance(model, data);
  Json json = Json::array();
  for (std::size_t t = 0; t < model.trees.size(); ++t) json.push_back(tree_json(model, t, seen, order[t]));
  return json;
}

Json machine_part_json(const Model& model, const Sequences& data) {
  const Machine machine = find_machine(model, data);
  if (machine.slots.empty() || machine.states.size() < 2 || machine.states.size() > kMaxStates) return nullptr;
  Json states = Json::array(), rules = Json::array();
  for (const MachineState& state : machine.states) {
    Json ranges = Json::array();
    for (const SlotRange& range : state.range) ranges.push_back({json_number(range.low), json_number(range.high)});
    states.push_back({{"name", state.name}, {"memory", state.memory}, {"range", std::move(ranges)}});
  }
  for (const InputTree& tree : machine.rules) rules.push_back(rules_json(tree));
  return {{"slots", machine.slots},
          {"states", std::move(states)},
          {"rules", std::move(rules)},
          {"svg", machine_svg(machine, false)}};
}

}  // namespace remede

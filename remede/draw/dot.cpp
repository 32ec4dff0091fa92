#include "remede/draw/dot.h"

#include <algorithm>

#include <fmt/format.h>

#include "remede/analysis/cells.h"
#include "remede/analysis/rows.h"
#include "remede/analysis/wording.h"
#include "remede/draw/canvas.h"
#include "remede/draw/text.h"

namespace remede {
namespace {

std::string node_name(std::size_t tree, int number) { return fmt::format("t{}n{}", tree + 1, number); }

std::string leaf_line(const Wording& words, std::size_t tree, int number, int leaf,
                      const std::vector<LeafCount>* counts) {
  std::string label;
  for (const std::string& s : say_texts(words, leaf)) label += s + "\n";
  for (const std::string& w : write_texts(words, leaf)) label += w + "\n";
  if (counts) label += count_text((*counts)[static_cast<std::size_t>(leaf)], words.model->schema.task) + "\n";
  label.pop_back();
  const std::vector<float> p = leaf_probabilities(words, leaf);
  const char* const colour = p.empty()
                                 ? ink::kLine.light
                                 : class_ink(static_cast<int>(std::max_element(p.begin(), p.end()) - p.begin())).light;
  return fmt::format(
      "    {} [label={}, shape=box, style=\"rounded,filled\", fillcolor=\"{}\", color=\"{}\", penwidth=2];\n",
      node_name(tree, number), dot_quoted(label), ink::kCard.light, colour);
}

std::string split_line(const Wording& words, std::size_t tree, int number, int node) {
  const bool cell = words.is_cell(words.tree->feature[static_cast<std::size_t>(node)]);
  return fmt::format("    {} [label={}, shape=ellipse, style=filled, fillcolor=\"{}\", color=\"{}\"];\n",
                     node_name(tree, number), dot_quoted(test_text(words, node)),
                     cell ? ink::kCell.light : ink::kInput.light, cell ? ink::kCellLine.light : ink::kInputLine.light);
}

// Cells with laws, and who reads them; the answers stand in the tree.
std::string cell_lines(const Wording& words, std::size_t tree) {
  std::string text;
  const Tree& t = *words.tree;
  const auto name = [&](int cell) { return fmt::format("t{}c{}", tree + 1, cell + 1); };
  const std::vector<CellStory> stories = cell_stories(words);
  for (const CellStory& story : stories) {
    std::string label = fmt::format("{} ({})\n{}", story.name, story.kind, story.words);
    if (!story.facts.empty()) label += "\n" + story.facts;
    text += fmt::format("    {} [label={}, shape=cylinder, style=filled, fillcolor=\"{}\", color=\"{}\"];\n",
                        name(story.cell), dot_quoted(label), ink::kCell.light, ink::kCellLine.light);
    for (const CellStory& reader : stories)
      if (reader.cell > story.cell && law_uses(t, reader.cell, t.n_x + story.cell))
        text +=
            fmt::format("    {} -> {} [color=\"{}\"];\n", name(story.cell), name(reader.cell), ink::kCellLine.light);
    bool answer = false;
    for (int leaf = 0; leaf < t.leaf_count() && !answer; ++leaf)
      for (int o = 0; o < t.n_y; ++o) answer = answer || answer_uses(t, leaf, o, t.n_x + story.cell);
    if (answer)
      text += fmt::format("    {} -> {} [color=\"{}\"];\n", name(story.cell), node_name(tree, 0), ink::kCellLine.light);
  }
  return text;
}

std::string tree_lines(const Wording& words, std::size_t tree, const std::vector<LeafCount>* counts) {
  std::string text = cell_lines(words, tree);
  for (std::size_t i = 0; i < words.view.nodes.size(); ++i) {
    const View::Node& node = words.view.nodes[i];
    const int number = static_cast<int>(i);
    if (node.is_leaf()) {
      text += leaf_line(words, tree, number, node.leaf(), counts);
      continue;
    }
    text += split_line(words, tree, number, node.id);
    text += fmt::format("    {} -> {} [label=\"no\"];\n", node_name(tree, number), node_name(tree, node.left));
    text += fmt::format("    {} -> {} [label=\"yes\"];\n", node_name(tree, number), node_name(tree, node.right));
  }
  return text;
}

}  // namespace

std::string dot_quoted(std::string_view text) {
  const bool lines = text.find('\n') != std::string_view::npos;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '\n')
      quoted += "\\l";
    else if (c == '"' || c == '\\')
      (quoted += '\\') += c;
    else
      quoted += c;
  }
  return quoted + (lines ? "\\l\"" : "\"");
}

std::string to_dot(const Model& model, const DotOptions& options) {
  std::string text = fmt::format(
      "digraph remede {{\n  label={};\n  labelloc=t;\n  fontname=\"Helvetica\";\n"
      "  node [fontname=\"Helvetica\", fontsize=11];\n  edge [fontname=\"Helvetica\", fontsize=10, color=\"{}\"];\n",
      dot_quoted(title_text(model)), ink::kSoft.light);
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    WordOptions word_options;
    word_options.terms = options.terms;
    if (options.seen) word_options.scale = options.seen->scale[t];
    const Wording words = make_wording(model, t, std::move(word_options));
    text += fmt::format("  subgraph cluster_{} {{\n    label={};\n    color=\"none\";\n", t + 1,
                        model.trees.size() > 1 ? dot_quoted(fmt::format("Tree {}", t + 1)) : "\"\"");
    text += tree_lines(words, t, options.seen ? &options.seen->leaves[t] : nullptr) + "  }\n";
  }
  return text + "}\n";
}

}  // namespace remede

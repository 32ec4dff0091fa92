#include "remede/draw/text.h"

#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "remede/analysis/cells.h"
#include "remede/analysis/wording.h"
#include "remede/base/text.h"
#include "remede/model/size.h"

namespace remede {
namespace {

// ANSI codes, or nothing.
struct Colours {
  bool on = false;

  std::string paint(const char* code, const std::string& text) const {
    return on && !text.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }
  std::string line(const std::string& text) const { return paint("2", text); }
  std::string input(const std::string& text) const { return paint("1", text); }
  std::string memory(const std::string& text) const { return paint("1;36", text); }
  std::string write(const std::string& text) const { return paint("35", text); }
  std::string say(const std::string& text) const { return paint("32", text); }
  std::string count(const std::string& text) const { return paint("2", text); }
};

struct Pencil {
  const Wording& words;
  const TextOptions& options;
  Colours colours;
  const std::vector<LeafCount>* counts;
  std::string text;
};

// The lines of a leaf: what it says, what it writes, and how often. One line where they fit.
void draw_leaf(Pencil& p, int leaf, const std::string& head, const std::string& rest) {
  const std::vector<std::string> says = say_texts(p.words, leaf);
  const std::vector<std::string> writes = write_texts(p.words, leaf);
  const std::string count =
      p.counts
          ? fmt::format("  [{}]", count_text((*p.counts)[static_cast<std::size_t>(leaf)], p.words.model->schema.task))
          : "";
  std::size_t columns = width(head) + width(says[0]) + width(count);
  for (const std::string& w : writes) columns += 2 + width(w);
  const bool one_line = says.size() == 1 && columns <= p.options.columns;
  p.text += p.colours.line(head) + p.colours.say(says[0]);
  if (one_line)
    for (const std::string& w : writes) p.text += "; " + p.colours.write(w);
  p.text += p.colours.count(count) + "\n";
  for (std::size_t i = 1; i < says.size(); ++i) p.text += p.colours.line(rest) + p.colours.say(says[i]) + "\n";
  if (!one_line)
    for (const std::string& w : writes) p.text += p.colours.line(rest) + p.colours.write(w) + "\n";
}

// Depth first, the "yes" side first; a stack of our own, since a tree in a file may be very deep.
void draw_tree(Pencil& p) {
  struct Entry {
    int node;
    std::string head;    // before the node's own text
    std::string indent;  // before what hangs below it
    std::string rest;    // before further lines of a leaf
  };
  std::vector<Entry> stack = {{0, "", "", ""}};
  while (!stack.empty()) {
    const Entry e = std::move(stack.back());
    stack.pop_back();
    const View::Node& node = p.words.view.nodes[static_cast<std::size_t>(e.node)];
    if (node.is_leaf()) {
      draw_leaf(p, node.leaf(), e.head, e.rest);
      continue;
    }
    const std::string test = test_text(p.words, node.id) + " ?";
    const bool cell = p.words.is_cell(p.words.tree->feature[static_cast<std::size_t>(node.id)]);
    p.text += p.colours.line(e.head) + (cell ? p.colours.memory(test) : p.colours.input(test)) + "\n";
    stack.push_back({node.left, e.indent + "└─ no:  ", e.indent + "   ", e.indent + "        "});
    stack.push_back({node.right, e.indent + "├─ yes: ", e.indent + "│  ", e.indent + "│       "});
  }
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMaxListedNames = 6;
  if (names.size() > kMaxListedNames) return fmt::format("{} inputs", names.size());
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + printable(names[i]);
  return text.empty() ? "nothing" : text;
}

// Inputs by the columns they are made from, each once.
std::vector<std::string> input_columns(const Schema& schema) {
  std::vector<std::string> names;
  std::set<std::string> known;
  const CodeIndex codes(schema.codes);
  for (const std::string& input : schema.inputs) {
    const InputCode* const code = codes.find(input);
    const std::string& name = code != nullptr && !code->gap ? code->column : input;
    if (known.insert(name).second) names.push_back(name);
  }
  return names;
}

// What cannot be reached is not shown; that is said.
std::string unreached_text(const Wording& words) {
  const auto shown = static_cast<long long>(words.view.nodes.size());
  if (shown >= words.tree->node_count()) return "";
  return fmt::format(" ({} of {} nodes can be reached)", grouped(shown), grouped(words.tree->node_count()));
}

// A cell in words, then what is known of it and its formulas.
std::string cell_text(const CellStory& story, const Colours& colours) {
  std::string text = fmt::format("{} ({}): {}\n", colours.memory(story.name), story.kind, story.words);
  const std::string verb = story.kind == "store" ? "in" : "towards";
  for (const std::string& line : {story.facts, fmt::format("{}: {}; share: {}", verb, story.gain, story.share)})
    if (!line.empty()) text += colours.line("    " + line) + "\n";
  return text;
}

// Averages of which each follows the one before, as one.
std::string chain_text(std::span<const CellStory> chain, const Colours& colours) {
  const CellStory& first = chain.front();
  const std::string facts = fmt::format("    {} each; towards: {}; share: {}{}", first.half_life, first.gain,
                                        first.share, first.starts_at_first ? "; all start at their first values" : "");
  return fmt::format(
             "{} {} {} (chain of {} running averages): the first {}, each other one the average before it; each {}\n",
             colours.memory(first.name), chain.size() == 2 ? "and" : "to", colours.memory(chain.back().name),
             chain.size(), first.source, first.speed) +
         colours.line(facts) + "\n";
}

// A cell that counts the steps of the one before it, and that one.
std::string counter_text(const CellStory& condition, const CellStory& story, const Colours& colours) {
  return fmt::format("{} and {} ({}): {}\n", colours.memory(condition.name), colours.memory(story.name),
                     story.kind == "store" ? "counter" : "recent share", story.words) +
         colours.line("    " + story.facts) + "\n" +
         colours.line(fmt::format("    release({}): {}; in: {}; share: {}", condition.name, condition.gain, story.gain,
                                  story.share)) +
         "\n";
}

std::string cells_text(const Wording& words, const Colours& colours) {
  const std::vector<CellStory> stories = cell_stories(words);
  std::string text;
  for (std::size_t i = 0, end = 0; i < stories.size(); i = end) {
    for (end = i + 1; end < stories.size() && stories[end].follows_last;) ++end;
    if (end == i + 1 && end < stories.size() && stories[end].counts_last)
      text += counter_text(stories[i], stories[end++], colours);
    else if (end == i + 1)
      text += cell_text(stories[i], colours);
    else
      text += chain_text(std::span(stories).subspan(i, end - i), colours);
  }
  return text.empty() ? "" : text + "\n";
}

}  // namespace

std::string title_text(const Model& model) {
  std::vector<std::string> targets;
  for (const std::string& t : model.schema.targets) targets.push_back(printable(t));
  const std::string what =
      fmt::format("{} from {}", targets.empty() ? "y" : listed(targets), listed(input_columns(model.schema)));
  const Size size = size_of(model);
  const std::string parts = fmt::format("{}, {}, {}", plural(size.numbers, "number"), plural(size.cells, "cell"),
                                        plural(size.splits, "split"));
  if (model.trees.size() == 1) return fmt::format("{}: {}{}", what, parts, unreached_text(make_wording(model, 0)));
  return fmt::format("{}: {} trees, {} together; their {} are averaged", what, model.trees.size(), parts,
                     model.schema.task == Task::kClassification ? "probabilities" : "values");
}

std::string to_text(const Model& model) { return to_text(model, {}); }

std::string to_text(const Model& model, const TextOptions& options) {
  std::string text = title_text(model) + "\n\n";
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    WordOptions word_options;
    word_options.terms = options.terms < 0 ? usual_terms(model) : options.terms;
    if (options.seen) word_options.scale = options.seen->scale[t];
    const Wording words = make_wording(model, t, std::move(word_options));
    if (model.trees.size() > 1)
      text += fmt::format("{}Tree {} of {}{}\n", t > 0 ? "\n" : "", t + 1, model.trees.size(), unreached_text(words));
    text += cells_text(words, {options.colours});
    Pencil pencil{words, options, {options.colours}, options.seen ? &options.seen->leaves[t] : nullptr, ""};
    draw_tree(pencil);
    text += pencil.text;
  }
  return text;
}

}  // namespace remede

#include "remede/analysis/rules.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "remede/analysis/rows.h"
#include "remede/analysis/wording.h"
#include "remede/base/text.h"

namespace remede {
namespace {

// Cells that are overwritten or added to store something; those that move a little at a time are averages.
bool is_average(const Wording& words, int k) {
  const Tree& tree = *words.tree;
  if (tree.has_laws()) return true;  // or a store: neither is a thing that was put there once
  for (const View::Node& n : words.view.nodes)
    if (n.is_leaf() && writes(words, n.leaf(), k) && !tree.blend.empty() &&
        tree.blend[cell_row(tree, n.leaf(), k)] < 0.7F)
      return true;
  return false;
}

// What a condition on a cell means, where its sign tells.
std::string gloss(const Wording& words, int k, float low, float high) {
  if (is_average(words, k)) return "";
  if (low > 0) return " (something positive was stored)";
  if (high <= 0 && high > std::numeric_limits<float>::lowest()) return " (something negative was stored)";
  if (low > std::numeric_limits<float>::lowest() && high < std::numeric_limits<float>::max())
    return " (nothing was stored)";
  return "";
}

// One feature's part of the condition; empty where the tests above leave it free.
std::string condition(const Wording& words, int feature, const Range& range, const Range& free) {
  const bool above = range.low > free.low, below = range.high < free.high;
  const bool cell = words.is_cell(feature);
  if (!above && !below && (cell || range.nan == free.nan)) return "";
  const std::string& name = words.feature[static_cast<std::size_t>(feature)];
  if (!range.has_numbers()) return fmt::format("{} is missing", name);
  const float end = std::nextafter(range.high, std::numeric_limits<float>::infinity());
  const std::string low = threshold_text(words, feature, range.low), high = threshold_text(words, feature, end);
  std::string text = above && below ? fmt::format("{} is from {} to below {}", name, low, high)
                     : above        ? fmt::format("{} is at least {}", name, low)
                     : below        ? fmt::format("{} is below {}", name, high)
                                    : fmt::format("{} is not missing", name);
  if (cell)
    text += gloss(words, feature - words.tree->n_x, above ? range.low : std::numeric_limits<float>::lowest(),
                  below ? end : std::numeric_limits<float>::max());
  else if (range.nan && (above || below))
    text += " or missing";
  return text;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ", parts[i]);
  return text;
}

std::string write_sentence(const Wording& words, int leaf, int k) {
  const Tree& tree = *words.tree;
  if (tree.has_laws()) return write_text(words, leaf, k);
  const bool add = tree.form.write_rule == WriteRule::kAdd;
  const float share = add ? 1.0F : tree.blend[cell_row(tree, leaf, k)];
  const char* const verb = add ? "add" : share < 0.7F ? "move" : "store";
  return fmt::format("{}: {}", verb, write_text(words, leaf, k));
}

std::string sentence(const Wording& words, int node) {
  const std::vector<Range> box = box_of(*words.tree, words.view, node);
  const int leaf = words.view.nodes[static_cast<std::size_t>(node)].leaf();
  std::vector<std::string> conditions;
  for (int f = 0; f < words.tree->n_v(); ++f) {
    const Range free =
        words.is_cell(f) ? words.view.memory[static_cast<std::size_t>(f - words.tree->n_x)] : Range::all();
    const std::string c = condition(words, f, box[static_cast<std::size_t>(f)], free);
    if (!c.empty()) conditions.push_back(c);
  }
  std::string text = conditions.empty() ? "Always: " : fmt::format("When {}: ", joined(conditions));
  text += fmt::format("{}", fmt::join(say_texts(words, leaf), "; "));
  for (int k = 0; k < words.tree->n_m; ++k)
    if (writes(words, leaf, k)) text += fmt::format("; {}", write_sentence(words, leaf, k));
  return text + ".";
}

}  // namespace

std::vector<Rule> find_rules(const Model& model, const Observations* seen) {
  std::vector<Rule> rules;
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    WordOptions options;
    if (seen) options.scale = seen->scale[t];
    const Wording words = make_wording(model, t, std::move(options));
    const std::size_t first = rules.size();
    for (std::size_t i = 0; i < words.view.nodes.size(); ++i) {
      if (!words.view.nodes[i].is_leaf()) continue;
      const int leaf = words.view.nodes[i].leaf();
      rules.push_back({static_cast<int>(t), leaf, sentence(words, static_cast<int>(i)),
                       seen ? seen->leaves[t][static_cast<std::size_t>(leaf)].steps : -1});
    }
    std::stable_sort(rules.begin() + static_cast<std::ptrdiff_t>(first), rules.end(),
                     [](const Rule& a, const Rule& b) { return a.steps > b.steps; });
  }
  return rules;
}

}  // namespace remede

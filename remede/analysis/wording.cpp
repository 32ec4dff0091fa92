#include "remede/analysis/wording.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "remede/base/text.h"
#include "remede/model/names.h"
#include "remede/model/size.h"

namespace remede {
namespace {

constexpr int kThresholdDigits = 4;

bool is_word(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return std::isalnum(u) || c == '_' || c == '.' || u >= 0x80;
  }) && !std::isdigit(static_cast<unsigned char>(name.front()));
}

// Fewest digits, at least four, that print different thresholds of one feature differently.
int digits_apart(const std::set<float>& thresholds) {
  for (int digits = kThresholdDigits; digits < 9; ++digits) {
    std::set<std::string> texts;
    for (const float t : thresholds) texts.insert(short_number(t, digits));
    if (texts.size() == thresholds.size()) return digits;
  }
  return 9;
}

}  // namespace

std::vector<std::string> feature_names(const Model& model, const Tree& tree) {
  std::vector<std::string> names;
  for (const std::string& input : model.schema.inputs) names.push_back(printable(input));
  for (const std::string& cell : cell_names(model, tree)) names.push_back(printable(cell));
  return names;
}

int usual_terms(const Model& model) {
  constexpr long long kReadAsAWhole = 60;  // numbers
  return size_of(model).numbers <= kReadAsAWhole ? 0 : 3;
}

Wording make_wording(const Model& model, std::size_t tree, WordOptions options) {
  Wording words;
  words.model = &model;
  words.tree = &model.trees[tree];
  words.view = reachable_view(*words.tree, model.fill);
  words.options = std::move(options);
  words.feature = feature_names(model, *words.tree);
  for (const std::string& name : words.feature)
    words.factor.push_back(is_word(name) ? name : fmt::format("[{}]", name));
  for (const std::string& c : model.schema.classes) words.classes.push_back(printable(c));
  for (const std::string& t : model.output_names()) words.targets.push_back(printable(t));
  std::vector<std::set<float>> thresholds(words.feature.size());
  for (const View::Node& node : words.view.nodes)
    if (!node.is_leaf()) {
      const auto i = static_cast<std::size_t>(node.id);
      thresholds[static_cast<std::size_t>(words.tree->feature[i])].insert(words.tree->threshold[i]);
    }
  for (const std::set<float>& t : thresholds) words.threshold_digits.push_back(digits_apart(t));
  return words;
}

std::string threshold_text(const Wording& words, int feature, float threshold) {
  return short_number(threshold, words.threshold_digits[static_cast<std::size_t>(feature)]);
}

namespace {

// "wind = NW", "wind in {N, NE}", "wind is not NW": the words whose value is `inside`. Where unknown words are, too,
// those that are not are named.
template <typename Inside>
std::string category_text(const InputCode& code, Inside inside) {
  const bool negated = code.other && inside(*code.other);
  std::vector<std::string> named;
  for (std::size_t w = 0; w < code.words.size(); ++w)
    if (inside(code.values[w]) != negated) named.push_back(printable(code.words[w]));
  const std::string column = printable(code.column);
  if (named.empty()) return fmt::format("{} is {}", column, negated ? "any word" : "no known word");
  if (named.size() == 1) return fmt::format("{} {} {}", column, negated ? "is not" : "=", named[0]);
  return fmt::format("{} {}in {{{}}}", column, negated ? "not " : "", fmt::join(named, ", "));
}

const InputCode* words_of(const Wording& words, int feature) {
  if (words.is_cell(feature)) return nullptr;
  const Schema& schema = words.model->schema;
  const InputCode* const code = schema.code_of(schema.inputs[static_cast<std::size_t>(feature)]);
  return code == nullptr || code->gap ? nullptr : code;
}

}  // namespace

std::string side_text(const Wording& words, int node, bool right) {
  const auto i = static_cast<std::size_t>(node);
  const int f = words.tree->feature[i];
  if (const InputCode* const code = words_of(words, f)) {
    const float threshold = words.tree->threshold[i];
    return category_text(*code, [=](float value) { return (value >= threshold) == right; });
  }
  const char* const sign = !right ? "<" : words.options.symbols ? "≥" : ">=";
  return fmt::format("{} {} {}", words.feature[static_cast<std::size_t>(f)], sign,
                     threshold_text(words, f, words.tree->threshold[i]));
}

namespace {

// What can occur at a node in its column of words, after the tests of its ancestors.
struct WordsAt {
  std::vector<std::string> passed, others;  // by the node's own test
  bool missing = true;                      // a missing value can occur as well
};

WordsAt words_at(const Wording& words, const InputCode& code, int node) {
  const Tree& tree = *words.tree;
  const auto i = static_cast<std::size_t>(node);
  const std::vector<View::Node>& nodes = words.view.nodes;
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const View::Node& n) { return n.id == node; });
  Range range = Range::all();
  if (found != nodes.end())
    range =
        box_of(tree, words.view, static_cast<int>(found - nodes.begin()))[static_cast<std::size_t>(tree.feature[i])];
  WordsAt at;
  at.missing = range.nan;
  for (std::size_t w = 0; w < code.words.size(); ++w)
    if (code.values[w] >= range.low && code.values[w] <= range.high)
      (code.values[w] >= tree.threshold[i] ? at.passed : at.others).push_back(printable(code.words[w]));
  return at;
}

std::string one_or_set(const std::vector<std::string>& names) {
  return names.size() == 1 ? names[0] : fmt::format("{{{}}}", fmt::join(names, ", "));
}

// A test of the rank of a word, in terms of the words that can still occur: those that pass, or the others if they are
// fewer.
std::string rank_text(const WordsAt& at, const std::string& column, bool missing_passes) {
  const bool one = at.others.size() == 1, keeps_out_missing = at.missing && !missing_passes;
  if (at.passed.size() <= at.others.size() + (keeps_out_missing ? 1 : 0))
    return fmt::format("{} {} {}{}", column, at.passed.size() == 1 ? "=" : "in", one_or_set(at.passed),
                       at.missing && missing_passes ? " or missing" : "");
  if (!keeps_out_missing) return fmt::format("{} {} {}", column, one ? "is not" : "not in", one_or_set(at.others));
  return fmt::format("{} is neither {}{} nor missing", column, one ? "" : "in ", one_or_set(at.others));
}

}  // namespace

std::string test_text(const Wording& words, int node) {
  const auto i = static_cast<std::size_t>(node);
  const bool missing = words.tree->missing_right[i] != 0 && !words.is_cell(words.tree->feature[i]);
  if (const InputCode* const code = words_of(words, words.tree->feature[i]); code != nullptr && !code->other) {
    const WordsAt at = words_at(words, *code, node);
    if (!at.passed.empty() && !at.others.empty()) return rank_text(at, printable(code->column), missing);
  }
  return side_text(words, node, true) + (missing ? " or missing" : "");
}

std::string range_text(const Wording& words, int feature, const Range& range) {
  const std::string& name = words.feature[static_cast<std::size_t>(feature)];
  const bool below =
      range.high<std::numeric_limits<float>::max(), above = range.low> std::numeric_limits<float>::lowest();
  const bool missing = range.nan && !words.is_cell(feature);
  if (!range.has_numbers()) return name + " missing";
  if (!below && !above) return missing ? "any " + name : name + " not missing";
  if (const InputCode* const code = words_of(words, feature))
    return category_text(*code, [&](float value) { return value >= range.low && value <= range.high; }) +
           (missing ? " or missing" : "");
  const char* const at_least = words.options.symbols ? "≥" : ">=";
  const char* const at_most = words.options.symbols ? "≤" : "<=";
  // An upper end came from a test v < threshold: the threshold is the next number.
  const std::string low = threshold_text(words, feature, range.low);
  const std::string high =
      threshold_text(words, feature, std::nextafter(range.high, std::numeric_limits<float>::infinity()));
  if (!above) return fmt::format("{} < {}", name, high);
  const std::string text =
      below ? fmt::format("{} {} {} < {}", low, at_most, name, high) : fmt::format("{} {} {}", name, at_least, low);
  return missing ? text + " or missing" : text;
}

}  // namespace remede

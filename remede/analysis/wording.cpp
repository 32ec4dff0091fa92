#include "remede/analysis/wording.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "remede/analysis/rows.h"
#include "remede/base/arithmetic.h"
#include "remede/base/text.h"
#include "remede/model/predict.h"

namespace remede {
namespace {

constexpr int kThresholdDigits = 4;
constexpr double kMinOverwritingBlend = 0.9995;  // a blend that reads "1" in three digits overwrites

bool is_word(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return std::isalnum(u) || c == '_' || c == '.' || u >= 0x80;
  }) && !std::isdigit(static_cast<unsigned char>(name.front()));
}

// "m", unless an input is called m1 or the like.
std::string cell_prefix(const Schema& schema) {
  for (const char* const prefix : {"m", "mem", "cell", "memory"}) {
    const std::string p = prefix;
    const bool taken = std::any_of(schema.inputs.begin(), schema.inputs.end(), [&](const std::string& name) {
      return name.size() > p.size() && name.starts_with(p) &&
             std::all_of(name.begin() + static_cast<std::ptrdiff_t>(p.size()), name.end(),
                         [](char c) { return std::isdigit(static_cast<unsigned char>(c)); });
    });
    if (!taken) return p;
  }
  return "memory_";
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

std::span<const float> write_weights(const Tree& tree, int leaf, int k) {
  const auto n_w = static_cast<std::size_t>(tree.n_w());
  return std::span(tree.write).subspan(cell_row(tree, leaf, k) * n_w, n_w);
}

std::span<const float> linear_weights(const Tree& tree, int leaf, int y) {
  if (tree.linear.empty()) return {};
  const auto n_v = static_cast<std::size_t>(tree.n_v());
  return std::span(tree.linear)
      .subspan(
          (static_cast<std::size_t>(leaf) * static_cast<std::size_t>(tree.n_y) + static_cast<std::size_t>(y)) * n_v,
          n_v);
}

// A term counts when its weight is not zero and its feature is not a cell that is always zero.
bool counts(const Wording& words, std::size_t f, float weight) {
  if (weight == 0) return false;
  if (!words.is_cell(static_cast<int>(f))) return true;
  return !words.view.memory[f - static_cast<std::size_t>(words.tree->n_x)].is_zero();
}

bool any_term(const Wording& words, std::span<const float> weights) {
  for (std::size_t f = 0; f < weights.size(); ++f)
    if (counts(words, f, weights[f])) return true;
  return false;
}

float bias_of(const Tree& tree, int leaf, int k) {
  return tree.bias.empty() ? 0.0F : tree.bias[cell_row(tree, leaf, k)];
}

// "+ 0.4 x1", "- x2": the sign stands apart, a weight of one is not written.
std::string term_text(float weight, const std::string& name, int digits) {
  const std::string size = short_number(std::abs(static_cast<double>(weight)), digits);
  return fmt::format("{} {}{}{}", weight < 0 ? '-' : '+', size == "1" ? "" : size, size == "1" ? "" : " ", name);
}

const char* arrow(const Wording& words) { return words.options.symbols ? "←" : "<-"; }

// In classification scores matter only against each other: with two classes one difference tells all.
std::vector<std::string> score_texts(const Wording& words, int leaf) {
  const Tree& tree = *words.tree;
  const auto n_y = static_cast<std::size_t>(tree.n_y);
  const float* const output = tree.output.data() + static_cast<std::size_t>(leaf) * n_y;
  const bool first_order = tree.form.output_order == OutputOrder::kFirst;
  if (tree.n_y == 2 && !first_order) {
    std::vector<float> difference(static_cast<std::size_t>(tree.n_v()), 0.0F);
    const auto a = linear_weights(tree, leaf, 0), b = linear_weights(tree, leaf, 1);
    for (std::size_t f = 0; f < a.size(); ++f) difference[f] = b[f] - a[f];
    return {fmt::format("say \"{}\" if {} {} 0, else \"{}\"", words.classes[1],
                        sum_text(words, output[1] - output[0], difference),
                        words.options.symbols ? "≥" : ">=", words.classes[0])};
  }
  std::vector<std::string> lines = {first_order ? "add to the scores, say the highest:" : "say the highest score:"};
  for (std::size_t y = 0; y < n_y; ++y)
    lines.push_back(fmt::format("  \"{}\": {}", words.classes[y],
                                sum_text(words, output[y], linear_weights(tree, leaf, static_cast<int>(y)))));
  return lines;
}

}  // namespace

std::vector<std::string> feature_names(const Model& model, const Tree& tree) {
  std::vector<std::string> names;
  for (const std::string& input : model.schema.inputs) names.push_back(printable(input));
  const std::string prefix = cell_prefix(model.schema);
  for (int k = 0; k < tree.n_m; ++k) names.push_back(prefix + std::to_string(k + 1));
  return names;
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

std::string test_text(const Wording& words, int node) {
  const auto i = static_cast<std::size_t>(node);
  const bool missing = words.tree->missing_right[i] != 0 && !words.is_cell(words.tree->feature[i]);
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

std::string sum_text(const Wording& words, float constant, std::span<const float> weights) {
  const std::vector<float>& scale = words.options.scale;
  std::vector<std::size_t> terms;
  for (std::size_t f = 0; f < weights.size(); ++f)
    if (counts(words, f, weights[f])) terms.push_back(f);
  const auto size = [&](std::size_t f) { return std::abs(weights[f]) * (f < scale.size() ? scale[f] : 1.0F); };
  std::stable_sort(terms.begin(), terms.end(), [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
  const auto limit = static_cast<std::size_t>(words.options.terms);
  const std::size_t shown = limit == 0 || terms.size() <= limit ? terms.size() : limit;
  std::string text = constant != 0 || terms.empty() ? short_number(constant, words.options.digits) : "";
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string term = term_text(weights[terms[i]], words.factor[terms[i]], words.options.digits);
    if (!text.empty())
      text += fmt::format(" {}", term);
    else
      text = fmt::format("{}{}", term[0] == '-' ? "-" : "", term.substr(2));
  }
  if (shown < terms.size()) text += words.options.symbols ? " + …" : fmt::format(" + {} smaller", terms.size() - shown);
  return text;
}

bool writes(const Wording& words, int leaf, int k) {
  const Tree& tree = *words.tree;
  const std::size_t row = cell_row(tree, leaf, k);
  if (tree.gate[row] == 0 || !words.view.cell_in_use(k)) return false;
  if (tree.form.write_rule == WriteRule::kBlend) return tree.blend[row] > 0;
  return bias_of(tree, leaf, k) != 0 || any_term(words, write_weights(tree, leaf, k));
}

std::string write_text(const Wording& words, int leaf, int k) {
  const Tree& tree = *words.tree;
  const std::string& cell = words.feature[static_cast<std::size_t>(tree.n_x + k)];
  const auto weights = write_weights(tree, leaf, k);
  const float bias = bias_of(tree, leaf, k);
  const bool constant = !any_term(words, weights);
  const double value = static_cast<double>(tanh(bias));  // what a write that reads nothing writes
  const auto number = [&](double v) { return short_number(v, words.options.digits); };
  const std::string formula = constant ? "" : fmt::format("tanh({})", sum_text(words, bias, weights));
  if (tree.form.write_rule == WriteRule::kAdd) {
    if (!constant) return fmt::format("{} += {}", cell, formula);
    return fmt::format("{} {} {}", cell, value < 0 ? "-=" : "+=", number(std::abs(value)));
  }
  const double a = static_cast<double>(tree.blend[cell_row(tree, leaf, k)]);
  if (a >= kMinOverwritingBlend) return fmt::format("{} {} {}", cell, arrow(words), constant ? number(value) : formula);
  const std::string kept = fmt::format("{} {} {} {}", cell, arrow(words), number(1 - a), cell);
  if (!constant) return fmt::format("{} + {} {}", kept, number(a), formula);
  if (value == 0) return kept;
  return fmt::format("{} {} {}", kept, value < 0 ? '-' : '+', number(a * std::abs(value)));
}

std::vector<std::string> write_texts(const Wording& words, int leaf) {
  std::vector<std::string> texts;
  for (int k = 0; k < words.tree->n_m; ++k)
    if (writes(words, leaf, k)) texts.push_back(write_text(words, leaf, k));
  return texts;
}

std::vector<float> leaf_probabilities(const Wording& words, int leaf) {
  const Tree& tree = *words.tree;
  if (!words.model->classifies() || tree.form.output_order != OutputOrder::kZero) return {};
  for (int y = 0; y < tree.n_y; ++y)
    if (any_term(words, linear_weights(tree, leaf, y))) return {};
  const auto n_y = static_cast<std::size_t>(tree.n_y);
  const float* const output = tree.output.data() + static_cast<std::size_t>(leaf) * n_y;
  std::vector<float> p(output, output + n_y);
  apply_link(words.model->objective(), p);
  return p;
}

std::string answer_text(const Wording& words, std::span<const float> probabilities) {
  std::vector<std::size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return probabilities[a] > probabilities[b]; });
  const auto one = [&](std::size_t y) {
    return fmt::format("\"{}\" ({})", words.classes[y], percent(static_cast<double>(probabilities[y])));
  };
  constexpr float kMinRunnerUpProbability = 0.05F;
  std::string text = one(order[0]);
  if (order.size() > 1 && probabilities[order[1]] >= kMinRunnerUpProbability) text += ", " + one(order[1]);
  return text;
}

std::vector<std::string> say_texts(const Wording& words, int leaf) {
  const Tree& tree = *words.tree;
  if (words.model->schema.task == Task::kClassification) {
    const std::vector<float> p = leaf_probabilities(words, leaf);
    if (p.empty()) return score_texts(words, leaf);
    return {"say " + answer_text(words, p)};
  }
  const bool first_order = tree.form.output_order == OutputOrder::kFirst;
  const Objective& objective = words.model->objective();
  bool constant = true;
  for (int y = 0; y < tree.n_y; ++y) constant = constant && !any_term(words, linear_weights(tree, leaf, y));
  const auto first = static_cast<std::ptrdiff_t>(leaf) * tree.n_y;
  std::vector<float> answer(tree.output.begin() + first, tree.output.begin() + first + tree.n_y);
  if (constant) apply_link(objective, answer);
  std::vector<std::string> lines;
  for (int y = 0; y < tree.n_y; ++y) {
    std::string said = sum_text(words, answer[static_cast<std::size_t>(y)], linear_weights(tree, leaf, y));
    if (!constant) said = link_text(objective, words.targets, y, said);
    lines.push_back(
        fmt::format("say {} {} {}", words.targets[static_cast<std::size_t>(y)], first_order ? "+=" : "=", said));
  }
  return lines;
}

}  // namespace remede

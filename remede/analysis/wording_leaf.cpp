// What a leaf says and writes, and the sums in it.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "remede/analysis/rows.h"
#include "remede/analysis/wording.h"
#include "remede/base/arithmetic.h"
#include "remede/base/text.h"
#include "remede/model/predict.h"

namespace remede {
namespace {

constexpr double kMinOverwritingBlend = 0.9995;  // a blend that reads "1" in three digits overwrites

std::span<const float> write_weights(const Tree& tree, int leaf, int k) {
  const auto n_w = static_cast<std::size_t>(tree.n_w());
  return std::span(tree.write).subspan(cell_row(tree, leaf, k) * n_w, n_w);
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

// "release(m1)" for what a store gives out.
std::string output_factor(const Wording& words, int k) {
  const std::string& name = words.factor[static_cast<std::size_t>(words.tree->n_x + k)];
  return words.tree->cells.law[static_cast<std::size_t>(k)] == Law::kStore ? fmt::format("release({})", name) : name;
}

std::vector<Term> terms_of(const Wording& words, std::span<const float> weights) {
  const std::vector<float>& scale = words.options.scale;
  std::vector<Term> terms;
  for (std::size_t f = 0; f < weights.size(); ++f)
    if (counts(words, f, weights[f]))
      terms.push_back({words.factor[f], weights[f], std::abs(weights[f]) * (f < scale.size() ? scale[f] : 1.0F)});
  return terms;
}

}  // namespace

std::vector<Term> answer_terms(const Wording& words, int leaf, int y) {
  const Tree& tree = *words.tree;
  const auto n_x = static_cast<std::size_t>(tree.n_x), n_m = static_cast<std::size_t>(tree.n_m);
  if (!tree.has_laws()) {
    std::vector<float> weights;
    weights.reserve(static_cast<std::size_t>(tree.n_v()));
    for (int f = 0; f < tree.n_v(); ++f) weights.push_back(linear_weight(tree, leaf, y, f));
    return terms_of(words, weights);
  }
  std::vector<float> weights(n_x + n_m), given(n_m);  // inputs and levels; what stores give out
  for (int f = 0; f < tree.n_x; ++f) weights[static_cast<std::size_t>(f)] = law_answer_weight(tree, leaf, y, f);
  for (std::size_t k = 0; k < n_m; ++k) {
    const bool store = tree.cells.law[k] == Law::kStore;
    const float output = law_answer_weight(tree, leaf, y, static_cast<int>(n_x + k));
    (store ? given[k] : weights[n_x + k]) += output;  // an average gives out its level
    weights[n_x + k] += law_answer_weight(tree, leaf, y, static_cast<int>(n_x + n_m + k));
  }
  std::vector<Term> terms = terms_of(words, weights);
  for (std::size_t k = 0; k < n_m; ++k)
    if (counts(words, n_x + k, given[k]))
      terms.push_back(
          {output_factor(words, static_cast<int>(k)), given[k],
           std::abs(given[k]) * (n_x + k < words.options.scale.size() ? words.options.scale[n_x + k] : 1.0F)});
  return terms;
}

std::vector<Term> gain_terms(const Wording& words, int k) {
  const Tree& tree = *words.tree;
  const auto cell = static_cast<std::size_t>(k), n_x = static_cast<std::size_t>(tree.n_x),
             n_m = static_cast<std::size_t>(tree.n_m);
  std::vector<Term> terms = terms_of(words, std::span(tree.cells.input).subspan(cell * n_x, n_x));
  for (int j = 0; j < k; ++j) {
    const auto other = static_cast<std::size_t>(j);
    const float weight = tree.cells.earlier[cell * n_m + other];
    if (counts(words, n_x + other, weight))
      terms.push_back(
          {output_factor(words, j), weight,
           std::abs(weight) * (n_x + other < words.options.scale.size() ? words.options.scale[n_x + other] : 1.0F)});
  }
  return terms;
}

std::vector<Term> tap_terms(const Wording& words, int k) {
  const Tree& tree = *words.tree;
  const auto cell = static_cast<std::size_t>(k), n_x = static_cast<std::size_t>(tree.n_x);
  std::vector<float> weights(static_cast<std::size_t>(tree.n_v()));
  std::copy_n(tree.cells.tap_input.begin() + static_cast<std::ptrdiff_t>(cell * n_x), n_x, weights.begin());
  weights[n_x + cell] = tree.cells.tap_level[cell];
  return terms_of(words, weights);
}

std::string sum_text(const Wording& words, float constant, std::span<const float> weights) {
  return sum_text(words, constant, terms_of(words, weights));
}

std::string sum_text(const Wording& words, float constant, std::vector<Term> terms) {
  std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.size > b.size; });
  const auto limit = static_cast<std::size_t>(words.options.terms);
  const std::size_t shown = limit == 0 || terms.size() <= limit ? terms.size() : limit;
  std::string text = constant != 0 || terms.empty() ? short_number(constant, words.options.digits) : "";
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string term = term_text(terms[i].weight, terms[i].name, words.options.digits);
    if (!text.empty())
      text += fmt::format(" {}", term);
    else
      text = fmt::format("{}{}", term[0] == '-' ? "-" : "", term.substr(2));
  }
  if (shown < terms.size()) text += words.options.symbols ? " + …" : fmt::format(" + {} smaller", terms.size() - shown);
  return text;
}

// A tap that every leaf closes, or every leaf opens: the cell's own description says so.
static bool is_fixed_tap(const Tree& tree, int k) {
  const float offset = tree.cells.tap_leaf[cell_row(tree, 0, k)];
  bool same = std::isinf(offset);
  for (int leaf = 1; leaf < tree.leaf_count(); ++leaf)
    same = same && tree.cells.tap_leaf[cell_row(tree, leaf, k)] == offset;
  return same;
}

bool writes(const Wording& words, int leaf, int k) {
  const Tree& tree = *words.tree;
  const std::size_t row = cell_row(tree, leaf, k);
  if (tree.has_laws()) return words.view.cell_in_use(k) && tree.cells.tap_leaf[row] != 0 && !is_fixed_tap(tree, k);
  if (tree.gate[row] == 0 || !words.view.cell_in_use(k)) return false;
  if (tree.form.write_rule == WriteRule::kBlend) return tree.blend[row] > 0;
  return bias_of(tree, leaf, k) != 0 || any_term(words, write_weights(tree, leaf, k));
}

std::string write_text(const Wording& words, int leaf, int k) {
  const Tree& tree = *words.tree;
  const std::string& cell = words.feature[static_cast<std::size_t>(tree.n_x + k)];
  if (tree.has_laws()) {
    const float offset = tree.cells.tap_leaf[cell_row(tree, leaf, k)];
    if (std::isinf(offset)) return fmt::format("{} the tap of {}", offset < 0 ? "closes" : "opens", cell);
    return fmt::format("shifts the tap of {} by {}", cell, short_number(offset, words.options.digits));
  }
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

namespace {

// "m1 to m4, m7": neighbours in the tree's order as one.
std::string runs_text(const Wording& words, const std::vector<int>& cells) {
  std::string text;
  for (std::size_t i = 0, end = 0; i < cells.size(); i = end) {
    for (end = i + 1; end < cells.size() && cells[end] == cells[end - 1] + 1;) ++end;
    const auto name = [&](std::size_t at) {
      return words.feature[static_cast<std::size_t>(words.tree->n_x + cells[at])];
    };
    text += (text.empty() ? "" : ", ") + name(i);
    if (end - i > 1) text += (end - i > 2 ? " to " : ", ") + name(end - 1);
  }
  return text;
}

}  // namespace

std::vector<std::string> write_texts(const Wording& words, int leaf) {
  constexpr std::size_t kMostWrites = 6;  // beyond that nobody reads the formulas
  std::vector<int> cells;
  for (int k = 0; k < words.tree->n_m; ++k)
    if (writes(words, leaf, k)) cells.push_back(k);
  if (words.options.terms > 0 && cells.size() > kMostWrites)
    return {fmt::format("{} {}", words.tree->has_laws() ? "sets the taps of" : "writes", runs_text(words, cells))};
  std::vector<std::string> texts;
  texts.reserve(cells.size());
  for (const int k : cells) texts.push_back(write_text(words, leaf, k));
  return texts;
}

std::vector<float> leaf_probabilities(const Wording& words, int leaf) {
  const Tree& tree = *words.tree;
  if (!words.model->classifies() || tree.form.output_order != OutputOrder::kZero) return {};
  for (int y = 0; y < tree.n_y; ++y)
    if (!answer_terms(words, leaf, y).empty()) return {};
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

namespace {

// In classification scores matter only against each other: with two classes one difference tells all.
std::vector<std::string> score_texts(const Wording& words, int leaf) {
  const Tree& tree = *words.tree;
  const auto n_y = static_cast<std::size_t>(tree.n_y);
  const float* const output = tree.output.data() + static_cast<std::size_t>(leaf) * n_y;
  const bool first_order = tree.form.output_order == OutputOrder::kFirst;
  if (tree.n_y == 2 && !first_order) {
    std::vector<Term> difference = answer_terms(words, leaf, 1);
    for (const Term& term : answer_terms(words, leaf, 0)) {
      const auto same = std::find_if(difference.begin(), difference.end(),
                                     [&](const Term& other) { return other.name == term.name; });
      if (same == difference.end()) {
        difference.push_back({term.name, -term.weight, term.size});
        continue;
      }
      const float scale = same->weight != 0 ? same->size / std::abs(same->weight) : 1.0F;
      same->weight -= term.weight;
      same->size = std::abs(same->weight) * scale;
    }
    std::erase_if(difference, [](const Term& term) { return term.weight == 0; });
    return {fmt::format("say \"{}\" if {} {} 0, else \"{}\"", words.classes[1],
                        sum_text(words, output[1] - output[0], difference),
                        words.options.symbols ? "≥" : ">=", words.classes[0])};
  }
  std::vector<std::string> lines = {first_order ? "add to the scores, say the highest:" : "say the highest score:"};
  for (std::size_t y = 0; y < n_y; ++y)
    lines.push_back(fmt::format("  \"{}\": {}", words.classes[y],
                                sum_text(words, output[y], answer_terms(words, leaf, static_cast<int>(y)))));
  return lines;
}

}  // namespace

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
  for (int y = 0; y < tree.n_y; ++y) constant = constant && answer_terms(words, leaf, y).empty();
  const auto first = static_cast<std::ptrdiff_t>(leaf) * tree.n_y;
  std::vector<float> answer(tree.output.begin() + first, tree.output.begin() + first + tree.n_y);
  if (constant) apply_link(objective, answer);
  std::vector<std::string> lines;
  for (int y = 0; y < tree.n_y; ++y) {
    std::string said = sum_text(words, answer[static_cast<std::size_t>(y)], answer_terms(words, leaf, y));
    if (!constant) said = link_text(objective, words.targets, y, said);
    lines.push_back(
        fmt::format("say {} {} {}", words.targets[static_cast<std::size_t>(y)], first_order ? "+=" : "=", said));
  }
  return lines;
}

}  // namespace remede

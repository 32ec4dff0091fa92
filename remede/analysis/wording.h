// The words for the parts of one tree: names, tests, what a leaf says and writes. Every view (text, DOT, SVG, rules,
// traces) takes its words from here, so that they agree.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "remede/analysis/view.h"
#include "remede/model/model.h"

namespace remede {

struct WordOptions {
  int terms = 3;             // longest sum written out; 0: no limit
  int digits = 3;            // of weights and values
  std::vector<float> scale;  // (n_v) typical size of each feature, to order terms by; empty: order by weight alone
  bool symbols = false;      // typographic signs: ≥ ← … instead of >=, <- and a count
};

// Refers to the model, which must outlive it.
struct Wording {
  const Model* model = nullptr;
  const Tree* tree = nullptr;
  View view;
  WordOptions options;
  std::vector<std::string> feature;  // (n_v) input names as they stand in the file, then m1, m2, ...
  std::vector<std::string> factor;   // (n_v) the same inside a formula: [wind speed] where a name is no single word
  std::vector<std::string> classes;  // (n_y), empty in regression
  std::vector<std::string> targets;
  std::vector<int> threshold_digits;  // (n_v) enough to tell the thresholds of a feature apart

  bool is_cell(int f) const { return f >= tree->n_x; }
};

// Longest sum written out of a model: all of one that is small enough to be read as a whole, else 3 terms. 0: no limit.
int usual_terms(const Model& model);

Wording make_wording(const Model& model, std::size_t tree, WordOptions options = {});

// The names of the features of any tree of the model: inputs, then as many cells as that tree has.
std::vector<std::string> feature_names(const Model& model, const Tree& tree);

// "0.5", with as many digits as tell it from the other thresholds of that feature.
std::string threshold_text(const Wording& words, int feature, float threshold);
// "x1 >= 0.5", or "x1 >= 0.5 or missing" where a missing value goes right.
std::string test_text(const Wording& words, int node);
// The side taken: "x1 < 0.5" or "x1 >= 0.5".
std::string side_text(const Wording& words, int node, bool right);

// A feature within a range that its tests left: "x1 < 0.5", "0.1 <= x1 < 0.5", "x1 missing", "any x1".
std::string range_text(const Wording& words, int feature, const Range& range);

// One product of a sum, as it is written.
struct Term {
  std::string name;
  float weight = 0;
  float size = 0;  // weight times the typical size of what it weighs, to order terms by
};
// The terms of the leaf's answer y, of what comes into cell k, and of its tap (of trees whose cells have laws).
std::vector<Term> answer_terms(const Wording& words, int leaf, int y);
std::vector<Term> gain_terms(const Wording& words, int k);
std::vector<Term> tap_terms(const Wording& words, int k);
std::string sum_text(const Wording& words, float constant, std::vector<Term> terms);

// "3.2 + 1.5 x1 - 0.4 m1 + 2 smaller". weights: (the features 0, 1, ...).
std::string sum_text(const Wording& words, float constant, std::span<const float> weights);

// Does this leaf change cell k in a way that can matter? (The gate is open, the write is not nothing, the cell is
// read.) Of a cell with a law: does the leaf shift, close or open its tap?
bool writes(const Wording& words, int leaf, int k);
// "m1 += tanh(37.6 x1)", "m2 <- 0.9 m2 + 0.1 tanh(x1)", "m1 <- 0.96". REQUIRES: writes(words, leaf, k)
std::string write_text(const Wording& words, int leaf, int k);
// One text for each; where there are many, one for all: "writes m1 to m16".
std::vector<std::string> write_texts(const Wording& words, int leaf);

// What a leaf says has fixed probabilities: classification with constant leaves of zero order. (n_y), else empty.
std::vector<float> leaf_probabilities(const Wording& words, int leaf);
// One or more lines: `say "1" (99.8%)`, `say y = 3.2 + 1.5 x1`, `add 0.3 to y`, scores of classes where they depend on
// the step.
std::vector<std::string> say_texts(const Wording& words, int leaf);
// `"1" (99.8%)` and the runner-up where it is above 5%.
std::string answer_text(const Wording& words, std::span<const float> probabilities);

}  // namespace remede

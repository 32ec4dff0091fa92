#include "remede/train/patterns/tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "remede/base/arithmetic.h"

namespace remede::patterns {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

float tap_of(float share) {
  return static_cast<float>(log(static_cast<double>(share) / (1 - static_cast<double>(share))));
}

class TreeMaker {
 public:
  TreeMaker(const Basis& basis, const std::vector<Pattern>& patterns, const std::vector<std::size_t>& columns,
            std::size_t count, const Matrix<double>& answer)
      : basis_(basis), answer_(answer), cell_(basis.size(), kNone) {
    std::size_t collectors = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t c = columns[i];
      if (c >= patterns.size()) {
        need(c - patterns.size());
        continue;
      }
      collectors += patterns[c].ramp > 0.0F ? 2 : 1;
      for (const Term& term : patterns[c].terms) need(term.source);
    }
    averages_ = static_cast<std::size_t>(std::count(cell_.begin(), cell_.end(), std::size_t{0}));
    allocate(averages_ + collectors);
    make_averages();
    for (std::size_t o = 0; o < answer.columns; ++o) output_.push_back(answer(count, o));
    std::size_t cell = averages_;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t c = columns[i];
      if (c < patterns.size())
        cell = make_collector(cell, patterns[c], i);
      else
        read(c - patterns.size(), i);
    }
  }

  Tree finish(bool classes) {
    if (classes && tree_.n_y == 2) {  // only the second has a score: the first one's is 0
      for (std::size_t i = 0; i < linear_.rows; ++i) {
        linear_(i, 1) -= linear_(i, 0);
        linear_(i, 0) = 0;
      }
      output_[1] -= output_[0];
      output_[0] = 0;
    }
    for (const double v : output_) tree_.output.push_back(static_cast<float>(v));
    for (const double v : linear_.values) tree_.cells.linear.push_back(static_cast<float>(v));
    return std::move(tree_);
  }

 private:
  // An average needs those before it in its chain. The input itself needs no cell.
  void need(std::size_t source) {
    for (std::size_t at = source; at >= basis_.n_x; at = basis_.before(at)) cell_[at] = 0;
  }

  void allocate(std::size_t cells) {
    tree_.n_x = static_cast<int>(basis_.n_x);
    tree_.n_y = static_cast<int>(answer_.columns);
    tree_.n_m = static_cast<int>(cells);
    tree_.form.memory = Memory::kLaws;
    Cells& c = tree_.cells;
    c.law.assign(cells, Law::kStore);
    c.bias.assign(cells, 0.0F);
    c.input.assign(cells * basis_.n_x, 0.0F);
    c.earlier.assign(cells * cells, 0.0F);
    c.tap.assign(cells, 0.0F);
    c.tap_input.assign(cells * basis_.n_x, 0.0F);
    c.tap_level.assign(cells, 0.0F);
    c.tap_leaf.assign(cells, 0.0F);
    c.first.assign(cells, 0);
    linear_ = Matrix<double>(basis_.n_x + 2 * cells, answer_.columns);
  }

  // Those of one chain and one input stand side by side. They start at their first value.
  void make_averages() {
    std::size_t k = 0;
    for (std::size_t chain = 0; chain < basis_.chains; ++chain)
      for (std::size_t input = 0; input < basis_.n_x; ++input)
        for (std::size_t stage = 0; stage < basis_.stages; ++stage)
          if (const std::size_t source = basis_.at(chain, stage, input); cell_[source] != kNone)
            make_average(k++, source);
  }

  void make_average(std::size_t k, std::size_t source) {
    Cells& c = tree_.cells;
    cell_[source] = k;
    read_source(k, basis_.before(source), 1.0F);
    c.law[k] = Law::kAverage;
    c.first[k] = 1;
    c.tap[k] = tap_of(basis_.share[basis_.chain_of(source)]);
  }

  void read_source(std::size_t k, std::size_t source, float weight) {
    Cells& c = tree_.cells;
    if (source < basis_.n_x)
      c.input[k * basis_.n_x + source] = weight;
    else
      c.earlier[k * static_cast<std::size_t>(tree_.n_m) + cell_[source]] = weight;
  }

  // From cell k on; returns the number of the next one.
  std::size_t make_collector(std::size_t k, const Pattern& pattern, std::size_t row) {
    const double unit = read_pattern(k, pattern, pattern.ramp > 0.0F ? -1.0 : 1.0);
    double worth = unit;
    if (pattern.ramp > 0.0F) {
      make_count(k++, static_cast<double>(pattern.ramp) / unit);
      worth = 1;
    }
    Cells& c = tree_.cells;
    if (pattern.share == 0.0F) {
      c.tap_leaf[k] = -std::numeric_limits<float>::infinity();
    } else {
      c.law[k] = Law::kPositiveAverage;
      c.first[k] = 1;
      c.tap[k] = tap_of(pattern.share);
    }
    for (std::size_t o = 0; o < answer_.columns; ++o) linear_(level_of(k), o) = answer_(row, o) * worth;
    return k + 1;
  }

  // The argument of cell k becomes the pattern's sum times the sign, in a unit in which the largest weight is 1 or -1.
  double read_pattern(std::size_t k, const Pattern& pattern, double sign) {
    double bias = -static_cast<double>(pattern.threshold), unit = 0;
    for (const Term& term : pattern.terms) {
      const std::size_t i = basis_.input_of(term.source);
      const double raw = static_cast<double>(term.weight) / static_cast<double>(basis_.scale[i]);
      bias -= raw * static_cast<double>(basis_.shift[i]);
      unit = std::max(unit, std::abs(raw));
    }
    for (const Term& term : pattern.terms) {
      const auto scale = static_cast<double>(basis_.scale[basis_.input_of(term.source)]);
      read_source(k, term.source, static_cast<float>(sign * static_cast<double>(term.weight) / scale / unit));
    }
    tree_.cells.bias[k] = static_cast<float>(sign * bias / unit);
    return unit;
  }

  // Cell k, whose argument is the negative of a sum, releases at once by how much the sum is below the ramp's end, and
  // the next cell takes in 1 less the part of the ramp that is missing: 0 where the sum is negative, 1 above the ramp.
  void make_count(std::size_t k, double ramp) {
    Cells& c = tree_.cells;
    c.bias[k] = static_cast<float>(static_cast<double>(c.bias[k]) + ramp);
    c.tap_leaf[k] = std::numeric_limits<float>::infinity();
    c.bias[k + 1] = 1.0F;
    c.earlier[(k + 1) * static_cast<std::size_t>(tree_.n_m) + k] = static_cast<float>(-1.0 / ramp);
  }

  std::size_t level_of(std::size_t k) const { return basis_.n_x + static_cast<std::size_t>(tree_.n_m) + k; }

  // An average at the step of the answer, or the input there.
  void read(std::size_t source, std::size_t row) {
    const std::size_t i = basis_.input_of(source), at = source < basis_.n_x ? source : level_of(cell_[source]);
    for (std::size_t o = 0; o < answer_.columns; ++o) {
      const double weight = answer_(row, o) / static_cast<double>(basis_.scale[i]);
      output_[o] -= weight * static_cast<double>(basis_.shift[i]);
      linear_(at, o) += weight;
    }
  }

  const Basis& basis_;
  const Matrix<double>& answer_;
  std::vector<std::size_t> cell_;  // (basis) of what is read
  std::size_t averages_ = 0;
  Matrix<double> linear_;       // (n_x + 2 K, n_y)
  std::vector<double> output_;  // (n_y)
  Tree tree_;
};

}  // namespace

Tree make_tree(const Basis& basis, const std::vector<Pattern>& patterns, const std::vector<std::size_t>& columns,
               std::size_t count, const Matrix<double>& answer, bool classes) {
  return TreeMaker(basis, patterns, columns, count, answer).finish(classes);
}

}  // namespace remede::patterns

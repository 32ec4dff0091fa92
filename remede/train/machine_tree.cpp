// A finite-state machine as a tree: each state is a value of the one cell, and a greedy tree over inputs and cell tells
// the transitions apart.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "remede/base/arithmetic.h"
#include "remede/train/state_merging.h"

namespace remede {
namespace {

constexpr double kLargestState = 0.9;       // of the cell: tanh must reach it
constexpr double kPriorWeight = 0.5;        // observations of every class that are added to a leaf's own
constexpr std::size_t kPermutedStates = 6;  // up to here all orders of the states are tried: 720
constexpr std::size_t kSwapPasses = 4;      // beyond: passes of swaps of two neighbours

// One transition that the data hold.
struct Transition {
  std::int32_t state, next;
  std::int32_t answer;   // the class that the next state gives most often
  std::vector<float> v;  // (n_x + 1) the inputs, and the cell
};

// Splits transitions greedily until each part can be done by one leaf.
class TreeBuilder {
 public:
  TreeBuilder(const SymbolMachine& machine, const std::vector<float>& value) : machine_(machine), value_(value) {
    tree_.n_x = machine.n_x;
    tree_.n_m = 1;
    tree_.n_y = machine.n_y;
    tree_.form.write_rule = WriteRule::kBlend;
    tree_.form.write_bias = true;
    for (std::size_t q = 0; q < machine.states(); ++q)
      for (std::size_t a = 0; a < machine.symbols(); ++a) add_transition(q, a);
  }

  Tree build() {
    std::vector<std::size_t> all(transitions_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    grow(all);
    return std::move(tree_);
  }

 private:
  void add_transition(std::size_t q, std::size_t a) {
    const std::int32_t next = machine_.next[q * machine_.symbols() + a];
    if (next < 0) return;
    const auto n_x = static_cast<std::size_t>(machine_.n_x), n_y = static_cast<std::size_t>(machine_.n_y);
    const double* weight = machine_.class_weight.data() + static_cast<std::size_t>(next) * n_y;
    Transition t;
    t.state = static_cast<std::int32_t>(q);
    t.next = next;
    t.answer = static_cast<std::int32_t>(std::max_element(weight, weight + n_y) - weight);
    t.v.assign(machine_.symbol.begin() + static_cast<std::ptrdiff_t>(a * n_x),
               machine_.symbol.begin() + static_cast<std::ptrdiff_t>((a + 1) * n_x));
    t.v.push_back(value_[q]);
    transitions_.push_back(std::move(t));
  }

  // Adds the subtree of these transitions and returns its child number. A parent is numbered before its children.
  std::int32_t grow(const std::vector<std::size_t>& part) {
    if (one_leaf(part)) return add_leaf(part);
    const Split split = best_split(part);
    const auto node = static_cast<std::int32_t>(tree_.feature.size());
    tree_.feature.push_back(split.feature);
    tree_.threshold.push_back(split.threshold);
    tree_.missing_right.push_back(split.missing_right ? 1 : 0);
    tree_.left.push_back(0);
    tree_.right.push_back(0);
    std::vector<std::size_t> left, right;
    for (const std::size_t i : part) (goes_right(transitions_[i], split) ? right : left).push_back(i);
    const std::int32_t l = grow(left), r = grow(right);
    tree_.left[static_cast<std::size_t>(node)] = l;
    tree_.right[static_cast<std::size_t>(node)] = r;
    return node;
  }

  bool one_next(const std::vector<std::size_t>& part) const {
    return std::all_of(part.begin(), part.end(),
                       [&](std::size_t i) { return transitions_[i].next == transitions_[part.front()].next; });
  }
  bool stays(const std::vector<std::size_t>& part) const {
    return std::all_of(part.begin(), part.end(),
                       [&](std::size_t i) { return transitions_[i].next == transitions_[i].state; });
  }
  bool one_answer(const std::vector<std::size_t>& part) const {
    return std::all_of(part.begin(), part.end(),
                       [&](std::size_t i) { return transitions_[i].answer == transitions_[part.front()].answer; });
  }
  bool one_leaf(const std::vector<std::size_t>& part) const {
    return one_next(part) || (stays(part) && one_answer(part));
  }

  std::int32_t add_leaf(const std::vector<std::size_t>& part) {
    const auto leaf = static_cast<std::int32_t>(tree_.gate.size());
    const auto n_y = static_cast<std::size_t>(machine_.n_y);
    std::vector<double> weight(n_y, kPriorWeight);
    for (const std::size_t i : part)
      for (std::size_t k = 0; k < n_y; ++k)
        weight[k] += machine_.class_weight[static_cast<std::size_t>(transitions_[i].next) * n_y + k];
    const double sum = std::accumulate(weight.begin(), weight.end(), 0.0);
    for (const double w : weight) tree_.output.push_back(static_cast<float>(log(w / sum)));
    const bool stay = stays(part);
    const double to = value_[static_cast<std::size_t>(transitions_[part.front()].next)];
    tree_.gate.push_back(stay ? 0 : 1);
    tree_.write.insert(tree_.write.end(), static_cast<std::size_t>(machine_.n_x), 0.0F);
    tree_.bias.push_back(stay ? 0.0F : static_cast<float>(0.5 * log((1 + to) / (1 - to))));  // atanh
    tree_.blend.push_back(stay ? 0.0F : 1.0F);
    return ~leaf;
  }

  struct Split {
    std::int32_t feature = -1;
    float threshold = 0;
    bool missing_right = false;
  };

  static bool goes_right(const Transition& t, const Split& split) {
    const float v = t.v[static_cast<std::size_t>(split.feature)];
    return std::isnan(v) ? split.missing_right : v >= split.threshold;
  }

  // The split that leaves the least uncertainty about the next state. REQUIRES: transitions that differ in `v`.
  Split best_split(const std::vector<std::size_t>& part) const {
    Split best;
    double least = std::numeric_limits<double>::infinity();
    for (std::int32_t f = 0; f <= machine_.n_x; ++f) {
      std::vector<float> values;
      bool missing = false;
      for (const std::size_t i : part) {
        const float v = transitions_[i].v[static_cast<std::size_t>(f)];
        if (std::isnan(v))
          missing = true;
        else
          values.push_back(v);
      }
      std::sort(values.begin(), values.end());
      values.erase(std::unique(values.begin(), values.end()), values.end());
      // With missing values they may also be all that goes right.
      for (std::size_t i = missing ? 0 : 1; i <= values.size(); ++i) {
        if (values.empty() || (i == values.size() && !missing)) continue;
        Split split{f, between(values, i), false};
        for (const bool side : {false, true}) {
          split.missing_right = side;
          if (side && !missing) continue;
          const double left_over = uncertainty(part, split);
          if (left_over < least) {
            least = left_over;
            best = split;
          }
        }
      }
    }
    return best;
  }

  // A threshold that the values from number i on reach.
  static float between(const std::vector<float>& values, std::size_t i) {
    if (i == 0) return values.front();
    if (i == values.size()) return std::nextafter(values.back(), std::numeric_limits<float>::infinity());
    const float apart = values[i] - values[i - 1];  // may be too large for a float
    const float middle = std::isfinite(apart) ? values[i - 1] + apart / 2 : values[i - 1] / 2 + values[i] / 2;
    return middle > values[i - 1] ? middle : values[i];
  }

  // Sum over both sides of size times entropy of the next state. Infinite where one side is empty.
  double uncertainty(const std::vector<std::size_t>& part, const Split& split) const {
    std::vector<double> left(machine_.states()), right(machine_.states());
    double on_left = 0, on_right = 0;
    for (const std::size_t i : part) {
      const bool r = goes_right(transitions_[i], split);
      (r ? right : left)[static_cast<std::size_t>(transitions_[i].next)] += 1;
      (r ? on_right : on_left) += 1;
    }
    if (on_left == 0 || on_right == 0) return std::numeric_limits<double>::infinity();
    double sum = 0;
    for (std::size_t q = 0; q < left.size(); ++q) {
      if (left[q] > 0) sum -= left[q] * log(left[q] / on_left);
      if (right[q] > 0) sum -= right[q] * log(right[q] / on_right);
    }
    return sum;
  }

  const SymbolMachine& machine_;
  const std::vector<float>& value_;  // (states) of the cell
  std::vector<Transition> transitions_;
  Tree tree_;
};

// The cell's value of each state when the states stand in this order: evenly spaced, the start at 0.
std::vector<float> values_of(const std::vector<std::size_t>& order) {
  const auto start = static_cast<double>(std::find(order.begin(), order.end(), std::size_t{0}) - order.begin());
  const double reach = std::max({1.0, start, static_cast<double>(order.size() - 1) - start});
  std::vector<float> value(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    value[order[i]] = static_cast<float>(kLargestState * (static_cast<double>(i) - start) / reach);
  return value;
}

Tree tree_in_order(const SymbolMachine& machine, const std::vector<std::size_t>& order) {
  return TreeBuilder(machine, values_of(order)).build();
}

}  // namespace

Tree tree_of(const SymbolMachine& machine) {
  std::vector<std::size_t> order(machine.states());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Tree best = tree_in_order(machine, order);
  const auto consider = [&](const std::vector<std::size_t>& candidate) {
    Tree tree = tree_in_order(machine, candidate);
    if (tree.inner_count() >= best.inner_count()) return false;
    best = std::move(tree);
    return true;
  };
  if (order.size() <= kPermutedStates) {
    std::vector<std::size_t> candidate = order;
    while (std::next_permutation(candidate.begin(), candidate.end())) consider(candidate);
    return best;
  }
  for (std::size_t pass = 0, improved = 1; pass < kSwapPasses && improved > 0; ++pass) {
    improved = 0;
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      std::swap(order[i], order[i + 1]);
      if (consider(order))
        ++improved;
      else
        std::swap(order[i], order[i + 1]);
    }
  }
  return best;
}

}  // namespace remede

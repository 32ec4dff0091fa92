#include "remede/train/greedy_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "remede/base/arithmetic.h"
#include "remede/base/random.h"

namespace remede {
namespace {

constexpr std::uint64_t kGreedyStream = 0x6772656500000000;  // apart from the other random numbers of a fit
constexpr double kPriorRows = 1;  // rows of the whole data's frequencies that are added to each leaf's own

// Steps with a target, as rows of a table.
struct TargetTable {
  std::size_t n_x = 0, n_y = 0;
  bool classes = false;
  std::vector<float> x;             // (n_x, rows)
  std::vector<std::int32_t> label;  // (rows)
  std::vector<float> value;         // (rows, n_y)
  std::vector<double> weight;       // (rows)

  std::size_t rows() const { return weight.size(); }
};

TargetTable table_of(const Sequences& data, std::span<const std::size_t> steps) {
  TargetTable table;
  table.n_x = static_cast<std::size_t>(data.n_x);
  table.n_y = static_cast<std::size_t>(data.n_y);
  table.classes = !data.label.empty();
  table.x.resize(table.n_x * steps.size());
  for (std::size_t r = 0; r < steps.size(); ++r) {
    const std::size_t t = steps[r];
    for (std::size_t i = 0; i < table.n_x; ++i) table.x[i * steps.size() + r] = data.x[t * table.n_x + i];
    if (table.classes)
      table.label.push_back(data.label[t]);
    else
      table.value.insert(table.value.end(), data.value.begin() + static_cast<std::ptrdiff_t>(t * table.n_y),
                         data.value.begin() + static_cast<std::ptrdiff_t>((t + 1) * table.n_y));
    table.weight.push_back(static_cast<double>(data.weight[t]));
  }
  return table;
}

std::vector<std::size_t> steps_with_target(const Sequences& data) {
  std::vector<std::size_t> steps;
  for (std::size_t t = 0; t < data.steps(); ++t)
    if (data.weight[t] > 0.0F) steps.push_back(t);
  return steps;
}

// GreedySums over rows: weights by class, or weighted values. A split gains by how much it raises the sum of
// sum^2 / weight over its sides: that lowers the Gini impurity, or the squared error.
struct GreedySums {
  std::vector<double> of;  // (n_y)
  double squares = 0;      // of these
  double weight = 0;
  std::size_t rows = 0;

  explicit GreedySums(std::size_t n_y) : of(n_y) {}
  void add(const TargetTable& table, std::size_t r, double sign) {
    const double w = sign * table.weight[r];
    weight += w;
    rows += sign > 0 ? 1 : std::size_t(-1);
    if (table.classes) {
      add_to(static_cast<std::size_t>(table.label[r]), w);
    } else {
      for (std::size_t o = 0; o < of.size(); ++o) add_to(o, w * static_cast<double>(table.value[r * of.size() + o]));
    }
  }
  double worth() const { return weight > 0 ? squares / weight : 0; }

 private:
  void add_to(std::size_t k, double change) {
    squares += change * (2 * of[k] + change);
    of[k] += change;
  }
};

struct GreedySplit {
  double gain = 0;
  std::size_t input = 0;
  float threshold = 0;
  bool missing_right = false;
};

struct GreedyNode {
  std::size_t begin = 0, end = 0;  // of the rows, in every order
  GreedySums sums;
  GreedySplit split;  // the best one; gain 0: none
  int split_at = -1;  // when it was split, counted from 0; -1: a leaf
  std::size_t left = 0, right = 0;
  std::vector<std::size_t> held;  // rows of the validation table
};

class Grower {
 public:
  Grower(const TargetTable& table, const TargetTable* validation, const GreedyOptions& options)
      : table_(table), validation_(validation), options_(options), prior_(table.n_y) {
    choose_inputs();
    sort_rows();
    for (std::size_t r = 0; r < table.rows(); ++r) prior_.add(table, r, 1);
    GreedyNode root{0, table.rows(), prior_, {}, -1, 0, 0, {}};
    if (validation != nullptr) {
      root.held.resize(validation->rows());
      std::iota(root.held.begin(), root.held.end(), std::size_t{0});
      for (const double w : validation->weight) held_weight_ += w;
    }
    root.split = best_split(root);
    nodes_.push_back(std::move(root));
    add_score(nodes_[0], 1);
    remember_size();
    while (splits_ + 1 < options.leaves && split_best()) remember_size();
  }

  GreedyTree result() const {
    GreedyTree found;
    found.loss = best_loss_;
    found.wrong = best_wrong_;
    Tree& tree = found.tree;
    tree.n_x = static_cast<int>(table_.n_x);
    tree.n_y = static_cast<int>(table_.n_y);
    write(0, tree);
    return found;
  }

 private:
  void choose_inputs() {
    inputs_.resize(table_.n_x);
    std::iota(inputs_.begin(), inputs_.end(), std::size_t{0});
    if (options_.inputs >= 1) return;
    Random random(options_.seed, kGreedyStream + 2 * options_.stream);
    random.shuffle(std::span<std::size_t>(inputs_));
    const double wanted = std::ceil(options_.inputs * static_cast<double>(table_.n_x));
    inputs_.resize(std::max<std::size_t>(1, static_cast<std::size_t>(wanted)));
    std::sort(inputs_.begin(), inputs_.end());
  }

  // For every input the rows in its order, missing values last.
  void sort_rows() {
    std::vector<std::uint32_t> rows(table_.rows());
    std::iota(rows.begin(), rows.end(), 0U);
    for (const std::size_t i : inputs_) {
      const float* x = table_.x.data() + i * table_.rows();
      std::vector<std::uint32_t>& order = order_.emplace_back(rows);
      std::stable_sort(order.begin(), order.end(), [x](std::uint32_t a, std::uint32_t b) {
        if (std::isnan(x[a]) || std::isnan(x[b])) return !std::isnan(x[a]) && std::isnan(x[b]);
        return x[a] < x[b];
      });
    }
  }

  GreedySplit best_split(const GreedyNode& node) const {
    GreedySplit best;
    if (node.end - node.begin < 2 * options_.least_in_leaf) return best;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const float* x = table_.x.data() + inputs_[i] * table_.rows();
      const bool missing = std::isnan(x[order_[i][node.end - 1]]);
      try_thresholds(node, i, true, best);
      if (missing) try_thresholds(node, i, false, best);
    }
    return best;
  }

  // All thresholds of one input, missing values on one side.
  void try_thresholds(const GreedyNode& node, std::size_t i, bool missing_right, GreedySplit& best) const {
    const std::vector<std::uint32_t>& order = order_[i];
    const float* x = table_.x.data() + inputs_[i] * table_.rows();
    std::size_t known = node.end;
    GreedySums left(table_.n_y), right = node.sums;
    while (known > node.begin && std::isnan(x[order[known - 1]])) {
      --known;
      if (missing_right) continue;
      left.add(table_, order[known], 1);
      right.add(table_, order[known], -1);
    }
    const double before = node.sums.worth();
    for (std::size_t at = node.begin; at < known; ++at) {
      left.add(table_, order[at], 1);
      right.add(table_, order[at], -1);
      const bool last = at + 1 == known;
      if (last && (known == node.end || !missing_right)) break;  // nothing would go right
      if (!last && x[order[at]] == x[order[at + 1]]) continue;
      if (left.rows < options_.least_in_leaf || right.rows < options_.least_in_leaf) continue;
      const double gain = left.worth() + right.worth() - before;
      if (gain > best.gain * (1 + 1e-12) + 1e-12 * std::fabs(before)) {
        const float next = last ? std::numeric_limits<float>::infinity() : x[order[at + 1]];
        best = {gain, inputs_[i], between(x[order[at]], next), missing_right};
      }
    }
  }

  // A finite number above `low` and not above `high`.
  static float between(float low, float high) {
    const float middle = low + (high - low) / 2;
    if (middle > low && middle <= high && std::isfinite(middle)) return middle;
    return std::nextafter(low, std::numeric_limits<float>::infinity());
  }

  bool goes_right(const TargetTable& table, std::size_t r, const GreedySplit& split) const {
    const float v = table.x[split.input * table.rows() + r];
    return std::isnan(v) ? split.missing_right : v >= split.threshold;
  }

  bool split_best() {
    std::size_t best = nodes_.size();
    for (std::size_t n = 0; n < nodes_.size(); ++n)
      if (nodes_[n].split_at < 0 && nodes_[n].split.gain > 0 &&
          (best == nodes_.size() || nodes_[n].split.gain > nodes_[best].split.gain))
        best = n;
    if (best == nodes_.size()) return false;
    add_score(nodes_[best], -1);
    const GreedySplit split = nodes_[best].split;
    GreedyNode left{nodes_[best].begin, 0, GreedySums(table_.n_y), {}, -1, 0, 0, {}}, right = left;
    right.end = nodes_[best].end;
    for (std::vector<std::uint32_t>& order : order_) {
      const auto middle = std::stable_partition(order.begin() + static_cast<std::ptrdiff_t>(left.begin),
                                                order.begin() + static_cast<std::ptrdiff_t>(right.end),
                                                [&](std::uint32_t r) { return !goes_right(table_, r, split); });
      left.end = right.begin = static_cast<std::size_t>(middle - order.begin());
    }
    for (std::size_t at = left.begin; at < right.end; ++at)
      (at < left.end ? left : right).sums.add(table_, order_[0][at], 1);
    for (const std::size_t r : nodes_[best].held) (goes_right(*validation_, r, split) ? right : left).held.push_back(r);
    left.split = best_split(left);
    right.split = best_split(right);
    add_score(left, 1);
    add_score(right, 1);
    nodes_[best].split_at = splits_++;
    nodes_[best].left = nodes_.size();
    nodes_[best].right = nodes_.size() + 1;
    nodes_.push_back(std::move(left));
    nodes_.push_back(std::move(right));
    return true;
  }

  // What a leaf answers: class probabilities, or means.
  std::vector<double> answer(const GreedyNode& node) const {
    std::vector<double> y(table_.n_y);
    for (std::size_t k = 0; k < y.size(); ++k) {
      const double prior = prior_.of[k] / prior_.weight;
      y[k] = table_.classes ? (node.sums.of[k] + kPriorRows * prior) / (node.sums.weight + kPriorRows)
                            : node.sums.of[k] / node.sums.weight;
    }
    return y;
  }

  // Adds what a leaf does on the validation rows that reach it, or takes it away.
  void add_score(const GreedyNode& node, double sign) {
    if (node.held.empty()) return;
    const std::vector<double> y = answer(node);
    const auto likeliest = static_cast<std::int32_t>(std::max_element(y.begin(), y.end()) - y.begin());
    for (const std::size_t r : node.held) {
      const double w = sign * validation_->weight[r];
      if (table_.classes) {
        loss_ -= w * log(std::max(y[static_cast<std::size_t>(validation_->label[r])], 1e-15));
        wrong_ += validation_->label[r] == likeliest ? 0.0 : w;
        continue;
      }
      for (std::size_t o = 0; o < y.size(); ++o) {
        const double e = y[o] - static_cast<double>(validation_->value[r * y.size() + o]);
        loss_ += w * e * e / static_cast<double>(y.size());
      }
    }
  }

  void remember_size() {
    const bool first = splits_ == 0;
    const double rounding = 1e-9;  // of sums that were added to and taken from
    const double loss = held_weight_ > 0 ? loss_ / held_weight_ : 0.0;
    const double wrong = held_weight_ > 0 ? wrong_ / held_weight_ : 0.0;
    const bool better = table_.classes && std::fabs(wrong - best_wrong_) > rounding
                            ? wrong < best_wrong_
                            : loss < best_loss_ - rounding * std::fabs(best_loss_);
    if (!first && validation_ != nullptr && !better) return;
    best_splits_ = splits_;
    best_loss_ = loss;
    best_wrong_ = wrong;
  }

  // The subtree of a node, as it was when the tree had its best size. Returns its child number.
  std::int32_t write(std::size_t n, Tree& tree) const {
    const GreedyNode& node = nodes_[n];
    if (node.split_at < 0 || node.split_at >= best_splits_) {
      const auto leaf = static_cast<std::int32_t>(tree.output.size() / table_.n_y);
      for (const double v : answer(node))
        tree.output.push_back(static_cast<float>(table_.classes ? log(std::max(v, 1e-15)) : v));
      return ~leaf;
    }
    const std::size_t at = tree.feature.size();
    tree.feature.push_back(static_cast<std::int32_t>(node.split.input));
    tree.threshold.push_back(node.split.threshold);
    tree.missing_right.push_back(node.split.missing_right ? 1 : 0);
    tree.left.push_back(0);
    tree.right.push_back(0);
    const std::int32_t left = write(node.left, tree), right = write(node.right, tree);
    tree.left[at] = left;
    tree.right[at] = right;
    return static_cast<std::int32_t>(at);
  }

  const TargetTable& table_;
  const TargetTable* validation_;
  const GreedyOptions& options_;
  GreedySums prior_;
  std::vector<std::size_t> inputs_;                // that may be tested
  std::vector<std::vector<std::uint32_t>> order_;  // (inputs_, rows)
  std::vector<GreedyNode> nodes_;
  int splits_ = 0, best_splits_ = 0;
  double held_weight_ = 0, loss_ = 0, wrong_ = 0;  // of the validation data, all leaves together
  double best_loss_ = 0, best_wrong_ = 0;
};

}  // namespace

GreedyTree grow_greedy(const Sequences& training, const Sequences* validation, const GreedyOptions& options) {
  std::vector<std::size_t> steps = steps_with_target(training);
  if (options.resample) {
    Random random(options.seed, kGreedyStream + 2 * options.stream + 1);
    std::vector<std::size_t> drawn(steps.size());
    for (std::size_t& step : drawn) step = steps[random.below(steps.size())];
    steps = std::move(drawn);
  }
  const TargetTable table = table_of(training, steps);
  const TargetTable held =
      validation != nullptr ? table_of(*validation, steps_with_target(*validation)) : TargetTable();
  return Grower(table, validation != nullptr ? &held : nullptr, options).result();
}

}  // namespace remede

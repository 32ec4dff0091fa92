#include "remede/train/state_merging.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "remede/base/arithmetic.h"
#include "remede/train/symbols.h"

namespace remede {
namespace {

constexpr std::int32_t kNone = -1;

// The prefix tree, and the machine that it becomes as nodes are merged. A merge of two nodes adds the second, with all
// that follows it, to the first. Merges are tried and undone through a log.
class Merger {
 public:
  Merger(const Sequences& data, const Symbols& symbols, MergeTest test, const MergingLimits& limits)
      : symbols_(symbols.count), classes_(static_cast<std::size_t>(data.n_y)), test_(test), limits_(limits) {
    bound_ = std::sqrt(0.5 * log(2.0 / limits.significance));
    add_node();
    for (std::size_t s = 0; s < data.count() && nodes() + data.length(s) <= limits.prefixes; ++s) add(data, s, symbols);
  }

  bool has_labels() const {
    return std::any_of(weight_.begin(), weight_.end(), [](double w) { return w > 0; });
  }

  // False where a limit was reached.
  bool run() {
    red_.push_back(0);
    is_red_.assign(nodes(), false);
    is_red_[0] = true;
    while (true) {
      const std::vector<Blue> blue = fringe();
      if (blue.empty()) return true;
      if (!merge_or_promote(blue) || visits_ > limits_.visits || red_.size() > limits_.states) return false;
    }
  }

  SymbolMachine machine(const Sequences& data, const Symbols& symbols) const {
    SymbolMachine m;
    m.n_x = data.n_x;
    m.n_y = data.n_y;
    m.symbol = symbols.inputs;
    std::vector<std::int32_t> number(nodes(), kNone);
    for (std::size_t q = 0; q < red_.size(); ++q) number[index(red_[q])] = static_cast<std::int32_t>(q);
    for (const std::int32_t node : red_) {
      for (std::size_t a = 0; a < symbols_; ++a) {
        const std::int32_t to = child(node, a);
        m.next.push_back(to == kNone ? kNone : number[index(to)]);
      }
      for (std::size_t k = 0; k < classes_; ++k) m.class_weight.push_back(weight_[index(node) * classes_ + k]);
    }
    return m;
  }

 private:
  static std::size_t index(std::int32_t node) { return static_cast<std::size_t>(node); }
  std::size_t nodes() const { return count_.size(); }
  std::int32_t child(std::int32_t node, std::size_t a) const { return child_[index(node) * symbols_ + a]; }

  std::int32_t add_node() {
    child_.insert(child_.end(), symbols_, kNone);
    weight_.insert(weight_.end(), classes_, 0.0);
    count_.push_back(0);
    return static_cast<std::int32_t>(nodes() - 1);
  }

  void add(const Sequences& data, std::size_t s, const Symbols& symbols) {
    std::int32_t at = 0;
    ++count_[0];
    for (auto t = static_cast<std::size_t>(data.offset[s]); t < static_cast<std::size_t>(data.offset[s + 1]); ++t) {
      const auto a = static_cast<std::size_t>(symbols.of_step[t]);
      if (child(at, a) == kNone) {
        const std::int32_t added = add_node();
        child_[index(at) * symbols_ + a] = added;
      }
      at = child(at, a);
      ++count_[index(at)];
      if (data.weight[t] > 0.0F) weight_[index(at) * classes_ + static_cast<std::size_t>(data.label[t])] += 1.0;
    }
  }

  // A node that is not red and the one edge that leads to it, from a red node.
  struct Blue {
    std::size_t edge;  // index into child_
    std::int32_t node;
  };

  // Those seen most often first.
  std::vector<Blue> fringe() const {
    std::vector<Blue> blue;
    for (const std::int32_t node : red_)
      for (std::size_t a = 0; a < symbols_; ++a) {
        const std::int32_t to = child(node, a);
        if (to != kNone && !is_red_[index(to)]) blue.push_back({index(node) * symbols_ + a, to});
      }
    std::stable_sort(blue.begin(), blue.end(),
                     [&](const Blue& a, const Blue& b) { return count_[index(a.node)] > count_[index(b.node)]; });
    return blue;
  }

  // A blue node that fits no red one becomes red; else the best-supported merge is made. False where the work is spent.
  bool merge_or_promote(const std::vector<Blue>& fringe) {
    double best = -std::numeric_limits<double>::infinity();
    std::int32_t best_red = kNone;
    Blue best_blue{};
    for (const Blue& blue : fringe) {
      bool fits = false;
      for (const std::int32_t red : red_) {
        const std::optional<double> evidence = try_merge(red, blue);
        if (visits_ > limits_.visits) return false;
        if (!evidence) continue;
        fits = true;
        if (*evidence > best) {
          best = *evidence;
          best_red = red;
          best_blue = blue;
        }
      }
      if (!fits) {
        red_.push_back(blue.node);
        is_red_[index(blue.node)] = true;
        return true;
      }
      // The frequencies of the most frequent node are known best: decide about it before the others.
      if (test_ == MergeTest::kStatistical) break;
    }
    double evidence = 0;
    child_[best_blue.edge] = best_red;
    fold(best_red, best_blue.node, evidence);
    log_.clear();
    return true;
  }

  // The evidence for the merge; nothing where it contradicts the data.
  std::optional<double> try_merge(std::int32_t red, const Blue& blue) {
    double evidence = 0;
    child_[blue.edge] = red;
    const bool agrees = fold(red, blue.node, evidence);
    undo();
    child_[blue.edge] = blue.node;
    return agrees ? std::optional(evidence) : std::nullopt;
  }

  // Adds node b, with all that follows it, to node r. `b` is the root of a part of the prefix tree that is still a
  // tree, so the work list ends. False at the first contradiction.
  bool fold(std::int32_t r, std::int32_t b, double& evidence) {
    todo_.assign(1, {r, b});
    while (!todo_.empty()) {
      const auto [to, from] = todo_.back();
      todo_.pop_back();
      ++visits_;
      if (!agree(to, from, evidence)) return false;
      add_counts(to, from);
      for (std::size_t a = symbols_; a-- > 0;) {
        const std::int32_t of_from = child(from, a), of_to = child(to, a);
        if (of_from == kNone) continue;
        if (of_to != kNone) {
          todo_.emplace_back(of_to, of_from);
        } else {
          log_.push_back({to, static_cast<std::int32_t>(a), from});
          child_[index(to) * symbols_ + a] = of_from;
        }
      }
    }
    return true;
  }

  void add_counts(std::int32_t to, std::int32_t from) {
    log_.push_back({to, kNone, from});
    count_[index(to)] += count_[index(from)];
    for (std::size_t k = 0; k < classes_; ++k) weight_[index(to) * classes_ + k] += weight_[index(from) * classes_ + k];
  }

  void undo() {
    for (; !log_.empty(); log_.pop_back()) {
      const Change& c = log_.back();
      if (c.symbol != kNone) {
        child_[index(c.node) * symbols_ + static_cast<std::size_t>(c.symbol)] = kNone;
        continue;
      }
      count_[index(c.node)] -= count_[index(c.from)];
      for (std::size_t k = 0; k < classes_; ++k)
        weight_[index(c.node) * classes_ + k] -= weight_[index(c.from) * classes_ + k];
    }
  }

  bool agree(std::int32_t a, std::int32_t b, double& evidence) const {
    const double* p = weight_.data() + index(a) * classes_;
    const double* q = weight_.data() + index(b) * classes_;
    double of_a = 0, of_b = 0;
    for (std::size_t k = 0; k < classes_; ++k) {
      of_a += p[k];
      of_b += q[k];
    }
    if (of_a <= 0 || of_b <= 0) return true;
    return test_ == MergeTest::kExact ? same_label(p, q, evidence) : same_frequencies(p, of_a, q, of_b, evidence);
  }

  bool same_label(const double* p, const double* q, double& evidence) const {
    for (std::size_t k = 0; k < classes_; ++k)
      if ((p[k] > 0) != (q[k] > 0)) return false;
    evidence += 1;
    return true;
  }

  // The evidence is the likelihood that is lost by the merge: always negative.
  bool same_frequencies(const double* p, double of_a, const double* q, double of_b, double& evidence) const {
    const double apart = bound_ * (1 / std::sqrt(of_a) + 1 / std::sqrt(of_b));
    const bool tested = of_a >= limits_.least_count && of_b >= limits_.least_count;
    for (std::size_t k = 0; k < classes_; ++k) {
      const double in_a = p[k] / of_a, in_b = q[k] / of_b, in_both = (p[k] + q[k]) / (of_a + of_b);
      if (tested && std::fabs(in_a - in_b) > apart) return false;
      if (p[k] > 0) evidence += p[k] * log(in_both / in_a);
      if (q[k] > 0) evidence += q[k] * log(in_both / in_b);
    }
    return true;
  }

  struct Change {
    std::int32_t node;
    std::int32_t symbol;  // kNone: the counts of `from` were added
    std::int32_t from;
  };

  std::size_t symbols_, classes_;
  MergeTest test_;
  MergingLimits limits_;
  double bound_ = 0;                  // of the Hoeffding test, for one observation
  std::vector<std::int32_t> child_;   // (nodes, symbols)
  std::vector<double> weight_;        // (nodes, classes) steps with each label; whole numbers, so that undo() is exact
  std::vector<std::uint32_t> count_;  // (nodes) visits
  std::vector<std::int32_t> red_;     // the states of the machine so far
  std::vector<bool> is_red_;          // (nodes)
  std::vector<Change> log_;
  std::vector<std::pair<std::int32_t, std::int32_t>> todo_;
  std::uint64_t visits_ = 0;
};

}  // namespace

std::optional<SymbolMachine> merge_states(const Sequences& data, MergeTest test, const MergingLimits& limits) {
  if (data.label.empty() || !data.has_targets() || data.n_x == 0) return std::nullopt;
  const Symbols symbols(data, limits.symbols);
  if (symbols.too_many) return std::nullopt;
  Merger merger(data, symbols, test, limits);
  if (!merger.has_labels() || !merger.run()) return std::nullopt;
  return merger.machine(data, symbols);
}

}  // namespace remede

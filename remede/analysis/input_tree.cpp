#include "remede/analysis/input_tree.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "remede/base/arithmetic.h"

namespace remede {
namespace {

constexpr double kNodeCost = 6;  // nats that a split must save beyond the cost of encoding its threshold
constexpr std::size_t kMaxLeaves = 16;
constexpr std::size_t kMaxItemsForEveryCut = 512;  // up to this number of items every possible cut is tried

// Units of work (work.h), measured.
constexpr double kWorkOfComparison = 6;  // while sorting
constexpr double kWorkOfCount = 5;       // to count an item, and for each outcome known there
constexpr double kWorkOfOutcome = 14;    // of an entropy

float at_input(const float* x, int input) {
  return std::isnan(x[input]) ? -std::numeric_limits<float>::infinity() : x[input];
}

// Counts of outcomes. There are few, so linear search is fast enough.
class Tally {
 public:
  void add(const Outcome& o, double weight) {
    Answer& answer = answer_of(o.output);
    (o.next >= 0 ? answer.known : answer.unknown) += weight;
    for (auto& [next, count] : answer.next)
      if (next == o.next) {
        count += weight;
        return;
      }
    answer.next.emplace_back(o.next, weight);
  }

  // Sum over outcomes of -count log(share), in nats.
  double entropy() const {
    double sum = 0, all = 0;
    for_each([&](const Outcome&, double c) {
      all += c;
      sum -= c * log(c);
    });
    return all > 0 ? sum + all * log(all) : 0.0;
  }
  std::size_t outcomes() const {
    std::size_t n = 0;
    for (const Answer& a : answers_) n += a.next.size();
    return n;
  }
  double total() const {
    double sum = 0;
    for (const Answer& a : answers_) sum += a.known + a.unknown;
    return sum;
  }
  std::pair<Outcome, double> best() const {
    std::pair<Outcome, double> found{{}, 0};
    for_each([&](const Outcome& o, double c) {
      if (c > found.second + 1e-9) found = {o, c};
    });
    return found;
  }

 private:
  struct Answer {
    int output = 0;
    double known = 0, unknown = 0;  // steps whose next state is known, and not
    std::vector<std::pair<int, double>> next;
  };

  Answer& answer_of(int output) {
    for (Answer& a : answers_)
      if (a.output == output) return a;
    return answers_.emplace_back(Answer{output, 0, 0, {}});
  }

  // Unknown next states are shared out among the known ones of the same answer.
  template <typename Each>
  void for_each(Each each) const {
    for (const Answer& a : answers_)
      for (const auto& [next, count] : a.next) {
        if (count <= 0) continue;
        if (next >= 0)
          each(Outcome{a.output, next}, count * (1 + a.unknown / a.known));
        else if (a.known <= 0)
          each(Outcome{a.output, -1}, count);
      }
  }

  std::vector<Answer> answers_;
};

Tally tally(const std::vector<InputItem>& items, std::size_t begin, std::size_t end) {
  Tally t;
  for (std::size_t i = begin; i < end; ++i) t.add(items[i].outcome, 1);
  return t;
}

struct Cut {
  int input = -1;
  float threshold = 0;
  double gain = 0;
};

// Where between two neighbouring values: at a threshold of the model if there is one, else at a short number.
float place_between(const std::vector<float>& cuts, float low, float high) {
  for (const float c : cuts)
    if (low < c && c <= high) return c;
  return simplest_between(low, high);
}

class Grower {
 public:
  Grower(const Experience& experience, std::vector<InputItem> items, bool exact, WorkLimit& work)
      : experience_(&experience), items_(std::move(items)), exact_(exact), work_(&work) {}

  InputTreeFit grow() {
    grow_node(0, items_.size());
    return std::move(fit_);
  }

 private:
  int grow_node(std::size_t begin, std::size_t end) {
    const auto self = fit_.tree.nodes.size();
    fit_.tree.nodes.emplace_back();
    const Tally all = tally(items_, begin, end);
    work_->spend(work_of_counting(end - begin, all));
    const auto [outcome, count] = all.best();
    fit_.tree.nodes[self].outcome = outcome;
    fit_.tree.nodes[self].count = all.total();
    fit_.tree.nodes[self].misfit = std::max(0.0, all.total() - count);
    const Cut cut = choose_cut(begin, end, all.entropy());
    if (cut.input < 0) {
      fit_.cost += all.entropy();
      fit_.misfit += fit_.tree.nodes[self].misfit;
      return static_cast<int>(self);
    }
    ++ends_;
    fit_.cost += kNodeCost;
    const std::size_t middle = split(begin, end, cut);
    const int left = grow_node(begin, middle);
    const int right = grow_node(middle, end);
    InputTree::Node& node = fit_.tree.nodes[self];
    node.input = cut.input;
    node.threshold = cut.threshold;
    node.left = left;
    node.right = right;
    return static_cast<int>(self);
  }

  std::size_t split(std::size_t begin, std::size_t end, const Cut& cut) {
    const auto first = items_.begin() + static_cast<std::ptrdiff_t>(begin),
               last = items_.begin() + static_cast<std::ptrdiff_t>(end);
    const auto middle = std::stable_partition(
        first, last, [&](const InputItem& i) { return at_input(i.x, cut.input) < cut.threshold; });
    return static_cast<std::size_t>(middle - items_.begin());
  }

  Cut choose_cut(std::size_t begin, std::size_t end, double entropy) {
    if (entropy <= 1e-9 || (!exact_ && ends_ >= kMaxLeaves) || work_->reached()) return {};
    const double least = exact_ ? 1e-9 : kNodeCost + log(static_cast<double>(end - begin + 1));
    if (entropy <= least) return {};
    const Cut single = best_cut(begin, end, entropy);
    if (single.gain > least) return single;
    if (entropy <= 2 * least) return {};
    const Cut pair = best_pair(begin, end, entropy, 2 * least);
    return pair.input < 0 && exact_ ? any_cut(begin, end) : pair;
  }

  // Exact growth goes on as long as anything can be told apart.
  Cut any_cut(std::size_t begin, std::size_t end) const {
    for (const int input : experience_->inputs)
      for (const float threshold : candidates(input, begin, end)) return {input, threshold, 0};
    return {};
  }

  Cut best_cut(std::size_t begin, std::size_t end, double entropy) {
    Cut best;
    for (const int input : experience_->inputs) {
      if (work_->reached()) break;
      const Cut cut = best_cut_of(begin, end, entropy, input);
      if (cut.gain > best.gain + 1e-9) best = cut;
    }
    return best;
  }

  Cut best_cut_of(std::size_t begin, std::size_t end, double entropy, int input) {
    std::vector<InputItem> sorted(items_.begin() + static_cast<std::ptrdiff_t>(begin),
                                  items_.begin() + static_cast<std::ptrdiff_t>(end));
    std::stable_sort(sorted.begin(), sorted.end(), [&](const InputItem& a, const InputItem& b) {
      return at_input(a.x, input) < at_input(b.x, input);
    });
    const auto count = static_cast<double>(sorted.size());
    work_->spend(kWorkOfComparison * count * log(count + 1) / log(2.0));
    // With many items: first a coarse search, then a fine one around the best cut.
    const std::size_t stride = sorted.size() > kMaxItemsForEveryCut ? sorted.size() / (kMaxItemsForEveryCut / 4) : 1;
    Cut best = scan(sorted, input, entropy, 0, sorted.size(), stride);
    if (stride == 1 || best.input < 0) return best;
    const auto at = static_cast<std::size_t>(
        std::partition_point(sorted.begin(), sorted.end(),
                             [&](const InputItem& i) { return at_input(i.x, input) < best.threshold; }) -
        sorted.begin());
    return scan(sorted, input, entropy, at > 2 * stride ? at - 2 * stride : 0, std::min(sorted.size(), at + 2 * stride),
                1);
  }

  // The best cut among every stride-th place in begin .. end-1.
  Cut scan(const std::vector<InputItem>& sorted, int input, double entropy, std::size_t begin, std::size_t end,
           std::size_t stride) const {
    Tally left = tally(sorted, 0, begin), right = tally(sorted, begin, sorted.size());
    Cut best;
    std::size_t due = begin, tried = 0;
    for (std::size_t i = begin; i + 1 < sorted.size() && i < end; ++i) {
      left.add(sorted[i].outcome, 1);
      right.add(sorted[i].outcome, -1);
      const float low = at_input(sorted[i].x, input), high = at_input(sorted[i + 1].x, input);
      if (!(low < high) || i < due) continue;
      due = i + stride;
      ++tried;
      const double gain = entropy - left.entropy() - right.entropy();
      if (gain > best.gain + 1e-9) best = {input, place_between(cuts(input), low, high), gain};
    }
    work_->spend(work_of_counting(sorted.size() + 2 * (end - begin), right) +
                 static_cast<double>(2 * tried * right.outcomes()) * kWorkOfOutcome);
    return best;
  }

  static double work_of_counting(std::size_t items, const Tally& among) {
    return static_cast<double>(items) * (kWorkOfCount + static_cast<double>(among.outcomes()));
  }

  // Outcomes like "one but not both" gain nothing by any single cut: try the model's thresholds with the best cuts
  // after them.
  Cut best_pair(std::size_t begin, std::size_t end, double entropy, double least) {
    Cut best;
    for (const int input : experience_->inputs)
      for (const float threshold : candidates(input, begin, end)) {
        if (work_->reached()) return best;
        work_->spend(kWorkOfComparison * static_cast<double>(end - begin));
        const std::size_t middle = split(begin, end, {input, threshold, 0});
        if (middle == begin || middle == end) continue;
        const double left = tally(items_, begin, middle).entropy(), right = tally(items_, middle, end).entropy();
        const double gain =
            entropy - left - right + best_cut(begin, middle, left).gain + best_cut(middle, end, right).gain;
        if (gain > least && gain > best.gain + 1e-9) best = {input, threshold, gain};
      }
    return best;
  }

  std::vector<float> candidates(int input, std::size_t begin, std::size_t end) const {
    if (!exact_) return cuts(input);
    std::vector<float> values;
    for (std::size_t i = begin; i < end; ++i) values.push_back(at_input(items_[i].x, input));
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    std::vector<float> between;
    for (std::size_t i = 0; i + 1 < values.size(); ++i)
      between.push_back(place_between(cuts(input), values[i], values[i + 1]));
    return between;
  }

  const std::vector<float>& cuts(int input) const { return experience_->input_cuts[static_cast<std::size_t>(input)]; }

  const Experience* experience_;
  std::vector<InputItem> items_;
  bool exact_;
  WorkLimit* work_;
  std::size_t ends_ = 1;
  InputTreeFit fit_;
};

}  // namespace

const InputTree::Node& InputTree::find(const float* x) const {
  const Node* node = &nodes.front();
  while (node->input >= 0)
    node = &nodes[static_cast<std::size_t>(at_input(x, node->input) >= node->threshold ? node->right : node->left)];
  return *node;
}

InputTreeFit fit_input_tree(const Experience& experience, std::vector<InputItem> items, bool exact, WorkLimit& work) {
  return Grower(experience, std::move(items), exact, work).grow();
}

float simplest_between(float low, float high) {
  if (std::isinf(low)) return std::numeric_limits<float>::lowest();  // missing or not
  const double middle = low + (static_cast<double>(high) - low) / 2;
  for (int digits = 1; digits <= 9; ++digits) {
    const auto t = static_cast<float>(std::strtod(fmt::format("{:.{}e}", middle, digits - 1).c_str(), nullptr));
    if (low < t && t <= high) return t;
  }
  return high;
}

}  // namespace remede

#include "remede/simplify/lossy.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "remede/simplify/edit.h"

namespace remede {
namespace {

constexpr int kAllDigits = 9;  // enough for any float

// Edits some numbers of one tree, and puts them back where the judge says no.
class Editor {
 public:
  Editor(Draft& draft, int t, Judge& judge) : draft_(draft), tree_(draft.tree(t)), t_(t), judge_(judge) {}

 protected:
  using Numbers = std::vector<std::pair<float*, float>>;  // a number of the tree, and what it would become

  bool try_numbers(const Numbers& numbers, const std::vector<std::uint8_t>& touched) {
    std::vector<float> before;
    for (const auto& [number, value] : numbers) before.push_back(std::exchange(*number, value));
    const Verdict verdict = judge_.judge(t_, tree_, touched);
    if (verdict.accepted) {
      judge_.commit(t_, tree_, touched, &verdict);
      return true;
    }
    for (std::size_t i = numbers.size(); i > 0; --i) *numbers[i - 1].first = before[i - 1];
    return false;
  }

  std::vector<std::uint8_t> leaves_below(std::int32_t child) const {
    std::vector<std::uint8_t> touched(static_cast<std::size_t>(tree_.leaf_count()));
    std::vector<std::int32_t> leaves;
    append_leaves(tree_, child, leaves);
    for (const std::int32_t leaf : leaves) touched[static_cast<std::size_t>(leaf)] = 1;
    return touched;
  }

  // The leaf's part of an array with `width` numbers per leaf; nothing where the form has no such array.
  static std::span<float> part(std::vector<float>& values, int leaf, std::size_t width) {
    if (values.empty()) return {};
    return std::span(values).subspan(static_cast<std::size_t>(leaf) * width, width);
  }
  std::span<float> linear(int leaf) {
    return part(tree_.linear, leaf, static_cast<std::size_t>(tree_.n_y * tree_.n_v()));
  }
  std::span<float> write(int leaf) {
    return part(tree_.write, leaf, static_cast<std::size_t>(tree_.n_m * tree_.n_w()));
  }

  Draft& draft_;
  Tree& tree_;
  int t_;
  Judge& judge_;
};

class DropSmall : Editor {
 public:
  using Editor::Editor;

  bool run() {
    if (tree_.has_laws()) return drop_of_laws();
    sizes_ = judge_.feature_sizes(t_, tree_.n_v());
    bool changed = drop_features();
    for (int leaf = 0; leaf < tree_.leaf_count(); ++leaf) {
      changed = drop_terms(leaf, linear(leaf), tree_.n_v(), "linear weights") || changed;
      changed = drop_terms(leaf, write(leaf), tree_.n_w(), "write weights") || changed;
    }
    return changed;
  }

 private:
  // A feature's weights in all leaves at once, the features with the smallest weights first.
  bool drop_features() {
    std::vector<std::pair<double, int>> by_size;
    for (int f = 0; f < tree_.n_v(); ++f) {
      double size = 0;
      for (const float* weight : weights_of(f)) size += std::abs(*weight) * sizes_[static_cast<std::size_t>(f)];
      by_size.emplace_back(size, f);
    }
    std::sort(by_size.begin(), by_size.end());
    bool changed = false;
    for (const auto& [size, f] : by_size) {
      Numbers numbers;
      for (float* weight : weights_of(f))
        if (*weight != 0.0F) numbers.emplace_back(weight, 0.0F);
      if (numbers.empty() || !try_numbers(numbers, leaves_below(tree_.root()))) continue;
      const bool memory = f >= tree_.n_x;
      draft_.note(Cause::kSmall, t_,
                  fmt::format("{} of {}", count_of(numbers.size(), "weight"),
                              memory ? draft_.cell(t_, f - tree_.n_x)
                                     : draft_.model.schema.inputs[static_cast<std::size_t>(f)]),
                  "the data do not need them", 0);
      changed = true;
    }
    return changed;
  }

  std::vector<float*> weights_of(int f) {
    std::vector<float*> weights;
    const auto gather = [&](std::vector<float>& values, int width) {
      for (std::size_t i = static_cast<std::size_t>(f); f < width && i < values.size();
           i += static_cast<std::size_t>(width))
        weights.push_back(&values[i]);
    };
    gather(tree_.linear, tree_.n_v());
    gather(tree_.write, tree_.n_w());
    return weights;
  }

  // As many of the smallest terms of a leaf as are accepted together.
  bool drop_terms(int leaf, std::span<float> weights, int width, const char* what) {
    std::vector<std::pair<double, float*>> by_size;
    for (std::size_t i = 0; i < weights.size(); ++i)
      if (weights[i] != 0.0F)
        by_size.emplace_back(std::abs(weights[i]) * sizes_[i % static_cast<std::size_t>(width)], &weights[i]);
    std::stable_sort(by_size.begin(), by_size.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const std::vector<std::uint8_t> touched = leaves_below(~leaf);
    std::size_t dropped = 0;
    for (std::size_t tried = by_size.size(); tried > 0; tried /= 2) {  // halving: what is left is the largest
      while (dropped + tried <= by_size.size()) {
        Numbers numbers;
        for (std::size_t i = dropped; i < dropped + tried; ++i) numbers.emplace_back(by_size[i].second, 0.0F);
        if (!try_numbers(numbers, touched)) break;
        dropped += tried;
      }
    }
    if (dropped > 0)
      draft_.note(Cause::kSmall, t_, fmt::format("{} of {} {} of a leaf", dropped, by_size.size(), what),
                  "the data do not need them", 0);
    return dropped > 0;
  }

  // One number of the laws after the other, the smallest share of its list first.
  bool drop_of_laws() {
    Cells& c = tree_.cells;
    int dropped = 0;
    for (std::vector<float>* list :
         {&c.leaf_linear, &c.tap_leaf, &c.tap_level, &c.tap_input, &c.earlier, &c.input, &c.linear}) {
      std::vector<float*> by_size;
      for (float& weight : *list)
        if (weight != 0.0F && std::isfinite(weight)) by_size.push_back(&weight);
      std::stable_sort(by_size.begin(), by_size.end(),
                       [](const float* a, const float* b) { return std::abs(*a) < std::abs(*b); });
      for (float* weight : by_size) dropped += try_numbers({{weight, 0.0F}}, leaves_below(tree_.root())) ? 1 : 0;
    }
    if (dropped > 0)
      draft_.note(Cause::kSmall, t_, count_of(static_cast<std::size_t>(dropped), "weight"), "the data do not need them",
                  0);
    return dropped > 0;
  }

  static std::string count_of(std::size_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  }

  std::vector<double> sizes_;  // (n_v)
};

class RoundNumbers : Editor {
 public:
  RoundNumbers(Draft& draft, int t, Judge& judge, int digits) : Editor(draft, t, judge), digits_(digits) {}

  bool run() {
    bool changed = false;
    for (std::int32_t node = 0; node < tree_.inner_count(); ++node) {
      const std::string test = draft_.test(t_, node);
      const int used = round({&tree_.threshold[static_cast<std::size_t>(node)], 1}, leaves_below(node));
      note(used, fmt::format("the threshold of {}", test));
      changed = changed || used > 0;
    }
    changed = round_laws() || changed;
    const auto n_m = static_cast<std::size_t>(tree_.n_m);
    for (int leaf = 0; leaf < tree_.leaf_count(); ++leaf) {
      const std::vector<std::uint8_t> touched = leaves_below(~leaf);
      const std::pair<const char*, std::span<float>> parts[] = {
          {"outputs", part(tree_.output, leaf, static_cast<std::size_t>(tree_.n_y))},
          {"linear weights", linear(leaf)},
          {"write weights", write(leaf)},
          {"write bias", part(tree_.bias, leaf, n_m)},
          {"blend", part(tree_.blend, leaf, n_m)}};
      for (const auto& [what, numbers] : parts) {
        const int used = round(numbers, touched);
        note(used, fmt::format("the {} of a leaf", what));
        changed = changed || used > 0;
      }
    }
    return changed;
  }

 private:
  bool round_laws() {
    Cells& c = tree_.cells;
    bool changed = false;
    const std::pair<const char*, std::vector<float>*> lists[] = {{"biases of the cells", &c.bias},
                                                                 {"input weights of the cells", &c.input},
                                                                 {"weights of earlier cells", &c.earlier},
                                                                 {"taps", &c.tap},
                                                                 {"input weights of the taps", &c.tap_input},
                                                                 {"level weights of the taps", &c.tap_level},
                                                                 {"leaves' shifts of the taps", &c.tap_leaf},
                                                                 {"answer's weights", &c.linear},
                                                                 {"leaves' own weights", &c.leaf_linear}};
    for (const auto& [what, list] : lists) {
      const int used = round(*list, leaves_below(tree_.root()));
      note(used, fmt::format("the {}", what));
      changed = changed || used > 0;
    }
    return changed;
  }

  // The number of digits that was accepted; 0 where nothing changed.
  int round(std::span<float> values, const std::vector<std::uint8_t>& touched) {
    for (int digits = digits_; digits < kAllDigits; ++digits) {
      Numbers numbers;
      for (float& value : values) {
        const float shorter = rounded(value, digits);
        if (shorter != value) numbers.emplace_back(&value, shorter);
      }
      if (numbers.empty()) return 0;
      if (try_numbers(numbers, touched)) return digits;
    }
    return 0;
  }

  void note(int used, const std::string& what) {
    if (used > 0) draft_.note(Cause::kRounded, t_, what, fmt::format("{} digits do as well", used), 0);
  }

  int digits_;
};

}  // namespace

float rounded(float value, int digits) {
  const std::string text = fmt::format("{:.{}e}", value, std::max(digits, 1) - 1);
  float result = value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
  return error == std::errc() && std::isfinite(result) ? result : value;
}

bool drop_small(Draft& draft, Judge& judge) {
  bool changed = false;
  for (int t = 0; t < static_cast<int>(draft.model.trees.size()); ++t)
    changed = DropSmall(draft, t, judge).run() || changed;
  return changed;
}

bool round_numbers(Draft& draft, Judge& judge, int digits) {
  bool changed = false;
  for (int t = 0; t < static_cast<int>(draft.model.trees.size()); ++t)
    changed = RoundNumbers(draft, t, judge, digits).run() || changed;
  return changed;
}

}  // namespace remede

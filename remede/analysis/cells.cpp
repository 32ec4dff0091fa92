#include "remede/analysis/cells.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "remede/analysis/rows.h"
#include "remede/base/arithmetic.h"
#include "remede/base/text.h"

namespace remede {
namespace {

constexpr std::size_t kMostNamed = 3;  // of inputs in one phrase

// "a", "a and b", "a, b and c", "a, b, c and 4 more"
std::string named(const std::vector<std::string>& names) {
  std::string text;
  const std::size_t shown = names.size() <= kMostNamed + 1 ? names.size() : kMostNamed;
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

// What moves less, or lasts longer, is the same to a reader: 0.01% of a step halves a level in 6,931 steps.
constexpr double kLeastShare = 1e-4;
constexpr double kLongestHalfLife = 9999;  // steps

std::string share_words(double share) { return short_number(100 * share, 2) + "%"; }

// "0.3% to 8%", "less than 0.01% to 8%"
std::string shares_words(double low, double high) {
  if (high < kLeastShare) return "less than 0.01%";
  const std::string least = low < kLeastShare ? "less than 0.01%" : share_words(low), most = share_words(high);
  return least == most ? most : least + " to " + most;
}

// What drives a sum: numbers that raise or lower it, and words of a column that do.
struct Drivers {
  std::vector<std::string> up, down;            // numbers
  std::vector<std::string> up_when, down_when;  // "wind = NW"
};

bool is_indicator(const Model& model, std::size_t input) {
  const InputCode* const code = model.schema.code_of(model.schema.inputs[input]);
  return code != nullptr && !code->gap &&
         std::all_of(code->values.begin(), code->values.end(), [](float v) { return v == 0 || v == 1; });
}

// weights: (n_x)
Drivers drivers_of(const Wording& words, std::span<const float> weights) {
  const Model& model = *words.model;
  Drivers drivers;
  for (const std::size_t i : strongest_inputs(words, weights)) {
    const bool indicator = is_indicator(model, i);
    (weights[i] > 0 ? indicator ? drivers.up_when : drivers.up
     : indicator    ? drivers.down_when
                    : drivers.down)
        .push_back(words.feature[i]);
  }
  return drivers;
}

const char* are(const std::vector<std::string>& names) { return names.size() == 1 ? "is" : "are"; }

// ", more when temp is low and when wind = NW": what the drivers left over do.
std::string more_and_less(const Drivers& d, bool numbers_up) {
  std::string more, less;
  const auto add = [](std::string& to, const std::string& phrase) { to += (to.empty() ? " " : " and ") + phrase; };
  if (numbers_up && !d.up.empty()) add(more, fmt::format("when {} {} high", named(d.up), are(d.up)));
  if (!d.up_when.empty()) add(more, "when " + named(d.up_when));
  if (!d.down.empty()) add(less, fmt::format("when {} {} high", named(d.down), are(d.down)));
  if (!d.down_when.empty()) add(less, "when " + named(d.down_when));
  return (more.empty() ? "" : ", more" + more) + (less.empty() ? "" : ", less" + less);
}

class Story {
 public:
  Story(const Wording& words, int k)
      : words_(words), tree_(*words.tree), c_(words.tree->cells), k_(k), at_(static_cast<std::size_t>(k)) {}

  CellStory tell() const {
    CellStory story;
    story.cell = k_;
    story.name = name();
    story.kind = is_store() ? "store" : "running average";
    story.source = gain_words();
    story.speed = share_phrase();
    story.words = story.source + "; " + story.speed;
    story.facts = facts();
    const std::string sum = sum_text(words_, c_.bias[at_], gain_terms(words_, k_));
    story.gain = c_.law[at_] == Law::kAverage ? sum : fmt::format("max(0, {})", sum);
    story.share = share_formula();
    story.half_life = half_life_text();
    story.starts_at_first = c_.first[at_] != 0;
    story.follows_last = follows_last();
    story.counts_last = counts_last();
    return story;
  }

 private:
  const std::string& name() const { return words_.feature[static_cast<std::size_t>(tree_.n_x + k_)]; }
  bool is_store() const { return c_.law[at_] == Law::kStore; }

  std::span<const float> row(const std::vector<float>& values) const {
    const auto n_x = static_cast<std::size_t>(tree_.n_x);
    return std::span(values).subspan(at_ * n_x, n_x);
  }

  // "what m1 releases", "m2", by the sign of their weights.
  std::vector<std::string> earlier(bool positive) const {
    std::vector<std::string> names;
    for (std::size_t j = 0; j < at_; ++j) {
      const float weight = c_.earlier[at_ * static_cast<std::size_t>(tree_.n_m) + j];
      if (weight == 0 || (weight > 0) != positive || !words_.view.cell_in_use(static_cast<int>(j))) continue;
      const std::string& name = words_.feature[static_cast<std::size_t>(tree_.n_x) + j];
      names.push_back(c_.law[j] == Law::kStore ? fmt::format("what {} releases", name) : name);
    }
    return names;
  }

  // One number alone, cut off at zero: it matters above or below a point.
  std::string beyond() const {
    const std::span<const float> weights = row(c_.input);
    std::size_t only = weights.size();
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (weights[i] == 0) continue;
      if (only < weights.size() || is_indicator(*words_.model, i)) return "";
      only = i;
    }
    if (only == weights.size() || c_.law[at_] == Law::kAverage || !earlier(true).empty() || !earlier(false).empty())
      return "";
    const double point = -static_cast<double>(c_.bias[at_]) / static_cast<double>(weights[only]);
    const std::string& name = words_.feature[only];
    if (weights[only] > 0 && point == 0)
      return is_store() ? "fills with " + name : "follows " + name + " where it is above 0";
    return fmt::format("{} how far {} is {} {}", is_store() ? "fills by" : "follows", name,
                       weights[only] > 0 ? "above" : "below", short_number(point));
  }

  // What one earlier store releases, alone: all of it, what exceeds a point, or all of it and a constant.
  std::string passed_on() const {
    const std::vector<std::string> from = earlier(true);
    const std::span<const float> weights = row(c_.input);
    if (!is_store() || from.size() != 1 || !earlier(false).empty() ||
        std::any_of(weights.begin(), weights.end(), [](float w) { return w != 0; }))
      return "";
    const float* of_cell = c_.earlier.data() + at_ * static_cast<std::size_t>(tree_.n_m);
    const double weight = static_cast<double>(*std::max_element(of_cell, of_cell + at_)),
                 bias = static_cast<double>(c_.bias[at_]);
    if (bias == 0) return "fills with " + from[0];
    return bias < 0 ? fmt::format("fills with {} beyond {} per step", from[0], short_number(-bias / weight))
                    : fmt::format("fills with {} and by {} more per step", from[0], short_number(bias));
  }

  // The cell before holds nothing for the next step, and this one takes in 1 less what that one releases.
  bool counts_last() const {
    if (k_ == 0 || c_.law[at_] == Law::kAverage || c_.bias[at_] != 1.0F) return false;
    const auto zero = [](float w) { return w == 0; };
    const float* const of_cell = c_.earlier.data() + at_ * static_cast<std::size_t>(tree_.n_m);
    const std::span<const float> inputs = row(c_.input);
    if (!(of_cell[at_ - 1] < 0) || !std::all_of(of_cell, of_cell + at_ - 1, zero) ||
        !std::all_of(inputs.begin(), inputs.end(), zero))
      return false;
    const Story last(words_, k_ - 1);
    return last.is_store() && last.tap_is_fixed() && last.fixed_share() == 1 && last.readers() == std::vector{name()};
  }

  // "counts the steps at which 0.2 + m3 - m4 is below 0, in part up to 0.003": the count falls from 1 to 0 between
  // them.
  std::string count_words() const {
    const std::string sum = sum_text(words_, c_.bias[at_ - 1], gain_terms(words_, k_ - 1));
    const float slope = -c_.earlier[at_ * static_cast<std::size_t>(tree_.n_m) + at_ - 1];
    return fmt::format("{} at which {} is below 0, in part up to {}",
                       is_store() ? "counts the steps" : "is the share of recent steps", sum,
                       short_number(1 / slope, 2));
  }

  std::string gain_words() const {
    if (counts_last()) return count_words();
    const std::string alone = beyond(), passed = passed_on();
    if (!alone.empty()) return alone;
    if (!passed.empty()) return passed;
    Drivers d = drivers_of(words_, row(c_.input));
    for (std::string& name : earlier(true)) d.up.push_back(std::move(name));
    for (std::string& name : earlier(false)) d.down.push_back(std::move(name));
    const bool any = !d.up.empty() || !d.down.empty() || !d.up_when.empty() || !d.down_when.empty();
    if (is_store()) {
      if (!any) return c_.bias[at_] > 0 ? "fills by " + short_number(c_.bias[at_]) + " every step" : "never fills";
      return (d.up.empty() ? "fills" : "fills with " + named(d.up)) + more_and_less(d, false);
    }
    if (!any) return "moves towards " + short_number(c_.bias[at_]);
    if (d.up.size() == 1 && d.down.empty() && d.up_when.empty() && d.down_when.empty()) return "follows " + d.up[0];
    std::string text;
    if (!d.up.empty()) text = "rises with " + named(d.up);
    if (!d.down.empty()) text += (text.empty() ? "falls with " : ", falls with ") + named(d.down);
    d.up.clear();
    d.down.clear();
    return (text.empty() ? "moves" : text) + more_and_less(d, false);
  }

  bool tap_is_fixed() const {
    const auto n_m = static_cast<std::size_t>(tree_.n_m);
    for (std::size_t at = at_; at < c_.tap_leaf.size(); at += n_m)
      if (c_.tap_leaf[at] != c_.tap_leaf[at_]) return false;
    return std::isinf(c_.tap_leaf[at_]) || tap_terms(words_, k_).empty();
  }

  double fixed_share() const {
    const float offset = c_.tap_leaf[at_];
    if (std::isinf(offset)) return offset < 0 ? 0.0 : 1.0;
    return static_cast<double>(sigmoid(c_.tap[at_] + offset));
  }

  // The shares met on data; a fixed one is known without.
  bool shares(double& low, double& high) const {
    if (tap_is_fixed()) {
      low = high = fixed_share();
      return true;
    }
    if (tree_.share_range.empty()) return false;
    low = static_cast<double>(tree_.share_range[at_].low);
    high = static_cast<double>(tree_.share_range[at_].high);
    return true;
  }

  std::string share_phrase() const {
    double low = 0, high = 0;
    const bool known = shares(low, high);
    if (known && high == 0) return is_store() ? "loses nothing" : "stays as it is";
    if (known && low == 1) return is_store() ? "loses all of it every step" : "takes on the new value every step";
    std::string amount = "a share";
    if (known) amount = shares_words(low, high);
    std::string text =
        fmt::format(fmt::runtime(is_store() ? "loses {} per step" : "moves {} of the way per step"), amount);
    text += more_and_less(drivers_of(words_, row(c_.tap_input)), true);
    if (c_.tap_level[at_] > 0) text += ", more the fuller it is";
    if (c_.tap_level[at_] < 0) text += ", less the fuller it is";
    return text + leaf_phrase();
  }

  // What the tree does to the tap.
  std::string leaf_phrase() const {
    int closed = 0, open = 0, shifted = 0, leaves = 0;
    for (const View::Node& node : words_.view.nodes) {
      if (!node.is_leaf()) continue;
      const float offset = c_.tap_leaf[cell_row(tree_, node.leaf(), k_)];
      ++leaves;
      closed += offset == -std::numeric_limits<float>::infinity() ? 1 : 0;
      open += offset == std::numeric_limits<float>::infinity() ? 1 : 0;
      shifted += offset != 0 && std::isfinite(offset) ? 1 : 0;
    }
    if (leaves < 2) return "";
    std::string text;
    const auto add = [&](int count, const char* what) {
      if (count > 0)
        text += fmt::format("{}{} it in {} of {} leaves", text.empty() ? "" : " and ", what, count, leaves);
    };
    add(closed, "closes");
    add(open, "opens");
    add(shifted, "shifts");
    return text.empty() ? "" : "; the tree " + text;
  }

  bool follows_last() const {
    if (k_ == 0 || c_.law[at_] != Law::kAverage || c_.law[at_ - 1] != Law::kAverage || !tap_is_fixed()) return false;
    const Story last(words_, k_ - 1);
    if (!last.tap_is_fixed() || last.fixed_share() != fixed_share() || c_.first[at_] != c_.first[at_ - 1]) return false;
    const float* earlier = c_.earlier.data() + at_ * static_cast<std::size_t>(tree_.n_m);
    const auto zero = [](float w) { return w == 0; };
    const std::span<const float> inputs = row(c_.input);
    return c_.bias[at_] == 0 && earlier[at_ - 1] == 1 && std::all_of(earlier, earlier + at_ - 1, zero) &&
           std::all_of(inputs.begin(), inputs.end(), zero);
  }

  std::string half_life_text() const {
    double low = 0, high = 0;
    if (!shares(low, high)) return "";
    const double shortest = half_life(high), longest = half_life(low);
    const auto steps = [](double h) { return h > kLongestHalfLife ? std::string("over 9999") : short_number(h, 2); };
    if (std::isinf(shortest)) return "never forgets";
    const std::string from = steps(shortest), to = steps(longest);
    return from == to ? fmt::format("half-life {} step{}", from, from == "1" ? "" : "s")
                      : fmt::format("half-life {} to {} steps", from, to);
  }

  std::vector<std::string> readers() const {
    std::vector<std::string> readers;
    for (int later = k_ + 1; later < tree_.n_m; ++later)
      if (words_.view.cell_in_use(later) && law_uses(tree_, later, tree_.n_x + k_))
        readers.push_back(words_.feature[static_cast<std::size_t>(tree_.n_x + later)]);
    bool answer = false;
    int tests = 0;
    for (const View::Node& node : words_.view.nodes) {
      if (!node.is_leaf()) tests += tree_.feature[static_cast<std::size_t>(node.id)] == tree_.n_x + k_ ? 1 : 0;
      for (int o = 0; node.is_leaf() && o < tree_.n_y; ++o)
        answer = answer || answer_uses(tree_, node.leaf(), o, tree_.n_x + k_);
    }
    if (tests > 0) readers.push_back(tests == 1 ? "a split" : fmt::format("{} splits", tests));
    if (answer) readers.push_back("the answer");
    return readers;
  }

  std::string readers_text() const {
    const std::vector<std::string> all = readers();
    return all.empty() ? "" : "read by " + named(all);
  }

  std::string facts() const {
    std::string text = half_life_text();
    const auto add = [&](const std::string& fact) {
      if (!fact.empty()) text += (text.empty() ? "" : "; ") + fact;
    };
    if (!tree_.level_range.empty()) {
      const SeenRange& range = tree_.level_range[at_];
      // What is next to nothing beside the other end is 0 to a reader.
      constexpr float kNextToNothing = 1e-4F;
      const float least = kNextToNothing * std::max(std::abs(range.low), std::abs(range.high));
      const auto end = [&](float v) { return short_number(std::abs(v) < least ? 0.0F : v); };
      add(fmt::format("usually holds {} to {}", end(range.low), end(range.high)));
    }
    add(readers_text());
    if (c_.first[at_] != 0) add("starts at its first value");
    return text;
  }

  std::string share_formula() const {
    if (tap_is_fixed()) return share_words(fixed_share());
    return fmt::format("sigmoid({})", sum_text(words_, c_.tap[at_], tap_terms(words_, k_)));
  }

  const Wording& words_;
  const Tree& tree_;
  const Cells& c_;
  int k_;
  std::size_t at_;
};

}  // namespace

double half_life(double share) {
  if (share >= 1) return 0;
  if (share <= 0) return std::numeric_limits<double>::infinity();
  return log(2.0) / -std::log1p(-share);  // also where 1 - share is 1
}

std::vector<std::size_t> strongest_inputs(const Wording& words, std::span<const float> weights) {
  const std::vector<SeenRange>& range = words.model->input_range;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (weights[i] != 0) order.push_back(i);
  const auto strength = [&](std::size_t i) {
    const float width = range.empty() ? 1.0F : range[i].high - range[i].low;
    return std::abs(weights[i]) * (width > 0 ? width : 1.0F);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return strength(a) > strength(b); });
  return order;
}

std::vector<CellStory> cell_stories(const Wording& words) {
  std::vector<CellStory> stories;
  for (int k = 0; words.tree->has_laws() && k < words.tree->n_m; ++k)
    if (words.view.cell_in_use(k)) stories.push_back(Story(words, k).tell());
  return stories;
}

std::string story_line(const CellStory& story) {
  return fmt::format("{} ({}) {}", story.name, story.kind, story.words);
}

}  // namespace remede

// The arithmetic of one step through known leaves, in ranges: what predict.cpp and cells.cpp compute, term by term.
#include <algorithm>
#include <cmath>
#include <limits>

#include "remede/base/arithmetic.h"
#include "remede/base/error.h"
#include "remede/model/predict.h"
#include "remede/objective/plain.h"
#include "remede/verify/step.h"

namespace remede {
namespace {

constexpr float kNoBound = std::numeric_limits<float>::infinity();

// How far a computed probability can be from the true softmax, relative: the rounding of y - max (|y - max| <= 87 where
// exp is not 0) and of exp, then a sum of n terms and a division.
double softmax_slack(std::size_t n) { return 1.5e-5 + 3e-7 * static_cast<double>(n); }
constexpr double kLeastSoftmax = 1e-37;  // exp is 0 below about this

// From this distance of two raw outputs on, the larger has the larger probability, rounding and all.
constexpr double kClearlyLarger = 1e-4;

bool all_points(const std::vector<Value>& raw) {
  return std::all_of(raw.begin(), raw.end(), [](const Value& v) { return v.range.is_point(); });
}

std::vector<Range> softmax_ranges(const std::vector<Value>& raw) {
  const std::size_t n = raw.size();
  std::vector<Range> p(n, Range{0.0F, 1.0F, false});
  bool odd = false;  // infinite or no number: anything can come out
  for (const Value& v : raw) odd = odd || v.range.nan || !v.range.has_numbers() || v.range.has_infinity();
  if (odd) return std::vector<Range>(n, {0.0F, 1.0F, true});
  const double slack = softmax_slack(n);
  for (std::size_t k = 0; k < n; ++k) {
    double least = 0, most = 0;  // sums of the others' exp, relative to this one's
    for (std::size_t j = 0; j < n; ++j) {
      if (j == k) continue;
      const double low = static_cast<double>(raw[j].range.low) - raw[k].range.high;
      const double high = static_cast<double>(raw[j].range.high) - raw[k].range.low;
      least += low < -80 ? 0 : static_cast<double>(exp(static_cast<float>(std::min(low, 80.0)))) * (1 - 1e-6);
      most += high > 80 ? 1e36 : high < -80 ? 1e-34 : static_cast<double>(exp(static_cast<float>(high))) * (1 + 1e-6);
    }
    const double low = 1 / (1 + most) * (1 - 2 * slack) - kLeastSoftmax,
                 high = 1 / (1 + least) * (1 + 2 * slack) + kLeastSoftmax;
    p[k].low = std::max(0.0F, std::nextafter(static_cast<float>(low), -kNoBound));
    p[k].high = std::min(1.0F, std::nextafter(static_cast<float>(high), kNoBound));
    if (most > 1e34) p[k].low = 0.0F;
  }
  return p;
}

Range exp_link_range(const Range& y) {
  const float low = scalar::exp_link(std::max(y.low, -1000.0F)), high = scalar::exp_link(std::min(y.high, 1000.0F));
  return {low, high, y.nan};
}

Range plus(const Range& a, const Range& b, float sign) { return plus_product(a, sign, b); }

std::vector<Range> quantile_ranges(const Objective& objective, const std::vector<Value>& raw) {
  const auto middle = static_cast<int>(scalar::quantile_anchor(objective)), n = static_cast<int>(raw.size());
  std::vector<Range> y(raw.size());
  const auto at = [&](int k) -> Range& { return y[static_cast<std::size_t>(k)]; };
  const auto gap = [&](int k) { return exp_link_range(raw[static_cast<std::size_t>(k)].range); };
  at(middle) = raw[static_cast<std::size_t>(middle)].range;
  for (int k = middle + 1; k < n; ++k) at(k) = plus(at(k - 1), gap(k), 1.0F);
  for (int k = middle - 1; k >= 0; --k) at(k) = plus(at(k + 1), gap(k), -1.0F);
  return y;
}

std::vector<Range> answers_of(const Objective& objective, const std::vector<Value>& raw) {
  std::vector<Range> y;
  if (all_points(raw)) {
    std::vector<float> numbers;
    numbers.reserve(raw.size());
    for (const Value& v : raw) numbers.push_back(v.range.low);
    apply_link(objective, numbers);
    for (const float number : numbers)
      y.push_back(std::isnan(number) ? Range{kNoBound, -kNoBound, true} : Range::point(number));
    return y;
  }
  if (objective.loss == Loss::kCrossEntropy) return softmax_ranges(raw);
  if (objective.loss == Loss::kQuantile) return quantile_ranges(objective, raw);
  if (!has_identity_link(objective) && objective.loss != Loss::kPoisson)
    fail("expected an objective whose answers can be bounded, got {}", word_of(objective));
  for (const Value& v : raw) y.push_back(has_identity_link(objective) ? v.range : exp_link_range(v.range));
  return y;
}

// The classes that can have the largest probability, the first of equals.
std::vector<std::uint8_t> possible_classes(const std::vector<Range>& p, const std::vector<Value>* raw) {
  const std::size_t n = p.size();
  std::vector<std::uint8_t> possible(n, 1);
  if (std::any_of(p.begin(), p.end(), [](const Range& r) { return r.nan; })) return possible;
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t j = 0; j < n && possible[k] != 0; ++j) {
      if (j == k) continue;
      const bool beats = j < k ? p[j].low >= p[k].high : p[j].low > p[k].high;
      bool by_raw = false;
      if (raw != nullptr) {
        const double ahead = static_cast<double>((*raw)[j].range.low) - static_cast<double>((*raw)[k].range.high);
        by_raw = j < k ? ahead >= 0 : ahead > kClearlyLarger;
      }
      if (beats || by_raw) possible[k] = 0;
    }
  return possible;
}

Value term(Values& values, const Value& sum, float weight, const Value& v) {
  return weight == 0.0F ? sum : values.plus_product(sum, weight, v);  // of cells with laws: a weight of 0 is no term
}

}  // namespace

void BoxStepper::compute(const MemoryBox& box, const InputRanges& x) {
  values_.clear();
  before_.clear();
  for (std::size_t i = 0; i < box.slot.size(); ++i)
    before_.push_back(
        values_.unknown(box.slot[i], static_cast<std::uint32_t>(box.same.empty() ? static_cast<int>(i) : box.same[i])));
  after_ = before_;
  std::vector<Value> inputs;
  for (std::size_t i = 0; i < x.x.size(); ++i)
    inputs.push_back(values_.unknown(x.x[i], static_cast<std::uint32_t>(box.slot.size() + i)));
  for (std::size_t p = 0; p < system_.parts.size(); ++p) {
    const ModelPart& part = system_.parts[p];
    x_.clear();
    for (std::size_t i = 0; i < part.input.size(); ++i)
      x_.push_back(values_.filled(inputs[static_cast<std::size_t>(part.input[i])], part.model->fill[i]));
    std::size_t slot = part.first_slot;
    for (std::size_t t = 0; t < part.model->trees.size(); ++t) {
      const Tree& tree = part.model->trees[t];
      raw_[first_tree_[p] + t] = compute_tree(tree, leaf_[first_tree_[p] + t], slot);
      slot +=
          static_cast<std::size_t>(tree.memory_size() + (tree.form.output_order == OutputOrder::kFirst ? tree.n_y : 0));
    }
    link(p);
  }
  if (!system_.two()) return;
  // Equal where every raw output has the same name, or every answer is the same number; certainly different where some
  // answers cannot be the same.
  const std::size_t trees = system_.parts[0].model->trees.size();
  bool same = trees == system_.parts[1].model->trees.size();
  for (std::size_t t = 0; t < trees && same; ++t)
    for (std::size_t o = 0; o < raw_[t].size() && same; ++o) same = raw_[t][o].name == raw_[first_tree_[1] + t][o].name;
  bool points = true, apart = false;
  for (std::size_t o = 0; o < answer_[0].size(); ++o) {
    const Range &a = answer_[0][o], &b = answer_[1][o];
    points = points && a.is_point() && a == b;
    apart = apart || meet(a, b).empty();
  }
  equal_ = same || points ? 1 : apart ? 0 : -1;
}

std::vector<Value> BoxStepper::compute_tree(const Tree& tree, int leaf, std::size_t slot) {
  std::vector<Value> raw;
  const auto n_y = static_cast<std::size_t>(tree.n_y), n_x = static_cast<std::size_t>(tree.n_x),
             n_m = static_cast<std::size_t>(tree.n_m);
  if (tree.has_laws()) {
    raw = compute_laws(tree, leaf, slot);
  } else {
    for (std::size_t o = 0; o < n_y; ++o) {
      const std::size_t at = static_cast<std::size_t>(leaf) * n_y + o;
      Value sum = values_.constant(tree.output[at]);
      if (tree.form.leaf_output == LeafOutput::kLinear) {
        const float* row = tree.linear.data() + at * (n_x + n_m);
        for (std::size_t i = 0; i < n_x; ++i) sum = values_.plus_product(sum, row[i], x_[i]);
        for (std::size_t k = 0; k < n_m; ++k) sum = values_.plus_product(sum, row[n_x + k], before_[slot + k]);
        work += n_x + n_m;
      }
      raw.push_back(sum);
    }
    compute_writes(tree, leaf, slot);
  }
  if (tree.form.output_order == OutputOrder::kFirst)
    for (std::size_t o = 0; o < n_y; ++o) {
      const std::size_t at = slot + static_cast<std::size_t>(tree.memory_size()) + o;
      raw[o] = after_[at] = values_.plus(before_[at], raw[o]);
    }
  work += n_y + 2;
  return raw;
}

void BoxStepper::compute_writes(const Tree& tree, int leaf, std::size_t slot) {
  const auto n_x = static_cast<std::size_t>(tree.n_x), n_m = static_cast<std::size_t>(tree.n_m);
  for (std::size_t k = 0; k < n_m; ++k) {
    const std::size_t at = static_cast<std::size_t>(leaf) * n_m + k;
    if (tree.gate[at] == 0) continue;
    Value sum = values_.constant(tree.form.write_bias ? tree.bias[at] : 0.0F);
    const float* row = tree.write.data() + at * static_cast<std::size_t>(tree.n_w());
    for (std::size_t i = 0; i < n_x; ++i) sum = values_.plus_product(sum, row[i], x_[i]);
    if (tree.form.write_reads == WriteReads::kInputsAndMemory)
      for (std::size_t j = 0; j < n_m; ++j) sum = values_.plus_product(sum, row[n_x + j], before_[slot + j]);
    const Value u = values_.tanh(sum);
    after_[slot + k] = tree.form.write_rule == WriteRule::kAdd ? values_.added(before_[slot + k], u)
                                                               : values_.blended(before_[slot + k], u, tree.blend[at]);
    work += static_cast<std::uint64_t>(tree.n_w()) + 4;
  }
}

std::vector<Value> BoxStepper::compute_laws(const Tree& tree, int leaf, std::size_t slot) {
  const Cells& cells = tree.cells;
  const auto n_x = static_cast<std::size_t>(tree.n_x), n_m = static_cast<std::size_t>(tree.n_m),
             n_y = static_cast<std::size_t>(tree.n_y);
  const auto l = static_cast<std::size_t>(leaf);
  const bool any_first = cells.any_first();
  const Range flag = any_first ? before_[slot + n_m].range : Range::point(1.0F);
  std::vector<Value> output;
  for (std::size_t k = 0; k < n_m; ++k) {
    const float offset = cells.tap_leaf[l * n_m + k];
    Value share = values_.constant(offset < 0.0F ? 0.0F : 1.0F);
    if (!std::isinf(offset)) {
      Value tap = values_.constant(cells.tap[k]);
      for (std::size_t i = 0; i < n_x; ++i) tap = term(values_, tap, cells.tap_input[k * n_x + i], x_[i]);
      tap = term(values_, tap, cells.tap_level[k], before_[slot + k]);
      if (offset != 0.0F) tap = values_.plus(tap, values_.constant(offset));
      share = values_.share(values_.bounded(tap));
    }
    Value argument = values_.constant(cells.bias[k]);
    for (std::size_t i = 0; i < n_x; ++i) argument = term(values_, argument, cells.input[k * n_x + i], x_[i]);
    for (std::size_t j = 0; j < k; ++j) argument = term(values_, argument, cells.earlier[k * n_m + j], output[j]);
    argument = values_.bounded(argument);
    Values::Stepped stepped;
    if (cells.law[k] == Law::kStore) {
      stepped = values_.store(before_[slot + k], argument, share);
    } else {
      const Value u = cells.law[k] == Law::kPositiveAverage ? values_.positive(argument) : argument;
      stepped = values_.average(before_[slot + k], u, share);
      if (cells.first[k] != 0 && flag.low == 0.0F) {  // the first step is possible
        if (flag.high == 0.0F) {
          stepped = {u, u};
        } else {
          const Value either = values_.fresh(join(stepped.level.range, u.range));
          stepped = {either, either};
        }
      }
    }
    after_[slot + k] = stepped.level;
    output.push_back(stepped.output);
    work += 2 * n_x + k + 8;
  }
  if (any_first) after_[slot + n_m] = values_.constant(1.0F);
  std::vector<Value> raw;
  const std::size_t width = n_x + 2 * n_m;
  for (std::size_t o = 0; o < n_y; ++o) {
    Value sum = values_.constant(tree.output[l * n_y + o]);
    const auto add_row = [&](const float* row) {
      for (std::size_t i = 0; i < n_x; ++i) sum = term(values_, sum, row[i], x_[i]);
      for (std::size_t k = 0; k < n_m; ++k) sum = term(values_, sum, row[n_x + k], output[k]);
      for (std::size_t k = 0; k < n_m; ++k) sum = term(values_, sum, row[n_x + n_m + k], after_[slot + k]);
    };
    add_row(cells.linear.data() + o * width);
    if (!cells.leaf_linear.empty()) add_row(cells.leaf_linear.data() + (l * n_y + o) * width);
    raw.push_back(sum);
    work += width;
  }
  return raw;
}

void BoxStepper::link(std::size_t p) {
  const Model& model = *system_.parts[p].model;
  const std::size_t first = first_tree_[p], trees = model.trees.size();
  std::vector<Range> sum = answers_of(model.objective(), raw_[first]);
  for (std::size_t t = 1; t < trees; ++t) {
    const std::vector<Range> one = answers_of(model.objective(), raw_[first + t]);
    for (std::size_t o = 0; o < sum.size(); ++o) sum[o] = plus(sum[o], one[o], 1.0F);
  }
  const auto count = static_cast<float>(trees);
  for (Range& range : sum) range.low = range.low / count, range.high = range.high / count;
  answer_[p] = sum;
  if (p > 0) return;
  says_.clear();
  if (!model.classifies()) return;
  if (trees == 1 && all_points(raw_[first]) &&
      std::none_of(sum.begin(), sum.end(), [](const Range& r) { return r.nan; })) {
    std::vector<float> p_exact;
    p_exact.reserve(sum.size());
    for (const Range& range : sum) p_exact.push_back(range.low);
    says_.assign(sum.size(), 0);
    says_[static_cast<std::size_t>(arg_max(p_exact))] = 1;
    return;
  }
  bool plain = trees == 1;
  for (const Value& v : raw_[first]) plain = plain && v.range.has_numbers() && !v.range.nan && !v.range.has_infinity();
  says_ = possible_classes(sum, plain ? &raw_[first] : nullptr);
}

// How much is unknown of the answers that the property speaks of.
double BoxStepper::ambiguity() const {
  double sum = 0;
  for (const Group& group : groups_) {
    const std::size_t ways = alternatives(group).size();
    if (ways < 2) continue;
    sum += static_cast<double>(ways);
    if (group.kind == AtomKind::kAnswer || group.kind == AtomKind::kProbability) {
      const Range& range = answer_[0][static_cast<std::size_t>(group.index)];
      sum += std::min(1e30, static_cast<double>(range.high) - static_cast<double>(range.low));
    } else if (group.kind == AtomKind::kSays) {
      for (std::size_t k = 0; k < raw_[0].size(); ++k)
        sum += std::min(1e30, static_cast<double>(raw_[0][k].range.high) - static_cast<double>(raw_[0][k].range.low));
    }
  }
  return sum;
}

// Halves the input or slot that makes the answers clearest. False: there is nothing to halve.
bool BoxStepper::halve(const MemoryBox& box, const InputRanges& x) {
  constexpr std::size_t kMostTried = 16;
  const std::size_t n_x = x.x.size();
  double best = std::numeric_limits<double>::infinity();
  std::size_t chosen = SIZE_MAX, tried = 0;
  const auto part_of = [](const Range& range, bool upper) {
    if (range.nan && range.has_numbers())
      return upper ? Range{range.low, range.high, false} : Range{kNoBound, -kNoBound, true};
    const float middle = middle_of(range.low, range.high);
    return upper ? Range{middle, range.high, false} : Range{range.low, std::nextafter(middle, -kNoBound), false};
  };
  const auto visit = [&](std::size_t number, bool upper, const auto& with) {
    MemoryBox b = box;
    InputRanges i = x;
    const Range& range = number < n_x ? x.x[number] : box.slot[number - n_x];
    const bool left = number < n_x ? narrow(i, static_cast<int>(number), part_of(range, upper))
                                   : narrow(b, number - n_x, part_of(range, upper));
    if (left) with(b, i);
  };
  for (std::size_t number = 0; number < n_x + box.slot.size() && tried < kMostTried; ++number) {
    const Range& range = number < n_x ? x.x[number] : box.slot[number - n_x];
    if (!range.has_numbers() || (range.low == range.high && !range.nan)) continue;
    ++tried;
    double unclear = 0;
    for (const bool upper : {false, true})
      visit(number, upper, [&](const MemoryBox& b, const InputRanges& i) {
        compute(b, i);
        unclear += ambiguity();
      });
    if (unclear < best) best = unclear, chosen = number;
  }
  if (chosen == SIZE_MAX) return false;
  --halvings_left_;
  for (const bool upper : {false, true})
    visit(chosen, upper, [&](const MemoryBox& b, const InputRanges& i) { arrive(b, i); });
  ++halvings_left_;
  return true;
}

}  // namespace remede

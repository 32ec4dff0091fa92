#include "remede/train/scaling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "remede/base/arithmetic.h"

namespace remede {
namespace {

// Where the values of a column lie, but for outliers: between its 1% and 99% quantiles and one and a half times their
// distance further. A single wild number must not press all others together. Wherever most values are one and the same,
// all are usual.
struct Usual {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  double within(double value) const { return std::clamp(value, low, high); }
};

Usual usual(std::vector<float> sample) {
  if (sample.size() < 100) return {};
  const std::size_t off = sample.size() / 100;
  std::sort(sample.begin(), sample.end());
  const auto low = static_cast<double>(sample[off]), high = static_cast<double>(sample[sample.size() - 1 - off]);
  if (!(high > low)) return {};
  return {low - 1.5 * (high - low), high + 1.5 * (high - low)};
}

// Of each of the n columns, from a sample of the rows. counts(i): whether the value at i does.
template <typename Counts>
std::vector<Usual> usual_values(std::span<const float> values, std::size_t n, const Counts& counts) {
  constexpr std::size_t kMost = 4096;
  const std::size_t rows = n == 0 ? 0 : values.size() / n, every = std::max<std::size_t>(1, rows / kMost);
  std::vector<Usual> columns;
  for (std::size_t c = 0; c < n; ++c) {
    std::vector<float> sample;
    for (std::size_t row = 0; row < rows; row += every)
      if (counts(row * n + c)) sample.push_back(values[row * n + c]);
    columns.push_back(usual(std::move(sample)));
  }
  return columns;
}

// Mean and standard deviation of what is shown to it.
class Moments {
 public:
  void add(double value) {
    ++count_;
    const double distance = value - mean_;
    mean_ += distance / static_cast<double>(count_);
    squares_ += distance * (value - mean_);
  }
  float mean() const { return static_cast<float>(mean_); }
  // 1 where all values are equal: there is nothing to scale.
  float deviation() const {
    const double variance = count_ > 0 ? squares_ / static_cast<double>(count_) : 0.0;
    const auto deviation = static_cast<float>(std::sqrt(variance));
    return std::isnormal(deviation) ? deviation : 1.0F;
  }

 private:
  std::size_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

// Rows of a (leaves, rows, n) array read inputs first, then cells. Brings the input weights to raw inputs and takes
// what the shifts contribute out of the constants (leaves * rows), where there are any.
void fold_rows(const Scaling& scaling, std::size_t n, std::vector<float>& weights, std::vector<float>* constants) {
  if (n == 0) return;
  for (std::size_t row = 0; row < weights.size() / n; ++row) {
    double contributed = 0;
    for (std::size_t f = 0; f < scaling.x_scale.size(); ++f) {
      const double weight = static_cast<double>(weights[row * n + f]) / static_cast<double>(scaling.x_scale[f]);
      contributed += weight * static_cast<double>(scaling.x_shift[f]);
      weights[row * n + f] = static_cast<float>(weight);
    }
    if (constants != nullptr)
      (*constants)[row] = static_cast<float>(static_cast<double>((*constants)[row]) - contributed);
  }
}

void fold_values(const Scaling& scaling, const Objective& objective, Tree& tree) {
  const auto n_y = static_cast<std::size_t>(tree.n_y), n_v = static_cast<std::size_t>(tree.n_v());
  for (std::size_t o = 0; o < n_y; ++o) {
    const auto target = static_cast<std::size_t>(target_of(objective, static_cast<int>(o)));
    const float scale = scaling.y_scale[target], shift = scaling.y_shift[target];
    for (std::size_t at = o; at < tree.output.size(); at += n_y) {
      if (is_logarithm(objective, static_cast<int>(o))) {
        tree.output[at] += log(scale);
        continue;
      }
      tree.output[at] = tree.output[at] * scale + shift;
      for (std::size_t f = 0; f < n_v && !tree.linear.empty(); ++f) tree.linear[at * n_v + f] *= scale;
    }
  }
}

// Inputs whose largest value lies between these are used as they are.
constexpr float kSmallOrder = 0.1F, kLargeOrder = 10.0F;

}  // namespace

bool inputs_of_order_one(const Sequences& data) {
  const auto n_x = static_cast<std::size_t>(data.n_x);
  std::vector<float> largest(n_x, 0.0F);
  for (std::size_t k = 0; k < data.x.size(); ++k)
    if (!std::isnan(data.x[k])) largest[k % n_x] = std::max(largest[k % n_x], std::abs(data.x[k]));
  return std::all_of(largest.begin(), largest.end(),
                     [](float most) { return most == 0.0F || (most >= kSmallOrder && most <= kLargeOrder); });
}

void scale_inputs(const Sequences& data, bool shift_inputs, Scaling& scaling) {
  const auto n_x = static_cast<std::size_t>(data.n_x);
  std::vector<Moments> moments(n_x);
  const auto known = [&](std::size_t k) { return !std::isnan(data.x[k]); };
  const std::vector<Usual> range = usual_values(data.x, n_x, known);
  for (std::size_t k = 0; k < data.x.size(); ++k)
    if (known(k)) moments[k % n_x].add(range[k % n_x].within(static_cast<double>(data.x[k])));
  for (const Moments& m : moments) {
    scaling.x_shift.push_back(shift_inputs ? m.mean() : 0.0F);
    scaling.x_scale.push_back(m.deviation());
  }
}

void scale_values(const Objective& objective, const Sequences& data, bool shift_values, Scaling& scaling) {
  const TargetScale way = target_scale(objective);
  if (way == TargetScale::kNone) return;
  const auto n_y = static_cast<std::size_t>(data.n_y);
  std::vector<Moments> moments(n_y);
  const auto known = [&](std::size_t k) { return data.weight[k / n_y] > 0.0F; };
  const std::vector<Usual> range = usual_values(data.value, n_y, known);
  for (std::size_t k = 0; k < data.value.size(); ++k)
    if (known(k)) moments[k % n_y].add(range[k % n_y].within(static_cast<double>(data.value[k])));
  for (const Moments& m : moments) {
    const bool by_mean = way == TargetScale::kByMean;
    scaling.y_shift.push_back(shift_values && !by_mean ? m.mean() : 0.0F);
    scaling.y_scale.push_back(!by_mean ? m.deviation() : m.mean() > 0.0F ? m.mean() : 1.0F);
  }
}

namespace {

// Of one column, as add_scale_sums() counts them.
struct ColumnSums {
  static constexpr std::size_t kNumbers = 6;
  double count = 0, sum = 0, squares = 0;         // of what lies where it usually does, less the middle
  double large = 0, not_small = 0, not_zero = 0;  // values beyond kLargeOrder, of at least kSmallOrder, other than 0

  double mean(double middle) const { return count > 0 ? middle + sum / count : 0.0; }
  float deviation() const {
    const double variance = count > 0 ? squares / count - sum / count * (sum / count) : 0.0;
    const auto deviation = static_cast<float>(std::sqrt(std::max(variance, 0.0)));
    return std::isnormal(deviation) ? deviation : 1.0F;
  }
};

void add_column(double low, double high, double middle, float value, double* to) {
  const double here = std::clamp(static_cast<double>(value), low, high) - middle;
  to[0] += 1;
  to[1] += here;
  to[2] += here * here;
  to[3] += std::abs(value) > kLargeOrder ? 1 : 0;
  to[4] += std::abs(value) >= kSmallOrder ? 1 : 0;
  to[5] += value != 0.0F ? 1 : 0;
}

ColumnSums column_sums(const std::vector<double>& sums, std::size_t column) {
  const double* const at = sums.data() + column * ColumnSums::kNumbers;
  return {at[0], at[1], at[2], at[3], at[4], at[5]};
}

}  // namespace

UsualRanges usual_ranges(const Sequences& sample) {
  UsualRanges ranges;
  const auto take = [](const std::vector<Usual>& usual, const auto& value_of, std::size_t rows,
                       std::vector<double>& low, std::vector<double>& high, std::vector<double>& middle) {
    for (std::size_t c = 0; c < usual.size(); ++c) {
      double sum = 0, count = 0;
      for (std::size_t r = 0; r < rows; ++r)
        if (const float value = value_of(r, c); !std::isnan(value)) {
          sum += usual[c].within(static_cast<double>(value));
          ++count;
        }
      low.push_back(usual[c].low);
      high.push_back(usual[c].high);
      middle.push_back(count > 0 ? sum / count : 0.0);
    }
  };
  const auto n_x = static_cast<std::size_t>(sample.n_x), n_y = static_cast<std::size_t>(sample.n_y);
  const auto input = [&](std::size_t r, std::size_t c) { return sample.x[r * n_x + c]; };
  take(usual_values(sample.x, n_x, [&](std::size_t k) { return !std::isnan(sample.x[k]); }), input, sample.steps(),
       ranges.x_low, ranges.x_high, ranges.x_middle);
  if (sample.value.empty()) return ranges;
  const auto value = [&](std::size_t r, std::size_t c) {
    return sample.weight[r] > 0.0F ? sample.value[r * n_y + c] : std::numeric_limits<float>::quiet_NaN();
  };
  take(usual_values(sample.value, n_y, [&](std::size_t k) { return sample.weight[k / n_y] > 0.0F; }), value,
       sample.steps(), ranges.y_low, ranges.y_high, ranges.y_middle);
  return ranges;
}

void add_scale_sums(const UsualRanges& ranges, const Sequences& part, std::vector<double>& sums) {
  const auto n_x = static_cast<std::size_t>(part.n_x), n_y = static_cast<std::size_t>(part.n_y);
  const std::size_t columns = n_x + ranges.y_low.size(), classes = columns * ColumnSums::kNumbers;
  if (sums.empty()) sums.resize(classes + n_y);
  for (std::size_t t = 0; t < part.steps(); ++t) {
    for (std::size_t f = 0; f < n_x; ++f)
      if (const float value = part.x[t * n_x + f]; !std::isnan(value))
        add_column(ranges.x_low[f], ranges.x_high[f], ranges.x_middle[f], value,
                   sums.data() + f * ColumnSums::kNumbers);
    if (part.weight[t] == 0.0F) continue;
    for (std::size_t k = 0; k < ranges.y_low.size(); ++k)
      add_column(ranges.y_low[k], ranges.y_high[k], ranges.y_middle[k], part.value[t * n_y + k],
                 sums.data() + (n_x + k) * ColumnSums::kNumbers);
    if (!part.label.empty())
      sums[classes + static_cast<std::size_t>(part.label[t])] += static_cast<double>(part.weight[t]);
  }
}

Scaling scaling_of(const UsualRanges& ranges, const std::vector<double>& sums, const Objective& objective,
                   const ScaleChoice& choice) {
  Scaling scaling;
  const std::size_t n_x = ranges.x_low.size();
  bool order_one = true;
  for (std::size_t f = 0; f < n_x; ++f) {
    const ColumnSums column = column_sums(sums, f);
    order_one = order_one && column.large == 0 && (column.not_small > 0 || column.not_zero == 0);
  }
  for (std::size_t f = 0; f < n_x && choice.standardise.value_or(!order_one); ++f) {
    const ColumnSums column = column_sums(sums, f);
    scaling.x_shift.push_back(choice.shift_inputs ? static_cast<float>(column.mean(ranges.x_middle[f])) : 0.0F);
    scaling.x_scale.push_back(column.deviation());
  }
  const TargetScale way = target_scale(objective);
  if (way == TargetScale::kNone || !choice.standardise.value_or(true)) return scaling;
  for (std::size_t k = 0; k < ranges.y_low.size(); ++k) {
    const ColumnSums column = column_sums(sums, n_x + k);
    const auto mean = static_cast<float>(column.mean(ranges.y_middle[k]));
    const bool by_mean = way == TargetScale::kByMean;
    scaling.y_shift.push_back(choice.shift_values && !by_mean ? mean : 0.0F);
    scaling.y_scale.push_back(!by_mean ? column.deviation() : mean > 0.0F ? mean : 1.0F);
  }
  return scaling;
}

void apply(const Scaling& scaling, Sequences& data) {
  const auto scale = [](std::span<float> values, const std::vector<float>& shift, const std::vector<float>& by) {
    if (by.empty()) return;
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = (values[k] - shift[k % by.size()]) / by[k % by.size()];
  };
  if (scaling.x_scores.empty()) scale(data.x, scaling.x_shift, scaling.x_scale);
  for (std::size_t k = 0; k < data.x.size() && !scaling.x_scores.empty(); ++k)
    data.x[k] = scaling.x_scores[k % scaling.x_scores.size()](data.x[k]);
  scale(data.value, scaling.y_shift, scaling.y_scale);
}

std::vector<float> raw_inputs_of_zero(const Scaling& scaling, std::size_t n_x) {
  std::vector<float> raw = scaling.x_shift;
  raw.resize(n_x, 0.0F);
  for (std::size_t f = 0; f < scaling.x_scores.size(); ++f) raw[f] = scaling.x_scores[f].raw_of(0.0F);
  return raw;
}

void fold(const Scaling& scaling, const Objective& objective, Tree& tree) {
  for (std::size_t i = 0; i < tree.feature.size() && !scaling.x_scores.empty(); ++i)
    tree.threshold[i] = scaling.x_scores[static_cast<std::size_t>(tree.feature[i])].raw_of(tree.threshold[i]);
  if (!scaling.x_scale.empty()) {
    for (std::size_t i = 0; i < tree.feature.size(); ++i) {
      if (tree.feature[i] >= tree.n_x) continue;
      const auto f = static_cast<std::size_t>(tree.feature[i]);
      tree.threshold[i] = tree.threshold[i] * scaling.x_scale[f] + scaling.x_shift[f];
    }
    fold_rows(scaling, static_cast<std::size_t>(tree.n_w()), tree.write, tree.form.write_bias ? &tree.bias : nullptr);
    fold_rows(scaling, static_cast<std::size_t>(tree.n_v()), tree.linear, &tree.output);
  }
  if (!scaling.y_scale.empty()) fold_values(scaling, objective, tree);
}

}  // namespace remede

#include "remede/train/normal_scores.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "remede/base/arithmetic.h"

namespace remede {
namespace {

constexpr float kLargest = std::numeric_limits<float>::max();

// Floats as integers in the same order.
std::int64_t order_of(float value) {
  const std::int64_t bits = std::bit_cast<std::int32_t>(value);
  return bits >= 0 ? bits : std::int64_t{std::numeric_limits<std::int32_t>::min()} - bits;
}
float float_at(std::int64_t order) {
  const std::int64_t bits = order >= 0 ? order : std::int64_t{std::numeric_limits<std::int32_t>::min()} - order;
  return std::bit_cast<float>(static_cast<std::int32_t>(bits));
}

template <std::size_t n>
double polynomial(const double (&c)[n], double x) {
  double sum = 0;
  for (const double factor : c) sum = sum * x + factor;
  return sum;
}

}  // namespace

// Rational approximations with a relative error below 1.2e-9: one for the middle, one for the tails.
double normal_quantile(double share) {
  constexpr double kMiddle[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                                1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double kUnderMiddle[] = {-5.447609879822406e+01, 1.615858368580409e+02,  -1.556989798598866e+02,
                                     6.680131188771972e+01,  -1.328068155288572e+01, 1.0};
  constexpr double kTail[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                              -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr double kUnderTail[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                                   3.754408661907416e+00, 1.0};
  constexpr double kTailShare = 0.02425;
  if (share > 0.5) return -normal_quantile(1 - share);
  if (share < kTailShare) {
    const double q = std::sqrt(-2 * log(share));
    return polynomial(kTail, q) / polynomial(kUnderTail, q);
  }
  const double q = share - 0.5;
  return polynomial(kMiddle, q * q) * q / polynomial(kUnderMiddle, q * q);
}

NormalScores::NormalScores(std::vector<float> values, std::size_t most) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size(), knots = std::min(n, most);
  for (std::size_t k = 0; k < knots; ++k) {
    const float value = values[knots == 1 ? 0 : k * (n - 1) / (knots - 1)];
    if (!value_.empty() && value == value_.back()) continue;
    const auto [first, last] = std::equal_range(values.begin(), values.end(), value);
    const auto rank = static_cast<double>((first - values.begin()) + (last - values.begin())) / 2;
    value_.push_back(value);
    score_.push_back(normal_quantile(rank / static_cast<double>(n)));
  }
  if (value_.size() > 1)
    slope_ =
        (score_.back() - score_.front()) / (static_cast<double>(value_.back()) - static_cast<double>(value_.front()));
}

// Every operation rises with `raw`, and rounding keeps that.
float NormalScores::operator()(float raw) const {
  if (value_.empty() || std::isnan(raw)) return raw;
  const auto x = static_cast<double>(raw);
  const auto next = std::upper_bound(value_.begin(), value_.end(), raw);
  double score = 0;
  if (next == value_.begin() || next == value_.end()) {
    const bool below = next == value_.begin();
    score = (below ? score_.front() : score_.back()) +
            (x - static_cast<double>(below ? value_.front() : value_.back())) * slope_;
  } else {
    const auto k = static_cast<std::size_t>(next - value_.begin());
    const auto low = static_cast<double>(value_[k - 1]), high = static_cast<double>(value_[k]);
    score = std::min(score_[k - 1] + (x - low) / (high - low) * (score_[k] - score_[k - 1]), score_[k]);
  }
  return static_cast<float>(std::clamp(score, -static_cast<double>(kLargest), static_cast<double>(kLargest)));
}

float NormalScores::raw_of(float score) const {
  std::int64_t low = order_of(-kLargest), high = order_of(kLargest);
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if ((*this)(float_at(middle)) >= score)
      high = middle;
    else
      low = middle + 1;
  }
  return float_at(low);
}

std::vector<NormalScores> normal_scores(const Sequences& data) {
  const auto n_x = static_cast<std::size_t>(data.n_x);
  std::vector<NormalScores> scores;
  for (std::size_t f = 0; f < n_x; ++f) {
    std::vector<float> values;
    for (std::size_t t = 0; t < data.steps(); ++t)
      if (!std::isnan(data.x[t * n_x + f])) values.push_back(data.x[t * n_x + f]);
    scores.emplace_back(std::move(values));
  }
  return scores;
}

}  // namespace remede

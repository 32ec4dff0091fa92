#include "remede/simplify/range.h"

#include <algorithm>
#include <cmath>

#include "remede/base/arithmetic.h"

namespace remede {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

float below(double value) {
  const auto rounded = static_cast<float>(value);
  return static_cast<double>(rounded) > value ? std::nextafter(rounded, -kInfinity) : rounded;
}

float above(double value) {
  const auto rounded = static_cast<float>(value);
  return static_cast<double>(rounded) < value ? std::nextafter(rounded, kInfinity) : rounded;
}

// base/arithmetic.h promises tanh within 4e-7, relative. The true tanh never falls, so ours, which may by a rounding,
// differs from its value at the end of an interval by less than twice that.
constexpr double kTanhSlack = 1e-6;

}  // namespace

Range join(const Range& a, const Range& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), a.nan || b.nan};
}

Range meet(const Range& a, const Range& b) {
  Range both{std::max(a.low, b.low), std::min(a.high, b.high), a.nan && b.nan};
  if (!both.has_numbers())
    both.low = kInfinity, both.high = -kInfinity;  // one way to be without numbers, so that == works
  return both;
}

Range left_part(const Range& v, float threshold, bool missing_right) {
  return meet(v, {-kInfinity, std::nextafter(threshold, -kInfinity), !missing_right});
}

Range right_part(const Range& v, float threshold, bool missing_right) {
  return meet(v, {threshold, kInfinity, missing_right});
}

Range filled(const Range& x, float fill) {
  const Range number{x.low, x.high, false};
  return x.nan ? join(number, Range::point(fill)) : number;
}

Range plus_product(const Range& sum, float weight, const Range& v) {
  Range result;
  result.nan = sum.nan || v.nan;
  if (!sum.has_numbers() || !v.has_numbers()) return {kInfinity, -kInfinity, true};
  Range product;
  if (weight == 0.0F) {
    product = {0.0F, 0.0F, v.has_infinity()};
  } else {  // rounding never turns an order around, so the ends of the interval give the ends of the result
    const float one = weight * v.low;
    const float other = weight * v.high;
    product = {std::min(one, other), std::max(one, other), false};
  }
  result.nan = result.nan || product.nan || (sum.low == -kInfinity && product.high == kInfinity) ||
               (sum.high == kInfinity && product.low == -kInfinity);
  result.low = sum.low + product.low;
  result.high = sum.high + product.high;
  if (std::isnan(result.low)) result.low = -kInfinity;
  if (std::isnan(result.high)) result.high = kInfinity;
  return result;
}

Range tanh(const Range& x) {
  if (!x.has_numbers()) return x;
  if (x.low == x.high) return {tanh(x.low), tanh(x.low), x.nan};
  const double low = tanh(x.low);
  const double high = tanh(x.high);
  Range u{below(low < 0 ? low * (1 + kTanhSlack) : low * (1 - kTanhSlack)),
          above(high < 0 ? high * (1 - kTanhSlack) : high * (1 + kTanhSlack)), x.nan};
  u.low = std::max(u.low, -1.0F);
  u.high = std::min(u.high, 1.0F);
  return u;
}

Range add(const Range& m, const Range& u) {
  if (!m.has_numbers() || !u.has_numbers()) return {kInfinity, -kInfinity, true};
  return {std::max(m.low + u.low, -kAddLimit), std::min(m.high + u.high, kAddLimit), m.nan || u.nan};
}

// In real numbers the cell becomes (1 - share) m + share u: it rises with both, so the ends of the intervals give the
// ends of the result. The rounding of the three operations is then allowed for: that of u - m and of its product with
// the share are relative to share |u - m|, that of the sum to the result. Besides, a cell never moves away from u, and
// never past it by more than the rounding of u - m and of the sum: this keeps the bounds of a slowly moving average
// from creeping outwards.
Range blend(const Range& m, const Range& u, float share) {
  if (!m.has_numbers() || !u.has_numbers()) return {kInfinity, -kInfinity, true};
  const bool nan = m.nan || u.nan;
  if (m.low == m.high && u.low == u.high) {
    const float moved = m.low + share * (u.low - m.low);
    return {moved, moved, nan};
  }
  if (share == 0.0F) return {m.low, m.high, nan};
  constexpr double kRounding = 1.1 * 0x1p-23;
  const double a = share;
  const double farthest =
      std::max({std::abs(static_cast<double>(u.high) - m.low), std::abs(static_cast<double>(m.high) - u.low)});
  double low = (1 - a) * m.low + a * u.low;
  double high = (1 - a) * m.high + a * u.high;
  const double error = kRounding * (a * farthest + std::max(std::abs(low), std::abs(high))) + 1e-44;
  low = std::max(low - error, std::min<double>(m.low, u.low - kRounding * (farthest + std::abs(u.low)) - 1e-44));
  high = std::min(high + error, std::max<double>(m.high, u.high + kRounding * (farthest + std::abs(u.high)) + 1e-44));
  return {std::max(below(low), -kBlendLimit), std::min(above(high), kBlendLimit), nan};
}

}  // namespace remede

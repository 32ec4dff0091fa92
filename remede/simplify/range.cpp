#include "remede/simplify/range.h"

#include <algorithm>
#include <cmath>

#include "remede/base/arithmetic.h"
#include "remede/model/cells.h"

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

namespace {

constexpr double kRounding = 1.1 * 0x1p-23;

// In real numbers the cell becomes (1 - share) m + share u: it rises with both, so the ends of the intervals give the
// ends of the result. The rounding of the three operations is then allowed for: that of u - m and of its product with
// the share are relative to share |u - m|, that of the sum to the result. Besides, a cell never moves away from u, and
// never past it by more than the rounding of u - m and of the sum: this keeps the bounds of a slowly moving average
// from creeping outwards.
Range moved(const Range& m, const Range& u, float share) {
  if (m.low == m.high && u.low == u.high) {
    const float after = m.low + share * (u.low - m.low);
    return {after, after, false};
  }
  if (share == 0.0F) return {m.low, m.high, false};
  const double a = share;
  const double farthest =
      std::max({std::abs(static_cast<double>(u.high) - m.low), std::abs(static_cast<double>(m.high) - u.low)});
  double low = (1 - a) * m.low + a * u.low;
  double high = (1 - a) * m.high + a * u.high;
  const double error = kRounding * (a * farthest + std::max(std::abs(low), std::abs(high))) + 1e-44;
  low = std::max(low - error, std::min<double>(m.low, u.low - kRounding * (farthest + std::abs(u.low)) - 1e-44));
  high = std::min(high + error, std::max<double>(m.high, u.high + kRounding * (farthest + std::abs(u.high)) + 1e-44));
  return {below(low), above(high), false};
}

}  // namespace

Range blend(const Range& m, const Range& u, float share) {
  if (!m.has_numbers() || !u.has_numbers()) return {kInfinity, -kInfinity, true};
  Range after = moved(m, u, share);
  if (m.low != m.high || u.low != u.high) {
    after.low = std::max(after.low, -kBlendLimit);
    after.high = std::min(after.high, kBlendLimit);
  }
  after.nan = m.nan || u.nan;
  return after;
}

Range bounded(const Range& a) {
  const Range numbers = a.has_numbers() ? Range{bounded(a.low), bounded(a.high), false} : Range::point(0.0F);
  return a.nan ? join(numbers, Range::point(0.0F)) : numbers;
}

Range positive(const Range& a) { return {positive(a.low), positive(a.high), a.nan}; }

// base/arithmetic.h promises sigmoid within 2e-7, relative, above -87 and 0 below: as with tanh.
Range sigmoid(const Range& x) {
  if (x.low == x.high) return Range::point(sigmoid(x.low));
  constexpr double kSlack = 1e-6;
  return {std::max(below(sigmoid(x.low) * (1 - kSlack)), 0.0F), std::min(above(sigmoid(x.high) * (1 + kSlack)), 1.0F),
          false};
}

// Levels and what comes in are not negative. Addition and the product rise with what they are made of, rounding
// included; S - q S is (1 - q) S but for the rounding of the product and of the difference.
CellRange step_store(const Range& level, const Range& argument, const Range& share) {
  const Range in = positive(argument);
  const Range sum{level.low + in.low, std::min(level.high + in.high, kLevelLimit), false};
  const Range output{share.low * sum.low, share.high * sum.high, false};
  if (sum.is_point() && share.is_point()) return {Range::point(sum.low - output.low), output};
  if (share.low == 0.0F && share.high == 0.0F) return {sum, output};
  const double error = kRounding * sum.high + 1e-44;
  const double low = (1 - static_cast<double>(share.high)) * sum.low - error;
  const double high = (1 - static_cast<double>(share.low)) * sum.high + error;
  return {{std::max(below(low), 0.0F), std::min(above(high), sum.high), false}, output};
}

// The level after the step is linear in the share, so the ends of the share give its ends.
CellRange step_average(const Range& level, const Range& u, const Range& share) {
  const Range after = join(moved(level, u, share.low), moved(level, u, share.high));
  const Range held{std::max(after.low, -kLevelLimit), std::min(after.high, kLevelLimit), false};
  return {held, held};
}

}  // namespace remede

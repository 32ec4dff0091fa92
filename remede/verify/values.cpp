#include "remede/verify/values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

#include "remede/base/arithmetic.h"

namespace remede {
namespace {

enum Operation : std::uint32_t {
  kConstant,
  kUnknown,
  kFilled,
  kPlusProduct,
  kPlus,
  kTanh,
  kAdded,
  kBlended,
  kBounded,
  kShare,
  kPositive,
  kStoreLevel,
  kStoreOutput,
  kAverageLevel
};

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value == 0.0F ? 0.0F : value); }

// m + share (u - m), operation by operation: rounding never turns an order around, so the ends give the ends. Exact
// where m is one number; where it is not, it forgets that both m are the same, and range.h knows better.
Range blended_by_terms(const Range& m, const Range& u, const Range& share) {
  const bool nan = m.nan || u.nan;
  if (!m.has_numbers() || !u.has_numbers())
    return {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), nan};
  const float low = u.low - m.high, high = u.high - m.low;
  const float ends[] = {share.low * low, share.high * low, share.low * high, share.high * high};
  const float least = *std::min_element(std::begin(ends), std::end(ends)),
              most = *std::max_element(std::begin(ends), std::end(ends));
  return {m.low + least, m.high + most, nan};
}

}  // namespace

// A value that can only be one number has the name of that number.
Value Values::named(const Range& range, std::uint32_t operation, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  if (!names_) return {range, 0};
  std::array<std::uint32_t, 4> key{operation, a, b, c};
  if (range.is_point()) key = {kConstant, bits(range.low), 0, 0};
  const auto [at, is_new] = known_.emplace(key, next_);
  if (is_new) ++next_;
  return {range, at->second};
}

Value Values::constant(float value) { return named(Range::point(value), kConstant, bits(value), 0, 0); }
Value Values::unknown(const Range& range, std::uint32_t number) { return named(range, kUnknown, number, 0, 0); }

Value Values::fresh(const Range& range) { return {range, names_ ? next_++ : 0}; }

Value Values::filled(const Value& x, float fill) {
  if (!x.range.nan) return x;
  return named(remede::filled(x.range, fill), kFilled, x.name, bits(fill), 0);
}

Value Values::plus_product(const Value& sum, float weight, const Value& v) {
  const bool finite = v.range.has_numbers() && !v.range.nan && !v.range.has_infinity();
  if ((weight == 0.0F && finite) || (v.range.is_zero() && std::isfinite(weight))) return sum;
  const Range range = remede::plus_product(sum.range, weight, v.range);
  if (names_ && weight == 1.0F && sum.range.is_zero()) return {range, v.name};
  return named(range, kPlusProduct, sum.name, bits(weight), v.name);
}

Value Values::plus(const Value& a, const Value& b) {
  return named(remede::plus_product(a.range, 1.0F, b.range), kPlus, a.name, b.name, 0);
}

Value Values::tanh(const Value& x) {
  Range range = remede::tanh(x.range);
  if (x.range.has_numbers() && x.range.low >= TanhConstants::kLimit) range.low = 1.0F;  // exactly 1 from there on
  if (x.range.has_numbers() && x.range.high <= -TanhConstants::kLimit) range.high = -1.0F;
  return named(range, kTanh, x.name, 0, 0);
}

Value Values::added(const Value& m, const Value& u) {
  return named(remede::add(m.range, u.range), kAdded, m.name, u.name, 0);
}
Value Values::blended(const Value& m, const Value& u, float share) {
  const Range range =
      meet(remede::blend(m.range, u.range, share), blended_by_terms(m.range, u.range, Range::point(share)));
  return named(range, kBlended, m.name, u.name, bits(share));
}
Value Values::bounded(const Value& x) { return named(remede::bounded(x.range), kBounded, x.name, 0, 0); }
Value Values::share(const Value& tap) { return named(remede::sigmoid(tap.range), kShare, tap.name, 0, 0); }
Value Values::positive(const Value& x) { return named(remede::positive(x.range), kPositive, x.name, 0, 0); }

Values::Stepped Values::store(const Value& level, const Value& argument, const Value& share) {
  const CellRange after = step_store(level.range, argument.range, share.range);
  return {named(after.level, kStoreLevel, level.name, argument.name, share.name),
          named(after.output, kStoreOutput, level.name, argument.name, share.name)};
}

Values::Stepped Values::average(const Value& level, const Value& u, const Value& share) {
  const Range after =
      meet(step_average(level.range, u.range, share.range).level, blended_by_terms(level.range, u.range, share.range));
  const Value moved = named(after, kAverageLevel, level.name, u.name, share.name);
  return {moved, moved};
}

}  // namespace remede

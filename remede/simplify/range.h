// Sets of floats, for reasoning about what a value can ever be: an interval, and whether NaN is possible. Every
// operation encloses what the model's arithmetic (docs/mathematics.md) can give for members of its operands, rounding
// included. The sign of zero is not told apart: memory never holds -0, and no test or write depends on it.
#pragma once

#include <limits>

namespace remede {

struct Range {
  float low = 0.0F;  // low > high: no number is possible
  float high = 0.0F;
  bool nan = false;  // NaN is possible: a missing input, or inf - inf and 0 * inf in a write

  static Range all() { return {-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity(), true}; }
  static Range finite() { return {std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max(), true}; }
  static Range point(float value) { return {value, value, false}; }
  static Range none() {
    return {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), false};
  }

  bool has_numbers() const { return low <= high; }
  bool empty() const { return !has_numbers() && !nan; }
  bool is_point() const { return low == high && !nan; }
  bool is_zero() const { return low == 0.0F && high == 0.0F && !nan; }
  bool has_infinity() const {
    return has_numbers() &&
           (low == -std::numeric_limits<float>::infinity() || high == std::numeric_limits<float>::infinity());
  }
  bool operator==(const Range&) const = default;
};

// The smallest range that holds both.
Range join(const Range& a, const Range& b);
// What is in both.
Range meet(const Range& a, const Range& b);

// What of `v` goes left or right at a test `v >= threshold`, a NaN going right iff missing_right.
Range left_part(const Range& v, float threshold, bool missing_right);
Range right_part(const Range& v, float threshold, bool missing_right);

// An input as writes and linear leaves see it: `fill` instead of NaN.
Range filled(const Range& x, float fill);

// sum + weight * v, each rounded to float.
Range plus_product(const Range& sum, float weight, const Range& v);
Range tanh(const Range& x);

// No cell leaves [-limit, limit], NaN aside. Adding: u is within 1, and 2^24 + 1 rounds to 2^24 in float. Blending
// moves towards u, at most a few roundings beyond it.
inline constexpr float kAddLimit = 16777216.0F;
inline constexpr float kBlendLimit = 1.000001F;

// A cell after a write: m + u, and m + share (u - m). REQUIRES: 0 <= share <= 1; u within [-1, 1].
Range add(const Range& m, const Range& u);
Range blend(const Range& m, const Range& u, float share);

// The pieces of a cell with a law (model/cells.h). No level leaves [-kLevelLimit, kLevelLimit]: a store stops growing
// where adding kCellBound no longer changes it.
inline constexpr float kLevelLimit = 0x1p25F * 1e30F;
Range bounded(const Range& a);
Range positive(const Range& a);
Range sigmoid(const Range& x);

struct CellRange {
  Range level;  // after the step
  Range output;
};
// REQUIRES: share within [0, 1], argument bounded.
CellRange step_store(const Range& level, const Range& argument, const Range& share);
CellRange step_average(const Range& level, const Range& u, const Range& share);

}  // namespace remede

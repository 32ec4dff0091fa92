// Numbers that a step computes, as sets: a range, and, where two models are compared, a name of the expression, so that
// two values with the same name are equal whatever the inputs are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "remede/model/cells.h"
#include "remede/simplify/range.h"

namespace remede {

struct Value {
  Range range;
  std::uint32_t name = 0;  // 0: none
};

// Encloses the arithmetic of predict.cpp, operation by operation (simplify/range.h).
class Values {
 public:
  explicit Values(bool names) : names_(names) {}
  void clear() { known_.clear(), next_ = 1; }

  Value constant(float value);
  Value unknown(const Range& range, std::uint32_t number);  // the same number: the same value
  Value fresh(const Range& range);                          // equal to nothing else
  Value filled(const Value& x, float fill);                 // `fill` where missing
  Value plus_product(const Value& sum, float weight, const Value& v);
  Value plus(const Value& a, const Value& b);
  Value tanh(const Value& x);
  Value added(const Value& m, const Value& u);
  Value blended(const Value& m, const Value& u, float share);
  Value bounded(const Value& x);
  Value share(const Value& tap);  // sigmoid
  Value positive(const Value& x);
  struct Stepped {
    Value level, output;
  };
  Stepped store(const Value& level, const Value& argument, const Value& share);
  Stepped average(const Value& level, const Value& u, const Value& share);

 private:
  Value named(const Range& range, std::uint32_t operation, std::uint32_t a, std::uint32_t b, std::uint32_t c);

  bool names_;
  std::uint32_t next_ = 1;
  std::map<std::array<std::uint32_t, 4>, std::uint32_t> known_;
};

}  // namespace remede

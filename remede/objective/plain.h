// The formulas of the objectives on single numbers, for the plain form of training.
#pragma once

#include <cmath>

#include "remede/base/arithmetic.h"
#include "remede/objective/objective.h"

namespace remede::scalar {

using remede::exp;
using remede::log;

template <typename T>
inline constexpr int kApart = 1;  // numbers from one output to the next

template <typename T>
T load(const T* p) {
  return *p;
}
template <typename T>
void store(T value, T* p) {
  *p = value;
}
template <typename T>
T number(float x) {
  return static_cast<T>(x);
}
#define REMEDE_SCALAR_BINARY(name, expression) \
  template <typename T>                        \
  auto name(T a, T b) {                        \
    return expression;                         \
  }
REMEDE_SCALAR_BINARY(add, a + b)
REMEDE_SCALAR_BINARY(sub, a - b)
REMEDE_SCALAR_BINARY(mul, a* b)
REMEDE_SCALAR_BINARY(div, a / b)
REMEDE_SCALAR_BINARY(gt, a > b)
REMEDE_SCALAR_BINARY(lt, a < b)
REMEDE_SCALAR_BINARY(eq, a == b)
#undef REMEDE_SCALAR_BINARY
template <typename T>
T select(bool m, T yes, T no) {
  return m ? yes : no;
}
template <typename T>
T keep(bool m, T yes) {
  return m ? yes : T(0);
}

#define REMEDE_FORMULA inline
#include "remede/objective/formulas.inc"
#undef REMEDE_FORMULA

}  // namespace remede::scalar

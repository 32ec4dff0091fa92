// The formulas of the objectives on 16 lanes. Included once per target by files that use Highway's foreach_target;
// hence no ordinary include guard.
#if defined(REMEDE_OBJECTIVE_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REMEDE_OBJECTIVE_VECTOR_INL_H_
#undef REMEDE_OBJECTIVE_VECTOR_INL_H_
#else
#define REMEDE_OBJECTIVE_VECTOR_INL_H_
#endif

#include "remede/base/vector-inl.h"
#include "remede/objective/objective.h"

HWY_BEFORE_NAMESPACE();
namespace remede {
namespace HWY_NAMESPACE {

template <typename N>
constexpr int kApart = kLanes;  // numbers from one output to the next

template <typename N>
HWY_INLINE N number(float x) {
  return set(x);
}

#define REMEDE_FORMULA HWY_INLINE
#include "remede/objective/formulas.inc"
#undef REMEDE_FORMULA

}  // namespace HWY_NAMESPACE
}  // namespace remede
HWY_AFTER_NAMESPACE();

#endif

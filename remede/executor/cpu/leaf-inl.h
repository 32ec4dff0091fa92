// What the shallow and the deep kernel share: parameters of reached leaves, the worth of a leaf, the value of a
// decision. Included once per target by kernel.cpp.
#if defined(REMEDE_LEAF_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REMEDE_LEAF_INL_H_
#undef REMEDE_LEAF_INL_H_
#else
#define REMEDE_LEAF_INL_H_
#endif

#include "remede/base/vector-inl.h"
#include "remede/executor/cpu/kernel.h"

HWY_BEFORE_NAMESPACE();
namespace remede {
namespace HWY_NAMESPACE {

using cpu::PreparedTree;
using cpu::Scratch;

// Leaves taken together: as many as registers allow.
constexpr int kTogether = kK == 1 ? 8 : kK == 2 ? 4 : 2;

using VI = hn::Vec<DI>;

struct WideInt {
  VI v[kK];
};

HWY_INLINE WideInt set_int(std::int32_t x) {
  WideInt w;
  REMEDE_EACH w.v[i] = hn::Set(di, x);
  return w;
}

// The rows of the leaves that the lanes reach.
struct Reached {
  const float* row[kLanes];
  bool one = true;  // all lanes reach the same
  Reached(const PreparedTree& tree, const std::int32_t* leaf) {
    for (int lane = 0; lane < kLanes; ++lane) {
      row[lane] = tree.leaf_row(leaf[lane]);
      one = one && leaf[lane] == leaf[0];
    }
  }
};

// For every lane the numbers from `at` on in the row of the leaf it reached, n and up to 3 more: ASSIGNED to their
// places in `columns` (stride + kOverRead, kLanes).
HWY_INLINE void leaf_columns(const Reached& reached, int at, int n, float* columns) {
  if (!reached.one)
    take_columns(reached.row, at, n, columns + at * kLanes);
  else
    for (int k = at; k < at + n; ++k) store(set(reached.row[0][k]), columns + k * kLanes);
}

// The arrays of one step of the backward pass, each with 16 lanes.
struct StepView {
  const float* v;  // (n_v) inputs and memory before the step
  const float* g;  // (n_y) dLoss/dy
  const float* q;  // (n_m) dLoss/dm after the step
  const float* f;  // (row) F, the derivative by the reached leaf's row
  int columns;     // of F that may not be 0
};

template <int kCount>
HWY_INLINE void parameter_worths(const PreparedTree& tree, const std::int32_t* leaf, const StepView& step,
                                 float* values) {
  const float* row[kCount];
  Wide sum[kCount];
  const float* f = step.f + tree.worth_begin * kLanes;
  for (int i = 0; i < kCount; ++i) {
    row[i] = tree.worth_row(leaf[i]) + tree.worth_begin;
    sum[i] = mul(load(f), set(row[i][0]));
  }
  for (int k = 1; k < step.columns - tree.worth_begin; ++k) {
    const Wide fk = load(f + k * kLanes);
    for (int i = 0; i < kCount; ++i) sum[i] = fused(fk, set(row[i][k]), sum[i]);
  }
  for (int i = 0; i < kCount; ++i) store(sum[i], values + leaf[i] * kLanes);
}

// The worth of a leaf in the mixture of effects: what it would have said and written. of(k): the number at k of its
// row, for every lane.
template <typename Of>
HWY_INLINE Wide effect_worth(const PreparedTree& tree, const StepView& step, const Of& of) {
  const Shape& shape = tree.shape;
  const int n_x = shape.n_x, n_m = shape.n_m, n_y = shape.n_y, n_v = shape.n_v(), n_w = shape.n_w();
  const auto at = [&](Group group) { return tree.at[static_cast<int>(group)]; };
  Wide sum = set(0.0F);
  for (int k = 0; k < n_y; ++k) {
    Wide y = of(at(Group::kOutput) + k);
    if (shape.form.leaf_output == LeafOutput::kLinear)
      for (int f = 0; f < n_v; ++f) y = fused(of(at(Group::kLinear) + k * n_v + f), load(step.v + f * kLanes), y);
    sum = fused(load(step.g + k * kLanes), y, sum);
  }
  for (int k = 0; k < n_m; ++k) {
    const WideMask open = gt(of(tree.gate + k), set(0.0F));
    if (bits(open) == 0) continue;
    Wide a = shape.form.write_bias ? of(at(Group::kBias) + k) : set(0.0F);
    for (int f = 0; f < n_w; ++f) a = fused(of(at(Group::kWrite) + k * n_w + f), load(step.v + f * kLanes), a);
    Wide change = tanh(a);
    if (tree.blends()) change = mul(of(tree.blend + k), sub(change, load(step.v + (n_x + k) * kLanes)));
    sum = fused(load(step.q + k * kLanes), keep(open, change), sum);
  }
  return sum;
}

// ASSIGNS the worth of `count` leaves to their places in `values` (leaves, kLanes). There is room for kTogether more
// numbers behind `leaf`.
HWY_INLINE void leaf_worths(const PreparedTree& tree, std::int32_t* leaf, int count, const StepView& step,
                            float* values) {
  if (tree.form.mix == Mix::kEffects) {
    for (int i = 0; i < count; ++i) {
      const float* row = tree.leaf_row(leaf[i]);
      store(effect_worth(tree, step, [row](int k) { return set(row[k]); }), values + leaf[i] * kLanes);
    }
    return;
  }
  constexpr int kHalf = kTogether / 2;
  for (int i = 0; i < kTogether; ++i) leaf[count + i] = leaf[0];  // a few too many cost less than a loop of their own
  int i = 0;
  for (; count - i > kHalf; i += kTogether) parameter_worths<kTogether>(tree, leaf + i, step, values);
  if (i < count) parameter_worths<kHalf>(tree, leaf + i, step, values);
}

// The derivative by a decision: what going right would gain over going left, times the surrogate derivative of the
// split at z.
HWY_INLINE Wide decision(const PreparedTree& tree, const Wide& gain, const Wide& z) {
  const Wide slope = set(tree.form.slope), one = set(1.0F);
  Wide derivative;
  if (tree.form.split == SplitGradient::kSigmoid) {
    const Wide s = sigmoid(mul(slope, z));
    derivative = mul(mul(slope, s), sub(one, s));
  } else {
    const Wide away = add(one, abs(mul(slope, z)));
    derivative = div(set(0.5F * tree.form.slope), mul(away, away));
  }
  return keep(eq(z, z), mul(gain, derivative));  // a missing value has no slope
}

}  // namespace HWY_NAMESPACE
}  // namespace remede
HWY_AFTER_NAMESPACE();

#endif

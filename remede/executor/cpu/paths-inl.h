// Deep trees: every lane follows its own path, by gathers. A step costs d + d (d - 1) / 2 decisions and d + 1 leaves a
// lane, whatever the size of the tree. Included once per target by kernel.cpp.
//
// Places are numbered as in a heap: the root is 1, the children of h are 2h (left) and 2h + 1 (right), node i is place
// i + 1 and leaf l is place leaves + l.
#if defined(REMEDE_PATHS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REMEDE_PATHS_INL_H_
#undef REMEDE_PATHS_INL_H_
#else
#define REMEDE_PATHS_INL_H_
#endif

#include "remede/base/vector-inl.h"
#include "remede/executor/cpu/kernel.h"
#include "remede/executor/cpu/leaf-inl.h"

HWY_BEFORE_NAMESPACE();
namespace remede {
namespace HWY_NAMESPACE {

HWY_INLINE WideInt load_int(const std::int32_t* p) {
  WideInt w;
  REMEDE_EACH w.v[i] = hn::LoadU(di, p + i * kN);
  return w;
}
HWY_INLINE WideInt add(const WideInt& a, const WideInt& b) {
  WideInt w;
  REMEDE_EACH w.v[i] = hn::Add(a.v[i], b.v[i]);
  return w;
}
HWY_INLINE Wide gather(const float* base, const WideInt& at) {
  Wide w;
  REMEDE_EACH w.v[i] = hn::GatherIndex(d, base, at.v[i]);
  return w;
}

// What the nodes at these places test: how far each lane is from its threshold, and which lanes go right.
struct Tested {
  Wide number;  // of the feature
  Wide z;
  WideMask right;
};

HWY_INLINE Tested test(const PreparedTree& tree, const WideInt& place, const float* v, bool missing) {
  Tested t;
  Wide value, threshold;
  REMEDE_EACH {
    const VI node = hn::Sub(place.v[i], hn::Set(di, 1));
    const VI lane = hn::Add(hn::Iota(di, 0), hn::Set(di, i * kN));
    const VI feature = hn::GatherIndex(di, tree.feature.data(), node);
    t.number.v[i] = hn::ConvertTo(d, feature);
    threshold.v[i] = hn::GatherIndex(d, tree.threshold.data(), node);
    value.v[i] = hn::GatherIndex(d, v, hn::Add(hn::ShiftLeft<4>(feature), lane));
  }
  t.z = sub(value, threshold);
  t.right = ge(value, threshold);
  if (missing) {
    REMEDE_EACH {
      const VI goes = hn::GatherIndex(di, tree.missing_goes_right.data(), hn::Sub(place.v[i], hn::Set(di, 1)));
      const M lost = hn::And(hn::IsNaN(value.v[i]), hn::RebindMask(d, hn::Ne(goes, hn::Zero(di))));
      t.right.m[i] = hn::Or(t.right.m[i], lost);
    }
  }
  return t;
}

// The places one level below.
HWY_INLINE WideInt child(const WideInt& place, const WideMask& right) {
  WideInt w;
  REMEDE_EACH w.v[i] = hn::Sub(hn::ShiftLeft<1>(place.v[i]), hn::VecFromMask(di, hn::RebindMask(di, right.m[i])));
  return w;
}

// The leaves that hard decisions lead to from these places, so many levels up.
HWY_INLINE WideInt follow(const PreparedTree& tree, WideInt place, int levels, const float* v, bool missing) {
  for (int k = 0; k < levels; ++k) place = child(place, test(tree, place, v, missing).right);
  return add(place, set_int(-tree.shape.leaves()));
}

// ASSIGNS the leaf of every lane (kLanes), 0 for those that are not alive.
HWY_NOINLINE void follow_paths(const PreparedTree& tree, const float* v, std::uint32_t alive, bool missing,
                               std::int32_t* leaf) {
  const WideInt at = follow(tree, set_int(1), tree.shape.depth, v, missing);
  REMEDE_EACH hn::StoreU(at.v[i], di, leaf + i * kN);
  for (int lane = 0; lane < kLanes; ++lane)
    if ((alive >> lane & 1U) == 0) leaf[lane] = 0;
}

// What each lane's own leaf would be worth.
HWY_INLINE Wide path_worth(const PreparedTree& tree, const WideInt& leaf, const StepView& step) {
  const bool parameters = tree.form.mix == Mix::kParameters;
  WideInt at;
  REMEDE_EACH at.v[i] = hn::Mul(leaf.v[i], hn::Set(di, parameters ? tree.row : tree.stride));
  if (!parameters) return effect_worth(tree, step, [&](int k) { return gather(tree.rows.data() + k, at); });
  const float* rows = tree.worths.data();
  int k = tree.worth_begin;
  Wide sum = mul(load(step.f + k * kLanes), gather(rows + k, at));
  while (++k < step.columns) sum = fused(load(step.f + k * kLanes), gather(rows + k, at), sum);
  return sum;
}

// ASSIGNS to s.r the derivative by each decision on the path, and ADDS to `back` what goes into memory.
HWY_NOINLINE void path_decisions(const PreparedTree& tree, const std::int32_t* leaf, std::uint32_t alive,
                                 const float* split, bool missing, const StepView& step, Scratch& s, float* back) {
  const int depth = tree.shape.depth, n_x = tree.shape.n_x, n_m = tree.shape.n_m;
  const WideMask lives = mask(alive);
  const WideInt here = load_int(leaf);
  const WideInt bottom = add(here, set_int(tree.shape.leaves()));
  const Wide worth = path_worth(tree, here, step);
  for (int level = depth - 1; level >= 0; --level) {
    WideInt place, other;
    WideMask right;
    REMEDE_EACH {
      const VI taken = hn::ShiftRightSame(bottom.v[i], depth - level - 1);
      other.v[i] = hn::Xor(taken, hn::Set(di, 1));
      place.v[i] = hn::ShiftRight<1>(taken);
      right.m[i] = hn::RebindMask(d, hn::Ne(hn::And(taken, hn::Set(di, 1)), hn::Zero(di)));
    }
    const Tested tested = test(tree, place, split, missing);
    const Wide instead = path_worth(tree, follow(tree, other, depth - level - 1, split, missing), step);
    const Wide gain = select(right, sub(worth, instead), sub(instead, worth));
    const Wide r = keep(lives, decision(tree, gain, tested.z));
    store(r, s.r.data() + level * kLanes);
    for (int k = 0; k < n_m; ++k)
      store(add(load(back + k * kLanes), keep(eq(tested.number, set(static_cast<float>(n_x + k))), r)),
            back + k * kLanes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace remede
HWY_AFTER_NAMESPACE();

#endif

// Shallow trees: every node and every leaf at every step, without a branch. Included once per target by kernel.cpp.
//
// Lanes are kept as bits, one 16-bit word per node, breadth first; the words of a level follow from those of the level above.
#if defined(REMEDE_DENSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REMEDE_DENSE_INL_H_
#undef REMEDE_DENSE_INL_H_
#else
#define REMEDE_DENSE_INL_H_
#endif

#include "remede/base/vector-inl.h"
#include "remede/engine/cpu/kernel.h"
#include "remede/engine/cpu/leaf-inl.h"

HWY_BEFORE_NAMESPACE();
namespace remede {
namespace HWY_NAMESPACE {

// ASSIGNS the lanes that go right at every node: (nodes).
HWY_NOINLINE void compare_all(const PreparedTree& tree, const float* v, bool missing, std::uint16_t* right) {
  const int nodes = tree.shape.nodes();
  const std::int32_t* feature = tree.feature.data();
  const float* threshold = tree.threshold.data();
  for (int i = 0; i < nodes; ++i)
    right[i] = static_cast<std::uint16_t>(bits(ge(load(v + feature[i] * 16), set(threshold[i]))));
  if (!missing) return;
  for (int i = 0; i < nodes; ++i) {
    const Wide value = load(v + tree.feature[i] * 16);
    if (tree.missing_right[i] != 0) right[i] = static_cast<std::uint16_t>(right[i] | bits(is_nan(value)));
  }
}

// One level down: to[2i] = (a & ~right) | b, to[2i+1] = (a & right) | b, where b is `also` or nothing.
HWY_INLINE void spread(const std::uint16_t* a, const std::uint16_t* right, const std::uint16_t* also, int n, std::uint16_t* to) {
  int i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<std::uint16_t, 8> d16;
  for (; i + 8 <= n; i += 8) {
    const auto on = hn::LoadU(d16, a + i), r = hn::LoadU(d16, right + i);
    auto left_lanes = hn::AndNot(r, on), right_lanes = hn::And(on, r);
    if (also != nullptr) {
      const auto more = hn::LoadU(d16, also + i);
      left_lanes = hn::Or(left_lanes, more);
      right_lanes = hn::Or(right_lanes, more);
    }
    hn::StoreInterleaved2(left_lanes, right_lanes, d16, to + 2 * i);
  }
#endif
  for (; i < n; ++i) {
    const std::uint32_t more = also != nullptr ? also[i] : 0U;
    to[2 * i] = static_cast<std::uint16_t>((a[i] & ~right[i]) | more);
    to[2 * i + 1] = static_cast<std::uint16_t>((a[i] & right[i]) | more);
  }
}

// ASSIGNS the lanes on every node and leaf: (nodes + leaves).
HWY_INLINE void spread_active(const PreparedTree& tree, std::uint32_t alive, const std::uint16_t* right, std::uint16_t* active) {
  active[0] = static_cast<std::uint16_t>(alive);
  for (int first = 0, n = 1; n < tree.shape.leaves(); first += n, n *= 2)
    spread(active + first, right + first, nullptr, n, active + first + n);
}

// ASSIGNS the lanes that need the worth of the leaf below every node and leaf: those on the parent need both sides, those that
// need the parent's need the side they would take.
HWY_INLINE void spread_need(const PreparedTree& tree, const std::uint16_t* right, const std::uint16_t* active, std::uint16_t* need) {
  need[0] = 0;
  for (int first = 0, n = 1; n < tree.shape.leaves(); first += n, n *= 2)
    spread(need + first, right + first, active + first, n, need + first + n);
}

// The leaves with lanes on them. active: (leaves).
HWY_INLINE void reached_leaves(const PreparedTree& tree, const std::uint16_t* active, Reached& reached) {
  const int leaves = tree.shape.leaves();
  int count = 0, l = 0;
  const auto take = [&](int leaf) {
    reached.leaf[count] = leaf;
    reached.lanes[count] = active[leaf];
    reached.row[count] = tree.leaf_row(leaf);
    ++count;
  };
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<std::uint16_t, 8> d16;
  for (; l + 8 <= leaves; l += 8) {
    std::uint8_t bytes[8] = {0};
    hn::StoreMaskBits(d16, hn::Ne(hn::LoadU(d16, active + l), hn::Zero(d16)), bytes);
    for (std::uint32_t some = bytes[0]; some != 0; some &= some - 1) take(l + std::countr_zero(some));
  }
#endif
  for (; l < leaves; ++l)
    if (active[l] != 0) take(l);
  reached.count = count;
}

// The worth of every leaf that some lane needs: s.values (nodes + leaves, 16), the leaves' part.
HWY_NOINLINE void dense_worths(const PreparedTree& tree, const std::uint16_t* need, const StepView& step, Scratch& s) {
  const int nodes = tree.shape.nodes(), leaves = tree.shape.leaves();
  float* values = s.values.data() + static_cast<std::ptrdiff_t>(nodes) * 16;
  for (int l = 0; l < leaves; l += kTogether) {
    const int count = std::min(kTogether, leaves - l);
    std::uint32_t wanted = 0;
    for (int i = 0; i < count; ++i) wanted |= need[nodes + l + i];
    if (wanted == 0) continue;
    std::int32_t leaf[kTogether];
    for (int i = 0; i < count; ++i) leaf[i] = l + i;
    leaf_worths(tree, leaf, count, step, values + l * 16);
  }
}

// Walks back up: ASSIGNS to s.r the derivative by each decision on the path, and ADDS to `back` what goes into memory.
HWY_NOINLINE void dense_decisions(const PreparedTree& tree, const std::uint16_t* right, const std::uint16_t* active,
                                  const float* v, Scratch& s, float* back) {
  const int n_x = tree.shape.n_x, n_m = tree.shape.n_m;
  float* values = s.values.data();
  // Kept in locals: the stores below could change what the vectors point to, as far as the compiler knows.
  const std::int32_t* feature = tree.feature.data();
  const float *threshold = tree.threshold.data(), *number = tree.feature_number.data();
  for (int n = tree.shape.leaves() / 2, level = tree.shape.depth - 1; level >= 0; n /= 2, --level) {
    Wide gain = set(0.0F), z = gain, tested = set(-1.0F);
    for (int i = n - 1; i < 2 * n - 1; ++i) {
      const WideMask on = mask(active[i]);
      const Wide left_value = load(values + (2 * i + 1) * 16), right_value = load(values + (2 * i + 2) * 16);
      gain = select(on, sub(right_value, left_value), gain);
      z = select(on, sub(load(v + feature[i] * 16), set(threshold[i])), z);
      tested = select(on, set(number[i]), tested);
      store(select(mask(right[i]), right_value, left_value), values + i * 16);
    }
    const Wide r = decision(tree, gain, z);
    store(r, s.r.data() + level * 16);
    for (int k = 0; k < n_m; ++k)
      store(add(load(back + k * 16), keep(eq(tested, set(static_cast<float>(n_x + k))), r)), back + k * 16);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace remede
HWY_AFTER_NAMESPACE();

#endif

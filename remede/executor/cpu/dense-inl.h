// Shallow trees: every node and every leaf at every step, without a branch. Included once per target by kernel.cpp.
//
// Lanes are kept as bits, one 16-bit word per node, breadth first; the words of a level follow from those of the level
// above.
#if defined(REMEDE_DENSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REMEDE_DENSE_INL_H_
#undef REMEDE_DENSE_INL_H_
#else
#define REMEDE_DENSE_INL_H_
#endif

#include "remede/base/vector-inl.h"
#include "remede/executor/cpu/kernel.h"
#include "remede/executor/cpu/leaf-inl.h"

HWY_BEFORE_NAMESPACE();
namespace remede {
namespace HWY_NAMESPACE {

static_assert(kLanes == 16, "the lanes of a node are the bits of one 16-bit word");

// ASSIGNS the lanes that go right at every node: (nodes).
HWY_NOINLINE void compare_all(const PreparedTree& tree, const float* v, bool missing, std::uint16_t* right) {
  const int nodes = tree.shape.nodes();
  const std::ptrdiff_t* place = tree.place.data();
  const float* threshold = tree.threshold.data();
  for (int i = 0; i < nodes; ++i)
    right[i] = static_cast<std::uint16_t>(bits(ge(load(v + place[i]), set(threshold[i]))));
  if (!missing) return;
  for (int i = 0; i < nodes; ++i) {
    const Wide value = load(v + tree.feature[i] * kLanes);
    if (tree.missing_right[i] != 0) right[i] = static_cast<std::uint16_t>(right[i] | bits(is_nan(value)));
  }
}

// One level down: to[2i] = (a & ~right) | b, to[2i+1] = (a & right) | b, where b is `also` or nothing.
HWY_INLINE void spread(const std::uint16_t* a, const std::uint16_t* right, const std::uint16_t* also, int n,
                       std::uint16_t* to) {
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

// The words of all levels from that of the root, to (nodes + leaves): on[2i], on[2i+1] = (on[i] & side) | also[i].
HWY_INLINE void spread_all(const PreparedTree& tree, std::uint32_t root, const std::uint16_t* right,
                           const std::uint16_t* also, std::uint16_t* on) {
  const int leaves = tree.shape.leaves();
  on[0] = static_cast<std::uint16_t>(root);
  int first = 0, n = 1;
#if HWY_TARGET != HWY_SCALAR
  if (leaves >= 8) {
    // The first three levels in general registers, then into a vector register: words just stored one by one cannot be
    // loaded together without a wait.
    const auto more = [&](int i) { return also != nullptr ? also[i] : std::uint32_t{0}; };
    const std::uint32_t r0 = right[0], r1 = right[1], r2 = right[2];
    const std::uint32_t a = (root & ~r0) | more(0), b = (root & r0) | more(0);
    const std::uint32_t at[4] = {(a & ~r1) | more(1), (a & r1) | more(1), (b & ~r2) | more(2), (b & r2) | more(2)};
    on[1] = static_cast<std::uint16_t>(a);
    on[2] = static_cast<std::uint16_t>(b);
    for (int i = 0; i < 4; ++i) on[3 + i] = static_cast<std::uint16_t>(at[i]);
    const hn::FixedTag<std::uint16_t, 8> d16;
    const hn::FixedTag<std::uint64_t, 2> d64;
    const auto four = [&](const std::uint16_t* words) {
      std::uint64_t all = 0;
      std::memcpy(&all, words, sizeof(all));
      return hn::BitCast(d16, hn::Set(d64, all));
    };
    const auto here = hn::BitCast(d16, hn::Set(d64, at[0] | at[1] << 16 | std::uint64_t{at[2] | at[3] << 16} << 32));
    const auto r = four(right + 3);
    auto below = hn::InterleaveLower(d16, hn::AndNot(r, here), hn::And(r, here));
    if (also != nullptr) {
      const auto both = four(also + 3);
      below = hn::Or(below, hn::InterleaveLower(d16, both, both));
    }
    hn::StoreU(below, d16, on + 7);
    first = 7;
    n = 8;
  }
#endif
  for (; n < leaves; first += n, n *= 2)
    spread(on + first, right + first, also != nullptr ? also + first : nullptr, n, on + first + n);
}

// ASSIGNS the lanes on every node and leaf: (nodes + leaves).
HWY_INLINE void spread_active(const PreparedTree& tree, std::uint32_t alive, const std::uint16_t* right,
                              std::uint16_t* active) {
  spread_all(tree, alive, right, nullptr, active);
}

// ASSIGNS the lanes that need the worth of the leaf below every node and leaf: those on the parent need both sides,
// those that need the parent's need the side they would take.
HWY_INLINE void spread_need(const PreparedTree& tree, const std::uint16_t* right, const std::uint16_t* active,
                            std::uint16_t* need) {
  spread_all(tree, 0, right, active, need);
}

// One bit for each of the n words, at most 64, that is not 0.
HWY_INLINE std::uint64_t nonzero(const std::uint16_t* words, int n) {
  std::uint64_t all = 0;
  int i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<std::uint16_t, 32> d16;
  constexpr int kStep = static_cast<int>(hn::MaxLanes(d16));
  for (; i + kStep <= n; i += kStep) {
    std::uint8_t bytes[8] = {0};
    hn::StoreMaskBits(d16, hn::Ne(hn::LoadU(d16, words + i), hn::Zero(d16)), bytes);
    std::uint64_t part = 0;
    std::memcpy(&part, bytes, sizeof(part));
    all |= part << i;
  }
#endif
  for (; i < n; ++i) all |= static_cast<std::uint64_t>(words[i] != 0) << i;
  return all;
}

// Calls visit(i) for every i with words[i] != 0, in order.
template <typename Visit>
HWY_INLINE void each_nonzero(const std::uint16_t* words, int n, const Visit& visit) {
  for (int first = 0; first < n; first += 64)
    for (std::uint64_t some = nonzero(words + first, std::min(64, n - first)); some != 0; some &= some - 1)
      visit(first + std::countr_zero(some));
}

// ASSIGNS the leaf of every lane (kLanes), 0 for those that are on none. active: (leaves).
HWY_INLINE void reached_leaves(const PreparedTree& tree, const std::uint16_t* active, std::int32_t* leaf) {
  WideInt of_lane = set_int(0);
  each_nonzero(active, tree.shape.leaves(), [&](int l) {
    const WideMask on = mask(active[l]);
    REMEDE_EACH of_lane.v[i] = hn::IfThenElse(hn::RebindMask(di, on.m[i]), hn::Set(di, l), of_lane.v[i]);
  });
  REMEDE_EACH hn::StoreU(of_lane.v[i], di, leaf + i * kN);
}

// The worth of every leaf that some lane needs: s.values (nodes + leaves, kLanes), the leaves' part.
HWY_NOINLINE void dense_worths(const PreparedTree& tree, const std::uint16_t* need, const StepView& step, Scratch& s) {
  const int nodes = tree.shape.nodes();
  float* values = s.values.data() + static_cast<std::ptrdiff_t>(nodes) * kLanes;
  std::int32_t wanted[(1 << cpu::kDenseDepth) + kTogether];
  int count = 0;
  each_nonzero(need + nodes, tree.shape.leaves(), [&](int l) { wanted[count++] = l; });
  leaf_worths(tree, wanted, count, step, values);
}

// What is known of the decisions of one level: for every lane, at the node it stands on.
struct Decisions {
  Wide gain;    // of the leaf below right over that below left
  Wide z;       // input less threshold
  Wide tested;  // the number of the feature
};

// Levels that are walked up at a time, in registers.
constexpr int kLevels = kK == 1 ? 3 : 2;

// Walks up from level `from` + kCount to level `from`, below node number `at` of level `from`.
template <int kCount>
HWY_INLINE void walk_up(const PreparedTree& tree, int from, int at, const std::uint16_t* right,
                        const std::uint16_t* active, const float* v, float* values, Decisions* decisions) {
  const std::ptrdiff_t* place = tree.place.data();
  const float *threshold = tree.threshold.data(), *number = tree.feature_number.data();
  Wide value[1 << kCount];
  float* bottom = values + ((1 << (from + kCount)) - 1 + (at << kCount)) * kLanes;
  for (int i = 0; i < 1 << kCount; ++i) value[i] = load(bottom + i * kLanes);
  const bool on_path = active[(1 << from) - 1 + at] != 0;
#pragma GCC unroll 3
  for (int up = kCount - 1; up >= 0; --up) {
    const int first = (1 << (from + up)) - 1 + (at << up), nodes = 1 << up;
#pragma GCC unroll 4
    for (int k = 0; k < nodes; ++k) {
      const int i = first + k;
      if (on_path) {
        const WideMask on = mask(active[i]);
        decisions[up].gain = select(on, sub(value[2 * k + 1], value[2 * k]), decisions[up].gain);
        decisions[up].z = select(on, sub(load(v + place[i]), set(threshold[i])), decisions[up].z);
        decisions[up].tested = select(on, set(number[i]), decisions[up].tested);
      }
      value[k] = select(mask(right[i]), value[2 * k + 1], value[2 * k]);
    }
  }
  store(value[0], values + ((1 << from) - 1 + at) * kLanes);
}

// The levels from `from` on, kCount of them: walks up, and ASSIGNS to s.r the derivative by each decision on the path,
// to s.tested the number of its feature.
template <int kCount>
HWY_INLINE void decide(const PreparedTree& tree, int from, const std::uint16_t* right, const std::uint16_t* active,
                       const std::uint16_t* need, const float* v, Scratch& s) {
  Decisions decisions[kCount];
  for (Decisions& level : decisions) level = {set(0.0F), set(0.0F), set(-1.0F)};
  for (int at = 0; at < 1 << from; ++at)
    if (from == 0 || need[(1 << from) - 1 + at] != 0)
      walk_up<kCount>(tree, from, at, right, active, v, s.values.data(), decisions);
  for (int up = kCount - 1; up >= 0; --up) {
    store(decision(tree, decisions[up].gain, decisions[up].z), s.r.data() + (from + up) * kLanes);
    store(decisions[up].tested, s.tested.data() + (from + up) * kLanes);
  }
}

// Walks back up: ASSIGNS to s.r the derivative by each decision on the path, and ADDS to `back` what goes into memory.
HWY_NOINLINE void dense_decisions(const PreparedTree& tree, const std::uint16_t* right, const std::uint16_t* active,
                                  const std::uint16_t* need, const float* v, Scratch& s, float* back) {
  int level = tree.shape.depth;
  for (; level >= kLevels; level -= kLevels) decide<kLevels>(tree, level - kLevels, right, active, need, v, s);
  for (; level > 0; --level) decide<1>(tree, level - 1, right, active, need, v, s);
  for (int k = 0; k < tree.shape.n_m; ++k) {
    const Wide number = set(static_cast<float>(tree.shape.n_x + k));
    Wide sum = load(back + k * kLanes);
    for (level = tree.shape.depth - 1; level >= 0; --level)
      sum = add(sum, keep(eq(load(s.tested.data() + level * kLanes), number), load(s.r.data() + level * kLanes)));
    store(sum, back + k * kLanes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace remede
HWY_AFTER_NAMESPACE();

#endif

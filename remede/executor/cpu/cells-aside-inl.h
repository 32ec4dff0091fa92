// Cells side by side, third part: the other sides of the decisions on the paths. Included once per target by
// cells-inl.h.
#if defined(REMEDE_CELLS_ASIDE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REMEDE_CELLS_ASIDE_INL_H_
#undef REMEDE_CELLS_ASIDE_INL_H_
#else
#define REMEDE_CELLS_ASIDE_INL_H_
#endif

#include <algorithm>
#include <span>

#include "remede/base/vector-inl.h"
#include "remede/executor/cpu/cells-forward-inl.h"
#include "remede/executor/cpu/cells-layout-inl.h"
#include "remede/executor/cpu/kernel.h"

HWY_BEFORE_NAMESPACE();
namespace remede {
namespace HWY_NAMESPACE {

using cpu::Side;

// Backward prepares so many steps of a group before it goes through them: they fit into the first cache.
constexpr std::size_t kChunk = kLanes;

// base + W v of kCount leaves at each of kSteps steps, in fewer and other roundings than forward: for what leaves that
// were not reached would be worth. leaves: (kSteps, kCount), v: (kSteps).
template <int kSteps, int kCount>
HWY_INLINE void quick_sums(const CellLayout& at, const float* const* leaves, const float* const* v, Wide* sums) {
  constexpr int kAll = kSteps * kCount;
  Wide other[kAll];
  each_of<kAll>([&](auto i) REMEDE_INLINED {
    sums[i] = load(leaves[i]);
    other[i] = set(0.0F);
  });
  const auto add_row = [&](auto t, auto odd, const Wide& x, int row) REMEDE_INLINED {
    each_of<kCount>([&](auto l) REMEDE_INLINED {
      constexpr int kAt = decltype(t)::value * kCount + decltype(l)::value;
      Wide& sum = decltype(odd)::value % 2 != 0 ? other[kAt] : sums[kAt];
      sum = fused(load(leaves[kAt] + row), x, sum);
    });
  };
  const auto add_rows = [&](int from, int place, int n) REMEDE_INLINED {
    int f = 0;
    for (; f + 4 <= n; f += 4)
      each_of<kSteps>([&](auto t) REMEDE_INLINED {
        const Wide x = load_four(v[t] + place + f);
        each_of<4>([&](auto lane) REMEDE_INLINED {
          add_row(t, lane, spread<decltype(lane)::value>(x), from + (f + lane) * kLanes);
        });
      });
    const auto rest = [&](auto odd) REMEDE_INLINED {
      each_of<kSteps>([&](auto t) REMEDE_INLINED { add_row(t, odd, set(v[t][place + f]), from + f * kLanes); });
    };
    for (; f + 2 <= n; ++f) {
      rest(std::integral_constant<int, 0>());
      ++f;
      rest(std::integral_constant<int, 1>());
    }
    if (f < n) rest(std::integral_constant<int, 0>());
  };
  add_rows(at.inputs, kLanes, at.n_x);
  add_rows(at.memory, 0, at.n_read);
  each_of<kAll>([&](auto i) REMEDE_INLINED { sums[i] = add(sums[i], other[i]); });
}

// values: the values beyond the thresholds of n splits. ASSIGNS the surrogate derivatives, to whole vectors.
HWY_INLINE void split_slopes(const GradientForm& form, std::size_t n, float* values) {
  const Wide slope = set(form.slope), one = set(1.0F);
  for (std::size_t k = 0; k < n; k += kLanes) {
    const Wide z = mul(slope, load(values + k));
    if (form.split == SplitGradient::kSigmoid) {
      const Wide s = sigmoid(z);
      store(mul(mul(slope, s), sub(one, s)), values + k);
    } else {
      const Wide away = add(one, abs(z));
      store(div(set(0.5F * form.slope), mul(away, away)), values + k);
    }
  }
}

// What leaf `row` would change in the memory, where its gates are open.
HWY_INLINE Wide open_change(const PreparedTree& tree, const float* row, const Wide& u, const Wide& m) {
  const Wide change = tree.blends() ? mul(load(row + CellLayout::kBlend), sub(u, m)) : u;
  return keep(gt(load(row + CellLayout::kGate), set(0.0F)), change);
}

// The other sides of the decisions on the paths of the steps [begin, end), from the leaves up, and how far the values
// are beyond the thresholds. sides, beyond: (steps, depth).
template <bool missing>
HWY_INLINE void find_sides(const PreparedTree& tree, const Walk& walk, std::size_t begin, std::size_t end, Side* sides,
                           float* beyond) {
  const CellLayout& at = tree.cells;
  const cpu::CellSplit* splits = at.splits.data();
  const auto nodes = static_cast<std::uint32_t>(tree.shape.nodes());
  for (std::size_t t = begin; t < end; ++t) {
    const float* v = walk.split + t * at.v_step;
    auto child = static_cast<std::uint32_t>(walk.leaf[t]) + nodes;
    for (; child > 0; ++sides, ++beyond) {
      const std::uint32_t node = (child - 1) / 2, other = ((child - 1) ^ 1U) + 1;  // the children of i: 2i + 1, 2i + 2
      const float z = v[splits[node].place] - splits[node].threshold;
      const std::uint32_t leaf = leaf_below<missing>(splits, nodes, v, other);
      const auto left = static_cast<std::int32_t>(child % 2);  // no branch to guess
      *sides = {at.leaf(static_cast<std::int32_t>(leaf)), static_cast<float>(2 * left - 1),
                missing && z != z ? -1 : static_cast<std::int32_t>(node)};
      *beyond = z;
      child = node;
    }
  }
}

// ASSIGNS the sums of kCount leaves at each of kSteps steps from t on; where effects are mixed, what the leaves would
// change in the memory. sides: (kSteps, depth), from the first of the kCount on. sums: the same, in vectors.
template <int kSteps, int kCount>
HWY_NOINLINE void sums_aside(const PreparedTree& tree, const float* v, const Side* sides, float* sums) {
  const float *leaves[kSteps * kCount], *of_step[kSteps];
  Wide found[kSteps * kCount];
  const auto depth = static_cast<std::size_t>(tree.shape.depth);
  const auto place = [&](int i) {
    return static_cast<std::size_t>(i / kCount) * depth + static_cast<std::size_t>(i % kCount);
  };
  each_of<kSteps>([&](auto t) REMEDE_INLINED { of_step[t] = v + static_cast<std::size_t>(t) * tree.cells.v_step; });
  each_of<kSteps * kCount>([&](auto i) REMEDE_INLINED { leaves[i] = sides[place(i)].leaf; });
  quick_sums<kSteps, kCount>(tree.cells, leaves, of_step, found);
  each_of<kSteps * kCount>([&](auto i) REMEDE_INLINED {
    if (tree.form.mix == Mix::kEffects)
      found[i] = open_change(tree, leaves[i], tanh(found[i]), load(of_step[i / kCount]));
    store(found[i], sums + place(i) * kLanes);
  });
}

// What a group on its way back has found of the other sides of the decisions on its paths, from the leaves up.
struct Aside {
  Side* sides;    // (kGroup, kChunk, depth)
  float* slopes;  // (kGroup, kChunk, depth) the surrogate derivatives, padded to whole vectors
  float* sums;    // (kGroup, kChunk, depth, kLanes) base + W v of the leaves; as sums_aside() leaves them
};

// Of the steps [begin, end) of a walk.
HWY_NOINLINE void look_aside(const PreparedTree& tree, const Walk& walk, std::size_t begin, std::size_t end,
                             const Aside& aside) {
  if (end <= begin) return;
  const auto depth = static_cast<std::size_t>(tree.shape.depth);
  if (walk.split == walk.v)
    find_sides<false>(tree, walk, begin, end, aside.sides, aside.slopes);
  else
    find_sides<true>(tree, walk, begin, end, aside.sides, aside.slopes);
  split_slopes(tree.form, (end - begin) * depth, aside.slopes);
  const auto all_steps = [&](std::size_t level, auto steps, auto count) {
    constexpr std::size_t kSteps = decltype(steps)::value;
    constexpr int kCount = decltype(count)::value;
    std::size_t t = begin;
    const auto next = [&](auto some) {
      const std::size_t place = (t - begin) * depth + level;
      sums_aside<static_cast<int>(decltype(some)::value), kCount>(tree, walk.v + t * tree.cells.v_step,
                                                                  aside.sides + place, aside.sums + place * kLanes);
      t += decltype(some)::value;
    };
    while (t + kSteps <= end) next(steps);
    while (t < end) next(std::integral_constant<std::size_t, 1>());
  };
  constexpr std::integral_constant<std::size_t, kK == 1 ? 4 : 2> kOfOne;
  constexpr std::integral_constant<std::size_t, kK == 1 ? 2 : 1> kOfSome;
  std::size_t level = 0;
  for (; depth - level >= 4; level += 4) all_steps(level, kOfSome, std::integral_constant<int, 4>());
  if (depth - level == 3) all_steps(level, kOfSome, std::integral_constant<int, 3>());
  if (depth - level == 2) all_steps(level, kOfSome, std::integral_constant<int, 2>());
  if (depth - level == 1) all_steps(level, kOfOne, std::integral_constant<int, 1>());
}

}  // namespace HWY_NAMESPACE
}  // namespace remede
HWY_AFTER_NAMESPACE();

#endif

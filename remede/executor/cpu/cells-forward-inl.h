// Cells side by side, second part: forward, and the outputs. Included once per target by cells-inl.h.
#if defined(REMEDE_CELLS_FORWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REMEDE_CELLS_FORWARD_INL_H_
#undef REMEDE_CELLS_FORWARD_INL_H_
#else
#define REMEDE_CELLS_FORWARD_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <span>

#include "remede/base/vector-inl.h"
#include "remede/executor/cpu/cells-layout-inl.h"
#include "remede/executor/cpu/kernel.h"

HWY_BEFORE_NAMESPACE();
namespace remede {
namespace HWY_NAMESPACE {

// Sums that registers hold together.
constexpr int kSums = std::max(2, 8 / kK);
constexpr std::size_t kTogetherForward = kK == 1 ? kWalks : kGroup;

// Number kLane of each four.
template <int kLane>
HWY_INLINE Wide spread(const Wide& fours) {
#if HWY_TARGET == HWY_SCALAR
  return set(fours.v[kLane].raw);
#else
  Wide w;
  REMEDE_EACH w.v[i] = hn::Broadcast<kLane>(fours.v[i]);
  return w;
#endif
}

// The four numbers at x, over and over.
HWY_INLINE Wide load_four(const float* x) {
  Wide w;
#if HWY_TARGET == HWY_SCALAR
  for (int i = 0; i < kK; ++i) w.v[i] = hn::Set(d, x[i % 4]);
#else
  REMEDE_EACH w.v[i] = hn::LoadDup128(d, x);
#endif
  return w;
}

// ADDS W v to the sums of several steps, n numbers of each v: a product, then a sum, as the predictor rounds. Each sum
// waits for the one before; those of several steps do not wait for each other. one_leaf: W is that of the first.
template <int kCount, bool one_leaf>
HWY_INLINE void add_exact(const float* const* weights, const float* const* v, int n, Wide* sums) {
  int f = 0;
  if (!one_leaf)  // weights and numbers are loaded for one sum only: fewer loads where numbers come four at a time
    for (; f + 4 <= n; f += 4) {
      Wide x[kCount];
      each_of<kCount>([&](auto i) REMEDE_INLINED { x[i] = load_four(v[i] + f); });
      each_of<4>([&](auto lane) REMEDE_INLINED {
        each_of<kCount>([&](auto i) REMEDE_INLINED {
          sums[i] = add(sums[i], mul(spread<decltype(lane)::value>(x[i]), load(weights[i] + (f + lane) * kLanes)));
        });
      });
    }
  for (; f < n; ++f) {
    const Wide first = load(weights[0] + f * kLanes);
    each_of<kCount>([&](auto i) REMEDE_INLINED {
      sums[i] = add(sums[i], mul(one_leaf ? first : load(weights[i] + f * kLanes), set(v[i][f])));
    });
  }
}

// Where there is one leaf, what its writes read of the inputs does not wait for the memory: ASSIGNED to the sums of
// all steps.
HWY_NOINLINE void input_sums(const PreparedTree& tree, const Walk& walk) {
  const CellLayout& at = tree.cells;
  const float* row = at.leaf(0);
  const float* weights[] = {row + at.inputs};
  const auto some = [&](std::size_t t, auto count) REMEDE_INLINED {
    constexpr int kCount = decltype(count)::value;
    const float* v[kCount];
    Wide sums[kCount];
    each_of<kCount>([&](auto i) REMEDE_INLINED {
      v[i] = walk.v + (t + i) * at.v_step + kLanes;
      sums[i] = load(row);
    });
    add_exact<kCount, true>(weights, v, at.n_x, sums);
    each_of<kCount>([&](auto i) REMEDE_INLINED { store(sums[i], walk.sums + (t + i) * kLanes); });
  };
  std::size_t t = 0;
  for (; t + kSums <= walk.steps; t += kSums) some(t, std::integral_constant<int, kSums>());
  for (; t < walk.steps; ++t) some(t, std::integral_constant<int, 1>());
}

// The leaf below node i that v reaches. missing: some inputs may be. No branches to guess.
template <bool missing>
HWY_INLINE std::uint32_t leaf_below(const cpu::CellSplit* splits, std::uint32_t nodes, const float* v,
                                    std::uint32_t i) {
  while (i < nodes) {
    const cpu::CellSplit& split = splits[i];
    const float value = v[split.place];
    auto right = static_cast<std::uint32_t>(value >= split.threshold);
    if (missing) right |= static_cast<std::uint32_t>(value != value) & static_cast<std::uint32_t>(split.missing_right);
    i = 2 * i + 1 + right;
  }
  return i - nodes;
}

HWY_INLINE std::int32_t reached_leaf(const PreparedTree& tree, const Walk& walk, std::size_t t) {
  const cpu::CellSplit* splits = tree.cells.splits.data();
  const auto nodes = static_cast<std::uint32_t>(tree.shape.nodes());
  const float* v = walk.split + t * tree.cells.v_step;
  return static_cast<std::int32_t>(walk.split == walk.v ? leaf_below<false>(splits, nodes, v, 0)
                                                        : leaf_below<true>(splits, nodes, v, 0));
}

// Step t of some sequences, from `walks` on. one_leaf: the tree has one leaf, and the sums begin with the inputs'.
template <int kCount, bool one_leaf>
HWY_INLINE void cells_forward_step(const PreparedTree& tree, const Walk* walks, std::size_t t) {
  constexpr int kHalf = one_leaf ? kCount : std::min<int>(kCount, kGroup);  // as many as there are pointers for
  const CellLayout& at = tree.cells;
  const float *v[kCount], *rows[kCount];
  Wide sums[kCount];
  each_of<kCount>([&](auto i) REMEDE_INLINED {
    v[i] = walks[i].v + t * at.v_step;
    const std::int32_t leaf = one_leaf ? 0 : reached_leaf(tree, walks[i], t);
    walks[i].leaf[t] = leaf;
    rows[i] = at.leaf(leaf);
  });
  each_of<kCount / kHalf>([&](auto part) REMEDE_INLINED {
    constexpr int kFrom = decltype(part)::value * kHalf;
    const float *inputs[kHalf], *of_inputs[kHalf], *of_memory[kHalf];
    Wide some[kHalf];
    each_of<kHalf>([&](auto i) REMEDE_INLINED {
      some[i] = load(one_leaf ? walks[kFrom + i].sums + t * kLanes : rows[kFrom + i]);
      inputs[i] = v[kFrom + i] + kLanes;
      of_inputs[i] = rows[kFrom + i] + at.inputs;
      of_memory[i] = rows[kFrom + i] + at.memory;
    });
    if (!one_leaf) add_exact<kHalf, false>(of_inputs, inputs, at.n_x, some);
    add_exact<kHalf, one_leaf>(of_memory, v + kFrom, at.n_read, some);
    each_of<kHalf>([&](auto i) REMEDE_INLINED { sums[kFrom + i] = some[i]; });
  });
  each_of<kCount>([&](auto i) REMEDE_INLINED {
    const Walk& walk = walks[i];
    const float* row = rows[one_leaf ? 0 : i];
    if (!one_leaf) store(sums[i], walk.sums + t * kLanes);
    const Wide u = tanh(sums[i]), m = load(v[i]);
    store(u, walk.u + t * kLanes);
    const Wide change = tree.blends() ? mul(load(row + CellLayout::kBlend), sub(u, m)) : u;
    const Wide after = select(gt(load(row + CellLayout::kGate), set(0.0F)), add(m, change), m);
    store(after, walk.v + (t + 1) * at.v_step);
    if (walk.split != walk.v) store(after, walk.split + (t + 1) * at.v_step);
  });
}

// The steps [from, to), which all of these walks have.
template <int kCount>
HWY_NOINLINE void forward_steps(const PreparedTree& tree, const Walk* walks, std::size_t from, std::size_t to) {
  if (tree.shape.depth == 0)
    for (std::size_t t = from; t < to; ++t) cells_forward_step<kCount, true>(tree, walks, t);
  else
    for (std::size_t t = from; t < to; ++t) cells_forward_step<kCount, false>(tree, walks, t);
}

// All steps of all walks, as many side by side as registers allow.
HWY_NOINLINE void cells_forward(const PreparedTree& tree, const Walks& walks) {
  const Walk* each = walks.each.data();
  if (tree.shape.depth == 0)
    for (std::size_t i = 0; i < walks.count; ++i) input_sums(tree, each[i]);
  std::size_t t = 0;
  for (std::size_t n = walks.count; n > 0; --n) {  // longest first: n of them have the steps up to `to`
    const std::size_t to = each[n - 1].steps;
    if (to == t) continue;
    std::size_t i = 0;
    for (; i + kTogetherForward <= n; i += kTogetherForward) forward_steps<kTogetherForward>(tree, each + i, t, to);
    for (; i + kGroup <= n; i += kGroup) forward_steps<kGroup>(tree, each + i, t, to);
    for (; i < n; ++i) forward_steps<1>(tree, each + i, t, to);
    t = to;
  }
}

// The outputs of sixteen steps for the lanes `here`, kCount outputs from k on. weights: (v_step) of the first of them.
template <int kCount>
HWY_INLINE void some_outputs(const CellLayout& at, const WideMask& here, const float* weights, const float* v,
                             float* y) {
  Wide sum[kCount];
  const float* of[kCount];
  each_of<kCount>([&](auto k) REMEDE_INLINED {
    of[k] = weights + static_cast<std::size_t>(k) * at.v_step;
    sum[k] = set(of[k][kLanes + at.n_x]);
  });
  const auto add_rows = [&](int from, int to) REMEDE_INLINED {
    for (int f = from; f < to; ++f) {
      const Wide x = load(v + f * kLanes);
      each_of<kCount>([&](auto k) REMEDE_INLINED { sum[k] = add(sum[k], mul(set(of[k][f]), x)); });
    }
  };
  if (at.linear) {
    add_rows(kLanes, kLanes + at.n_x);
    add_rows(0, at.n_m);
  }
  each_of<kCount>([&](auto k) REMEDE_INLINED { store(select(here, sum[k], load(y + k * kLanes)), y + k * kLanes); });
}

// The lanes of sixteen numbers that are n.
HWY_INLINE std::uint32_t equal_lanes(const std::int32_t* numbers, std::int32_t n) {
  WideMask same;
  REMEDE_EACH same.m[i] = hn::RebindMask(d, hn::Eq(hn::LoadU(di, numbers + i * kN), hn::Set(di, n)));
  return bits(same);
}

// The outputs of sixteen steps, side by side, as the predictor rounds them: one leaf after the other, for the lanes
// that reached it. v: (n_v in the order of CellLayout, kLanes).
HWY_NOINLINE void outputs_of_block(const PreparedTree& tree, const std::int32_t* leaf, std::size_t steps,
                                   const float* v, float* y) {
  const CellLayout& at = tree.cells;
  std::uint32_t left = (1U << steps) - 1U;
  while (left != 0) {
    const std::int32_t l = leaf[std::countr_zero(left)];
    const std::uint32_t lanes = left & equal_lanes(leaf, l);
    left &= ~lanes;
    const WideMask here = mask(lanes);
    const float* weights = at.leaf(l) + CellLayout::kOutputs;
    float* to = y;
    int k = 0;
    const auto next = [&](auto count) {
      constexpr int kCount = decltype(count)::value;
      some_outputs<kCount>(at, here, weights, v, to);
      k += kCount;
      weights += static_cast<std::size_t>(kCount) * at.v_step;
      to += kCount * kLanes;
    };
    while (at.n_y - k >= 4) next(std::integral_constant<int, 4>());
    if (at.n_y - k == 3) next(std::integral_constant<int, 3>());
    if (at.n_y - k == 2) next(std::integral_constant<int, 2>());
    if (at.n_y - k == 1) next(std::integral_constant<int, 1>());
  }
}

// The outputs of all steps; where they add up, from step to step.
HWY_NOINLINE void outputs_of(const PreparedTree& tree, const Walk& walk, Scratch& s) {
  const CellLayout& at = tree.cells;
  const auto n_y = static_cast<std::size_t>(at.n_y);
  const bool adds_up = tree.shape.form.output_order == OutputOrder::kFirst;
  at_least(s.cell_turned, at.v_step * kLanes);
  for (std::size_t begin = 0; begin < walk.steps; begin += kLanes) {
    const std::size_t block = walk.block + begin / kLanes, steps = std::min<std::size_t>(kLanes, walk.steps - begin);
    float* y = s.y.data() + block * n_y * kLanes;
    std::fill_n(y, n_y * kLanes, 0.0F);
    if (!adds_up && bits(gt(load(s.weight.data() + block * kLanes), set(0.0F))) == 0) continue;
    const float* rows[kLanes];
    for (std::size_t i = 0; i < kLanes; ++i) rows[i] = walk.v + (begin + std::min(i, steps - 1)) * at.v_step;
    take_columns(rows, 0, static_cast<int>(at.v_step), s.cell_turned.data());
    outputs_of_block(tree, walk.leaf + begin, steps, s.cell_turned.data(), y);
  }
  if (!adds_up) return;
  const auto place = [&](std::size_t t, std::size_t k) {
    return ((walk.block + t / kLanes) * n_y + k) * kLanes + t % kLanes;
  };
  for (std::size_t t = 1; t < walk.steps; ++t)
    for (std::size_t k = 0; k < n_y; ++k) s.y[place(t, k)] = s.y[place(t - 1, k)] + s.y[place(t, k)];
}

}  // namespace HWY_NAMESPACE
}  // namespace remede
HWY_AFTER_NAMESPACE();

#endif

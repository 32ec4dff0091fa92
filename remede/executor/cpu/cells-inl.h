// Cells side by side: one sequence at a time, its memory cells in the lanes of a vector. For leaves with long rows
// (linear leaves), where a step costs a product of a matrix and a vector: only the leaves on the path and those beside
// it are computed, and a single recording keeps all lanes busy. Included once per target by kernel.cpp.
//
// v, the vector that leaves read, holds the memory (kLanes), the inputs, a one, and zeros. Of every leaf the sums
// base + W v are the arguments of the writes' tanh; A is the derivative of the loss by them. Outputs need no
// recurrence: they are computed for sixteen steps of a sequence side by side.
//
// Longer than 450 lines because forward and backward share the layout of v and of the leaves, and both are compiled
// once per target: a second file would have to repeat the definitions of both.
#if defined(REMEDE_CELLS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REMEDE_CELLS_INL_H_
#undef REMEDE_CELLS_INL_H_
#else
#define REMEDE_CELLS_INL_H_
#endif

#include <algorithm>

#include "remede/base/vector-inl.h"
#include "remede/executor/cpu/forward-inl.h"
#include "remede/executor/cpu/kernel.h"
#include "remede/executor/cpu/leaf-inl.h"

HWY_BEFORE_NAMESPACE();
namespace remede {
namespace HWY_NAMESPACE {

using cpu::CellLayout;

// A sequence on its way through the tree, and where in the scratch its steps stand.
struct Walk {
  std::size_t steps = 0;
  std::size_t end = 0;           // no target stands from this step on
  float* v = nullptr;            // (steps + 1, v_step)
  float* split = nullptr;        // the same with missing inputs as NaN; v itself where there are none
  float* sums = nullptr;         // (steps, kLanes) of the reached leaf
  float* u = nullptr;            // (steps, kLanes) their tanh
  float* a = nullptr;            // (steps, kLanes) the derivative of the loss by them
  std::int32_t* leaf = nullptr;  // (steps)
  std::size_t block = 0;         // of 16 steps, in the scratch's y, target and weight: the sequence's first
};

// Steps of so many sequences are computed in turn: the processor works on one while it waits for another.
constexpr std::size_t kWalks = 4;
constexpr int kRows = std::max(1, 8 / kK);  // sums of products that are kept in registers together

// The sum of the lanes, in an order that does not depend on the width of the registers.
HWY_INLINE float sum_lanes(const Wide& a) {
  alignas(64) float lane[kLanes];
#if HWY_TARGET == HWY_SCALAR
  store(a, lane);
  for (int n = kLanes / 2; n > 0; n /= 2)
    for (int i = 0; i < n; ++i) lane[i] += lane[i + n];
  return lane[0];
#else
  const hn::FixedTag<float, 4> d4;
#if HWY_MAX_BYTES >= 64
  const hn::FixedTag<float, 8> d8;
  const auto eight = hn::Add(hn::LowerHalf(d8, a.v[0]), hn::UpperHalf(d8, a.v[0]));
  const auto four = hn::Add(hn::LowerHalf(d4, eight), hn::UpperHalf(d4, eight));
#elif HWY_MAX_BYTES >= 32
  const auto eight = hn::Add(a.v[0], a.v[1]);
  const auto four = hn::Add(hn::LowerHalf(d4, eight), hn::UpperHalf(d4, eight));
#else
  const auto four = hn::Add(hn::Add(a.v[0], a.v[2]), hn::Add(a.v[1], a.v[3]));
#endif
  hn::Store(four, d4, lane);
  return (lane[0] + lane[2]) + (lane[1] + lane[3]);
#endif
}

// base + W v of a leaf, for several sequences: a product, then a sum, inputs before memory, as the predictor rounds.
// Each sum waits for the one before; those of several sequences do not wait for each other.
template <int kCount>
HWY_INLINE void exact_sums(const CellLayout& at, const float* const* leaves, const float* const* v, Wide* sums) {
  for (int i = 0; i < kCount; ++i) sums[i] = load(leaves[i]);
  const auto add_rows = [&](int from, std::size_t first, int n) {
#pragma GCC unroll 2
    for (int f = 0; f < n; ++f)
      for (int i = 0; i < kCount; ++i)
        sums[i] =
            add(sums[i], mul(load(leaves[i] + from + f * kLanes), set(v[i][first + static_cast<std::size_t>(f)])));
  };
  add_rows(at.inputs, kLanes, at.n_x);
  add_rows(at.memory, 0, at.n_read);
}

// The same of several leaves and one sequence, in fewer and other roundings: for what leaves that were not reached
// would be worth.
template <int kCount>
HWY_INLINE void quick_sums(const CellLayout& at, const float* const* leaves, const float* v, Wide* sums) {
  Wide other[kCount];
  for (int i = 0; i < kCount; ++i) {
    sums[i] = load(leaves[i]);
    other[i] = set(0.0F);
  }
  const auto add_rows = [&](int from, const float* x, int n) {
    int f = 0;
    for (; f + 2 <= n; f += 2) {
      const Wide even = set(x[f]), odd = set(x[f + 1]);
      for (int i = 0; i < kCount; ++i) {
        const float* w = leaves[i] + from + f * kLanes;
        sums[i] = fused(load(w), even, sums[i]);
        other[i] = fused(load(w + kLanes), odd, other[i]);
      }
    }
    if (f < n)
      for (int i = 0; i < kCount; ++i) sums[i] = fused(load(leaves[i] + from + f * kLanes), set(x[f]), sums[i]);
  };
  add_rows(at.inputs, v + kLanes, at.n_x);
  add_rows(at.memory, v, at.n_read);
  for (int i = 0; i < kCount; ++i) sums[i] = add(sums[i], other[i]);
}

// The surrogate derivative of a split at z.
HWY_INLINE float split_slope(const GradientForm& form, float z) {
  if (form.split == SplitGradient::kSigmoid) {
    const float s = remede::sigmoid(form.slope * z);
    return form.slope * s * (1.0F - s);
  }
  const float away = 1.0F + std::abs(form.slope * z);
  return 0.5F * form.slope / (away * away);
}

// The leaf below node i that v reaches.
HWY_INLINE std::int32_t leaf_below(const PreparedTree& tree, const float* v, int i) {
  const int nodes = tree.shape.nodes();
  while (i < nodes) {
    const float value = v[tree.cells.place[static_cast<std::size_t>(i)]];
    const int right = static_cast<int>(value >= tree.threshold[static_cast<std::size_t>(i)]),
              missing = static_cast<int>(value != value);
    i = 2 * i + 1 + (right | (missing & tree.missing_goes_right[static_cast<std::size_t>(i)]));  // no branch to guess
  }
  return i - nodes;
}

// Step t of some sequences, from `walks` on.
template <int kCount>
HWY_NOINLINE void cells_forward_step(const PreparedTree& tree, const Walk* walks, std::size_t t) {
  const CellLayout& at = tree.cells;
  const float *v[kCount], *rows[kCount];
  Wide sums[kCount];
  for (int i = 0; i < kCount; ++i) {
    v[i] = walks[i].v + t * at.v_step;
    walks[i].leaf[t] = leaf_below(tree, walks[i].split + t * at.v_step, 0);
    rows[i] = at.leaf(walks[i].leaf[t]);
  }
  exact_sums<kCount>(at, rows, v, sums);
  for (int i = 0; i < kCount; ++i) {
    const Walk& walk = walks[i];
    store(sums[i], walk.sums + t * kLanes);
    const Wide u = tanh(sums[i]), m = load(v[i]);
    store(u, walk.u + t * kLanes);
    const Wide change = tree.blends() ? mul(load(rows[i] + at.blend), sub(u, m)) : u;
    const Wide after = select(gt(load(rows[i] + at.gate), set(0.0F)), add(m, change), m);
    store(after, walk.v + (t + 1) * at.v_step);
    if (walk.split != walk.v) store(after, walk.split + (t + 1) * at.v_step);
  }
}

// The derivatives at a step.
struct CellStep {
  const float* v;
  const float* g;  // (n_y), kLanes apart, by the outputs; null where there is no target
  Wide m, a, q, e, rate;
};

// Lanes of what a leaf is worth: to be summed. u: the tanh of its sums, where effects are mixed.
HWY_INLINE Wide worth_lanes(const PreparedTree& tree, const float* row, const Wide& sums, const Wide& u,
                            const CellStep& step) {
  const CellLayout& at = tree.cells;
  Wide worth;
  if (tree.form.mix == Mix::kParameters) {
    worth = fused(step.a, sums, mul(step.e, load(row + at.gate_logit)));
    if (tree.blends()) worth = fused(step.rate, load(row + at.rate_logit), worth);
  } else {
    const Wide change = tree.blends() ? mul(load(row + at.blend), sub(u, step.m)) : u;
    worth = keep(gt(load(row + at.gate), set(0.0F)), mul(step.q, change));
  }
  if (step.g == nullptr) return worth;
  for (std::size_t f = 0; f < at.v_step; f += kLanes) {
    const float* output = row + at.outputs + f;
    Wide weights = mul(set(step.g[0]), load(output));
    for (int k = 1; k < at.n_y; ++k)
      weights = fused(set(step.g[k * kLanes]), load(output + static_cast<std::size_t>(k) * at.v_step), weights);
    worth = fused(weights, load(step.v + f), worth);
  }
  return worth;
}

HWY_INLINE void add_to(const Wide& a, float* to) { store(add(load(to), a), to); }

// A decision on the path: the leaf that the other side of the node leads to.
struct Beside {
  int node;
  float sign;  // of what the other side would gain: + where it is the right
  float z;     // the value tested, beyond the threshold
};

// The decisions on the path to the reached leaf, without those on missing values. Returns how many.
HWY_INLINE int sides_of(const PreparedTree& tree, std::int32_t leaf, const float* split, Beside* beside,
                        const float** leaves) {
  int count = 0;
  for (int child = leaf + tree.shape.nodes(); child > 0;) {
    const int node = (child - 1) / 2, right = 1 - child % 2;  // the children of i are 2i + 1 and 2i + 2
    const float z =
        split[tree.cells.place[static_cast<std::size_t>(node)]] - tree.threshold[static_cast<std::size_t>(node)];
    beside[count] = {node, static_cast<float>(1 - 2 * right), z};
    leaves[count] = tree.cells.leaf(leaf_below(tree, split, 2 * node + 2 - right));
    count += z == z ? 1 : 0;
    child = node;
  }
  return count;
}

// ADDS the gradient of the splits on the path, and to `back` what goes through them into memory.
HWY_NOINLINE void cells_decisions(const PreparedTree& tree, const Walk& walk, std::size_t t, const CellStep& step,
                                  Scratch& s, Wide& back) {
  const CellLayout& at = tree.cells;
  const bool effects = tree.form.mix == Mix::kEffects;
  const std::int32_t leaf = walk.leaf[t];
  Beside beside[cpu::kDenseDepth];
  const float* leaves[cpu::kDenseDepth];
  Wide sums[cpu::kDenseDepth];
  const int count = sides_of(tree, leaf, walk.split + t * at.v_step, beside, leaves);
  int done = 0;
  for (; count - done >= 4; done += 4) quick_sums<4>(at, leaves + done, step.v, sums + done);
  if (count - done == 3) quick_sums<3>(at, leaves + done, step.v, sums + done);
  if (count - done == 2) quick_sums<2>(at, leaves + done, step.v, sums + done);
  if (count - done == 1) quick_sums<1>(at, leaves + done, step.v, sums + done);
  const Wide here = worth_lanes(tree, at.leaf(leaf), load(walk.sums + t * kLanes), load(walk.u + t * kLanes), step);
  for (int i = 0; i < count; ++i) {
    const Wide there = worth_lanes(tree, leaves[i], sums[i], effects ? tanh(sums[i]) : sums[i], step);
    const Wide r = set(sum_lanes(sub(there, here)) * beside[i].sign * split_slope(tree.form, beside[i].z));
    const auto node = static_cast<std::size_t>(beside[i].node);
    float* of_node = s.cell_node_sums.data() + node * at.v_step;
    for (std::size_t f = 0; f < at.v_step; f += kLanes)
      store(fused(r, load(step.v + f), load(of_node + f)), of_node + f);
    if (at.place[node] < kLanes) back = fused(r, load(at.one_hot.data() + at.place[node] * kLanes), back);
  }
}

// q: the derivative by the memory after the step, then by that before it. What the writes read is summed up later.
HWY_NOINLINE void cells_backward_step(const PreparedTree& tree, const Walk& walk, std::size_t t, Scratch& s, Wide& q) {
  const CellLayout& at = tree.cells;
  const std::int32_t leaf = walk.leaf[t];
  const float *row = at.leaf(leaf), *v = walk.v + t * at.v_step;
  float *a_at = walk.a + t * kLanes, *to = s.cell_sums.data() + static_cast<std::size_t>(leaf) * at.sum_stride;
  const Wide u = load(walk.u + t * kLanes), m = load(v), zero = set(0.0F), gate = load(row + at.gate);
  Wide full = u, through = keep(gt(gate, zero), q), stays = q, rate = zero;
  if (tree.blends()) {
    const Wide a = load(row + at.blend), gap = sub(u, m);
    full = mul(a, gap);
    rate = mul(mul(through, gap), load(row + at.blend_slope));
    through = mul(through, a);
    stays = sub(q, through);
    add_to(rate, to + at.sum_rate);
  }
  const Wide e = mul(mul(q, full), abs(gate)), a = mul(through, sub(set(1.0F), mul(u, u)));
  add_to(e, to + at.sum_gate);
  store(a, a_at);
  Wide back = stays, other = zero;
  const float* reads = row + at.reads;
  int k = 0;
#pragma GCC unroll 4
  for (; k + 2 <= at.n_read; k += 2) {
    back = fused(set(a_at[k]), load(reads + k * kLanes), back);
    other = fused(set(a_at[k + 1]), load(reads + (k + 1) * kLanes), other);
  }
  if (k < at.n_read) back = fused(set(a_at[k]), load(reads + k * kLanes), back);
  back = add(back, other);
  const std::size_t block = walk.block + t / kLanes;
  const bool asked =
      s.weight[block * kLanes + t % kLanes] > 0.0F || tree.shape.form.output_order == OutputOrder::kFirst;
  const float* g = asked ? s.y.data() + block * static_cast<std::size_t>(at.n_y) * kLanes + t % kLanes : nullptr;
  if (asked)
    for (int i = 0; i < at.n_y; ++i) {
      const Wide gi = set(g[i * kLanes]);
      const float* output = row + at.outputs + static_cast<std::size_t>(i) * at.v_step;
      float* sum = to + at.sum_outputs + static_cast<std::size_t>(i) * at.v_step;
      back = fused(gi, load(output), back);
      for (std::size_t f = 0; f < at.v_step; f += kLanes) store(fused(gi, load(v + f), load(sum + f)), sum + f);
    }
  if (tree.shape.depth > 0) cells_decisions(tree, walk, t, {v, g, m, a, q, e, rate}, s, back);
  q = within(back, kMostBack);
}

// Adds up the products of A and v over these steps: rows [from, to) of v, in whole groups of kRows.
HWY_NOINLINE void add_products(const CellLayout& at, const Walk& walk, std::span<const std::uint32_t> steps, int from,
                               int to, float* sums) {
  for (int row = from; row < to; row += kRows) {
    Wide sum[kRows];
    for (int r = 0; r < kRows; ++r) sum[r] = load(sums + (row + r) * kLanes);
    for (const std::uint32_t t : steps) {
      const Wide a = load(walk.a + static_cast<std::size_t>(t) * kLanes);
      const float* v = walk.v + t * at.v_step + row;
      for (int r = 0; r < kRows; ++r) sum[r] = fused(a, set(v[r]), sum[r]);
    }
    for (int r = 0; r < kRows; ++r) store(sum[r], sums + (row + r) * kLanes);
  }
}

// ADDS what the writes read, leaf by leaf.
HWY_NOINLINE void add_writes(const PreparedTree& tree, const Walk& walk, Scratch& s) {
  const CellLayout& at = tree.cells;
  const auto leaves = static_cast<std::size_t>(tree.shape.leaves());
  s.cell_begin.assign(leaves + 1, 0);
  for (std::size_t t = 0; t < walk.end; ++t) ++s.cell_begin[static_cast<std::size_t>(walk.leaf[t]) + 1];
  for (std::size_t l = 0; l < leaves; ++l) s.cell_begin[l + 1] += s.cell_begin[l];
  s.cell_order.resize(walk.end);
  for (std::size_t t = 0; t < walk.end; ++t)
    s.cell_order[s.cell_begin[static_cast<std::size_t>(walk.leaf[t])]++] = static_cast<std::uint32_t>(t);
  std::size_t begin = 0;
  for (std::size_t l = 0; l < leaves; ++l) {
    const std::size_t end = s.cell_begin[l];
    if (end == begin) continue;
    const std::span<const std::uint32_t> steps(s.cell_order.data() + begin, end - begin);
    float* sums = s.cell_sums.data() + l * at.sum_stride;
    if (at.n_read > 0) add_products(at, walk, steps, 0, at.n_read, sums);
    add_products(at, walk, steps, kLanes, kLanes + at.n_x + 1, sums);
    begin = end;
  }
}

// Lays the steps from `begin` on out.
HWY_NOINLINE void lay_out(const PreparedTree& tree, const cpu::Piece& piece, std::uint32_t number, std::size_t begin,
                          int targets, Walk& walk, Scratch& s) {
  const CellLayout& at = tree.cells;
  const Sequences& data = *piece.data;
  const auto first = static_cast<std::size_t>(data.offset[number]) + begin;
  const auto n_x = static_cast<std::size_t>(at.n_x);
  const float* x = data.x.data() + first * n_x;
  for (std::size_t t = 0; t < walk.steps; ++t) {
    float* to = walk.v + t * at.v_step + kLanes;
    std::copy_n(x + t * n_x, n_x, to);
    if (walk.split != walk.v) {
      std::copy_n(to, n_x, walk.split + t * at.v_step + kLanes);
      for (std::size_t f = 0; f < n_x; ++f)
        if (to[f] != to[f]) to[f] = piece.fill.empty() ? 0.0F : piece.fill[f];
    }
    to[n_x] = 1.0F;
    std::fill(to + n_x + 1, walk.v + (t + 1) * at.v_step, 0.0F);
  }
  const bool classes = classifies(tree.objective);
  const std::size_t padded = (walk.steps + kLanes - 1) / kLanes * kLanes, wide = static_cast<std::size_t>(targets);
  walk.end = 0;
  for (std::size_t t = 0; t < padded; ++t) {
    const std::size_t block = walk.block + t / kLanes, lane = t % kLanes;
    const bool there = t < walk.steps;
    const float weight = there ? data.weight[first + t] : 0.0F;
    s.weight[block * kLanes + lane] = weight;
    if (weight > 0.0F) walk.end = t + 1;
    for (std::size_t k = 0; k < wide; ++k)
      s.target[(block * wide + k) * kLanes + lane] = !there    ? 0.0F
                                                     : classes ? static_cast<float>(data.label[first + t])
                                                               : data.value[(first + t) * wide + k];
  }
}

HWY_NOINLINE bool has_missing(const Sequences& data, std::uint32_t number, std::size_t begin, std::size_t steps) {
  const auto n_x = static_cast<std::size_t>(data.n_x);
  const float* x = data.x.data() + (static_cast<std::size_t>(data.offset[number]) + begin) * n_x;
  const std::size_t n = steps * n_x;
  V some = hn::Zero(d);
  std::size_t k = 0;
  for (; k + kN <= n; k += kN) some = hn::Or(some, hn::VecFromMask(d, hn::IsNaN(hn::LoadU(d, x + k))));
  bool missing = !hn::AllFalse(d, hn::MaskFromVec(some));
  for (; k < n; ++k) missing |= x[k] != x[k];
  return missing;
}

// The outputs of sixteen steps, side by side, as the predictor rounds them: one leaf after the other, for the lanes
// that reached it. v: (n_v in the order of CellLayout, kLanes).
HWY_NOINLINE void outputs_of_block(const PreparedTree& tree, const std::int32_t* leaf, std::size_t steps,
                                   const float* v, float* y) {
  const CellLayout& at = tree.cells;
  std::uint32_t left = (1U << steps) - 1U;
  while (left != 0) {
    const std::int32_t l = leaf[std::countr_zero(left)];
    std::uint32_t lanes = 0;
    for (std::size_t i = 0; i < steps; ++i) lanes |= static_cast<std::uint32_t>(leaf[i] == l ? 1 : 0) << i;
    left &= ~lanes;
    const WideMask here = mask(lanes);
    const float* weights = at.leaf(l) + at.outputs;
    for (int k = 0; k < at.n_y; ++k, weights += at.v_step) {
      Wide sum = set(weights[kLanes + at.n_x]);
      if (at.linear) {
        for (int f = kLanes; f < kLanes + at.n_x; ++f) sum = add(sum, mul(set(weights[f]), load(v + f * kLanes)));
        for (int f = 0; f < at.n_m; ++f) sum = add(sum, mul(set(weights[f]), load(v + f * kLanes)));
      }
      store(select(here, sum, load(y + k * kLanes)), y + k * kLanes);
    }
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

// Where outputs add up, a step's output is part of all later ones.
inline void add_up_derivatives(const PreparedTree& tree, const Walk& walk, Scratch& s) {
  if (tree.shape.form.output_order != OutputOrder::kFirst) return;
  const auto n_y = static_cast<std::size_t>(tree.shape.n_y);
  const auto place = [&](std::size_t t, std::size_t k) {
    return ((walk.block + t / kLanes) * n_y + k) * kLanes + t % kLanes;
  };
  for (std::size_t t = walk.steps; t-- > 1;)
    for (std::size_t k = 0; k < n_y; ++k) s.y[place(t - 1, k)] += s.y[place(t, k)];
}

// The sums of a piece, from lanes into the rows of leaves and nodes.
HWY_NOINLINE void end_cell_sums(const PreparedTree& tree, const Scratch& s, cpu::PieceSums& sums) {
  const CellLayout& at = tree.cells;
  const Shape& shape = tree.shape;
  const int n_x = shape.n_x, n_m = shape.n_m, n_y = shape.n_y, n_v = shape.n_v(), n_w = shape.n_w();
  const auto place = [&](Group g) { return tree.at[static_cast<int>(g)]; };
  const auto row_of = [&](int f) { return f < n_x ? kLanes + f : f - n_x; };
  for (std::size_t l = 0; l < static_cast<std::size_t>(shape.leaves()); ++l) {
    const float* from = s.cell_sums.data() + l * at.sum_stride;
    float* to = sums.leaf.data() + l * static_cast<std::size_t>(tree.row);
    for (int k = 0; k < n_m; ++k) {
      to[place(Group::kGate) + k] = from[at.sum_gate + k];
      if (tree.blends()) to[place(Group::kRate) + k] = from[at.sum_rate + k];
      if (shape.form.write_bias) to[place(Group::kBias) + k] = from[(kLanes + n_x) * kLanes + k];
      for (int f = 0; f < n_w; ++f) to[place(Group::kWrite) + k * n_w + f] = from[row_of(f) * kLanes + k];
    }
    for (int k = 0; k < n_y; ++k) {
      const float* output = from + at.sum_outputs + static_cast<std::size_t>(k) * at.v_step;
      to[place(Group::kOutput) + k] = output[kLanes + n_x];
      if (at.linear)
        for (int f = 0; f < n_v; ++f) to[place(Group::kLinear) + k * n_v + f] = output[row_of(f)];
    }
  }
  for (int i = 0; i < shape.nodes(); ++i) {
    const float* from = s.cell_node_sums.data() + static_cast<std::size_t>(i) * at.v_step;
    float* to = sums.node.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(tree.node_row);
    for (int f = 0; f < n_v; ++f) to[f] = from[row_of(f)];
    to[n_v] = from[kLanes + n_x];
  }
}

// The steps [begin, begin + most) of some sequences, and where they stand in the scratch.
struct Walks {
  std::array<Walk, kWalks> each;
  std::size_t count = 0;
  std::size_t longest = 0;  // steps
  Block block;              // steps: blocks of sixteen
};

inline Walks lay_out_together(const PreparedTree& tree, const cpu::Piece& piece, std::span<const std::uint32_t> numbers,
                              std::size_t begin, std::size_t most, Scratch& s) {
  const CellLayout& at = tree.cells;
  const Sequences& data = *piece.data;
  Walks walks;
  walks.count = numbers.size();
  walks.block.targets = classifies(tree.objective) ? 1 : data.n_y;
  std::size_t steps = 0;
  std::array<bool, kWalks> missing{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Walk& walk = walks.each[i];
    const std::size_t length = data.length(numbers[i]);
    walk.steps = std::min(length - std::min(begin, length), most);
    walk.block = walks.block.steps;
    walks.block.steps += (walk.steps + kLanes - 1) / kLanes;
    steps += walk.steps + 1;
    walks.longest = std::max(walks.longest, walk.steps);
    missing[i] = walk.steps > 0 && has_missing(data, numbers[i], begin, walk.steps);
  }
  at_least(s.v, steps * at.v_step);
  if (std::any_of(missing.begin(), missing.end(), [](bool m) { return m; })) at_least(s.split_v, steps * at.v_step);
  for (AlignedVector<float>* lanes : {&s.u, &s.cell_columns, &s.cell_a}) at_least(*lanes, steps * kLanes);
  at_least(s.leaf, steps);
  at_least(s.y, walks.block.steps * static_cast<std::size_t>(at.n_y) * kLanes);
  at_least(s.weight, walks.block.steps * kLanes);
  at_least(s.target, walks.block.steps * static_cast<std::size_t>(walks.block.targets) * kLanes);
  std::size_t first = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Walk& walk = walks.each[i];
    walk.v = s.v.data() + first * at.v_step;
    walk.split = missing[i] ? s.split_v.data() + first * at.v_step : walk.v;
    walk.sums = s.cell_columns.data() + first * kLanes;
    walk.u = s.u.data() + first * kLanes;
    walk.a = s.cell_a.data() + first * kLanes;
    walk.leaf = s.leaf.data() + first;
    lay_out(tree, piece, numbers[i], begin, walks.block.targets, walk, s);
    std::copy_n(s.memory.data() + i * kLanes, kLanes, walk.v);
    if (missing[i]) std::copy_n(s.memory.data() + i * kLanes, kLanes, walk.split);
    first += walk.steps + 1;
  }
  return walks;
}

// From the memory in s.memory (sequences, kLanes), which becomes that at the end.
HWY_NOINLINE void walk_together(const PreparedTree& tree, const cpu::Piece& piece,
                                std::span<const std::uint32_t> numbers, std::size_t begin, std::size_t most, Scratch& s,
                                cpu::PieceSums& sums) {
  const Walks walks = lay_out_together(tree, piece, numbers, begin, most, s);
  std::size_t shortest = walks.count == kWalks ? walks.longest : 0;  // steps that all have
  for (std::size_t i = 0; i < walks.count; ++i) shortest = std::min(shortest, walks.each[i].steps);
  for (std::size_t t = 0; t < shortest; ++t) cells_forward_step<kWalks>(tree, walks.each.data(), t);
  for (std::size_t t = shortest; t < walks.longest; ++t)
    for (std::size_t i = 0; i < walks.count; ++i)
      if (t < walks.each[i].steps) cells_forward_step<1>(tree, &walks.each[i], t);
  for (std::size_t i = 0; i < walks.count; ++i) {
    outputs_of(tree, walks.each[i], s);
    std::copy_n(walks.each[i].v + walks.each[i].steps * tree.cells.v_step, kLanes, s.memory.data() + i * kLanes);
  }
  with_formula(tree.objective, [&](auto formula) { loss<decltype(formula)>(tree, walks.block, s, sums.loss); });
  if (!piece.gradient) return;
  Wide q[kWalks];
  std::size_t end = 0;
  for (std::size_t i = 0; i < walks.count; ++i) {
    add_up_derivatives(tree, walks.each[i], s);
    q[i] = set(0.0F);
    end = std::max(end, walks.each[i].end);
  }
  for (std::size_t t = end; t-- > 0;)
    for (std::size_t i = 0; i < walks.count; ++i)
      if (t < walks.each[i].end) cells_backward_step(tree, walks.each[i], t, s, q[i]);
  for (std::size_t i = 0; i < walks.count; ++i) add_writes(tree, walks.each[i], s);
}

HWY_NOINLINE void run_cells(const PreparedTree& tree, const cpu::Piece& piece, Scratch& s, cpu::PieceSums& sums) {
  const auto n_m = static_cast<std::size_t>(tree.cells.n_m);
  if (piece.gradient) {
    s.cell_sums.assign(static_cast<std::size_t>(tree.shape.leaves()) * tree.cells.sum_stride, 0.0F);
    s.cell_node_sums.assign(static_cast<std::size_t>(tree.shape.nodes()) * tree.cells.v_step, 0.0F);
  }
  at_least(s.memory, kWalks * kLanes);
  for (std::size_t from = 0; from < piece.sequences.size(); from += kWalks) {
    const auto numbers = piece.sequences.subspan(from, std::min(kWalks, piece.sequences.size() - from));
    std::fill_n(s.memory.data(), kWalks * kLanes, 0.0F);
    if (piece.carry != nullptr)
      for (std::size_t i = 0; i < numbers.size(); ++i)
        std::copy_n(piece.carry->before.begin() + static_cast<std::ptrdiff_t>(numbers[i] * n_m), n_m,
                    s.memory.data() + i * kLanes);
    const std::size_t longest = piece.data->length(numbers[0]);
    const bool parts = !piece.gradient && tree.shape.form.output_order == OutputOrder::kZero;
    const std::size_t most = parts ? kPart : longest;
    for (std::size_t begin = 0; begin < longest; begin += most)
      walk_together(tree, piece, numbers, begin, most, s, sums);
    if (piece.carry == nullptr) continue;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      std::copy_n(s.memory.data() + i * kLanes, n_m,
                  piece.carry->after.begin() + static_cast<std::ptrdiff_t>(numbers[i] * n_m));
  }
  if (piece.gradient) end_cell_sums(tree, s, sums);
}

}  // namespace HWY_NAMESPACE
}  // namespace remede
HWY_AFTER_NAMESPACE();

#endif

// Backward over a block of 16 sequences: the exact path-sparse gradient (docs/mathematics.md), lanes side by side.
// Included once per target by kernel.cpp.
//
// Per step: F is the derivative by the reached leaf's row; the worth of every needed leaf is F . row; a walk from the
// leaves to the root gives at each node the worth of the leaf each lane would reach below it, so that right minus left
// is the value of the decision. Shallow trees do this at every node (dense-inl.h), deep ones follow the paths
// (paths-inl.h). Sums are made lane by lane, in order, into one row per node and per leaf: they do not depend on the
// width of the registers.
#if defined(REMEDE_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REMEDE_BACKWARD_INL_H_
#undef REMEDE_BACKWARD_INL_H_
#else
#define REMEDE_BACKWARD_INL_H_
#endif

#include "remede/base/vector-inl.h"
#include "remede/executor/cpu/dense-inl.h"
#include "remede/executor/cpu/forward-inl.h"
#include "remede/executor/cpu/kernel.h"
#include "remede/executor/cpu/paths-inl.h"

HWY_BEFORE_NAMESPACE();
namespace remede {
namespace HWY_NAMESPACE {

// ASSIGNS F (row, kLanes) and, to `back`, dLoss/dm before the step as far as it goes through the reached leaf.
HWY_NOINLINE void leaf_derivative(const PreparedTree& tree, const Reached& reached, const float* v, const float* u,
                                  const float* g, const float* q, float* columns, float* f_out, float* back) {
  const Shape& shape = tree.shape;
  const int n_x = shape.n_x, n_m = shape.n_m, n_y = shape.n_y, n_v = shape.n_v(), n_w = shape.n_w();
  const bool blends = shape.form.write_rule == WriteRule::kBlend;
  const auto of_leaf = [&](int at) { return load(columns + at * kLanes); };
  const auto at = [&](Group group) { return tree.at[static_cast<int>(group)]; };
  leaf_columns(reached, tree.gate, (blends ? 3 : 1) * n_m, columns);
  if (shape.form.write_reads == WriteReads::kInputsAndMemory)
    leaf_columns(reached, at(Group::kWrite), n_m * n_w, columns);
  if (shape.form.leaf_output == LeafOutput::kLinear) leaf_columns(reached, at(Group::kLinear), n_y * n_v, columns);
  for (int k = 0; k < n_y; ++k) {
    const Wide gk = load(g + k * kLanes);
    store(gk, f_out + (at(Group::kOutput) + k) * kLanes);
    if (shape.form.leaf_output == LeafOutput::kLinear)
      for (int f = 0; f < n_v; ++f)
        store(mul(gk, load(v + f * kLanes)), f_out + (at(Group::kLinear) + k * n_v + f) * kLanes);
  }
  const Wide zero = set(0.0F), one = set(1.0F);
  for (int k = 0; k < n_m; ++k) {
    const Wide qk = load(q + k * kLanes), uk = load(u + k * kLanes), m = load(v + (n_x + k) * kLanes);
    const Wide gate = of_leaf(tree.gate + k);
    Wide full = uk, through = keep(gt(gate, zero), qk), stays = qk;
    if (blends) {
      const Wide a = of_leaf(tree.blend + k), gap = sub(uk, m);
      full = mul(a, gap);
      store(mul(mul(through, gap), of_leaf(tree.blend_slope + k)), f_out + (at(Group::kRate) + k) * kLanes);
      stays = sub(qk, mul(through, a));
      through = mul(through, a);
    }
    store(mul(mul(qk, full), abs(gate)), f_out + (at(Group::kGate) + k) * kLanes);
    const Wide ak = mul(through, sub(one, mul(uk, uk)));
    for (int f = 0; f < n_w; ++f)
      store(mul(ak, load(v + f * kLanes)), f_out + (at(Group::kWrite) + k * n_w + f) * kLanes);
    if (shape.form.write_bias) store(ak, f_out + (at(Group::kBias) + k) * kLanes);
    store(stays, back + k * kLanes);
    if (shape.form.write_reads == WriteReads::kInputsAndMemory) store(ak, back + (n_m + k) * kLanes);
  }
  for (int k = 0; k < n_m; ++k) {
    Wide sum = load(back + k * kLanes);
    if (shape.form.write_reads == WriteReads::kInputsAndMemory)
      for (int i = 0; i < n_m; ++i)
        sum = fused(load(back + (n_m + i) * kLanes), of_leaf(at(Group::kWrite) + i * n_w + n_x + k), sum);
    if (shape.form.leaf_output == LeafOutput::kLinear)
      for (int i = 0; i < n_y; ++i)
        sum = fused(load(g + i * kLanes), of_leaf(at(Group::kLinear) + i * n_v + n_x + k), sum);
    store(sum, back + k * kLanes);
  }
}

// Up to this depth, and where lanes are on few leaves, sums of F stay in lanes and are added up at the end of the
// piece: turning the lanes of a long row at every step would cost more than all the rest.
constexpr int kLaneSumsDepth = 4, kLaneSumsLeaves = 3;

inline void begin_lane_sums(const PreparedTree& tree, Scratch& s) {
  if (tree.shape.depth > kLaneSumsDepth) return;
  at_least(s.lane_sums, static_cast<std::size_t>(tree.shape.leaves()) * tree.row * kLanes);
  s.has_lane_sums.assign(static_cast<std::size_t>(tree.shape.leaves()), 0);
}

// active: the lanes on every leaf. False where they are on too many.
HWY_NOINLINE bool add_to_lane_sums(const PreparedTree& tree, const std::uint16_t* active, Scratch& s) {
  if (tree.shape.depth > kLaneSumsDepth) return false;
  const std::uint64_t on = nonzero(active, tree.shape.leaves());
  if (std::popcount(on) > kLaneSumsLeaves) return false;
  for (std::uint64_t left = on; left != 0; left &= left - 1) {
    const int l = std::countr_zero(left);
    const WideMask lanes = mask(active[l]);
    float* to = s.lane_sums.data() + static_cast<std::ptrdiff_t>(l) * tree.row * kLanes;
    const float* f = s.f.data();
    if (std::exchange(s.has_lane_sums[static_cast<std::size_t>(l)], std::uint8_t{1}) == 0)
      for (int k = 0; k < tree.row; ++k) store(keep(lanes, load(f + k * kLanes)), to + k * kLanes);
    else
      for (int k = 0; k < tree.row; ++k)
        store(add(load(to + k * kLanes), keep(lanes, load(f + k * kLanes))), to + k * kLanes);
  }
  return true;
}

inline void end_lane_sums(const PreparedTree& tree, const Scratch& s, cpu::PieceSums& sums) {
  if (tree.shape.depth > kLaneSumsDepth) return;
  for (std::size_t l = 0; l < s.has_lane_sums.size(); ++l) {
    float* row = sums.leaf.data() + l * static_cast<std::size_t>(tree.row);
    if (s.has_lane_sums[l] != 0)
      add_lanes(s.lane_sums.data() + l * static_cast<std::size_t>(tree.row) * kLanes, tree.row, kLanes,
                [row](int) { return row; });
  }
}

HWY_NOINLINE void add_leaf_rows(const PreparedTree& tree, const std::int32_t* leaf, std::size_t alive, const Scratch& s,
                                cpu::PieceSums& sums) {
  float* rows[kLanes];
  for (int lane = 0; lane < kLanes; ++lane)
    rows[lane] = sums.leaf.data() + static_cast<std::ptrdiff_t>(leaf[lane]) * tree.row;
  add_lanes(s.f.data(), tree.row, static_cast<int>(alive), [&](int lane) { return rows[lane]; });
}

// Rows of eight floats, the commonest small case, go through one register.
#if HWY_TARGET == HWY_SCALAR
constexpr bool kWide8 = false;
#else
constexpr bool kWide8 = hn::MaxLanes(hn::CappedTag<float, 8>()) == 8;
#endif

// For nodes whose sums fit one register, in trees of so many levels. The sums of the first three levels, where many
// lanes meet, stay in registers: lane after lane is added to all seven nodes, and is nothing where the lane does not
// pass. active: the lanes on every node.
template <int kDepth>
HWY_NOINLINE void add_narrow_node_rows(const float* r, const float* rows, const std::int32_t* leaf,
                                       const std::uint16_t* active, std::size_t alive, float* sums) {
  constexpr int kTop = std::min(kDepth, 3), kNodes = (1 << kTop) - 1;
  const hn::CappedTag<float, 8> d8;
  alignas(64) float of_node[kNodes][kLanes];
  hn::Vec<decltype(d8)> top[kNodes];
  for (int i = 0; i < kNodes; ++i) {
    const int level = i == 0 ? 0 : i < 3 ? 1 : 2;
    store(keep(mask(active[i]), load(r + level * kLanes)), of_node[i]);
    top[i] = hn::LoadU(d8, sums + i * 8);
  }
  for (std::size_t lane = 0; lane < alive; ++lane) {
    const std::uint32_t place = static_cast<std::uint32_t>(leaf[lane]) + (1U << kDepth);
    const auto v = hn::LoadU(d8, rows + lane * 8);
#pragma GCC unroll 7
    for (int i = 0; i < kNodes; ++i) top[i] = hn::MulAdd(hn::Set(d8, of_node[i][lane]), v, top[i]);
#pragma GCC unroll 8
    for (int level = kTop; level < kDepth; ++level) {
      float* to = sums + (place >> (kDepth - level)) * 8 - 8;
      hn::StoreU(hn::MulAdd(hn::Set(d8, r[level * kLanes + lane]), v, hn::LoadU(d8, to)), d8, to);
    }
  }
  for (int i = 0; i < kNodes; ++i) hn::StoreU(top[i], d8, sums + i * 8);
}

using NarrowNodeRows = void (*)(const float*, const float*, const std::int32_t*, const std::uint16_t*, std::size_t,
                                float*);
constexpr NarrowNodeRows kNarrowNodeRows[] = {nullptr,
                                              add_narrow_node_rows<1>,
                                              add_narrow_node_rows<2>,
                                              add_narrow_node_rows<3>,
                                              add_narrow_node_rows<4>,
                                              add_narrow_node_rows<5>,
                                              add_narrow_node_rows<6>,
                                              add_narrow_node_rows<7>,
                                              add_narrow_node_rows<8>};

HWY_NOINLINE void add_node_rows(const PreparedTree& tree, const float* v, const std::int32_t* leaf,
                                const std::uint16_t* active, std::size_t alive, Scratch& s, cpu::PieceSums& sums) {
  const int depth = tree.shape.depth, width = tree.node_row;
  turn(v, width, s.v_rows.data());
  const float *r = s.r.data(), *rows = s.v_rows.data();
  if (width == 8 && kWide8 && tree.dense) {
    kNarrowNodeRows[depth](r, rows, leaf, active, alive, sums.node.data());
    return;
  }
  for (std::size_t lane = 0; lane < alive; ++lane) {
    const auto place = static_cast<std::size_t>(leaf[lane] + tree.shape.leaves());
    for (int level = 0; level < depth; ++level)
      add_scaled(r[level * kLanes + lane], rows + lane * static_cast<std::size_t>(width), width,
                 sums.node.data() + ((place >> (depth - level)) - 1) * static_cast<std::size_t>(width));
  }
}

// ADDS the gradient of the block to `sums`.
HWY_NOINLINE void backward(const PreparedTree& tree, const Block& b, Scratch& s, cpu::PieceSums& sums) {
  const Shape& shape = tree.shape;
  const int n_m = shape.n_m, n_y = shape.n_y;
  float* q = s.q.data();  // (n_m, kLanes), then two of the same for what goes back
  float* back = q + n_m * kLanes;
  std::fill_n(q, n_m * kLanes, 0.0F);
  for (int k = tree.used; k < tree.row; ++k) store(set(0.0F), s.f.data() + k * kLanes);
  const std::size_t places = 2U * shape.leaves() + 2;
  bool flows = false;  // some derivative comes back from the step after
  for (std::size_t t = b.steps; t-- > 0;) {
    const std::size_t alive = b.alive(t);
    const std::int32_t* leaf = s.leaf.data() + t * kLanes;
    const float* v = s.v.data() + t * tree.v_step();
    const float* split = (b.missing ? s.split_v.data() : s.v.data()) + t * tree.v_step();
    float* g = s.y.data() + t * n_y * kLanes;
    const StepView step{v, g, q, s.f.data(), flows ? tree.used : tree.worth_outputs};
    if (shape.form.output_order == OutputOrder::kFirst && t + 1 < b.steps)
      for (int k = 0; k < n_y; ++k) store(add(load(g + k * kLanes), load(g + (n_y + k) * kLanes)), g + k * kLanes);
    const std::uint16_t* right = s.right.data() + (tree.dense ? t * shape.nodes() : 0);
    const std::uint16_t* active = s.active.data() + (tree.dense ? t * places : 0);
    leaf_derivative(tree, Reached(tree, leaf), v, s.u.data() + t * n_m * kLanes, g, q, s.of_leaf.data(), s.f.data(),
                    back);
    if (!tree.dense || !add_to_lane_sums(tree, active + shape.nodes(), s)) add_leaf_rows(tree, leaf, alive, s, sums);
    if (tree.dense && shape.depth > 0) {
      spread_need(tree, right, active, s.need.data());
      dense_worths(tree, s.need.data(), step, s);
      dense_decisions(tree, right, active, s.need.data(), split, s, back);
    } else if (shape.depth > 0) {
      path_decisions(tree, leaf, (1U << alive) - 1U, split, b.missing, step, s, back);
    }
    if (shape.depth > 0) add_node_rows(tree, v, leaf, active, alive, s, sums);
    Wide most = set(0.0F);
    for (int k = 0; k < n_m; ++k) {
      const Wide qk = within(load(back + k * kLanes), kMostBack);
      store(qk, q + k * kLanes);
      most = add(most, abs(qk));
    }
    flows = bits(eq(most, set(0.0F))) != 0xFFFFU;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace remede
HWY_AFTER_NAMESPACE();

#endif

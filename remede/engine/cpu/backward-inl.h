// Backward over a block of 16 sequences: the exact path-sparse gradient (docs/mathematics.md), lanes side by side.
// Included once per target by kernel.cpp.
//
// Per step: F is the derivative by the reached leaf's row; the worth of every needed leaf is F . row; a walk from the leaves to
// the root gives at each node the worth of the leaf each lane would reach below it, so that right minus left is the value of the
// decision. Shallow trees do this at every node (dense-inl.h), deep ones follow the paths (paths-inl.h). Sums are made
// lane by lane, in order, into one row per node and per leaf: they do not depend on the width of the registers.
#if defined(REMEDE_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REMEDE_BACKWARD_INL_H_
#undef REMEDE_BACKWARD_INL_H_
#else
#define REMEDE_BACKWARD_INL_H_
#endif

#include "remede/base/vector-inl.h"
#include "remede/engine/cpu/dense-inl.h"
#include "remede/engine/cpu/forward-inl.h"
#include "remede/engine/cpu/kernel.h"
#include "remede/engine/cpu/paths-inl.h"

HWY_BEFORE_NAMESPACE();
namespace remede {
namespace HWY_NAMESPACE {

// ASSIGNS F (row, 16) and, to `back`, dLoss/dm before the step as far as it goes through the reached leaf.
HWY_NOINLINE void leaf_derivative(const PreparedTree& tree, const Reached& reached, const float* v, const float* u, const float* g,
                                const float* q, float* f_out, float* back) {
  const Shape& shape = tree.shape;
  const int n_x = shape.n_x, n_m = shape.n_m, n_y = shape.n_y, n_v = shape.n_v(), n_w = shape.n_w();
  const bool blends = shape.form.write_rule == WriteRule::kBlend;
  const auto at = [&](Group group) { return tree.at[static_cast<int>(group)]; };
  for (int k = 0; k < n_y; ++k) {
    const Wide gk = load(g + k * 16);
    store(gk, f_out + (at(Group::kOutput) + k) * 16);
    if (shape.form.leaf_output == LeafOutput::kLinear)
      for (int f = 0; f < n_v; ++f)
        store(mul(gk, load(v + f * 16)), f_out + (at(Group::kLinear) + k * n_v + f) * 16);
  }
  const Wide one = set(1.0F);
  for (int k = 0; k < n_m; ++k) {
    const Wide qk = load(q + k * 16), uk = load(u + k * 16), m = load(v + (n_x + k) * 16);
    const Wide open = of_leaf(reached, tree.open + k);
    Wide full = uk, through = mul(qk, open), stays = qk;
    if (blends) {
      const Wide a = of_leaf(reached, tree.blend + k), gap = sub(uk, m);
      full = mul(a, gap);
      store(mul(mul(through, gap), of_leaf(reached, tree.blend_slope + k)), f_out + (at(Group::kRate) + k) * 16);
      stays = sub(qk, mul(through, a));
      through = mul(through, a);
    }
    store(mul(mul(qk, full), of_leaf(reached, tree.gate_slope + k)), f_out + (at(Group::kGate) + k) * 16);
    const Wide ak = mul(through, sub(one, mul(uk, uk)));
    for (int f = 0; f < n_w; ++f) store(mul(ak, load(v + f * 16)), f_out + (at(Group::kWrite) + k * n_w + f) * 16);
    if (shape.form.write_bias) store(ak, f_out + (at(Group::kBias) + k) * 16);
    store(stays, back + k * 16);
    if (shape.form.write_reads == WriteReads::kInputsAndMemory) store(ak, back + (n_m + k) * 16);
  }
  for (int k = 0; k < n_m; ++k) {
    Wide sum = load(back + k * 16);
    if (shape.form.write_reads == WriteReads::kInputsAndMemory)
      for (int i = 0; i < n_m; ++i)
        sum = fused(load(back + (n_m + i) * 16), of_leaf(reached, at(Group::kWrite) + i * n_w + n_x + k), sum);
    if (shape.form.leaf_output == LeafOutput::kLinear)
      for (int i = 0; i < n_y; ++i)
        sum = fused(load(g + i * 16), of_leaf(reached, at(Group::kLinear) + i * n_v + n_x + k), sum);
    store(sum, back + k * 16);
  }
}

HWY_NOINLINE void add_leaf_rows(const PreparedTree& tree, const std::int32_t* leaf, std::size_t alive, Scratch& s, cpu::PieceSums& sums) {
  turn(s.f.data(), tree.row, s.f_rows.data());
  for (std::size_t lane = 0; lane < alive; ++lane)
    add_row(s.f_rows.data() + lane * tree.row, tree.row, sums.leaf.data() + static_cast<std::size_t>(leaf[lane]) * tree.row);
}

// Rows of eight floats, the commonest small case, go through one register.
#if HWY_TARGET == HWY_SCALAR
constexpr bool kWide8 = false;
#else
constexpr bool kWide8 = hn::MaxLanes(hn::CappedTag<float, 8>()) == 8;
#endif

template <int kWidth>
HWY_INLINE void add_node_rows_of(const Scratch& s, const std::int32_t* leaf, int leaves, int depth, std::size_t alive, float* sums,
                                 int width = kWidth) {
  const float *r = s.r.data(), *rows = s.v_rows.data();
  for (std::size_t lane = 0; lane < alive; ++lane) {
    const auto place = static_cast<std::size_t>(leaf[lane] + leaves);
    const float* from = rows + lane * width;
    if constexpr (kWidth == 8 && kWide8) {
      const hn::CappedTag<float, 8> d8;
      const auto v = hn::LoadU(d8, from);
      for (int level = 0; level < depth; ++level) {
        float* to = sums + ((place >> (depth - level)) - 1) * 8;
        hn::StoreU(hn::MulAdd(hn::Set(d8, r[level * 16 + lane]), v, hn::LoadU(d8, to)), d8, to);
      }
    } else {
      for (int level = 0; level < depth; ++level)
        add_scaled(r[level * 16 + lane], from, width, sums + ((place >> (depth - level)) - 1) * width);
    }
  }
}

HWY_NOINLINE void add_node_rows(const PreparedTree& tree, const float* v, const std::int32_t* leaf, std::size_t alive, Scratch& s,
                              cpu::PieceSums& sums) {
  const int depth = tree.shape.depth, n_v = tree.shape.n_v(), width = tree.node_row;
  float* columns = s.v_columns.data();
  std::copy_n(v, n_v * 16, columns);
  store(set(1.0F), columns + n_v * 16);
  for (int k = n_v + 1; k < width; ++k) store(set(0.0F), columns + k * 16);
  turn(columns, width, s.v_rows.data());
  if (width == 8 && kWide8) add_node_rows_of<8>(s, leaf, tree.shape.leaves(), depth, alive, sums.node.data());
  else add_node_rows_of<0>(s, leaf, tree.shape.leaves(), depth, alive, sums.node.data(), width);
}

// ADDS the gradient of the block to `sums`.
HWY_NOINLINE void backward(const PreparedTree& tree, const Block& b, Scratch& s, cpu::PieceSums& sums) {
  const Shape& shape = tree.shape;
  const int n_m = shape.n_m, n_y = shape.n_y, n_v = shape.n_v();
  float* q = s.q.data();  // (n_m, 16), then two of the same for what goes back
  float* back = q + n_m * 16;
  std::fill_n(q, n_m * 16, 0.0F);
  for (int k = tree.used; k < tree.row; ++k) store(set(0.0F), s.f.data() + k * 16);
  const std::size_t places = 2U * shape.leaves() + 2;
  for (std::size_t t = b.steps; t-- > 0;) {
    const std::size_t alive = b.alive(t);
    const Reached& reached = s.reached[t];
    const std::int32_t* leaf = s.leaf.data() + t * 16;
    const float* v = s.v.data() + t * n_v * 16;
    const float* split = (b.missing ? s.split_v.data() : s.v.data()) + t * n_v * 16;
    float* g = s.y.data() + t * n_y * 16;
    const StepView step{v, g, q, s.f.data()};
    if (shape.form.output_order == OutputOrder::kFirst && t + 1 < b.steps)
      for (int k = 0; k < n_y; ++k) store(add(load(g + k * 16), load(g + (n_y + k) * 16)), g + k * 16);
    const std::uint16_t* right = s.right.data() + (tree.dense ? t * shape.nodes() : 0);
    const std::uint16_t* active = s.active.data() + (tree.dense ? t * places : 0);
    leaf_derivative(tree, reached, v, s.u.data() + t * n_m * 16, g, q, s.f.data(), back);
    add_leaf_rows(tree, leaf, alive, s, sums);
    if (tree.dense && shape.depth > 0) {
      spread_need(tree, right, active, s.need.data());
      dense_worths(tree, s.need.data(), step, s);
      dense_decisions(tree, right, active, split, s, back);
    } else if (shape.depth > 0) {
      path_decisions(tree, leaf, (1U << alive) - 1U, split, b.missing, step, s, back);
    }
    if (shape.depth > 0) add_node_rows(tree, v, leaf, alive, s, sums);
    std::copy_n(back, n_m * 16, q);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace remede
HWY_AFTER_NAMESPACE();

#endif

// Forward over a block of 16 sequences, and the loss. Included once per target by kernel.cpp.
#if defined(REMEDE_FORWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REMEDE_FORWARD_INL_H_
#undef REMEDE_FORWARD_INL_H_
#else
#define REMEDE_FORWARD_INL_H_
#endif

#include <cmath>

#include "remede/base/vector-inl.h"
#include "remede/engine/cpu/dense-inl.h"
#include "remede/engine/cpu/kernel.h"
#include "remede/engine/cpu/leaf-inl.h"
#include "remede/engine/cpu/paths-inl.h"

HWY_BEFORE_NAMESPACE();
namespace remede {
namespace HWY_NAMESPACE {

// 16 sequences, longest first, so that the lanes still alive at a step are the first ones.
struct Block {
  std::size_t steps = 0;                          // of the longest
  std::array<std::size_t, 16> length{};
  std::size_t alive(std::size_t t) const {        // number of lanes with a step t
    std::size_t n = 16;
    while (n > 0 && length[n - 1] <= t) --n;
    return n;
  }
  bool missing = false;                           // some input is NaN
  bool classes = false;
};

template <typename Vector>
void at_least(Vector& v, std::size_t n) {
  if (v.size() < n) v.resize(n);
}

// Makes room for a block; the scratch grows, it never shrinks.
inline void reserve(const PreparedTree& tree, std::size_t steps, int target_width, Scratch& s) {
  const Shape& shape = tree.shape;
  const std::size_t n_v = shape.n_v(), n_m = shape.n_m, n_y = shape.n_y;
  const std::size_t places = 2U * shape.leaves() + 2;
  at_least(s.v, (steps + 1) * n_v * 16);
  at_least(s.u, steps * n_m * 16);
  at_least(s.y, steps * n_y * 16);
  at_least(s.target, steps * target_width * 16);
  at_least(s.weight, steps * 16);
  at_least(s.leaf, steps * 16);
  at_least(s.reached, steps);
  at_least(s.f, static_cast<std::size_t>(tree.row) * 16);
  at_least(s.f_rows, static_cast<std::size_t>(tree.row) * 16);
  at_least(s.v_columns, static_cast<std::size_t>(tree.node_row) * 16);
  at_least(s.v_rows, static_cast<std::size_t>(tree.node_row) * 16);
  at_least(s.r, static_cast<std::size_t>(shape.depth + 1) * 16);
  at_least(s.q, n_m * 16 * 3);
  if (tree.dense) {
    at_least(s.right, steps * shape.nodes());
    at_least(s.active, steps * places);
    at_least(s.need, places);
    at_least(s.values, places * 16);
  }
}

// Lays the block out in lanes; lanes without a step hold zeros.
inline Block load_block(const PreparedTree& tree, const cpu::Piece& piece, std::span<const std::uint32_t> numbers, Scratch& s) {
  const Sequences& data = *piece.data;
  Block b;
  b.classes = !data.label.empty();
  for (std::size_t lane = 0; lane < numbers.size(); ++lane) b.length[lane] = data.length(numbers[lane]);
  b.steps = b.length[0];
  const int n_x = tree.shape.n_x, n_v = tree.shape.n_v(), n_y = tree.shape.n_y;
  const int width = b.classes ? 1 : n_y;
  reserve(tree, b.steps, width, s);
  bool missing = false;
  for (std::size_t lane = 0; lane < 16; ++lane) {
    const std::size_t length = b.length[lane];
    const auto first = lane < numbers.size() ? static_cast<std::size_t>(data.offset[numbers[lane]]) : 0;
    const float* x = data.x.data() + first * n_x;
    for (std::size_t t = 0; t < b.steps; ++t) {
      float* v = s.v.data() + t * n_v * 16 + lane;
      const bool there = t < length;
      for (int k = 0; k < n_x; ++k) {
        const float value = there ? x[t * n_x + k] : 0.0F;
        missing |= value != value;
        v[k * 16] = value;
      }
      s.weight[t * 16 + lane] = there ? data.weight[first + t] : 0.0F;
      for (int k = 0; k < width; ++k)
        s.target[(t * width + k) * 16 + lane] =
            !there ? 0.0F : b.classes ? static_cast<float>(data.label[first + t]) : data.value[(first + t) * n_y + k];
    }
  }
  b.missing = missing;
  if (missing) {  // splits see NaN, everything else the filled value
    at_least(s.split_v, (b.steps + 1) * n_v * 16);
    std::copy_n(s.v.data(), (b.steps + 1) * n_v * 16, s.split_v.data());
    for (std::size_t t = 0; t < b.steps; ++t)
      for (int k = 0; k < n_x; ++k)
        for (int lane = 0; lane < 16; ++lane) {
          float& value = s.v[(t * n_v + k) * 16 + lane];
          if (value != value) value = piece.fill.empty() ? 0.0F : piece.fill[k];
        }
  }
  return b;
}

HWY_NOINLINE void forward_step(const PreparedTree& tree, const Block& b, Scratch& s, std::size_t t, const Reached& reached) {
  const Shape& shape = tree.shape;
  const int n_x = shape.n_x, n_m = shape.n_m, n_y = shape.n_y, n_v = shape.n_v(), n_w = shape.n_w();
  const float* v = s.v.data() + t * n_v * 16;
  float* next = s.v.data() + (t + 1) * n_v * 16;
  const auto at = [&](Group g) { return tree.at[static_cast<int>(g)]; };
  for (int k = 0; k < n_y; ++k) {
    Wide y = of_leaf(reached, at(Group::kOutput) + k);
    if (shape.form.leaf_output == LeafOutput::kLinear)
      for (int f = 0; f < n_v; ++f)
        y = add(y, mul(of_leaf(reached, at(Group::kLinear) + k * n_v + f), load(v + f * 16)));
    float* out = s.y.data() + (t * n_y + k) * 16;
    if (shape.form.output_order == OutputOrder::kFirst && t > 0) y = add(load(out - n_y * 16), y);
    store(y, out);
  }
  for (int k = 0; k < n_m; ++k) {
    Wide a = shape.form.write_bias ? of_leaf(reached, at(Group::kBias) + k) : set(0.0F);
    for (int f = 0; f < n_w; ++f)
      a = add(a, mul(of_leaf(reached, at(Group::kWrite) + k * n_w + f), load(v + f * 16)));
    const Wide u = tanh(a), m = load(v + (n_x + k) * 16);
    store(u, s.u.data() + (t * n_m + k) * 16);
    const Wide change =
        shape.form.write_rule == WriteRule::kBlend ? mul(of_leaf(reached, tree.blend + k), sub(u, m)) : u;
    const WideMask open = gt(of_leaf(reached, tree.open + k), set(0.0F));
    const Wide after = select(open, add(m, change), m);
    store(after, next + (n_x + k) * 16);
    if (b.missing) store(after, s.split_v.data() + ((t + 1) * n_v + n_x + k) * 16);
  }
}

HWY_NOINLINE void forward(const PreparedTree& tree, const Block& b, Scratch& s) {
  const int n_x = tree.shape.n_x, n_v = tree.shape.n_v();
  std::fill_n(s.v.data() + n_x * 16, tree.shape.n_m * 16, 0.0F);
  if (b.missing) std::fill_n(s.split_v.data() + n_x * 16, tree.shape.n_m * 16, 0.0F);
  const float* split = b.missing ? s.split_v.data() : s.v.data();
  const std::size_t places = 2U * tree.shape.leaves() + 2;
  for (std::size_t t = 0; t < b.steps; ++t) {
    Reached& reached = s.reached[t];
    std::int32_t* leaf = s.leaf.data() + t * 16;
    const std::uint32_t alive = (1U << b.alive(t)) - 1U;
    if (tree.dense) {
      std::uint16_t* right = s.right.data() + t * tree.shape.nodes();
      compare_all(tree, split + t * n_v * 16, b.missing, right);
      std::uint16_t* active = s.active.data() + t * places;
      spread_active(tree, alive, right, active);
      reached_leaves(tree, active + tree.shape.nodes(), reached);
      std::fill_n(leaf, 16, 0);
      for (int e = 0; e < reached.count; ++e)
        for (std::uint32_t lanes = reached.lanes[e]; lanes != 0; lanes &= lanes - 1)
          leaf[std::countr_zero(lanes)] = reached.leaf[e];
    } else {
      follow_paths(tree, split + t * n_v * 16, alive, b.missing, leaf, reached);
    }
    forward_step(tree, b, s, t, reached);
  }
}

// Adds the block's loss, and turns s.y into the derivative of scale * loss by the outputs.
HWY_NOINLINE void loss(const PreparedTree& tree, const Block& b, const cpu::Piece& piece, Scratch& s, BatchLoss& total) {
  const int n_y = tree.shape.n_y;
  const Wide zero = set(0.0F), one = set(1.0F), scale = set(piece.scale);
  Wide loss_sum = zero, weight_sum = zero, correct_sum = zero;
  for (std::size_t t = 0; t < b.steps; ++t) {
    float* y = s.y.data() + t * n_y * 16;
    const Wide weight = load(s.weight.data() + t * 16);
    if (bits(gt(weight, zero)) == 0) {
      std::fill_n(y, n_y * 16, 0.0F);
      continue;
    }
    weight_sum = add(weight_sum, weight);
    const Wide factor = mul(scale, weight);
    Wide step_loss = zero;
    if (b.classes) {
      const Wide label = load(s.target.data() + t * 16);
      Wide top = load(y), best = zero, of_label = zero;
      for (int k = 1; k < n_y; ++k) {
        const WideMask larger = gt(load(y + k * 16), top);
        top = select(larger, load(y + k * 16), top);
        best = select(larger, set(static_cast<float>(k)), best);
      }
      Wide sum = zero;
      for (int k = 0; k < n_y; ++k) {
        const Wide shifted = sub(load(y + k * 16), top), e = exp(shifted);
        of_label = select(eq(label, set(static_cast<float>(k))), shifted, of_label);
        sum = add(sum, e);
        store(e, y + k * 16);
      }
      for (int k = 0; k < n_y; ++k) {
        const Wide p = div(load(y + k * 16), sum);
        const Wide hit = keep(eq(label, set(static_cast<float>(k))), one);
        store(mul(factor, sub(p, hit)), y + k * 16);
      }
      step_loss = sub(log(sum), of_label);
      correct_sum = add(correct_sum, keep(eq(best, label), weight));
    } else {
      const Wide each = set(2.0F / static_cast<float>(n_y));
      Wide squares = zero;
      for (int k = 0; k < n_y; ++k) {
        const Wide error = sub(load(y + k * 16), load(s.target.data() + (t * n_y + k) * 16));
        squares = add(squares, mul(error, error));
        store(mul(mul(factor, each), error), y + k * 16);
      }
      step_loss = div(squares, set(static_cast<float>(n_y)));
    }
    // A lane without a target may hold anything: keep it out of the sum.
    const WideMask counts = gt(weight, zero);
    loss_sum = add(loss_sum, keep(counts, mul(weight, step_loss)));
    for (int k = 0; k < n_y; ++k) store(keep(counts, load(y + k * 16)), y + k * 16);
  }
  alignas(64) float lanes[3][16];
  store(loss_sum, lanes[0]);
  store(weight_sum, lanes[1]);
  store(correct_sum, lanes[2]);
  for (int lane = 0; lane < 16; ++lane) {
    total.loss += static_cast<double>(lanes[0][lane]);
    total.weight += static_cast<double>(lanes[1][lane]);
    total.correct += static_cast<double>(lanes[2][lane]);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace remede
HWY_AFTER_NAMESPACE();

#endif

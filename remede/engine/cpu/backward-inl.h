// Backward over a block of 16 sequences: the exact path-sparse gradient (docs/mathematics.md), lanes side by side.
// Included once per target by kernel.cpp.
//
// Per step: a walk from the root lists the nodes that some lane is on or needs (Visit); F is the derivative by the reached leaf's
// row; the worth of every needed leaf is F . row; a walk back up gives at each node the worth of the leaf each lane would
// reach below it, so that right minus left is the value of the decision. Sums are made lane by lane, in order, into one row
// per node and per leaf: they do not depend on the width of the registers.
#if defined(REMEDE_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REMEDE_BACKWARD_INL_H_
#undef REMEDE_BACKWARD_INL_H_
#else
#define REMEDE_BACKWARD_INL_H_
#endif

#include "remede/base/vector-inl.h"
#include "remede/engine/cpu/forward-inl.h"
#include "remede/engine/cpu/kernel.h"

HWY_BEFORE_NAMESPACE();
namespace remede {
namespace HWY_NAMESPACE {

// Where the visits of each level begin in Scratch::visits; level `depth` holds the leaves.
struct Levels {
  int begin[32];
};

// Lists the visits of a step and ASSIGNS to s.r, level by level, how far each lane is from its node's threshold.
HWY_INLINE void visit(const PreparedTree& tree, const float* v, std::uint32_t alive, bool missing, Scratch& s, Levels& levels) {
  Visit* visits = s.visits.data();
  visits[0] = {0, static_cast<std::uint16_t>(alive), 0, 0, -1, -1, 0};
  levels.begin[0] = 0;
  int end = 1;
  for (int level = 0; level < tree.shape.depth; ++level) {
    const int begin = levels.begin[level], stop = end;
    levels.begin[level + 1] = stop;
    Wide z = set(0.0F);
    for (int p = begin; p < stop; ++p) {
      Visit& w = visits[p];
      const std::uint32_t right = right_lanes(tree, w.node, v, missing);
      const std::uint32_t active = w.active, need = w.need;
      w.right = static_cast<std::uint16_t>(right);
      if (active != 0) z = select(mask(active), sub(load(v + tree.feature[w.node] * 16), set(tree.threshold[w.node])), z);
      const std::uint32_t need_left = active | (need & ~right), need_right = active | (need & right);
      visits[end] = {2 * w.node + 1, static_cast<std::uint16_t>(active & ~right), static_cast<std::uint16_t>(need_left), 0, -1, -1, end};
      w.left_child = need_left != 0 ? end : -1;
      end += need_left != 0;
      visits[end] = {2 * w.node + 2, static_cast<std::uint16_t>(active & right), static_cast<std::uint16_t>(need_right), 0, -1, -1, end};
      w.right_child = need_right != 0 ? end : -1;
      end += need_right != 0;
    }
    store(z, s.r.data() + level * 16);
  }
  levels.begin[tree.shape.depth + 1] = end;
}

HWY_INLINE void reached_leaves(const PreparedTree& tree, const Scratch& s, const Levels& levels, Reached& reached) {
  int count = 0;
  for (int p = levels.begin[tree.shape.depth]; p < levels.begin[tree.shape.depth + 1]; ++p) {
    if (s.visits[p].active == 0) continue;
    reached.leaf[count] = s.visits[p].node - tree.shape.nodes();
    reached.lanes[count] = s.visits[p].active;
    ++count;
  }
  reached.count = count;
}

// ASSIGNS F (row, 16) and, to `back`, dLoss/dm before the step as far as it goes through the reached leaf.
HWY_INLINE void leaf_derivative(const PreparedTree& tree, const Reached& reached, const float* v, const float* u, const float* g,
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
    const Wide open = of_leaf(reached, tree.open.data(), n_m, k);
    Wide full = uk, through = mul(qk, open), stays = qk;
    if (blends) {
      const Wide a = of_leaf(reached, tree.blend.data(), n_m, k), gap = sub(uk, m);
      full = mul(a, gap);
      store(mul(mul(through, gap), of_leaf(reached, tree.blend_slope.data(), n_m, k)), f_out + (at(Group::kRate) + k) * 16);
      stays = sub(qk, mul(through, a));
      through = mul(through, a);
    }
    store(mul(mul(qk, full), of_leaf(reached, tree.gate_slope.data(), n_m, k)), f_out + (at(Group::kGate) + k) * 16);
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
        sum = fused(load(back + (n_m + i) * 16), of_leaf(reached, tree.rows.data(), tree.row, at(Group::kWrite) + i * n_w + n_x + k), sum);
    if (shape.form.leaf_output == LeafOutput::kLinear)
      for (int i = 0; i < n_y; ++i)
        sum = fused(load(g + i * 16), of_leaf(reached, tree.rows.data(), tree.row, at(Group::kLinear) + i * n_v + n_x + k), sum);
    store(sum, back + k * 16);
  }
}

// Leaves taken together by leaf_worths: as many as registers allow.
constexpr int kTogether = kK == 1 ? 8 : kK == 2 ? 4 : 2;

template <int kCount>
HWY_INLINE void leaf_worths(const PreparedTree& tree, const Visit* visits, const float* f, float* values) {
  const float* row[kCount];
  Wide sum[kCount];
  for (int i = 0; i < kCount; ++i) {
    row[i] = tree.rows.data() + static_cast<std::ptrdiff_t>(visits[i].node - tree.shape.nodes()) * tree.row;
    sum[i] = set(0.0F);
  }
  for (int k = 0; k < tree.row; ++k) {
    const Wide fk = load(f + k * 16);
    for (int i = 0; i < kCount; ++i) sum[i] = fused(fk, set(row[i][k]), sum[i]);
  }
  for (int i = 0; i < kCount; ++i) store(sum[i], values + i * 16);
}

// The worth of a leaf in the mixture of effects: what it would have said and written.
HWY_INLINE Wide effect_worth(const PreparedTree& tree, int l, const float* v, const float* g, const float* q) {
  const Shape& shape = tree.shape;
  const int n_x = shape.n_x, n_m = shape.n_m, n_y = shape.n_y, n_v = shape.n_v(), n_w = shape.n_w();
  const float* row = tree.rows.data() + static_cast<std::ptrdiff_t>(l) * tree.row;
  const auto part = [&](Group group) { return row + tree.at[static_cast<int>(group)]; };
  Wide sum = set(0.0F);
  for (int k = 0; k < n_y; ++k) {
    Wide y = set(part(Group::kOutput)[k]);
    if (shape.form.leaf_output == LeafOutput::kLinear)
      for (int f = 0; f < n_v; ++f) y = fused(set(part(Group::kLinear)[k * n_v + f]), load(v + f * 16), y);
    sum = fused(load(g + k * 16), y, sum);
  }
  for (int k = 0; k < n_m; ++k) {
    if (tree.open[static_cast<std::size_t>(l) * n_m + k] == 0.0F) continue;
    Wide a = set(shape.form.write_bias ? part(Group::kBias)[k] : 0.0F);
    for (int f = 0; f < n_w; ++f) a = fused(set(part(Group::kWrite)[k * n_w + f]), load(v + f * 16), a);
    Wide change = tanh(a);
    if (shape.form.write_rule == WriteRule::kBlend)
      change = mul(set(tree.blend[static_cast<std::size_t>(l) * n_m + k]), sub(change, load(v + (n_x + k) * 16)));
    sum = fused(load(q + k * 16), change, sum);
  }
  return sum;
}

HWY_INLINE Wide split_slope(const PreparedTree& tree, const Wide& z) {
  const Wide slope = set(tree.form.slope), one = set(1.0F);
  if (tree.form.split == SplitGradient::kSigmoid) {
    const Wide s = sigmoid(mul(slope, z));
    return mul(mul(slope, s), sub(one, s));
  }
  const Wide away = add(one, abs(mul(slope, z)));
  return div(set(0.5F * tree.form.slope), mul(away, away));
}

// Walks back up: turns s.r into the derivative by each decision on the path, and ADDS to `back` what goes into memory.
HWY_INLINE void decisions(const PreparedTree& tree, Scratch& s, const Levels& levels, float* back) {
  Visit* visits = s.visits.data();
  float* values = s.values.data();
  for (int level = tree.shape.depth - 1; level >= 0; --level) {
    Wide gain = set(0.0F);
    for (int p = levels.begin[level]; p < levels.begin[level + 1]; ++p) {
      Visit& w = visits[p];
      if (w.left_child < 0) {
        w.value = visits[w.right_child].value;
      } else if (w.right_child < 0) {
        w.value = visits[w.left_child].value;
      } else {
        const Wide left = load(values + visits[w.left_child].value * 16), right = load(values + visits[w.right_child].value * 16);
        if (w.active != 0) gain = select(mask(w.active), sub(right, left), gain);
        store(select(mask(w.right), right, left), values + p * 16);
      }
    }
    const Wide z = load(s.r.data() + level * 16);
    const Wide r = keep(eq(z, z), mul(gain, split_slope(tree, z)));  // a missing value has no slope
    store(r, s.r.data() + level * 16);
    for (int p = levels.begin[level]; p < levels.begin[level + 1]; ++p) {
      const int k = tree.feature[visits[p].node] - tree.shape.n_x;
      if (visits[p].active == 0 || k < 0) continue;
      store(add(load(back + k * 16), keep(mask(visits[p].active), r)), back + k * 16);
    }
  }
}

HWY_INLINE void add_leaf_rows(const PreparedTree& tree, const std::int32_t* leaf, std::size_t alive, Scratch& s, cpu::PieceSums& sums) {
  turn(s.f.data(), tree.row, s.f_rows.data());
  for (std::size_t lane = 0; lane < alive; ++lane)
    add_row(s.f_rows.data() + lane * tree.row, tree.row, sums.leaf.data() + static_cast<std::size_t>(leaf[lane]) * tree.row);
}

HWY_INLINE void add_node_rows(const PreparedTree& tree, const float* v, const std::int32_t* leaf, std::size_t alive, Scratch& s,
                              cpu::PieceSums& sums) {
  const int depth = tree.shape.depth, n_v = tree.shape.n_v(), width = tree.node_row;
  float* columns = s.f.data();  // F has been used
  std::copy_n(v, n_v * 16, columns);
  store(set(1.0F), columns + n_v * 16);
  for (int k = n_v + 1; k < width; ++k) store(set(0.0F), columns + k * 16);
  turn(columns, width, s.v_rows.data());
  for (std::size_t lane = 0; lane < alive; ++lane) {
    const auto place = static_cast<std::size_t>(leaf[lane] + tree.shape.leaves());
    for (int level = 0; level < depth; ++level)
      add_scaled(s.r[level * 16 + lane], s.v_rows.data() + lane * width, width,
                 sums.node.data() + ((place >> (depth - level)) - 1) * width);
  }
}

HWY_INLINE void worths(const PreparedTree& tree, const Levels& levels, const float* v, const float* g, const float* q, Scratch& s) {
  int p = levels.begin[tree.shape.depth];
  const int end = levels.begin[tree.shape.depth + 1];
  if (tree.form.mix == Mix::kEffects) {
    for (; p < end; ++p) store(effect_worth(tree, s.visits[p].node - tree.shape.nodes(), v, g, q), s.values.data() + p * 16);
    return;
  }
  for (; p + kTogether <= end; p += kTogether) leaf_worths<kTogether>(tree, &s.visits[p], s.f.data(), s.values.data() + p * 16);
  for (; p < end; ++p) leaf_worths<1>(tree, &s.visits[p], s.f.data(), s.values.data() + p * 16);
}

// ADDS the gradient of the block to `sums`.
HWY_INLINE void backward(const PreparedTree& tree, const Block& b, Scratch& s, cpu::PieceSums& sums) {
  const Shape& shape = tree.shape;
  const int n_m = shape.n_m, n_y = shape.n_y, n_v = shape.n_v();
  const std::size_t visits = 2U * shape.leaves() + 2;
  const auto columns = static_cast<std::size_t>(std::max(tree.row, tree.node_row));
  at_least(s.visits, visits);
  at_least(s.values, visits * 16);
  at_least(s.f, columns * 16);
  at_least(s.f_rows, static_cast<std::size_t>(tree.row) * 16);
  at_least(s.v_rows, static_cast<std::size_t>(tree.node_row) * 16);
  at_least(s.r, static_cast<std::size_t>(shape.depth + 1) * 16);
  at_least(s.q, static_cast<std::size_t>(n_m) * 16 * 3);
  float* q = s.q.data();                // (n_m, 16), then two of the same for what goes back
  float* back = q + n_m * 16;
  std::fill_n(q, n_m * 16, 0.0F);
  Levels levels{};
  Reached reached;
  for (std::size_t t = b.steps; t-- > 0;) {
    const std::size_t alive = b.alive(t);
    const float* v = s.v.data() + t * n_v * 16;
    const float* split = (b.missing ? s.split_v.data() : s.v.data()) + t * n_v * 16;
    float* g = s.y.data() + t * n_y * 16;
    if (shape.form.output_order == OutputOrder::kFirst && t + 1 < b.steps)
      for (int k = 0; k < n_y; ++k) store(add(load(g + k * 16), load(g + (n_y + k) * 16)), g + k * 16);
    visit(tree, split, (1U << alive) - 1U, b.missing, s, levels);
    reached_leaves(tree, s, levels, reached);
    for (int k = tree.at[kGroups - 1] + static_cast<int>(shape.size(Group::kLinear) / shape.leaves()); k < tree.row; ++k)
      store(set(0.0F), s.f.data() + k * 16);
    leaf_derivative(tree, reached, v, s.u.data() + t * n_m * 16, g, q, s.f.data(), back);
    const std::int32_t* leaf = s.leaf.data() + t * 16;
    add_leaf_rows(tree, leaf, alive, s, sums);
    if (shape.depth > 0) {
      worths(tree, levels, v, g, q, s);
      decisions(tree, s, levels, back);
      add_node_rows(tree, v, leaf, alive, s, sums);
    }
    std::copy_n(back, n_m * 16, q);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace remede
HWY_AFTER_NAMESPACE();

#endif

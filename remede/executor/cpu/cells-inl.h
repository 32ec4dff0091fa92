// Cells side by side: one sequence at a time, its memory cells in the lanes of a vector. For leaves with long rows
// (linear leaves), where a step costs a product of a matrix and a vector: only the leaves on the path and those beside
// it are computed, and a single recording keeps all lanes busy. Included once per target by kernel.cpp.
//
// v, the vector that leaves read, holds the memory (kLanes), the inputs, a one, and zeros. Of every leaf the sums
// base + W v are the arguments of the writes' tanh; A is the derivative of the loss by them. Outputs need no
// recurrence: they are computed for sixteen steps of a sequence side by side.
//
// In five parts: cells-layout-inl.h, cells-forward-inl.h, cells-aside-inl.h, cells-backward-inl.h, and here the sums of
// the writes and the way through a piece.
#if defined(REMEDE_CELLS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REMEDE_CELLS_INL_H_
#undef REMEDE_CELLS_INL_H_
#else
#define REMEDE_CELLS_INL_H_
#endif

#include <algorithm>

#include "remede/base/vector-inl.h"
#include "remede/executor/cpu/cells-aside-inl.h"
#include "remede/executor/cpu/cells-backward-inl.h"
#include "remede/executor/cpu/cells-forward-inl.h"
#include "remede/executor/cpu/cells-layout-inl.h"
#include "remede/executor/cpu/forward-inl.h"
#include "remede/executor/cpu/kernel.h"
#include "remede/executor/cpu/leaf-inl.h"

HWY_BEFORE_NAMESPACE();
namespace remede {
namespace HWY_NAMESPACE {

// Adds up the products of A and v over these steps: kRows rows of v from `row` on, whose sums stay in registers.
// step(i): the number of the i-th.
template <int kRows, typename Step>
HWY_INLINE void add_products(const CellLayout& at, const Walk& walk, std::size_t steps, int row, float* sums,
                             const Step& step) {
  Wide sum[kRows];
  each_of<kRows>([&](auto r) REMEDE_INLINED { sum[r] = load(sums + (row + r) * kLanes); });
  for (std::size_t i = 0; i < steps; ++i) {
    const std::size_t t = step(i);
    const Wide a = load(walk.a + t * kLanes);
    const float* v = walk.v + t * at.v_step + row;
    each_of<kRows>([&](auto r) REMEDE_INLINED { sum[r] = fused(a, set(v[r]), sum[r]); });
  }
  each_of<kRows>([&](auto r) REMEDE_INLINED { store(sum[r], sums + (row + r) * kLanes); });
}

// The same for all rows that the writes read.
template <typename Step>
HWY_NOINLINE void add_all_products(const CellLayout& at, const Walk& walk, std::size_t steps, float* sums,
                                   const Step& step) {
  constexpr int kFew = std::max(1, 8 / kK), kMany = kK == 1 ? 2 * kFew : kFew;
  const auto add_rows = [&](int from, int to) REMEDE_INLINED {
    int row = from;  // rounded up to a few: the rows behind are zeros, or not used
    for (; to - row > kFew; row += kMany) add_products<kMany>(at, walk, steps, row, sums, step);
    for (; row < to; row += kFew) add_products<kFew>(at, walk, steps, row, sums, step);
  };
  add_rows(0, at.n_read);
  add_rows(kLanes, kLanes + at.n_x + 1);
}

// ADDS what the writes read, leaf by leaf.
HWY_NOINLINE void add_writes(const PreparedTree& tree, const Walk& walk, Scratch& s) {
  const CellLayout& at = tree.cells;
  float* sums = s.cell_sums.data() + at.sum_writes;
  if (tree.shape.depth == 0) {
    add_all_products(at, walk, walk.end, sums, [](std::size_t i) REMEDE_INLINED { return i; });
    return;
  }
  const auto leaves = static_cast<std::size_t>(tree.shape.leaves());
  s.cell_begin.assign(leaves + 1, 0);
  std::size_t* begin = s.cell_begin.data();
  for (std::size_t t = 0; t < walk.end; ++t) ++begin[static_cast<std::size_t>(walk.leaf[t]) + 1];
  for (std::size_t l = 0; l < leaves; ++l) begin[l + 1] += begin[l];
  at_least(s.cell_order, walk.end);
  std::uint32_t* order = s.cell_order.data();
  for (std::size_t t = 0; t < walk.end; ++t)
    order[begin[static_cast<std::size_t>(walk.leaf[t])]++] = static_cast<std::uint32_t>(t);
  std::size_t first = 0;
  for (std::size_t l = 0; l < leaves; ++l, sums += at.sum_stride) {
    const std::size_t end = begin[l];  // of the leaf: it was moved
    const std::uint32_t* steps = order + first;
    if (end > first)
      add_all_products(at, walk, end - first, sums, [steps](std::size_t i) REMEDE_INLINED { return steps[i]; });
    first = end;
  }
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
    const float* writes = from + at.sum_writes;
    float* to = sums.leaf.data() + l * static_cast<std::size_t>(tree.row);
    for (int k = 0; k < n_m; ++k) {
      to[place(Group::kGate) + k] = from[k];
      if (tree.blends()) to[place(Group::kRate) + k] = from[CellLayout::kSumRate + k];
      if (shape.form.write_bias) to[place(Group::kBias) + k] = writes[(kLanes + n_x) * kLanes + k];
      for (int f = 0; f < n_w; ++f) to[place(Group::kWrite) + k * n_w + f] = writes[row_of(f) * kLanes + k];
    }
    for (int k = 0; k < n_y; ++k) {
      const float* output = from + CellLayout::kSumOutputs + static_cast<std::size_t>(k) * at.v_step;
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

// ADDS the gradient of a group.
HWY_NOINLINE void backward_together(const PreparedTree& tree, std::span<const Walk> walks, Scratch& s) {
  WayBack way;
  way.walks = walks;
  std::size_t end = 0;
  for (const Walk& walk : walks) {
    add_up_derivatives(tree, walk, s);
    end = std::max(end, walk.end);
  }
  way.q.fill(set(0.0F));
  const std::size_t chunk = kGroup * kChunk, sides = chunk * static_cast<std::size_t>(tree.shape.depth);
  at_least(s.cell_sides, sides);
  at_least(s.cell_side_sums, sides * kLanes);
  at_least(s.cell_by_gate, chunk * kLanes);
  at_least(s.cell_by_rate, chunk * kLanes);
  at_least(s.cell_slopes, sides);
  way.aside = {s.cell_sides.data(), s.cell_slopes.data(), s.cell_side_sums.data()};
  way.by_gate = s.cell_by_gate.data();
  way.by_rate = s.cell_by_rate.data();
  const int known = tree.cells.v_step == 2 * kLanes ? tree.cells.n_y : 0;  // outputs, as in Known
  while (end > 0) {
    way.first = (end - 1) / kChunk * kChunk;
    if (tree.shape.depth == 0)
      back_through_chunk<true, 0>(tree, way, end, s);
    else if (known == 1)
      back_through_chunk<false, 1>(tree, way, end, s);
    else if (known == 2)
      back_through_chunk<false, 2>(tree, way, end, s);
    else if (known == 3)
      back_through_chunk<false, 3>(tree, way, end, s);
    else
      back_through_chunk<false, 0>(tree, way, end, s);
    end = way.first;
  }
  for (const Walk& walk : walks) add_writes(tree, walk, s);
}

// From the memory in s.memory (sequences, kLanes), which becomes that at the end.
HWY_NOINLINE void walk_together(const PreparedTree& tree, const cpu::Piece& piece,
                                std::span<const std::uint32_t> numbers, std::size_t begin, std::size_t most, Scratch& s,
                                cpu::PieceSums& sums) {
  const Walks walks = lay_out_together(tree, piece, numbers, begin, most, s);
  cells_forward(tree, walks);
  for (std::size_t i = 0; i < walks.count; ++i) {
    outputs_of(tree, walks.each[i], s);
    std::copy_n(walks.each[i].v + walks.each[i].steps * tree.cells.v_step, kLanes, s.memory.data() + i * kLanes);
  }
  for (std::size_t from = 0; from < walks.count; from += kGroup) {
    const std::span<const Walk> group(walks.each.data() + from, std::min(kGroup, walks.count - from));
    Block b = walks.block;
    b.steps = 0;
    for (const Walk& walk : group) b.steps += (walk.steps + kLanes - 1) / kLanes;
    with_formula(tree.objective, [&](auto formula) { loss<decltype(formula)>(tree, b, s, sums.loss, group[0].block); });
    if (piece.gradient) backward_together(tree, group, s);
  }
}

HWY_NOINLINE void run_cells(const PreparedTree& tree, const cpu::Piece& piece, Scratch& s, cpu::PieceSums& sums) {
  const auto n_m = static_cast<std::size_t>(tree.cells.n_m);
  if (piece.gradient) {
    s.cell_sums.assign(static_cast<std::size_t>(tree.shape.leaves()) * tree.cells.sum_stride, 0.0F);
    s.cell_node_sums.assign(static_cast<std::size_t>(tree.shape.nodes()) * tree.cells.v_step, 0.0F);
  }
  at_least(s.memory, kWalks * kLanes);
  const bool parts = !piece.gradient && tree.shape.form.output_order == OutputOrder::kZero;
  for (std::size_t from = 0, together = 0; from < piece.sequences.size(); from += together) {
    const std::size_t longest = piece.data->length(piece.sequences[from]);
    together = parts && longest > kPart ? kGroup : kWalks;  // losses are added up group by group, then part by part
    const auto numbers = piece.sequences.subspan(from, std::min(together, piece.sequences.size() - from));
    std::fill_n(s.memory.data(), kWalks * kLanes, 0.0F);
    if (piece.carry != nullptr)
      for (std::size_t i = 0; i < numbers.size(); ++i)
        std::copy_n(piece.carry->before.begin() + static_cast<std::ptrdiff_t>(numbers[i] * n_m), n_m,
                    s.memory.data() + i * kLanes);
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

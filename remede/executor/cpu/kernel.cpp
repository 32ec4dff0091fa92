// The vector kernels. Compiled once per instruction set (Highway's foreach_target includes this file again and again);
// the last part chooses among the copies at run time.
//
// Forward rounds as model/predict.h does: a product, then a sum, in the same order. Backward may fuse them.
#include "remede/executor/cpu/kernel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "remede/base/vector_targets.h"
#include "remede/executor/entmax.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "remede/executor/cpu/kernel.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, so that each target sees them again.
#include "remede/base/vector-inl.h"
#include "remede/executor/cpu/backward-inl.h"
#include "remede/executor/cpu/cells-inl.h"
#include "remede/executor/cpu/forward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace remede::HWY_NAMESPACE {

// dst[i] = s (1 - s) with s = sigmoid(src[i]); s itself to `sigmoids` where given. Sizes are padded to whole vectors.
void sigmoid_slopes(const float* src, std::size_t n, float* slopes, float* sigmoids) {
  for (std::size_t i = 0; i < n; i += kLanes) {
    const Wide s = sigmoid(load(src + i));
    if (sigmoids != nullptr) store(s, sigmoids + i);
    store(mul(s, sub(set(1.0F), s)), slopes + i);
  }
}

// values[i] = exp(values[i]), padded to whole vectors.
void exponentials(float* values, std::size_t n) {
  for (std::size_t i = 0; i < n; i += kLanes) store(exp(load(values + i)), values + i);
}

void run_piece(const cpu::PreparedTree& tree, const cpu::Piece& piece, cpu::Scratch& scratch, cpu::PieceSums& sums) {
  if (tree.cells.used) {
    run_cells(tree, piece, scratch, sums);
    return;
  }
  if (piece.gradient) begin_lane_sums(tree, scratch);
  for (std::size_t at = 0; at < piece.sequences.size(); at += kLanes) {
    const auto block = piece.sequences.subspan(at, std::min<std::size_t>(kLanes, piece.sequences.size() - at));
    load_memory(tree, piece.carry, block, scratch);
    const std::size_t longest = piece.data->length(block[0]);
    // The loss alone needs no step again: long sequences go through in parts. (A first-order output looks back one
    // step.)
    const bool parts = !piece.gradient && tree.shape.form.output_order == OutputOrder::kZero;
    const std::size_t most = parts ? kPart : longest;
    for (std::size_t begin = 0; begin < longest; begin += most) {
      const Block b = load_block(tree, piece, block, begin, most, scratch);
      forward(tree, b, scratch);
      with_formula(tree.objective, [&](auto formula) { loss<decltype(formula)>(tree, b, scratch, sums.loss); });
      if (piece.gradient) backward(tree, b, scratch, sums);
      for (std::size_t lane = 0; lane < block.size(); ++lane)
        each_end(tree, b, scratch, lane, [&](std::size_t k, float m) { scratch.memory[k * kLanes + lane] = m; });
    }
    if (piece.carry == nullptr) continue;
    const auto n_m = static_cast<std::size_t>(tree.shape.n_m);
    for (std::size_t lane = 0; lane < block.size(); ++lane)
      for (std::size_t k = 0; k < n_m; ++k)
        piece.carry->after[block[lane] * n_m + k] = scratch.memory[k * kLanes + lane];
  }
  if (piece.gradient) end_lane_sums(tree, scratch, sums);
}

}  // namespace remede::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace remede::cpu {
namespace {

struct Kernels {
  void (*sigmoid_slopes)(const float*, std::size_t, float*, float*);
  void (*exponentials)(float*, std::size_t);
  void (*run_piece)(const PreparedTree&, const Piece&, Scratch&, PieceSums&);
};

const Kernels& kernels() {
  static const Kernels chosen = {REMEDE_CHOOSE_KERNEL(sigmoid_slopes), REMEDE_CHOOSE_KERNEL(exponentials),
                                 REMEDE_CHOOSE_KERNEL(run_piece)};
  return chosen;
}

std::size_t padded(std::size_t n) { return (n + 15) / kLanes * kLanes; }

// Whether a step is quicker with the cells of one sequence side by side than with sixteen sequences side by side: where
// leaves have long rows, or sequences are too few to fill the lanes.
bool cells_side_by_side(const Shape& s, int row, std::size_t sequences) {
  const auto lanes = static_cast<int>(std::clamp<std::size_t>(sequences, 1, kLanes));
  return s.n_m > 0 && s.n_m <= kLanes && s.depth <= kDenseDepth && row * kLanes >= kCellsRow * lanes;
}

void lay_out_cells(const Shape& s, CellLayout& to) {
  to.n_x = s.n_x;
  to.n_m = s.n_m;
  to.n_y = s.n_y;
  to.linear = s.form.leaf_output == LeafOutput::kLinear;
  to.n_read = s.form.write_reads == WriteReads::kInputs ? 0 : s.n_m;
  to.v_step = kLanes + padded(static_cast<std::size_t>(s.n_x) + 1);
  const auto outputs = s.n_y * static_cast<int>(to.v_step);
  int at = CellLayout::kOutputs + outputs;
  const auto take = [&at](int floats) { return std::exchange(at, at + floats); };
  to.inputs = take(s.n_x * kLanes);
  to.memory = take(to.n_read * kLanes);
  to.reads = take(to.n_read * kLanes);
  to.stride = static_cast<std::size_t>(at);
  at = CellLayout::kSumOutputs + outputs;
  to.sum_writes = take(static_cast<int>(to.v_step) * kLanes);
  to.sum_stride = static_cast<std::size_t>(at);
  to.leaves.assign(static_cast<std::size_t>(s.leaves()) * to.stride, 0.0F);
  to.splits.resize(static_cast<std::size_t>(s.nodes()));
  to.one_hot.assign(static_cast<std::size_t>((kLanes + 1) * kLanes), 0.0F);
  for (int k = 0; k < kLanes; ++k) to.one_hot[static_cast<std::size_t>(k * kLanes + k)] = 1.0F;
}

// Leaf l in that layout. Gates and blends are set together with those of the other kernels.
void fill_cells(const Parameters<float>& p, int l, CellLayout& to) {
  const Shape& s = p.shape;
  const int n_x = s.n_x, n_m = s.n_m, n_y = s.n_y, n_v = s.n_v(), n_w = s.n_w();
  float* leaf = to.leaves.data() + static_cast<std::size_t>(l) * to.stride;
  const auto of = [&](Group g, int each) {
    return p[g].empty() ? nullptr : p[g].data() + static_cast<std::size_t>(l) * static_cast<std::size_t>(each);
  };
  const float *write = of(Group::kWrite, n_m * n_w), *bias = of(Group::kBias, n_m), *output = of(Group::kOutput, n_y),
              *linear = of(Group::kLinear, n_y * n_v), *gate = of(Group::kGate, n_m), *rate = of(Group::kRate, n_m);
  for (int k = 0; k < n_m; ++k) {
    leaf[k] = bias != nullptr ? bias[k] : 0.0F;
    leaf[CellLayout::kGateLogit + k] = gate[k];
    if (rate != nullptr) leaf[CellLayout::kRateLogit + k] = rate[k];
  }
  const auto transpose = [&](int from, int n, float* rows) {
    for (int f = 0; f < n; ++f)
      for (int k = 0; k < n_m; ++k) rows[f * kLanes + k] = write[k * n_w + from + f];
  };
  transpose(0, n_x, leaf + to.inputs);
  transpose(n_x, to.n_read, leaf + to.memory);
  for (int k = 0; k < to.n_read; ++k) std::copy_n(write + k * n_w + n_x, n_m, leaf + to.reads + k * kLanes);
  for (int k = 0; k < n_y; ++k) {
    float* row = leaf + CellLayout::kOutputs + static_cast<std::size_t>(k) * to.v_step;
    row[kLanes + n_x] = output[k];
    if (linear == nullptr) continue;
    std::copy_n(linear + k * n_v, n_x, row + kLanes);
    std::copy_n(linear + k * n_v + n_x, n_m, row);
  }
}

// The rows of the leaves, and what they are worth, as the kernels with sequences side by side read them.
void fill_rows(const Parameters<float>& p, bool invariant, PreparedTree& tree) {
  const Shape& s = p.shape;
  for (int g = static_cast<int>(Group::kOutput); g < kGroups; ++g) {
    const std::span<const float> group = p[static_cast<Group>(g)];
    const std::size_t width = group.size() / s.leaves();
    if (width == 0) continue;
    for (int l = 0; l < s.leaves(); ++l)
      std::memcpy(tree.rows.data() + static_cast<std::size_t>(l) * tree.stride + tree.at[g], group.data() + l * width,
                  width * sizeof(float));
  }
  tree.worth_begin = invariant ? 1 : 0;
  for (std::int32_t l = 0; l < s.leaves(); ++l) {
    float* worth = tree.worths.data() + static_cast<std::ptrdiff_t>(l) * tree.row;
    std::memcpy(worth, tree.leaf_row(l), static_cast<std::size_t>(tree.used) * sizeof(float));
    if (invariant)
      for (int k = s.n_y; k-- > 0;) worth[k] -= worth[0];
  }
}

}  // namespace

void prepare(const Parameters<float>& p, const GradientForm& form, const Objective& objective, std::size_t sequences,
             PreparedTree& tree) {
  const Shape& s = p.shape;
  const bool invariant = shift_invariant(objective);
  tree.form = form;
  tree.objective = objective;
  if (!(tree.shape == s) || tree.rows.empty()) {
    tree.shape = s;
    int at = 0;
    for (const Group g : {Group::kOutput, Group::kWrite, Group::kBias, Group::kLinear, Group::kGate, Group::kRate}) {
      tree.at[static_cast<int>(g)] = at;
      at += static_cast<int>(s.size(g) / s.leaves());
    }
    tree.dense = s.depth <= kDenseDepth;
    tree.used = at;
    tree.row = (at + 3) / 4 * 4;
    tree.node_row = (s.n_v() + 1 + 3) / 4 * 4;
    tree.feature.resize(s.nodes());
    tree.place.resize(s.nodes());
    tree.threshold.resize(s.nodes());
    tree.feature_number.resize(s.nodes());
    tree.gate = tree.used;
    tree.blend = tree.gate + s.n_m;
    tree.blend_slope = tree.blend + (tree.blends() ? s.n_m : 0);
    tree.stride = (tree.blend_slope + (tree.blends() ? s.n_m : 0) + 3) / 4 * 4;
    tree.rows.assign(static_cast<std::size_t>(s.leaves()) * tree.stride + kOverRead, 0.0F);
    tree.worths.assign(static_cast<std::size_t>(s.leaves()) * tree.row, 0.0F);
    tree.worth_outputs = s.form.leaf_output == LeafOutput::kLinear ? tree.used : s.n_y;
    tree.cells.leaves.clear();
  }
  tree.cells.used = cells_side_by_side(s, tree.used, sequences);
  if (tree.cells.used && tree.cells.leaves.empty()) lay_out_cells(s, tree.cells);
  tree.missing_right = p.missing_right;
  tree.missing_goes_right.assign(p.missing_right.begin(), p.missing_right.end());
  for (int i = 0; i < s.nodes(); ++i) {
    const float* logits = p[Group::kIndex].data() + static_cast<std::size_t>(i) * s.n_v();
    int f = 0;
    for (int k = 1; k < s.n_v(); ++k)
      if (logits[k] > logits[f]) f = k;
    tree.feature[i] = f;
    tree.place[i] = f * kLanes;
    tree.feature_number[i] = static_cast<float>(f);
    tree.threshold[i] = p[Group::kThreshold][static_cast<std::size_t>(i) * s.n_v() + f];
  }
  if (tree.cells.used) {
    for (int i = 0; i < s.nodes(); ++i) {
      const auto node = static_cast<std::size_t>(i);
      const int f = tree.feature[node];
      const bool input = f < s.n_x;
      tree.cells.splits[node] = {tree.threshold[node], input ? kLanes + f : f - s.n_x, tree.missing_goes_right[node],
                                 input ? kLanes : f - s.n_x};
    }
    for (int l = 0; l < s.leaves(); ++l) fill_cells(p, l, tree.cells);
  } else {
    fill_rows(p, invariant, tree);
  }
  const std::size_t cells = p[Group::kGate].size();
  AlignedVector<float> argument(padded(cells)), slope(argument.size()), value(argument.size());
  const CellLayout& in_cells = tree.cells;
  const auto each_cell = [&](Group group, const auto& visit) {
    std::copy(p[group].begin(), p[group].end(), argument.begin());
    kernels().sigmoid_slopes(argument.data(), argument.size(), slope.data(), value.data());
    for (std::size_t l = 0, i = 0; l < static_cast<std::size_t>(s.leaves()); ++l)
      for (int k = 0; k < s.n_m; ++k, ++i)
        visit((in_cells.used ? tree.cells.leaves.data() + l * in_cells.stride : tree.rows.data() + l * tree.stride) + k,
              i);
  };
  const int gate = in_cells.used ? CellLayout::kGate : tree.gate,
            blend = in_cells.used ? CellLayout::kBlend : tree.blend,
            blend_slope = in_cells.used ? CellLayout::kBlendSlope : tree.blend_slope;
  each_cell(Group::kGate, [&](float* at, std::size_t i) {
    at[gate] = std::copysign(std::max(slope[i], std::numeric_limits<float>::min()), argument[i] >= 0.0F ? 1.0F : -1.0F);
  });
  if (!tree.blends()) return;
  each_cell(Group::kRate, [&](float* at, std::size_t i) {
    at[blend] = value[i];
    at[blend_slope] = slope[i];
  });
}

void run_piece(const PreparedTree& tree, const Piece& piece, Scratch& scratch, PieceSums& sums) {
  if (piece.gradient) {
    sums.node.assign(static_cast<std::size_t>(tree.shape.nodes()) * tree.node_row, 0.0F);
    sums.leaf.assign(static_cast<std::size_t>(tree.shape.leaves()) * tree.row, 0.0F);
  }
  sums.loss = BatchLoss();
  kernels().run_piece(tree, piece, scratch, sums);
}

void finish(const Parameters<float>& p, const PreparedTree& tree, const PieceSums& sums, float scale,
            Parameters<float>& gradient) {
  const Shape& s = p.shape;
  const int n_v = s.n_v();
  const std::span<const float> index = p[Group::kIndex], threshold = p[Group::kThreshold];
  const std::span<float> d_index = gradient[Group::kIndex], d_threshold = gradient[Group::kThreshold];
  const bool softmax = tree.form.index == IndexGradient::kSoftmax;
  const bool weighs = tree.form.index != IndexGradient::kIdentity;
  AlignedVector<float> share(padded(weighs ? index.size() : 0));
  if (tree.form.index == IndexGradient::kEntmax) {
    const auto width = static_cast<std::size_t>(n_v);
    for (std::size_t at = 0; at < index.size(); at += width)
      entmax_roots<float>(index.subspan(at, width), {share.data() + at, width});
  }
  if (softmax) {
    for (int i = 0; i < s.nodes(); ++i) {
      const float* logits = index.data() + static_cast<std::size_t>(i) * n_v;
      const float top = logits[tree.feature[i]];
      for (int f = 0; f < n_v; ++f) share[static_cast<std::size_t>(i) * n_v + f] = logits[f] - top;
    }
    kernels().exponentials(share.data(), share.size());
  }
  for (int i = 0; i < s.nodes(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * n_v;
    const float* row = sums.node.data() + static_cast<std::size_t>(i) * tree.node_row;
    const float r = scale * row[n_v];
    float total = 0, mean = 0;
    for (int f = 0; f < n_v; ++f) {
      d_threshold[at + f] = 0;
      d_index[at + f] = scale * row[f] - threshold[at + f] * r;
      if (weighs) {
        total += share[at + f];
        mean += share[at + f] * d_index[at + f];
      }
    }
    d_threshold[at + tree.feature[i]] = -r;
    if (!weighs) continue;
    const float whole = softmax ? total : 1.0F;
    for (int f = 0; f < n_v; ++f) d_index[at + f] = share[at + f] / whole * (d_index[at + f] - mean / total);
  }
  for (int g = static_cast<int>(Group::kOutput); g < kGroups; ++g) {
    const std::span<float> group = gradient[static_cast<Group>(g)];
    const std::size_t width = group.size() / s.leaves();
    if (width == 0) continue;
    for (int l = 0; l < s.leaves(); ++l) {
      const float* row = sums.leaf.data() + static_cast<std::size_t>(l) * tree.row + tree.at[g];
      for (std::size_t k = 0; k < width; ++k) group[l * width + k] = scale * row[k];
    }
  }
}

const char* vector_name() { return name(vector_target()); }

}  // namespace remede::cpu
#endif  // HWY_ONCE

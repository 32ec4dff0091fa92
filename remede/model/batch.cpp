// Every lane walks the same tree: a node is visited once for all lanes on it, its lanes kept as bits, and handed on to
// its children, whose numbers are above its own. Rounds as model/predict.h does: a product, then a sum, in the same
// order.
#include "remede/model/batch.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "remede/base/aligned.h"
#include "remede/base/error.h"
#include "remede/base/lanes.h"
#include "remede/base/threads.h"
#include "remede/base/vector_targets.h"

#ifndef REMEDE_MODEL_BATCH_ONCE
#define REMEDE_MODEL_BATCH_ONCE
namespace remede {

// A weight that is not zero, and the number of what it weighs.
struct WeightedSource {
  std::uint32_t source;
  float weight;
};
// The weights of a matrix that are not zero, row by row. Of many cells most read only a few others.
struct SparseRows {
  std::vector<std::uint32_t> begin;  // (rows + 1)
  std::vector<WeightedSource> terms;
  std::span<const WeightedSource> row(std::size_t r) const {
    return {terms.data() + begin[r], begin[r + 1] - begin[r]};
  }
};
// Of a tree whose cells have laws.
struct SparseCells {
  SparseRows input, earlier, tap_input;         // (K)
  SparseRows of_inputs, of_outputs, of_levels;  // (n_y) the weights of the answer
  std::vector<float> share;                     // (K) of a tap that is always the same, else NaN
};

// 16 sequences, longest first; the last ones may be missing.
struct LaneBlock {
  const Model* model;
  const SparseCells* cells;  // (trees)
  const Sequences* data;
  std::span<const std::uint32_t> sequences;
  Predictions* out;
};

// Of one thread; grows, never shrinks.
struct LaneScratch {
  AlignedVector<float> x;            // (n_x, kLanes) as it stands, NaN where missing
  AlignedVector<float> filled;       // (n_x, kLanes)
  AlignedVector<float> m;            // (cells of all trees, kLanes)
  AlignedVector<float> next;         // (n_m, kLanes) of one tree
  AlignedVector<float> y;            // (trees, n_y, kLanes) logits or values; in the first order form they run on
  AlignedVector<float> answer;       // (2, n_y, kLanes) of one tree, and the sum over trees
  std::vector<std::uint32_t> lanes;  // (inner)
};

}  // namespace remede
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "remede/model/batch.cpp"
#include "hwy/foreach_target.h"
#include "remede/base/vector-inl.h"
#include "remede/objective/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace remede::HWY_NAMESPACE {

struct ReachedLeaves {
  int count = 0;
  std::int32_t leaf[kLanes];
  std::uint32_t lanes[kLanes];
};

static void find_leaves(const Tree& tree, const LaneScratch& s, const float* m, std::uint32_t alive,
                        std::uint32_t* lanes, ReachedLeaves& reached) {
  reached.count = 0;
  const auto hand_on = [&](std::int32_t child, std::uint32_t on) {
    if (child >= 0) {
      lanes[child] = on;
    } else if (on != 0) {
      reached.leaf[reached.count] = ~child;
      reached.lanes[reached.count++] = on;
    }
  };
  hand_on(tree.root(), alive);
  for (std::int32_t i = 0; i < tree.inner_count(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::uint32_t on = lanes[at];
    const std::int32_t f = tree.feature[at];
    std::uint32_t right = 0;
    if (on != 0) {
      const Wide v = load(f < tree.n_x ? s.x.data() + f * kLanes : m + (f - tree.n_x) * kLanes);
      right = bits(ge(v, set(tree.threshold[at])));
      if (tree.missing_right[at] != 0) right |= bits(is_nan(v));
    }
    hand_on(tree.left[at], on & ~right);
    hand_on(tree.right[at], on & right);
  }
}

HWY_INLINE Wide of_leaves(const ReachedLeaves& reached, const float* table, std::size_t stride, std::size_t at) {
  Wide value = set(table[static_cast<std::size_t>(reached.leaf[0]) * stride + at]);
  for (int e = 1; e < reached.count; ++e)
    value = select(mask(reached.lanes[e]), set(table[static_cast<std::size_t>(reached.leaf[e]) * stride + at]), value);
  return value;
}

// sum + the row at `first` of the reached leaves times (x, then `cells` cells).
HWY_INLINE Wide weighted(Wide sum, const Tree& tree, const LaneScratch& s, const float* m, int cells,
                         const ReachedLeaves& reached, const float* table, std::size_t stride, std::size_t first) {
  for (int f = 0; f < tree.n_x; ++f)
    sum = add(sum, mul(of_leaves(reached, table, stride, first + f), load(s.filled.data() + f * kLanes)));
  for (int k = 0; k < cells; ++k)
    sum = add(sum, mul(of_leaves(reached, table, stride, first + tree.n_x + k), load(m + k * kLanes)));
  return sum;
}

static void act(const Tree& tree, const ReachedLeaves& reached, LaneScratch& s, float* m, float* y) {
  const auto n_m = static_cast<std::size_t>(tree.n_m), n_y = static_cast<std::size_t>(tree.n_y);
  const auto n_v = static_cast<std::size_t>(tree.n_v()), n_w = static_cast<std::size_t>(tree.n_w());
  for (std::size_t o = 0; o < n_y; ++o) {
    Wide value = of_leaves(reached, tree.output.data(), n_y, o);
    if (tree.form.leaf_output == LeafOutput::kLinear)
      value = weighted(value, tree, s, m, tree.n_m, reached, tree.linear.data(), n_y * n_v, o * n_v);
    if (tree.form.output_order == OutputOrder::kFirst) value = add(load(y + o * kLanes), value);
    store(value, y + o * kLanes);
  }
  const int cells = tree.form.write_reads == WriteReads::kInputsAndMemory ? tree.n_m : 0;
  for (std::size_t k = 0; k < n_m; ++k) {
    std::uint32_t open = 0;
    for (int e = 0; e < reached.count; ++e)
      if (tree.gate[static_cast<std::size_t>(reached.leaf[e]) * n_m + k] != 0) open |= reached.lanes[e];
    const Wide before = load(m + k * kLanes);
    Wide after = before;
    if (open != 0) {
      const Wide constant = tree.form.write_bias ? of_leaves(reached, tree.bias.data(), n_m, k) : set(0.0F);
      Wide change = tanh(weighted(constant, tree, s, m, cells, reached, tree.write.data(), n_m * n_w, k * n_w));
      if (tree.form.write_rule == WriteRule::kBlend)
        change = mul(of_leaves(reached, tree.blend.data(), n_m, k), sub(change, before));
      after = select(mask(open), add(before, change), before);
    }
    store(after, s.next.data() + k * kLanes);
  }
  std::copy_n(s.next.data(), n_m * kLanes, m);
}

// Cells with laws (model/cells.h). A term whose weight is zero is left out.
HWY_INLINE Wide plus_terms(Wide sum, std::span<const WeightedSource> terms, const float* v) {
  for (const WeightedSource& term : terms)
    sum = add(sum, mul(set(term.weight), load(v + static_cast<std::size_t>(term.source) * kLanes)));
  return sum;
}

// The same with a row of its own for every lane.
HWY_INLINE Wide plus_leaf_terms(Wide sum, const ReachedLeaves& reached, const float* table, std::size_t stride,
                                std::size_t first, const float* v, int count) {
  for (int i = 0; i < count; ++i) {
    const Wide weight = of_leaves(reached, table, stride, first + static_cast<std::size_t>(i));
    sum = select(eq(weight, set(0.0F)), sum, add(sum, mul(weight, load(v + i * kLanes))));
  }
  return sum;
}

HWY_INLINE Wide bounded(const Wide& a) {
  const Wide limit = set(kCellBound), lowest = set(-kCellBound);
  const Wide numbers = select(is_nan(a), set(0.0F), a);
  return select(gt(numbers, limit), limit, select(lt(numbers, lowest), lowest, numbers));
}
HWY_INLINE Wide positive(const Wide& a) { return keep(gt(a, set(0.0F)), a); }

HWY_INLINE Wide lane_shares(const Tree& tree, const SparseCells& sparse, const ReachedLeaves& reached,
                            const LaneScratch& s, const Wide& level, std::size_t k) {
  const Cells& cells = tree.cells;
  const auto n_m = static_cast<std::size_t>(tree.n_m);
  const Wide zero = set(0.0F), one = set(1.0F);
  Wide sum = plus_terms(set(cells.tap[k]), sparse.tap_input.row(k), s.filled.data());
  if (cells.tap_level[k] != 0.0F) sum = add(sum, mul(set(cells.tap_level[k]), level));
  const Wide offset = of_leaves(reached, cells.tap_leaf.data(), n_m, k);
  sum = select(eq(offset, zero), sum, add(sum, offset));
  const Wide share = sigmoid(bounded(sum));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return select(eq(offset, set(-kInfinity)), zero, select(eq(offset, set(kInfinity)), one, share));
}

HWY_NOINLINE static void act_by_laws(const Tree& tree, const SparseCells& sparse, const ReachedLeaves& reached,
                                     LaneScratch& s, float* m, float* y, bool first_step) {
  const Cells& cells = tree.cells;
  const auto n_x = static_cast<std::size_t>(tree.n_x), n_m = static_cast<std::size_t>(tree.n_m);
  const std::size_t width = n_x + 2 * n_m, n_y = static_cast<std::size_t>(tree.n_y);
  float* const outputs = s.next.data();
  for (std::size_t k = 0; k < n_m; ++k) {
    const Wide level = load(m + k * kLanes);
    const float same = sparse.share[k];
    const Wide share = same == same ? set(same) : lane_shares(tree, sparse, reached, s, level, k);
    Wide a = plus_terms(set(cells.bias[k]), sparse.input.row(k), s.filled.data());
    a = bounded(plus_terms(a, sparse.earlier.row(k), outputs));
    if (cells.law[k] != Law::kAverage) a = positive(a);
    Wide after, output;
    if (cells.law[k] == Law::kStore) {
      const Wide sum = add(level, a);
      output = mul(share, sum);
      after = sub(sum, output);
    } else {
      after = first_step && cells.first[k] != 0 ? a : add(level, mul(share, sub(a, level)));
      output = after;
    }
    store(after, m + k * kLanes);
    store(output, outputs + k * kLanes);
  }
  for (std::size_t o = 0; o < n_y; ++o) {
    Wide value = of_leaves(reached, tree.output.data(), n_y, o);
    value = plus_terms(value, sparse.of_inputs.row(o), s.filled.data());
    value = plus_terms(value, sparse.of_outputs.row(o), outputs);
    value = plus_terms(value, sparse.of_levels.row(o), m);
    if (!cells.leaf_linear.empty()) {
      const float* table = cells.leaf_linear.data();
      const std::size_t stride = n_y * width, first = o * width;
      value = plus_leaf_terms(value, reached, table, stride, first, s.filled.data(), tree.n_x);
      value = plus_leaf_terms(value, reached, table, stride, first + n_x, outputs, tree.n_m);
      value = plus_leaf_terms(value, reached, table, stride, first + n_x + n_m, m, tree.n_m);
    }
    if (tree.form.output_order == OutputOrder::kFirst) value = add(load(y + o * kLanes), value);
    store(value, y + o * kLanes);
  }
}

// The inputs of step t in lanes; zeros where a sequence has ended.
static void load_step(const LaneBlock& b, std::size_t t, std::size_t alive, LaneScratch& s) {
  const Sequences& data = *b.data;
  const auto n_x = static_cast<std::size_t>(data.n_x);
  for (std::size_t lane = 0; lane < alive; ++lane) {
    const float* x = data.x.data() + (static_cast<std::size_t>(data.offset[b.sequences[lane]]) + t) * n_x;
    for (std::size_t f = 0; f < n_x; ++f) s.x[f * kLanes + lane] = x[f];
  }
  for (std::size_t f = 0; f < n_x; ++f) {
    const Wide x = load(s.x.data() + f * kLanes);
    store(select(is_nan(x), set(b.model->fill[f]), x), s.filled.data() + f * kLanes);
  }
}

void predict_block(const LaneBlock& b, LaneScratch& s) {
  const Model& model = *b.model;
  const Sequences& data = *b.data;
  const auto n_y = static_cast<std::size_t>(model.n_y());
  const std::size_t steps = data.steps();
  std::fill(s.m.begin(), s.m.end(), 0.0F);
  std::fill(s.y.begin(), s.y.end(), 0.0F);
  std::fill(s.x.begin(), s.x.end(), 0.0F);
  std::size_t alive = b.sequences.size();
  ReachedLeaves reached;
  for (std::size_t t = 0; t < data.length(b.sequences[0]); ++t) {
    while (data.length(b.sequences[alive - 1]) <= t) --alive;
    load_step(b, t, alive, s);
    float* m = s.m.data();
    float *answer = s.answer.data(), *sum = answer + n_y * kLanes;
    for (std::size_t i = 0; i < model.trees.size(); ++i) {
      const Tree& tree = model.trees[i];
      float* y = s.y.data() + i * n_y * kLanes;
      find_leaves(tree, s, m, (1U << alive) - 1U, s.lanes.data(), reached);
      if (tree.has_laws())
        act_by_laws(tree, b.cells[i], reached, s, m, y, t == 0);
      else
        act(tree, reached, s, m, y);
      std::copy_n(y, n_y * kLanes, answer);
      with_formula(model.objective(), [&](auto formula) {
        decltype(formula)::template link<Wide>(model.objective(), answer, static_cast<int>(n_y));
      });
      for (std::size_t o = 0; o < n_y; ++o)
        store(i == 0 ? load(answer + o * kLanes) : add(load(sum + o * kLanes), load(answer + o * kLanes)),
              sum + o * kLanes);
      for (int e = 0; e < reached.count; ++e)
        for (std::uint32_t on = reached.lanes[e]; on != 0; on &= on - 1)
          b.out->leaf[i * steps + static_cast<std::size_t>(data.offset[b.sequences[std::countr_zero(on)]]) + t] =
              reached.leaf[e];
      m += tree.n_m * kLanes;
    }
    const Wide count = set(static_cast<float>(model.trees.size()));
    for (std::size_t o = 0; o < n_y; ++o) store(div(load(sum + o * kLanes), count), sum + o * kLanes);
    for (std::size_t lane = 0; lane < alive; ++lane) {
      float* to = b.out->output.data() + (static_cast<std::size_t>(data.offset[b.sequences[lane]]) + t) * n_y;
      for (std::size_t o = 0; o < n_y; ++o) to[o] = sum[o * kLanes + lane];
    }
  }
}

}  // namespace remede::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace remede {

using PredictBlock = void (*)(const LaneBlock&, LaneScratch&);

static PredictBlock choose_predict_block() { return REMEDE_CHOOSE_KERNEL(predict_block); }

// Columns `first` to `first + count` of a matrix with `width` columns.
static SparseRows sparse_rows(const std::vector<float>& matrix, std::size_t rows, std::size_t width, std::size_t first,
                              std::size_t count) {
  SparseRows sparse;
  sparse.begin.push_back(0);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < count; ++c)
      if (const float weight = matrix[r * width + first + c]; weight != 0.0F)
        sparse.terms.push_back({static_cast<std::uint32_t>(c), weight});
    sparse.begin.push_back(static_cast<std::uint32_t>(sparse.terms.size()));
  }
  return sparse;
}

// NaN where it depends on the step.
static float same_share(const Tree& tree, const SparseCells& sparse, std::size_t k) {
  const Cells& cells = tree.cells;
  if (tree.leaf_count() > 1 || !sparse.tap_input.row(k).empty() || cells.tap_level[k] != 0.0F)
    return std::numeric_limits<float>::quiet_NaN();
  const float nothing[1] = {};
  return tap_share(tree, 0, static_cast<int>(k), {nothing, nothing}, 0.0F);
}

static SparseCells sparse_cells(const Tree& tree) {
  SparseCells s;
  if (!tree.has_laws()) return s;
  const Cells& cells = tree.cells;
  const auto n_x = static_cast<std::size_t>(tree.n_x), n_m = static_cast<std::size_t>(tree.n_m);
  const auto n_y = static_cast<std::size_t>(tree.n_y);
  s.input = sparse_rows(cells.input, n_m, n_x, 0, n_x);
  s.earlier = sparse_rows(cells.earlier, n_m, n_m, 0, n_m);
  s.tap_input = sparse_rows(cells.tap_input, n_m, n_x, 0, n_x);
  s.of_inputs = sparse_rows(cells.linear, n_y, n_x + 2 * n_m, 0, n_x);
  s.of_outputs = sparse_rows(cells.linear, n_y, n_x + 2 * n_m, n_x, n_m);
  s.of_levels = sparse_rows(cells.linear, n_y, n_x + 2 * n_m, n_x + n_m, n_m);
  for (std::size_t k = 0; k < n_m; ++k) s.share.push_back(same_share(tree, s, k));
  return s;
}

static LaneScratch make_scratch(const Model& model) {
  const auto n_x = static_cast<std::size_t>(model.n_x()), n_y = static_cast<std::size_t>(model.n_y());
  std::size_t cells = 0, most_cells = 0, inner = 0;
  for (const Tree& tree : model.trees) {
    cells += static_cast<std::size_t>(tree.n_m);
    most_cells = std::max(most_cells, static_cast<std::size_t>(tree.n_m));
    inner = std::max(inner, tree.feature.size());
  }
  LaneScratch s;
  s.x.resize(n_x * kLanes);
  s.filled.resize(n_x * kLanes);
  s.m.resize(cells * kLanes);
  s.next.resize(most_cells * kLanes);
  s.y.resize(model.trees.size() * n_y * kLanes);
  s.answer.resize(2 * n_y * kLanes);
  s.lanes.resize(inner);
  return s;
}

Predictions predict_batch(const Model& model, const Sequences& sequences, int threads) {
  if (sequences.n_x != model.n_x())
    fail("expected sequences with the {} inputs of the model, got {}", model.n_x(), sequences.n_x);
  static const PredictBlock run = choose_predict_block();
  Predictions predictions;
  predictions.output.resize(sequences.steps() * static_cast<std::size_t>(model.n_y()));
  predictions.leaf.resize(sequences.steps() * model.trees.size());
  std::vector<std::uint32_t> order(sequences.count());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return sequences.length(a) > sequences.length(b); });
  while (!order.empty() && sequences.length(order.back()) == 0) order.pop_back();
  if (threads <= 0) threads = hardware_threads();
  std::vector<SparseCells> cells;
  for (const Tree& tree : model.trees) cells.push_back(sparse_cells(tree));
  std::vector<LaneScratch> scratch(static_cast<std::size_t>(threads), make_scratch(model));
  constexpr std::size_t kBlocks = 16;  // a task for a thread
  const std::size_t chunk = kLanes * kBlocks;
  parallel_for((order.size() + chunk - 1) / chunk, threads, [&](std::size_t c, int worker) {
    for (std::size_t at = c * chunk; at < std::min(order.size(), (c + 1) * chunk); at += kLanes) {
      const auto block =
          std::span<const std::uint32_t>(order).subspan(at, std::min<std::size_t>(kLanes, order.size() - at));
      run({&model, cells.data(), &sequences, block, &predictions}, scratch[static_cast<std::size_t>(worker)]);
    }
  });
  return predictions;
}

}  // namespace remede
#endif

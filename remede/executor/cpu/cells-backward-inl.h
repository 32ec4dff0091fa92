// Cells side by side, fourth part: backward. Included once per target by cells-inl.h.
#if defined(REMEDE_CELLS_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REMEDE_CELLS_BACKWARD_INL_H_
#undef REMEDE_CELLS_BACKWARD_INL_H_
#else
#define REMEDE_CELLS_BACKWARD_INL_H_
#endif

#include <algorithm>
#include <array>
#include <span>

#include "remede/base/vector-inl.h"
#include "remede/executor/cpu/cells-aside-inl.h"
#include "remede/executor/cpu/cells-forward-inl.h"
#include "remede/executor/cpu/cells-layout-inl.h"
#include "remede/executor/cpu/kernel.h"
#include "remede/executor/cpu/leaf-inl.h"

HWY_BEFORE_NAMESPACE();
namespace remede {
namespace HWY_NAMESPACE {

// The sum of the lanes, in an order that does not depend on the width of the registers.
HWY_INLINE float sum_lanes(const Wide& a) {
#if HWY_TARGET == HWY_SCALAR
  alignas(64) float lane[kLanes];
  store(a, lane);
  for (int n = kLanes / 2; n > 0; n /= 2)
    for (int i = 0; i < n; ++i) lane[i] += lane[i + n];
  return lane[0];
#else
#if HWY_MAX_BYTES >= 64
  const hn::FixedTag<float, 4> d4;
  const hn::FixedTag<float, 8> d8;
  const auto eight = hn::Add(hn::LowerHalf(d8, a.v[0]), hn::UpperHalf(d8, a.v[0]));
  const auto four = hn::Add(hn::LowerHalf(d4, eight), hn::UpperHalf(d4, eight));
#elif HWY_MAX_BYTES >= 32
  const hn::FixedTag<float, 4> d4;
  const auto eight = hn::Add(a.v[0], a.v[1]);
  const auto four = hn::Add(hn::LowerHalf(d4, eight), hn::UpperHalf(d4, eight));
#else
  const auto four = hn::Add(hn::Add(a.v[0], a.v[2]), hn::Add(a.v[1], a.v[3]));
#endif
  const auto two = hn::Add(four, hn::Shuffle1032(four));
  return hn::GetLane(hn::Add(two, hn::Shuffle2301(two)));
#endif
}

// What is known of a tree when the program is compiled: the number of its outputs, and that v has two vectors; or, with
// 0 outputs, nothing. Loops over a few outputs take longer than what they do.
template <int kOutputs>
struct Known {
  static constexpr bool kTwoVectors = kOutputs > 0;
  static std::size_t v_step(const CellLayout& at) { return kTwoVectors ? 2 * kLanes : at.v_step; }
};

// The derivatives at a step.
template <int kOutputs>
struct CellStep {
  const float* v;
  const float* g;  // (n_y), kLanes apart, by the outputs; null where there is no target
  Wide q, a, e, rate;
  // Where that much is known, what would be loaded again and again.
  Wide held_v[2], held_g[std::max(1, kOutputs)];

  HWY_INLINE void hold() {
    if constexpr (Known<kOutputs>::kTwoVectors) {
      each_of<2>([&](auto n) REMEDE_INLINED { held_v[n] = load(v + n * kLanes); });
      if (g != nullptr) each_of<kOutputs>([&](auto k) REMEDE_INLINED { held_g[k] = set(g[k * kLanes]); });
    }
  }
  HWY_INLINE Wide v_at(std::size_t f, int n) const {
    if constexpr (Known<kOutputs>::kTwoVectors)
      return held_v[n];
    else
      return load(v + f + n * kLanes);
  }
  HWY_INLINE Wide g_at(std::size_t k) const {
    if constexpr (Known<kOutputs>::kTwoVectors)
      return held_g[k];
    else
      return set(g[k * kLanes]);
  }
};

// Calls visit(f, the number of vectors) for the vectors of v, two at a time.
template <int kOutputs, typename Visit>
HWY_INLINE void each_two(std::size_t v_step, const Visit& visit) {
  constexpr bool more = !Known<kOutputs>::kTwoVectors;
  std::size_t f = 0;
  do visit(f, std::integral_constant<int, 2>());  // v has two vectors or more
  while (more && (f += 2 * kLanes) + 2 * kLanes <= v_step);
  if (more && f < v_step) visit(f, std::integral_constant<int, 1>());
}

// Calls visit(k) for the outputs from the first on.
template <int kOutputs, typename Visit>
HWY_INLINE void each_output(const CellLayout& at, int first, const Visit& visit) {
  if constexpr (kOutputs > 0)
    each_of<kOutputs>([&](auto k) REMEDE_INLINED {
      if (k >= first) visit(static_cast<std::size_t>(k));
    });
  else
    for (int k = first; k < at.n_y; ++k) visit(static_cast<std::size_t>(k));
}

// ADDS scale * v to the sums.
template <int kOutputs>
HWY_INLINE void add_v(const CellLayout& at, const Wide& scale, const CellStep<kOutputs>& step, float* sums) {
  each_two<kOutputs>(at.v_step, [&](std::size_t f, auto vectors) REMEDE_INLINED {
    each_of<decltype(vectors)::value>([&](auto n) REMEDE_INLINED {
      store(fused(scale, step.v_at(f, n), load(sums + f + n * kLanes)), sums + f + n * kLanes);
    });
  });
}

// Lanes of what a leaf is worth: to be summed. sums: as look_aside() leaves them.
template <int kOutputs>
HWY_INLINE Wide worth_lanes(const PreparedTree& tree, const float* row, const Wide& sums,
                            const CellStep<kOutputs>& step) {
  const CellLayout& at = tree.cells;
  Wide worth;
  if (tree.form.mix == Mix::kParameters) {
    worth = fused(step.a, sums, mul(step.e, load(row + CellLayout::kGateLogit)));
    if (tree.blends()) worth = fused(step.rate, load(row + CellLayout::kRateLogit), worth);
  } else {
    worth = mul(step.q, sums);
  }
  if (step.g == nullptr) return worth;
  const std::size_t v_step = Known<kOutputs>::v_step(at);
  each_two<kOutputs>(v_step, [&](std::size_t f, auto vectors) REMEDE_INLINED {
    constexpr int kTwo = decltype(vectors)::value;
    const float* output = row + CellLayout::kOutputs + f;
    Wide weights[kTwo];
    const Wide first = step.g_at(0);
    each_of<kTwo>([&](auto n) REMEDE_INLINED { weights[n] = mul(first, load(output + n * kLanes)); });
    each_output<kOutputs>(at, 1, [&](std::size_t k) REMEDE_INLINED {
      const Wide g = step.g_at(k);
      each_of<kTwo>([&](auto n)
                        REMEDE_INLINED { weights[n] = fused(g, load(output + k * v_step + n * kLanes), weights[n]); });
    });
    each_of<kTwo>([&](auto n) REMEDE_INLINED { worth = fused(weights[n], step.v_at(f, n), worth); });
  });
  return worth;
}

HWY_INLINE void add_to(const Wide& a, float* to) { store(add(load(to), a), to); }

// A step of a tree with one leaf whose outputs have targets.
struct Asked {
  const float* v;
  const float* g;  // (n_y), kLanes apart
};

// A group on its way back through a chunk of steps.
struct WayBack {
  std::span<const Walk> walks;
  std::size_t first = 0;  // step of the chunk
  Aside aside{};
  std::array<Wide, kGroup> q;  // the derivative by the memory after the step, then by that before it
  // Where the tree has one leaf, what is to be summed up after the chunk, in order:
  float* by_gate = nullptr;  // (done, kLanes)
  float* by_rate = nullptr;  // (done, kLanes)
  std::size_t done = 0;      // steps
  std::array<Asked, kGroup * kChunk> asked;
  std::size_t asked_count = 0;
};

// What the gates, the writes and the rates of a step hand back. row: of the leaf. Returns what stays in the cells.
template <int kOutputs>
HWY_INLINE Wide through_writes(const PreparedTree& tree, const float* row, const Wide& u, CellStep<kOutputs>& step) {
  const Wide zero = set(0.0F), m = load(step.v), gate = load(row + CellLayout::kGate);
  Wide full = u, through = keep(gt(gate, zero), step.q), stays = step.q;
  step.rate = zero;
  if (tree.blends()) {
    const Wide blend = load(row + CellLayout::kBlend), gap = sub(u, m);
    full = mul(blend, gap);
    step.rate = mul(mul(through, gap), load(row + CellLayout::kBlendSlope));
    through = mul(through, blend);
    stays = sub(step.q, through);
  }
  step.e = mul(mul(step.q, full), abs(gate));
  step.a = mul(through, sub(set(1.0F), mul(u, u)));
  return stays;
}

// ADDS to `back` what goes through the outputs; and to their sums, unless there is one leaf.
template <bool one_leaf, int kOutputs>
HWY_INLINE void through_outputs(const CellLayout& at, const float* row, const CellStep<kOutputs>& step, float* sum,
                                Wide& back) {
  const std::size_t v_step = Known<kOutputs>::v_step(at);
  each_output<kOutputs>(at, 0, [&](std::size_t k) REMEDE_INLINED {
    const Wide g = step.g_at(k);
    back = fused(g, load(row + CellLayout::kOutputs + k * v_step), back);
    if (!one_leaf) add_v<kOutputs>(at, g, step, sum + k * v_step);
  });
}

// ADDS to back[i] what goes through the sums of step i into the memory: W^T A. a: where A stands.
template <int kCount, bool one_leaf>
HWY_INLINE void through_sums(const CellLayout& at, const float* const* row, const float* const* a, Wide* back) {
  const float* reads[kCount];
  Wide other[kCount];
  each_of<kCount>([&](auto i) REMEDE_INLINED {
    reads[i] = row[one_leaf ? 0 : i] + at.reads;
    other[i] = set(0.0F);
  });
  int k = 0;
  if (!one_leaf)  // as in add_exact()
    for (; k + 4 <= at.n_read; k += 4)
      each_of<kCount>([&](auto i) REMEDE_INLINED {
        const Wide x = load_four(a[i] + k);
        const float* weights = reads[i] + k * kLanes;
        back[i] = fused(spread<0>(x), load(weights), back[i]);
        other[i] = fused(spread<1>(x), load(weights + kLanes), other[i]);
        back[i] = fused(spread<2>(x), load(weights + 2 * kLanes), back[i]);
        other[i] = fused(spread<3>(x), load(weights + 3 * kLanes), other[i]);
      });
  for (; k + 2 <= at.n_read; k += 2) {
    const Wide even = load(reads[0] + k * kLanes), odd = load(reads[0] + (k + 1) * kLanes);
    each_of<kCount>([&](auto i) REMEDE_INLINED {
      back[i] = fused(set(a[i][k]), one_leaf ? even : load(reads[i] + k * kLanes), back[i]);
      other[i] = fused(set(a[i][k + 1]), one_leaf ? odd : load(reads[i] + (k + 1) * kLanes), other[i]);
    });
  }
  each_of<kCount>([&](auto i) REMEDE_INLINED {
    if (k < at.n_read) back[i] = fused(set(a[i][k]), load(reads[one_leaf ? 0 : i] + k * kLanes), back[i]);
    back[i] = add(back[i], other[i]);
  });
}

// ADDS the gradient of the splits on the path, and to `back` what goes through them into memory. place: of the step in
// what was found aside. here: the lanes of what the reached leaf is worth.
template <int kOutputs>
HWY_INLINE void through_decisions(const PreparedTree& tree, const Aside& aside, std::size_t place, const Wide& here,
                                  const CellStep<kOutputs>& step, Scratch& s, Wide& back) {
  const CellLayout& at = tree.cells;
  for (const std::size_t end = place + static_cast<std::size_t>(tree.shape.depth); place < end; ++place) {
    const Side& side = aside.sides[place];
    if (side.node < 0) continue;
    const Wide there = worth_lanes<kOutputs>(tree, side.leaf, load(aside.sums + place * kLanes), step);
    const Wide r = set(sum_lanes(sub(there, here)) * (side.sign * aside.slopes[place]));
    const auto node = static_cast<std::size_t>(side.node);
    back = fused(r, load(at.one_hot.data() + at.splits[node].cell * kLanes), back);
    add_v<kOutputs>(at, r, step, s.cell_node_sums.data() + node * at.v_step);
  }
}

// Step t of kCount walks from number `from` on. q: the derivative by their memory after the step, then by that before
// it. What the writes read is summed up later.
template <int kCount, bool one_leaf, int kOutputs>
HWY_INLINE void cells_backward_step(const PreparedTree& tree, WayBack& way, std::size_t from, std::size_t t, Scratch& s,
                                    Wide* q) {
  const CellLayout& at = tree.cells;
  const Walk* walks = way.walks.data() + from;
  const float *row[kCount], *a[kCount];
  float* sum[kCount];
  CellStep<kOutputs> step[kCount];
  Wide back[kCount];
  each_of<kCount>([&](auto i) REMEDE_INLINED {
    const Walk& walk = walks[i];
    const std::int32_t leaf = one_leaf ? 0 : walk.leaf[t];
    const std::size_t block = walk.block + t / kLanes, lane = t % kLanes;
    const bool asked = s.weight[block * kLanes + lane] > 0.0F || tree.shape.form.output_order == OutputOrder::kFirst;
    row[i] = at.leaf(leaf);
    sum[i] = s.cell_sums.data() + static_cast<std::size_t>(leaf) * at.sum_stride;
    step[i].v = walk.v + t * at.v_step;
    step[i].g = asked ? s.y.data() + block * static_cast<std::size_t>(at.n_y) * kLanes + lane : nullptr;
    step[i].q = q[i];
    back[i] = through_writes(tree, row[one_leaf ? 0 : i], load(walk.u + t * kLanes), step[i]);
    store(step[i].a, walk.a + t * kLanes);
    a[i] = walk.a + t * kLanes;
    if (one_leaf) {
      store(step[i].e, way.by_gate + way.done * kLanes);
      store(step[i].rate, way.by_rate + way.done++ * kLanes);
      if (asked) way.asked[way.asked_count++] = {step[i].v, step[i].g};
    } else {
      add_to(step[i].e, sum[i]);
      if (tree.blends()) add_to(step[i].rate, sum[i] + CellLayout::kSumRate);
    }
  });
  through_sums<kCount, one_leaf>(at, row, a, back);
  each_of<kCount>([&](auto i) REMEDE_INLINED {
    step[i].hold();
    if (step[i].g != nullptr)
      through_outputs<one_leaf, kOutputs>(at, row[one_leaf ? 0 : i], step[i], sum[i] + CellLayout::kSumOutputs,
                                          back[i]);
    if (one_leaf) return;
    const std::size_t place = ((from + i) * kChunk + (t - way.first)) * static_cast<std::size_t>(tree.shape.depth);
    const Wide own = tree.form.mix == Mix::kEffects
                         ? open_change(tree, row[i], load(walks[i].u + t * kLanes), load(step[i].v))
                         : load(walks[i].sums + t * kLanes);
    const Wide here = worth_lanes<kOutputs>(tree, row[i], own, step[i]);
    through_decisions<kOutputs>(tree, way.aside, place, here, step[i], s, back[i]);
  });
  each_of<kCount>([&](auto i) REMEDE_INLINED { q[i] = within(back[i], kMostBack); });
}

// ADDS to the sums of kCount outputs, for kVectors vectors of v.
template <int kCount, int kVectors>
HWY_INLINE void add_outputs(const CellLayout& at, std::span<const Asked> asked, std::size_t k, std::size_t f,
                            float* sums) {
  Wide sum[kCount][kVectors];
  const auto place = [&](int i, int n) {
    return sums + (k + static_cast<std::size_t>(i)) * at.v_step + f + static_cast<std::size_t>(n * kLanes);
  };
  const auto each_sum = [](const auto& visit) REMEDE_INLINED {
    each_of<kCount * kVectors>([&](auto n) REMEDE_INLINED {
      constexpr int kAt = decltype(n)::value;
      visit(std::integral_constant<int, kAt / kVectors>(), std::integral_constant<int, kAt % kVectors>());
    });
  };
  each_sum([&](auto i, auto n) REMEDE_INLINED { sum[i][n] = load(place(i, n)); });
  for (const Asked& step : asked)
    each_sum([&](auto i, auto n) REMEDE_INLINED {
      sum[i][n] =
          fused(set(step.g[(k + static_cast<std::size_t>(i)) * kLanes]), load(step.v + f + n * kLanes), sum[i][n]);
    });
  each_sum([&](auto i, auto n) REMEDE_INLINED { store(sum[i][n], place(i, n)); });
}

// ADDS what a chunk leaves to the sums of the only leaf: gates, rates, outputs.
HWY_NOINLINE void add_chunk(const PreparedTree& tree, const WayBack& way, float* sums) {
  const CellLayout& at = tree.cells;
  Wide gate = load(sums), rate = load(sums + CellLayout::kSumRate);
  for (std::size_t i = 0; i < way.done; ++i) {
    gate = add(gate, load(way.by_gate + i * kLanes));
    rate = add(rate, load(way.by_rate + i * kLanes));
  }
  store(gate, sums);
  store(rate, sums + CellLayout::kSumRate);
  constexpr std::size_t kMost = kK == 1 ? 4 : 1;
  const std::span<const Asked> asked(way.asked.data(), way.asked_count);
  const auto n_y = static_cast<std::size_t>(at.n_y);
  const auto add_all = [&](std::size_t f, auto vectors) {
    constexpr int kVectors = decltype(vectors)::value;
    std::size_t k = 0;
    for (; k + kMost <= n_y; k += kMost) add_outputs<kMost, kVectors>(at, asked, k, f, sums + CellLayout::kSumOutputs);
    if (n_y - k == 3) add_outputs<3, kVectors>(at, asked, k, f, sums + CellLayout::kSumOutputs);
    if (n_y - k == 2) add_outputs<2, kVectors>(at, asked, k, f, sums + CellLayout::kSumOutputs);
    if (n_y - k == 1) add_outputs<1, kVectors>(at, asked, k, f, sums + CellLayout::kSumOutputs);
  };
  each_two<0>(at.v_step, add_all);
}

// The steps [way.first, end) of a group.
template <bool one_leaf, int kOutputs>
HWY_NOINLINE void back_through_chunk(const PreparedTree& tree, WayBack& way, std::size_t end, Scratch& s) {
  const auto depth = static_cast<std::size_t>(tree.shape.depth);
  const std::size_t count = way.walks.size();
  for (std::size_t i = 0; !one_leaf && i < count; ++i) {
    const std::size_t place = i * kChunk * depth;
    look_aside(tree, way.walks[i], way.first, std::min(end, way.walks[i].end),
               {way.aside.sides + place, way.aside.slopes + place, way.aside.sums + place * kLanes});
  }
  way.done = way.asked_count = 0;
  std::size_t shared = count == kGroup ? end : way.first;  // up to here all have steps
  for (const Walk& walk : way.walks) shared = std::max(way.first, std::min(shared, walk.end));
  std::size_t t = end;
  while (t-- > shared)
    for (std::size_t i = 0; i < count; ++i)
      if (t < way.walks[i].end) cells_backward_step<1, one_leaf, kOutputs>(tree, way, i, t, s, &way.q[i]);
  Wide q[kGroup];  // in registers
  each_of<kGroup>([&](auto i) REMEDE_INLINED { q[i] = way.q[i]; });
  for (t = shared; t-- > way.first;) cells_backward_step<kGroup, one_leaf, kOutputs>(tree, way, 0, t, s, q);
  each_of<kGroup>([&](auto i) REMEDE_INLINED { way.q[i] = q[i]; });
  if (one_leaf) add_chunk(tree, way, s.cell_sums.data());
}

}  // namespace HWY_NAMESPACE
}  // namespace remede
HWY_AFTER_NAMESPACE();

#endif

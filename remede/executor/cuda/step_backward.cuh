// The backward pass of the stepwise form (stepper.h). Lanes of a sequence share the levels of the tree.
// docs/mathematics.md has the formulas.
#pragma once

#include "remede/executor/cuda/step_onehot.cuh"
#include "remede/executor/cuda/step_sums.cuh"
#include "remede/executor/cuda/weigh.cuh"

namespace remede::cuda {

// What a step back begins with; loaded a step ahead.
template <class C>
struct Traced {
  int leaf = 0, label = 0;
  float weight = 0.0F;
  float v[C::l.n_v];  // inputs as they are, and memory before the step
  float y[C::l.n_g];  // outputs added up; only in the first-order form
};

template <class C>
__device__ __forceinline__ void load_traced(const Start& s, const OwnSequence& own, const float* trace, int t,
                                            Traced<C>& to) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  if (t < 0 || t >= own.length) return;
  const float* const from = trace + static_cast<std::size_t>(t) * (p.trace * p.sequences) + own_place<C>();
  const float* const x = own.x + static_cast<std::size_t>(t) * l.n_x;
#pragma unroll
  for (int f = 0; f < l.n_x; ++f) to.v[f] = p.ahead > 0 ? from[(p.trace_x + f) * p.sequences] : x[f];
#pragma unroll
  for (int k = 0; k < l.n_m; ++k) to.v[l.n_x + k] = from[k * p.sequences];
  to.leaf = reinterpret_cast<const std::int32_t*>(from)[l.n_m * p.sequences];
  if (l.first_order)
#pragma unroll
    for (int k = 0; k < l.n_g; ++k) to.y[k] = from[(l.n_m + 1 + k) * p.sequences];
  to.weight = p.ahead > 0 ? from[(p.trace - 2) * p.sequences] : s.data.weight[own.from + t];
  if (C::loss == Loss::kCrossEntropy)
    to.label = p.ahead > 0 ? __float_as_int(from[(p.trace - 1) * p.sequences]) : s.data.label[own.from + t];
}

// The loss of a step; g, its outputs, becomes the derivative by them. Derivatives by the scores of all classes add up
// to 0: that of the last one, which is left out, follows from the others.
template <class C>
__device__ __forceinline__ void step_derivative(const Start& s, std::int64_t at, int label, float weight, float scale,
                                                float (&g)[C::l.n_g], LossSums& sums) {
  constexpr Layout l = C::l;
  if (weight == 0.0F) {
#pragma unroll
    for (int k = 0; k < l.n_g; ++k) g[k] = 0.0F;
    return;
  }
  float y[l.n_y];
#pragma unroll
  for (int k = 0; k < l.n_y; ++k) y[k] = k < l.n_g ? g[k] : 0.0F;
  const Objective objective = {C::loss, {s.quantiles}, {s.scale}};
  const auto named = static_cast<float>(label);
  const float* const target = C::loss == Loss::kCrossEntropy ? &named : s.data.value + at * l.n_t;
  LossSums own;
  step_loss(objective, y, target, l.n_y, l.n_t, weight, scale, own);
#pragma unroll
  for (int k = 0; k < l.n_g; ++k) g[k] = y[k];
  if (threadIdx.x % C::p.sharers == 0) {
    sums.loss += own.loss;
    sums.correct += own.correct;
  }
}

template <class C, int N>
__device__ __forceinline__ float leaf_worth(const float (&r)[N], const LeafDerivatives<C>& c, const float* q,
                                            const float (&v)[C::l.n_v]) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  float sum = 0.0F;
#pragma unroll
  for (int y = 0; y < l.n_g; ++y) sum = fmaf(c.g[y], row_output<C>(r, v, y), sum);
#pragma unroll
  for (int k = 0; k < l.n_m; ++k) {
    const float argument = write_argument<C>(r, v, k);
    if (l.effects) {
      const float u = tanh(argument), change = l.blends ? r[p.blend + k] * (u - v[l.n_x + k]) : u;
      if (r[p.gate_value + k] >= 0.0F) sum = fmaf(q[k], change, sum);
    } else {
      sum = fmaf(c.gate[k], r[p.gate_value + k], sum);
      sum = fmaf(c.write[k], argument, sum);
      if (l.blends) sum = fmaf(c.rate[k], r[p.rate_value + k], sum);
    }
  }
  return sum;
}

// The derivatives by the reached leaf, its worth, and in `back` what goes through it into memory.
template <class C>
__device__ __forceinline__ float through_leaf(const float* row, float (&v)[C::l.n_v], const float* q,
                                              LeafDerivatives<C>& c, float* back) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  float r[p.row];
  load_row<0, p.row>(row, r);
#pragma unroll
  for (int k = 0; k < l.n_m; ++k) {
    const float u = tanh(write_argument<C>(r, v, k)), m = v[l.n_x + k];
    const bool open = r[p.gate_value + k] >= 0.0F;
    const float a = l.blends ? r[p.blend + k] : 1.0F, change = l.blends ? a * (u - m) : u;
    c.gate[k] = q[k] * change * r[p.slope + k];
    c.write[k] = open ? q[k] * a * (1.0F - u * u) : 0.0F;
    c.rate[k] = l.blends && open ? q[k] * change * (1.0F - a) : 0.0F;
    back[k] = l.blends && open ? q[k] * (1.0F - a) : q[k];
  }
#pragma unroll
  for (int k = 0; k < l.n_m; ++k) {
    if (l.reads_memory)
#pragma unroll
      for (int i = 0; i < l.n_m; ++i) back[k] = fmaf(c.write[i], r[p.writes + i * l.n_w + l.n_x + k], back[k]);
    if (l.linear)
#pragma unroll
      for (int y = 0; y < l.n_g; ++y) back[k] = fmaf(c.g[y], r[p.linear + y * l.n_v + l.n_x + k], back[k]);
  }
  return leaf_worth<C>(r, c, q, v);
}

// ASSIGNS the derivatives by the splits of this lane's levels to `splits`; ADDS to `back` what goes through them into
// memory.
template <class C>
__device__ __forceinline__ void through_splits(const float* shared, const float* look, int j, float here,
                                               const float (&v)[C::l.n_v], const float* q, const LeafDerivatives<C>& c,
                                               float* splits, float* back) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  constexpr int kLevels = step_ceil(l.depth, p.lanes);
  const int lane = static_cast<int>(threadIdx.x) % p.lanes, path = j + l.leaves;
  const auto* const nodes = reinterpret_cast<const float2*>(shared + p.nodes);
  int other[at_least_one(kLevels)];  // where the path would go from the other side of a split; all at the same time
#pragma unroll
  for (int i = 0; i < kLevels; ++i) {
    const int d = i * p.lanes + lane;
    other[i] = d < l.depth ? path >> (l.depth - 1 - d) ^ 1 : l.leaves;
  }
#pragma unroll
  for (int down = 0; down < l.depth - 1; ++down)
#pragma unroll
    for (int i = 0; i < kLevels; ++i)
      if (l.depth - 1 - i * p.lanes > down)
        if (p.lanes == 1 || other[i] < l.leaves) other[i] = child_of<C>(nodes, look, other[i]);
#pragma unroll
  for (int i = 0; i < kLevels; ++i) {
    const int d = i * p.lanes + lane;
    splits[i] = 0.0F;
    if (p.lanes > 1 && d >= l.depth) continue;
    float r[p.row];
    load_row<p.worth, p.worth_end>(shared + p.leaf_rows + (other[i] - l.leaves) * p.row, r);
    const float2 node = nodes[path >> (l.depth - d)];
    const int feature = row_of<C>(node);
    const float value = look[feature], apart = here - leaf_worth<C>(r, c, q, v);
    float by = split_slope(l, value - node.x) * ((path >> (l.depth - 1 - d) & 1) != 0 ? apart : -apart);
    if (l.missing) by = value == value ? by : 0.0F;
    splits[i] = by;
#pragma unroll
    for (int k = 0; k < l.n_m; ++k)
      if (feature == (l.n_x + k) * p.look_pitch) back[k] += by;
  }
}

// The number of this step's entry. All lanes of the warp call this; those that write an entry say so. Entries of a warp
// and leaf follow one another in the order of steps and lanes.
template <class C>
__device__ __forceinline__ int next_entry(std::int32_t* counts, int leaf, bool writes) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const unsigned same = __match_any_sync(kAll, writes ? leaf : -1);
  const int before = __popc(same & ((1U << lane) - 1));
  int at = -1;
  if (writes) at = counts[leaf] + before;
  __syncwarp();
  if (writes && before == 0) counts[leaf] += __popc(same);
  __syncwarp();
  return C::p.sharers == 1 ? at : __shfl_sync(kAll, at, lane / C::p.sharers * C::p.sharers);
}

// Writes what the steps of a warp add to the sums, through its tile: entries by themselves are scattered in memory.
// They are read once, and should not take the place of others in the cache. All
// lanes of the warp call this; `at` is the number of an entry, or -1. `splits`: of this lane's levels.
template <class C>
__device__ __forceinline__ void write_entries(float* tile, float* entries, int at, const LeafDerivatives<C>& c,
                                              const float* splits, const float (&v)[C::l.n_v]) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  constexpr int kSequences = 32 / p.sharers, kRows = step_min(kSequences, kEntries), kQuads = p.entry / 4;
  const int thread = static_cast<int>(threadIdx.x) % 32, lane = thread % p.sharers;
  float entry[p.entry] = {};
#pragma unroll
  for (int k = 0; k < l.n_m; ++k) {
    entry[p.write + k] = c.write[k];
    entry[p.gate + k] = c.gate[k];
    if (l.blends) entry[p.rate + k] = c.rate[k];
  }
#pragma unroll
  for (int k = 0; k < l.n_g; ++k) entry[p.g + k] = c.g[k];
#pragma unroll
  for (int f = 0; f < l.n_v; ++f) entry[p.columns + f] = v[f];
  if constexpr (p.entries > 0) {
#pragma unroll
    for (int d = 0; d < l.depth; ++d) entry[p.split + d] = splits[d];
    if (at >= 0)
#pragma unroll
      for (int i = 0; i < p.columns + l.n_v; i += 4)
        *reinterpret_cast<float4*>(entries + at * p.tile_pitch + i) = {entry[i], entry[i + 1], entry[i + 2],
                                                                       entry[i + 3]};
    return;
  }
#pragma unroll
  for (int first = 0; first < kSequences; first += kRows) {
    float* const row = tile + (thread / p.sharers - first) * p.tile_pitch;
    __syncwarp();
    if (p.sharers > 1) {
#pragma unroll
      for (int i = 0; i < p.columns + l.n_v; ++i)
        if ((i < p.split || i >= p.split + l.depth) && i % p.sharers == lane) row[i] = entry[i];
#pragma unroll
      for (int i = 0; i < step_ceil(l.depth, p.sharers); ++i)
        if (i * p.sharers + lane < l.depth) row[p.split + i * p.sharers + lane] = splits[i];
    } else if (thread >= first && thread < first + kRows) {
#pragma unroll
      for (int d = 0; d < l.depth; ++d) entry[p.split + d] = splits[d];
#pragma unroll
      for (int i = 0; i < p.columns + l.n_v; i += 4)
        *reinterpret_cast<float4*>(row + i) = {entry[i], entry[i + 1], entry[i + 2], entry[i + 3]};
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kRows * kQuads; i += 32) {
      const int of = (i + thread) / kQuads, quad = (i + thread) % kQuads;
      const int to = __shfl_sync(kAll, at, (first + of) * p.sharers % 32);
      if (to >= 0 && of < kRows)
        __stcs(reinterpret_cast<float4*>(entries) + static_cast<std::size_t>(to) * kQuads + quad,
               *reinterpret_cast<const float4*>(tile + of * p.tile_pitch + 4 * quad));
    }
  }
}

// REQUIRES: order_leaves() was called after the forward pass of this chunk.
template <class C>
__device__ __noinline__ LossSums step_backward(const Start& s, const Chunk& chunk, float scale) {
  constexpr Layout l = C::l;
  float* const shared = step_memory();
  const float* const trace = global(s.records);
  float* const entries = step_entries<C>(s);
  LossSums losses;
  constexpr Stepper p = C::p;
  constexpr int n_x = l.n_x, n_m = l.n_m;
  const OwnSequence own = own_sequence<C>(s, chunk);
  const bool writes = threadIdx.x % p.lanes == 0;
  float* const look = shared + p.look + own_place<C>();
  std::int32_t* const counts = ints<C>(shared, p.counts) + threadIdx.x / 32 * l.leaves;
  const float* const fill = global(s.fill);
  float* const tile = own_tile<C>(shared);
  float q[at_least_one(n_m)], later[l.n_g];
#pragma unroll
  for (int k = 0; k < n_m; ++k) q[k] = 0.0F;
#pragma unroll
  for (int k = 0; k < l.n_g; ++k) later[k] = 0.0F;
  const int most = most_of_warp<1>(own.length);
  HotSums<C> sums;
  const HotColumns<C> columns;
  Traced<C> next;
  load_traced<C>(s, own, trace, most - 1, next);
  for (int t = most - 1; t >= 0; --t) {
    const bool active = t < own.length;
    Traced<C> now = next;
    load_traced<C>(s, own, trace, t - 1, next);
    int at = 0;
    if constexpr (!p.onehot) at = next_entry<C>(counts, now.leaf, active && writes);
    float back[at_least_one(n_m)], parts[at_least_one(n_m)];
#pragma unroll
    for (int k = 0; k < n_m; ++k) parts[k] = back[k] = 0.0F;
    if (active && writes)
#pragma unroll
      for (int f = 0; f < l.n_v; ++f) look[f * p.look_pitch] = now.v[f];
    if (p.lanes > 1) __syncwarp();
    LeafDerivatives<C> c;
    float splits[at_least_one(step_ceil(l.depth, p.lanes))];
    if (active) {
      if (l.missing)
#pragma unroll
        for (int f = 0; f < n_x; ++f) now.v[f] = now.v[f] != now.v[f] ? fill[f] : now.v[f];
      const float* const row = shared + p.leaf_rows + now.leaf * p.row;
      if (l.first_order) {
#pragma unroll
        for (int k = 0; k < l.n_g; ++k) c.g[k] = now.y[k];
      } else {
        float r[p.row];
        load_row<p.output, l.linear ? p.linear + l.n_g * l.n_v : p.output + l.n_g>(row, r);
#pragma unroll
        for (int k = 0; k < l.n_g; ++k) c.g[k] = row_output<C>(r, now.v, k);
      }
      step_derivative<C>(s, own.from + t, now.label, now.weight, scale, c.g, losses);
      if (l.first_order)
#pragma unroll
        for (int k = 0; k < l.n_g; ++k) c.g[k] = later[k] += c.g[k];
      const float here = through_leaf<C>(row, now.v, q, c, back);
      through_splits<C>(shared, look, now.leaf, here, now.v, q, c, splits, p.lanes > 1 ? parts : back);
    }
    if constexpr (p.onehot) {
      stage_step<C>(shared, active ? now.leaf : -l.leaves, c, splits, now.v);
      __syncwarp();
      add_step<C>(shared, columns, sums);
      __syncwarp();
      if (t % kHotSteps == 0) put_hot_sums<C>(shared, sums);
    } else {
      write_entries<C>(tile, entries, at, c, splits, now.v);
    }
    if (p.lanes > 1) {
#pragma unroll
      for (int k = 0; k < n_m; ++k) {
#pragma unroll
        for (int o = 1; o < p.lanes; o *= 2) parts[k] += __shfl_xor_sync(kAll, parts[k], o);
        back[k] += parts[k];
      }
    }
#pragma unroll
    for (int k = 0; k < n_m; ++k) q[k] = active ? fminf(fmaxf(back[k], -kMostBack), kMostBack) : 0.0F;
  }
  return losses;
}

}  // namespace remede::cuda

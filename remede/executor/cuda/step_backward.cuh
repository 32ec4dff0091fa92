// The backward pass of the stepwise form (stepper.h): step by step, with the sums. Lanes of a sequence share the levels
// of the tree. docs/mathematics.md has the formulas.
#pragma once

#include "remede/executor/cuda/step_sums.cuh"
#include "remede/executor/cuda/weigh.cuh"

namespace remede::cuda {

// Waits for the warps of the team; what they wrote to shared memory is then seen.
template <class C>
__device__ __forceinline__ void wait_for_team() {
  if constexpr (C::p.team == 1) {
    __syncwarp();
  } else if constexpr (C::p.team * 32 == C::p.threads) {
    __syncthreads();
  } else {
    const int id = 1 + static_cast<int>(threadIdx.x) / (32 * C::p.team);
    asm volatile("bar.sync %0, %1;" : : "r"(id), "n"(32 * C::p.team) : "memory");
  }
}

// Orders the sequences of every team by the tiles of their leaves, for all steps: a warp for each. Sequences without
// such a step are last. ASSIGNS the positions in the trace.
template <class C>
__device__ __forceinline__ void order_by_leaves(const Start& s, const Chunk& chunk, float* shared, float* trace) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  constexpr int kSequences = 32 * p.team / p.lanes, kRounds = step_ceil(kSequences, 32), kBins = p.leaf_tiles + 1;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  auto* const bins = reinterpret_cast<std::int32_t*>(shared + p.bins) + warp * p.bins_pitch;
  const Entry* const entries = global(s.entries) + chunk.first;
  const std::int64_t* const offsets = global(s.data.offset);
  const auto length_of = [&](int place) {
    if (place >= static_cast<int>(chunk.count)) return 0;
    const std::uint32_t sequence = entries[place].sequence;
    return static_cast<int>(offsets[sequence + 1] - offsets[sequence]);
  };
  for (int first = 0; first < static_cast<int>(chunk.count); first += kSequences) {
    const int most = length_of(first);
    int length[kRounds];
#pragma unroll
    for (int i = 0; i < kRounds; ++i) length[i] = length_of(first + i * 32 + lane);
    for (int t = warp; t < most; t += p.threads / 32) {
      float* const at = trace + static_cast<std::size_t>(t) * (p.trace * p.sequences) + first + lane;
      int bin[kRounds], rank[kRounds];
#pragma unroll
      for (int i = 0; i < kRounds; ++i)
        bin[i] = t < length[i] ? reinterpret_cast<const std::int32_t*>(at)[l.n_m * p.sequences + i * 32] / kTile
                               : p.leaf_tiles;
      for (int b = lane; b < kBins; b += 32) bins[b] = 0;
      __syncwarp();
#pragma unroll
      for (int i = 0; i < kRounds; ++i) {
        const unsigned same_bin = __match_any_sync(kAll, bin[i]);
        const int before = __popc(same_bin & ((1U << lane) - 1));
        rank[i] = bins[bin[i]] + before;
        __syncwarp();
        if (before == 0) bins[bin[i]] += __popc(same_bin);
        __syncwarp();
      }
      int sum = 0;  // of the bins before
      for (int b = 0; b < kBins; b += 32) {
        const int own = b + lane < kBins ? bins[b + lane] : 0;
        int upto = own;
#pragma unroll
        for (int o = 1; o < 32; o *= 2) {
          const int other = __shfl_up_sync(kAll, upto, o);
          if (lane >= o) upto += other;
        }
        if (b + lane < kBins) bins[b + lane] = sum + upto - own;
        sum += __shfl_sync(kAll, upto, 31);
      }
      __syncwarp();
#pragma unroll
      for (int i = 0; i < kRounds; ++i)
        reinterpret_cast<std::int32_t*>(at)[(p.trace - 1) * p.sequences + i * 32] = first + bins[bin[i]] + rank[i];
      __syncwarp();
    }
  }
}

// What a step back begins with; loaded a step ahead.
template <class C>
struct Traced {
  int leaf = 0, label = 0, position = 0;
  float weight = 0.0F;
  float v[C::l.n_v];  // inputs as they are, and memory before the step
  float y[C::l.n_y];  // outputs added up; only in the first-order form
};

template <class C>
__device__ __forceinline__ void load_traced(const Start& s, const OwnSequence& own, const float* trace, int t,
                                            Traced<C>& to) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  if (t < 0) return;
  const float* const from = trace + static_cast<std::size_t>(t) * (p.trace * p.sequences) + own_place<C>();
  if (p.sorted) to.position = reinterpret_cast<const std::int32_t*>(from)[(p.trace - 1) * p.sequences];
  if (t >= own.length) return;
  const float* const x = own.x + static_cast<std::size_t>(t) * l.n_x;
#pragma unroll
  for (int f = 0; f < l.n_x; ++f) to.v[f] = x[f];
#pragma unroll
  for (int k = 0; k < l.n_m; ++k) to.v[l.n_x + k] = from[k * p.sequences];
  to.leaf = reinterpret_cast<const std::int32_t*>(from)[l.n_m * p.sequences];
  if (l.first_order)
#pragma unroll
    for (int k = 0; k < l.n_y; ++k) to.y[k] = from[(l.n_m + 1 + k) * p.sequences];
  to.weight = s.data.weight[own.from + t];
  if (C::loss == Loss::kCrossEntropy) to.label = s.data.label[own.from + t];
}

// The loss of a step; y becomes its derivative.
template <class C>
__device__ __forceinline__ void step_derivative(const Start& s, std::int64_t at, int label, float weight, float scale,
                                                float (&y)[C::l.n_y], LossSums& sums) {
  if (weight == 0.0F) {
#pragma unroll
    for (int k = 0; k < C::l.n_y; ++k) y[k] = 0.0F;
    return;
  }
  const Objective objective = {C::loss, {s.quantiles}, {s.scale}};
  const auto named = static_cast<float>(label);
  const float* const target = C::loss == Loss::kCrossEntropy ? &named : s.data.value + at * C::l.n_t;
  LossSums own;
  step_loss(objective, y, target, C::l.n_y, C::l.n_t, weight, scale, own);
  if (threadIdx.x % C::p.lanes == 0) {
    sums.loss += own.loss;
    sums.correct += own.correct;
  }
}

// Derivatives by the numbers of the reached leaf.
template <class C>
struct LeafDerivatives {
  float g[C::l.n_y];
  float gate[at_least_one(C::l.n_m)], write[at_least_one(C::l.n_m)], rate[at_least_one(C::l.n_m)];
};

template <class C, int N>
__device__ __forceinline__ float leaf_worth(const float (&r)[N], const LeafDerivatives<C>& c, const float* q,
                                            const float (&v)[C::l.n_v]) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  float sum = 0.0F;
#pragma unroll
  for (int y = 0; y < l.n_y; ++y) sum = fmaf(c.g[y], row_output<C>(r, v, y), sum);
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
      for (int y = 0; y < l.n_y; ++y) back[k] = fmaf(c.g[y], r[p.linear + y * l.n_v + l.n_x + k], back[k]);
  }
  return leaf_worth<C>(r, c, q, v);
}

// Stages the derivatives by the splits of this lane's levels; ADDS to `back` what goes through them into memory.
template <class C>
__device__ __forceinline__ void through_splits(const float* shared, const float* look, float* column, int j, float here,
                                               const float (&v)[C::l.n_v], const float* q, const LeafDerivatives<C>& c,
                                               float* back) {
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
    if (p.lanes > 1 && d >= l.depth) continue;
    float r[p.row];
    load_row<p.worth, p.worth_end>(shared + p.leaf_rows + (other[i] - l.leaves) * p.row, r);
    const float2 node = nodes[path >> (l.depth - d)];
    const int feature = row_of<C>(node);
    const float value = look[feature], apart = here - leaf_worth<C>(r, c, q, v);
    float by = split_slope(l, value - node.x) * ((path >> (l.depth - 1 - d) & 1) != 0 ? apart : -apart);
    if (l.missing) by = value == value ? by : 0.0F;
    column[(p.split + d) * p.pitch] = by;
#pragma unroll
    for (int k = 0; k < l.n_m; ++k)
      if (feature == (l.n_x + k) * p.pitch) back[k] += by;
  }
}

template <class C>
__device__ __forceinline__ void stage_zeros(float* column) {
  constexpr Stepper p = C::p;
  for (int row = p.g; row < p.rows; ++row) column[row * p.pitch] = 0.0F;
}

template <class C>
__device__ __forceinline__ void step_backward(const Start& s, const Chunk& chunk, float* shared, const float* trace,
                                              float scale, const StepColumns<C>& columns, StepSums<C>& sums,
                                              LossSums& losses) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  constexpr int n_x = l.n_x, n_m = l.n_m, kTeamSequences = 32 * p.team / p.lanes;
  const OwnSequence own = own_sequence<C>(s, chunk);
  const int place = own_place<C>(), team_first = place / kTeamSequences * kTeamSequences;
  if (team_first >= static_cast<int>(chunk.count)) return;  // as all of the team
  // The first sequence of a team is its longest.
  const std::uint32_t first = global(s.entries)[chunk.first + team_first].sequence;
  const auto most = static_cast<int>(s.data.offset[first + 1] - s.data.offset[first]);
  const bool writes = threadIdx.x % p.lanes == 0;
  float* const look = shared + p.stage + p.look * p.pitch + place;
  const float* const fill = global(s.fill);
  float q[at_least_one(n_m)], later[l.n_y];
#pragma unroll
  for (int k = 0; k < n_m; ++k) q[k] = 0.0F;
#pragma unroll
  for (int k = 0; k < l.n_y; ++k) later[k] = 0.0F;
  Traced<C> next;
  load_traced<C>(s, own, trace, most - 1, next);
  for (int t = most - 1; t >= 0; --t) {
    const bool active = t < own.length;
    Traced<C> now = next;
    load_traced<C>(s, own, trace, t - 1, next);
    float* const column = shared + p.stage + (p.sorted ? now.position : place);
    if (writes) {
      reinterpret_cast<std::int32_t*>(shared)[p.index + static_cast<int>(column - shared - p.stage)] =
          active ? now.leaf : l.leaves - 1;
      if (active)
#pragma unroll
        for (int f = 0; f < l.n_v; ++f) look[f * p.pitch] = now.v[f];
    }
#pragma unroll
    for (int f = 0; f < l.n_v; ++f) {
      if (l.missing && f < n_x) now.v[f] = now.v[f] != now.v[f] ? fill[f] : now.v[f];
      if (p.look != 0 && active && writes) column[f * p.pitch] = now.v[f];
    }
    if (p.lanes > 1) __syncwarp();
    float back[at_least_one(n_m)], parts[at_least_one(n_m)];
#pragma unroll
    for (int k = 0; k < n_m; ++k) parts[k] = back[k] = 0.0F;
    if (active) {
      const float* const row = shared + p.leaf_rows + now.leaf * p.row;
      LeafDerivatives<C> c;
      if (l.first_order) {
#pragma unroll
        for (int k = 0; k < l.n_y; ++k) c.g[k] = now.y[k];
      } else {
        float r[p.row];
        load_row<p.output, l.linear ? p.linear + l.n_y * l.n_v : p.output + l.n_y>(row, r);
#pragma unroll
        for (int k = 0; k < l.n_y; ++k) c.g[k] = row_output<C>(r, now.v, k);
      }
      step_derivative<C>(s, own.from + t, now.label, now.weight, scale, c.g, losses);
      if (l.first_order)
#pragma unroll
        for (int k = 0; k < l.n_y; ++k) c.g[k] = later[k] += c.g[k];
      const float here = through_leaf<C>(row, now.v, q, c, back);
      if (writes) {
#pragma unroll
        for (int k = 0; k < l.n_y; ++k) column[(p.g + k) * p.pitch] = c.g[k];
#pragma unroll
        for (int k = 0; k < n_m; ++k) {
          column[(p.gate + k) * p.pitch] = c.gate[k];
          column[(p.write + k) * p.pitch] = c.write[k];
          if (l.blends) column[(p.rate + k) * p.pitch] = c.rate[k];
        }
      }
      through_splits<C>(shared, look, column, now.leaf, here, now.v, q, c, p.lanes > 1 ? parts : back);
    } else if (writes) {
      stage_zeros<C>(column);
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
    wait_for_team<C>();
    add_step<C>(shared, columns, sums);
    wait_for_team<C>();
  }
}

}  // namespace remede::cuda

// Both passes of the stepwise form (stepper.h) where lanes share consecutive steps of a sequence. What a step back
// hands on to the one before is affine in what it is handed itself, the derivative q by the memory after it: lanes
// compute the numbers of this map at the same time, and only q goes from step to step. Going forward, one thread has
// the sequence. docs/mathematics.md has the formulas.
#pragma once

#include "remede/executor/cuda/step_backward.cuh"

namespace remede::cuda {

// The leaf that a sequence reaches, counted as in a heap. Three levels at a time: all seven nodes below are compared
// before it is known which of them are on the path, since waiting for one after the other takes longer.
template <class C>
__device__ __forceinline__ int descend_ahead(const float2* nodes, const float* look) {
  constexpr int kDepth = C::l.depth;
  int i = 1;
#pragma unroll
  for (int d = 0; d + 3 <= kDepth; d += 3) {
    const int top = child_of<C>(nodes, look, i) - 2 * i;
    int below[2], last[4];
#pragma unroll
    for (int k = 0; k < 2; ++k) below[k] = child_of<C>(nodes, look, 2 * i + k) - 2 * (2 * i + k);
#pragma unroll
    for (int k = 0; k < 4; ++k) last[k] = child_of<C>(nodes, look, 4 * i + k);
    const int second = top != 0 ? below[1] : below[0];
    const int left = second != 0 ? last[1] : last[0], right = second != 0 ? last[3] : last[2];
    i = top != 0 ? right : left;
  }
#pragma unroll
  for (int d = kDepth / 3 * 3; d < kDepth; ++d) i = child_of<C>(nodes, look, i);
  return i;
}

// Counts the entries of each leaf, as step_forward() does. A thread for each sequence, in the first warp of each of the
// four schedulers: more warps would only take turns.
template <class C>
__device__ __noinline__ void forward_alone(const Start& s, const Chunk& chunk) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  constexpr int n_x = l.n_x, n_m = l.n_m, kWarps = 4, kEach = p.sequences / kWarps;
  static_assert(kEach <= 32 && kEach * kWarps == p.sequences);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  if (warp >= kWarps || lane >= kEach) return;
  const int place = warp * kEach + lane;
  float* const shared = step_memory();
  const OwnSequence own = sequence_at<C>(s, chunk, place);
  float* const look = shared + p.look + place;
  const auto* const nodes = reinterpret_cast<const float2*>(shared + p.nodes);
  // Those of the warp that goes back through the sequence.
  std::int32_t* const counts = ints<C>(shared, p.counts) + place * p.lanes / 32 * l.leaves;
  const float* const fill = global(s.fill);
  const auto carried = static_cast<std::size_t>(own.sequence) * n_m;
  float v[l.n_v], y[l.n_g] = {}, next[n_x];
#pragma unroll
  for (int k = 0; k < n_m; ++k) v[n_x + k] = own.length > 0 && s.before != nullptr ? s.before[carried + k] : 0.0F;
  const float* x = own.x;
#pragma unroll
  for (int f = 0; f < n_x; ++f) next[f] = own.length > 0 ? x[f] : 0.0F;
  float* to = global(s.records) + place;
  for (int t = 0; t < own.length; ++t, to += p.trace * p.sequences) {
#pragma unroll
    for (int f = 0; f < n_x; ++f) {
      look[f * p.look_pitch] = next[f];
      v[f] = l.missing && next[f] != next[f] ? fill[f] : next[f];
    }
    x += n_x;
    if (t + 1 < own.length)
#pragma unroll
      for (int f = 0; f < n_x; ++f) next[f] = x[f];
#pragma unroll
    for (int k = 0; k < n_m; ++k) look[(n_x + k) * p.look_pitch] = to[k * p.sequences] = v[n_x + k];
    const int j = descend_ahead<C>(nodes, look) - l.leaves;
    float r[p.row];
    load_row<0, l.first_order ? p.worth_end : p.written>(shared + p.leaf_rows + j * p.row, r);
    reinterpret_cast<std::int32_t*>(to)[n_m * p.sequences] = j;
    atomicAdd(counts + j, 1);
    if (l.first_order)
#pragma unroll
      for (int k = 0; k < l.n_g; ++k) {
        y[k] += row_output<C>(r, v, k);
        to[(n_m + 1 + k) * p.sequences] = y[k];
      }
    write_cells<C>(r, v);
  }
  if (own.length > 0 && s.after != nullptr)
#pragma unroll
    for (int k = 0; k < n_m; ++k) s.after[carried + k] = v[n_x + k];
}

// A step back as a map of q.
template <class C>
struct AffineStep {
  static constexpr int kCells = at_least_one(C::l.n_m), kLevels = at_least_one(C::l.depth);
  LeafDerivatives<C> c;                         // g; the others for q = 1 in every cell
  float base[kLevels], slope[kLevels][kCells];  // derivatives by the splits: base + q . slope
  float into[kCells], through[kCells][kCells];  // by the memory before: into + q . through
};

// What a leaf is worth: returns the part without q, and ASSIGNS the factors of q. c: for q = 1.
template <class C, int N>
__device__ __forceinline__ float affine_worth(const float (&r)[N], const LeafDerivatives<C>& c,
                                              const float (&v)[C::l.n_v], float (&by)[AffineStep<C>::kCells]) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  float sum = 0.0F;
#pragma unroll
  for (int y = 0; y < l.n_g; ++y) sum = fmaf(c.g[y], row_output<C>(r, v, y), sum);
#pragma unroll
  for (int k = 0; k < l.n_m; ++k) {
    const float argument = write_argument<C>(r, v, k), gate = r[p.gate_value + k];
    if (l.effects) {
      const float u = tanh(argument), change = l.blends ? r[p.blend + k] * (u - v[l.n_x + k]) : u;
      by[k] = gate >= 0.0F ? change : 0.0F;
    } else {
      by[k] = fmaf(c.write[k], argument, c.gate[k] * gate);
      if (l.blends) by[k] = fmaf(c.rate[k], r[p.rate_value + k], by[k]);
    }
  }
  return sum;
}

// The part of the map that goes through the reached leaf; returns its worth as affine_worth() does. REQUIRES: c.g.
template <class C>
__device__ __forceinline__ float affine_leaf(const float* row, const float (&v)[C::l.n_v], AffineStep<C>& to,
                                             float (&by)[AffineStep<C>::kCells]) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  LeafDerivatives<C>& c = to.c;
  float r[p.row];
  load_row<0, p.row>(row, r);
#pragma unroll
  for (int k = 0; k < l.n_m; ++k) {
    const float u = tanh(write_argument<C>(r, v, k)), m = v[l.n_x + k];
    const bool open = r[p.gate_value + k] >= 0.0F;
    const float a = l.blends ? r[p.blend + k] : 1.0F, change = l.blends ? a * (u - m) : u;
    c.gate[k] = change * r[p.slope + k];
    c.write[k] = open ? a * (1.0F - u * u) : 0.0F;
    c.rate[k] = l.blends && open ? change * (1.0F - a) : 0.0F;
    to.into[k] = 0.0F;
#pragma unroll
    for (int i = 0; i < l.n_m; ++i)
      to.through[k][i] = l.reads_memory ? c.write[k] * r[p.writes + k * l.n_w + l.n_x + i] : 0.0F;
    to.through[k][k] += l.blends && open ? 1.0F - a : 1.0F;
  }
  if (l.linear)
#pragma unroll
    for (int k = 0; k < l.n_m; ++k)
#pragma unroll
      for (int y = 0; y < l.n_g; ++y) to.into[k] = fmaf(c.g[y], r[p.linear + y * l.n_v + l.n_x + k], to.into[k]);
  return affine_worth<C>(r, c, v, by);
}

// The map of a step that reached leaf j. look: the column of this step. REQUIRES: c.g.
template <class C>
__device__ __forceinline__ void affine_step(const float* shared, const float* look, int j, const float (&v)[C::l.n_v],
                                            AffineStep<C>& to) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  const int path = j + l.leaves;
  const auto* const nodes = reinterpret_cast<const float2*>(shared + p.nodes);
  int other[at_least_one(l.depth)];  // where the path would go from the other side of a split; all at the same time
#pragma unroll
  for (int d = 0; d < l.depth; ++d) other[d] = path >> (l.depth - 1 - d) ^ 1;
#pragma unroll
  for (int down = 0; down < l.depth - 1; ++down)
#pragma unroll
    for (int d = 0; d < l.depth - 1 - down; ++d) other[d] = child_of<C>(nodes, look, other[d]);
  float here_by[AffineStep<C>::kCells];
  const float here = affine_leaf<C>(shared + p.leaf_rows + j * p.row, v, to, here_by);
#pragma unroll
  for (int d = 0; d < l.depth; ++d) {
    float r[p.row], by[AffineStep<C>::kCells];
    load_row<p.worth, p.worth_end>(shared + p.leaf_rows + (other[d] - l.leaves) * p.row, r);
    const float2 node = nodes[path >> (l.depth - d)];
    const int feature = row_of<C>(node);
    const float value = look[feature], worth = affine_worth<C>(r, to.c, v, by);
    float factor = split_slope(l, value - node.x);
    if ((path >> (l.depth - 1 - d) & 1) == 0) factor = -factor;
    if (l.missing) factor = value == value ? factor : 0.0F;
    to.base[d] = factor * (here - worth);
#pragma unroll
    for (int k = 0; k < l.n_m; ++k) to.slope[d][k] = factor * (here_by[k] - by[k]);
#pragma unroll
    for (int k = 0; k < l.n_m; ++k)
      if (feature == (l.n_x + k) * p.look_pitch) {
        to.into[k] += to.base[d];
#pragma unroll
        for (int i = 0; i < l.n_m; ++i) to.through[i][k] += to.slope[d][i];
      }
  }
}

// The map of a step that a sequence does not have.
template <class C>
__device__ __forceinline__ void hand_on_nothing(AffineStep<C>& step) {
#pragma unroll
  for (int k = 0; k < C::l.n_m; ++k) {
    step.into[k] = 0.0F;
#pragma unroll
    for (int i = 0; i < C::l.n_m; ++i) step.through[i][k] = 0.0F;
  }
}

// From the last step of the lanes to the first: q goes through the maps, and `own` becomes what this lane's step was
// handed. All lanes of the warp call this.
template <class C>
__device__ __forceinline__ void hand_on(const AffineStep<C>& step, float (&q)[AffineStep<C>::kCells],
                                        float (&own)[AffineStep<C>::kCells]) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  const int lane = static_cast<int>(threadIdx.x) % p.lanes;
#pragma unroll 2
  for (int from = 0; from < p.lanes; ++from) {
    float next[AffineStep<C>::kCells];
#pragma unroll
    for (int k = 0; k < l.n_m; ++k) {
      if (lane == from) own[k] = q[k];
      next[k] = step.into[k];
#pragma unroll
      for (int i = 0; i < l.n_m; ++i) next[k] = fmaf(q[i], step.through[i][k], next[k]);
      next[k] = fminf(fmaxf(next[k], -kMostBack), kMostBack);
    }
#pragma unroll
    for (int k = 0; k < l.n_m; ++k) q[k] = __shfl_sync(kAll, next[k], from, p.lanes);
  }
}

// In the first-order form an output counts at all later steps: adds up derivatives from the lanes' last step to their
// first, after `later`, which then holds the sum of all. All lanes of the warp call this.
template <class C>
__device__ __forceinline__ void add_later(float (&g)[C::l.n_g], float (&later)[C::l.n_g]) {
  constexpr int kLanes = C::p.lanes;
#pragma unroll
  for (int y = 0; y < C::l.n_g; ++y) {
#pragma unroll
    for (int o = 1; o < kLanes; o *= 2) {
      const float before = __shfl_up_sync(kAll, g[y], o, kLanes);
      if (static_cast<int>(threadIdx.x) % kLanes >= o) g[y] += before;
    }
    g[y] += later[y];
    later[y] = __shfl_sync(kAll, g[y], kLanes - 1, kLanes);
  }
}

// REQUIRES: order_leaves() was called after the forward pass of this chunk.
template <class C>
__device__ __noinline__ LossSums step_backward_together(const Start& s, const Chunk& chunk, float scale) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  float* const shared = step_memory();
  const float* const trace = global(s.records);
  float* const entries = step_entries<C>(s);
  const OwnSequence own = own_sequence<C>(s, chunk);
  float* const look = shared + p.look + threadIdx.x;
  std::int32_t* const counts = ints<C>(shared, p.counts) + threadIdx.x / 32 * l.leaves;
  const float* const fill = global(s.fill);
  LossSums losses;
  float q[AffineStep<C>::kCells] = {}, later[l.n_g] = {};
  const int most = most_of_warp<1>(own.length);
  int t = most - 1 - static_cast<int>(threadIdx.x) % p.lanes;  // lane 0 has the last step
  Traced<C> next;
  load_traced<C>(s, own, trace, t, next);
  for (int last = most - 1; last >= 0; last -= p.lanes, t -= p.lanes) {
    const bool active = t >= 0 && t < own.length;
    Traced<C> now = next;
    load_traced<C>(s, own, trace, t - p.lanes, next);
    const int at = next_entry<C>(counts, now.leaf, active);
    AffineStep<C> step;
#pragma unroll
    for (int y = 0; y < l.n_g; ++y) step.c.g[y] = 0.0F;
    if (active) {
#pragma unroll
      for (int f = 0; f < l.n_v; ++f) look[f * p.look_pitch] = now.v[f];
      if (l.missing)
#pragma unroll
        for (int f = 0; f < l.n_x; ++f) now.v[f] = now.v[f] != now.v[f] ? fill[f] : now.v[f];
      if (l.first_order) {
#pragma unroll
        for (int y = 0; y < l.n_g; ++y) step.c.g[y] = now.y[y];
      } else {
        float r[p.row];
        load_row<p.output, l.linear ? p.linear + l.n_g * l.n_v : p.output + l.n_g>(
            shared + p.leaf_rows + now.leaf * p.row, r);
#pragma unroll
        for (int y = 0; y < l.n_g; ++y) step.c.g[y] = row_output<C>(r, now.v, y);
      }
      step_derivative<C>(s, own.from + t, now.label, now.weight, scale, step.c.g, losses);
    }
    if (l.first_order) add_later<C>(step.c.g, later);
    if (active)
      affine_step<C>(shared, look, now.leaf, now.v, step);
    else
      hand_on_nothing<C>(step);
    float handed[AffineStep<C>::kCells] = {}, splits[AffineStep<C>::kLevels];
    hand_on<C>(step, q, handed);
#pragma unroll
    for (int d = 0; d < l.depth; ++d) {
      splits[d] = step.base[d];
#pragma unroll
      for (int k = 0; k < l.n_m; ++k) splits[d] = fmaf(handed[k], step.slope[d][k], splits[d]);
    }
#pragma unroll
    for (int k = 0; k < l.n_m; ++k) {
      step.c.gate[k] *= handed[k];
      step.c.write[k] *= handed[k];
      step.c.rate[k] *= handed[k];
    }
    write_entries<C>(own_tile<C>(shared), entries, at, step.c, splits, now.v);
  }
  return losses;
}

}  // namespace remede::cuda

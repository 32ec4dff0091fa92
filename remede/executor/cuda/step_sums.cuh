// The sums of the stepwise form (stepper.h). For each leaf, the sum over the sequences that reach it of what they
// staged is a product of two matrices: which sequence reaches which leaf (ones and zeros) times what they staged.
// Tensor cores multiply with 11 bits, so that a number is given as two: its leading bits, and the rest.
//
// Every warp of a team has some tiles of the sums in its registers; the order of additions is fixed.
#pragma once

#include "remede/executor/cuda/step_forward.cuh"

namespace remede::cuda {

template <class C>
struct StepSums {
  float leaf[C::p.lt][C::p.ln][4];
  float node[at_least_one(C::p.nt)][C::p.nn][4];
  float top[C::p.nn][4];  // nodes 1 to 15
};

// Where a thread finds its columns: places of both rows of a product, packed.
template <class C>
struct StepColumns {
  int leaf[C::p.ln];
  int node[C::p.nn];
};

// Four sequences of one column, in two parts each.
struct SplitFour {
  float high[4], low[4];
};

__device__ __forceinline__ SplitFour split_up(const float4& a) {
  SplitFour s;
  const float x[4] = {a.x, a.y, a.z, a.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    s.high[i] = __int_as_float(__float_as_int(x[i]) & static_cast<int>(0xffffe000));
    s.low[i] = x[i] - s.high[i];
  }
  return s;
}

__device__ __forceinline__ void multiply(float (&c)[4], const float (&a)[4], float b0, float b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(__float_as_int(a[0])), "r"(__float_as_int(a[1])), "r"(__float_as_int(a[2])), "r"(__float_as_int(a[3])),
        "r"(__float_as_int(b0)), "r"(__float_as_int(b1)));
}

// 1 where the numbers are the same. Compared as floats: one instruction. REQUIRES: small numbers, not negative.
__device__ __forceinline__ float same(int a, int b) { return __int_as_float(a) == __int_as_float(b) ? 1.0F : 0.0F; }

// Which of four sequences reach rows `row` and row + 8 of a tile; the first two, and the others.
struct Reach {
  float a[2][4];
  __device__ __forceinline__ Reach(const int4& index, int row) {
    const int i[4] = {index.x, index.y, index.z, index.w};
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        a[half][2 * k] = same(i[2 * half + k], row);
        a[half][2 * k + 1] = same(i[2 * half + k], row + 8);
      }
  }
};

template <int N>
__device__ __forceinline__ void add_tile(float (&sums)[N][4], const Reach& reach, const SplitFour (&values)[N]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int n = 0; n < N; ++n)
      multiply(sums[n], reach.a[half], values[n].high[2 * half], values[n].high[2 * half + 1]);
#pragma unroll
    for (int n = 0; n < N; ++n) multiply(sums[n], reach.a[half], values[n].low[2 * half], values[n].low[2 * half + 1]);
  }
}

// Place of a warp in its team.
template <class C>
struct TeamPlace {
  int team, m, n;
  __device__ __forceinline__ TeamPlace() {
    const int warp = static_cast<int>(threadIdx.x) / 32, in = warp % C::p.team;
    team = warp / C::p.team;
    m = in / C::p.grid_n;
    n = in % C::p.grid_n;
  }
};

template <class C>
__device__ __forceinline__ int value_row(int f) {
  constexpr Layout l = C::l;
  return f < l.n_v ? f : C::p.one;
}

template <class C>
__device__ __forceinline__ StepColumns<C> step_columns() {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  const TeamPlace<C> at;
  const int g = static_cast<int>(threadIdx.x) % 32 / 4;
  StepColumns<C> to;
#pragma unroll
  for (int n = 0; n < p.ln; ++n) {
    const int column = (at.n * p.ln + n) * kTileColumns + g, product = column - p.pure;
    int a = p.one, b = p.one;
    if (product < 0) {
      a = p.g + column;
    } else if (product < l.n_m * l.n_w) {
      a = p.write + product / at_least_one(l.n_w);
      b = value_row<C>(product % at_least_one(l.n_w));
    } else if (column < p.columns) {
      a = p.g + (product - l.n_m * l.n_w) / l.n_v;
      b = value_row<C>((product - l.n_m * l.n_w) % l.n_v);
    }
    to.leaf[n] = a * p.pitch | (b * p.pitch) << 16;
  }
#pragma unroll
  for (int n = 0; n < p.nn; ++n) to.node[n] = value_row<C>((at.n * p.nn + n) * kTileColumns + g) * p.pitch;
  return to;
}

__device__ __forceinline__ float4 four_of(const float* at) { return *reinterpret_cast<const float4*>(at); }
__device__ __forceinline__ float4 product_of(const float4& a, const float4& b) {
  return {a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w};
}

// ADDS the nodes of level d on the paths to the leaves to the tile whose row is `row`.
template <class C>
__device__ __forceinline__ void add_level(float (&sums)[C::p.nn][4], const int4& leaf, int d, int row,
                                          const SplitFour (&values)[C::p.nn]) {
  const int up = C::l.depth - d;
  add_tile(sums,
           Reach({(leaf.x + C::l.leaves) >> up, (leaf.y + C::l.leaves) >> up, (leaf.z + C::l.leaves) >> up,
                  (leaf.w + C::l.leaves) >> up},
                 row),
           values);
}

// Sixteen columns of a team, as a thread sees them.
template <class C>
struct Sixteen {
  const float* stage;
  int4 leaf;
  int low, high;  // tiles of leaves that they reach
  __device__ __forceinline__ Sixteen(const float* shared, int first) {
    constexpr Stepper p = C::p;
    const int at = first + 4 * (static_cast<int>(threadIdx.x) % 4);
    stage = shared + p.stage + at;
    leaf = *reinterpret_cast<const int4*>(shared + p.index + at);
    if (!p.sorted) return;
    low = __shfl_sync(kAll, leaf.x, 0) / kTile;
    high = __shfl_sync(kAll, leaf.w, 3) / kTile;
  }
};

template <class C>
__device__ __forceinline__ void take_level(const Sixteen<C>& from, const StepColumns<C>& columns, int d,
                                           SplitFour (&values)[C::p.nn]) {
  const float4 split = four_of(from.stage + (C::p.split + d) * C::p.pitch);
#pragma unroll
  for (int n = 0; n < C::p.nn; ++n) values[n] = split_up(product_of(four_of(from.stage + columns.node[n]), split));
}

template <class C>
__device__ __forceinline__ void add_leaves(const Sixteen<C>& from, int first_tile, int first_n,
                                           const StepColumns<C>& columns, StepSums<C>& sums) {
  constexpr Stepper p = C::p;
  const int g = static_cast<int>(threadIdx.x) % 32 / 4;
  SplitFour values[p.ln];
#pragma unroll
  for (int n = 0; n < p.ln; ++n) {
    float4 four = four_of(from.stage + (columns.leaf[n] & 0xffff));
    if ((first_n + n + 1) * kTileColumns > p.pure)
      four = product_of(four, four_of(from.stage + (columns.leaf[n] >> 16)));
    values[n] = split_up(four);
  }
#pragma unroll
  for (int j = 0; j < p.lt; ++j) {
    const int tile = first_tile + j;
    if (p.sorted && (tile < from.low || tile > from.high)) continue;
    add_tile(sums.leaf[j], Reach(from.leaf, tile * kTile + g), values);
  }
}

// The level of the nodes of a tile, and how many tiles of leaves lie below one of nodes.
__device__ __forceinline__ int level_of_tile(int tile) { return 4 + 31 - __clz(tile); }

// ADDS what the team's sequences staged to the warp's sums. A warp goes through those sixteens that reach its tiles.
template <class C>
__device__ __forceinline__ void add_step(const float* shared, const StepColumns<C>& columns, StepSums<C>& sums) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  constexpr int kSequences = 32 * p.team / p.lanes, kSixteens = kSequences / 16;
  static_assert(kSixteens <= 32);
  const TeamPlace<C> place;
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, first = place.team * kSequences;
  const int first_leaf = place.m * p.lt, first_node = 1 + place.m * p.nt;
  int low = 0, high = p.leaf_tiles - 1;  // of the sixteen of this lane's number
  if (p.sorted) {
    const auto* const index = reinterpret_cast<const std::int32_t*>(shared + p.index + first) + lane % kSixteens * 16;
    low = index[0] / kTile;
    high = index[15] / kTile;
  }
  const auto reached = [&](int from, int to) {  // sixteens that reach one of these tiles of leaves
    constexpr unsigned kWhole = kSixteens == 32 ? kAll : (1U << (kSixteens % 32)) - 1;
    return p.sorted ? __ballot_sync(kAll, low <= to && high >= from) & kWhole : kWhole;
  };
  for (unsigned left = reached(first_leaf, first_leaf + p.lt - 1); left != 0; left &= left - 1)
    add_leaves<C>(Sixteen<C>(shared, first + 16 * (__ffs(static_cast<int>(left)) - 1)), first_leaf, place.n * p.ln,
                  columns, sums);
#pragma unroll
  for (int j = 0; j < p.nt; ++j) {
    const int tile = first_node + j, d = level_of_tile(tile), below = l.depth - d;
    const int in_level = tile - (1 << (d - 4));
    if (tile >= p.node_tiles) break;
    for (unsigned left = reached(in_level << below, ((in_level + 1) << below) - 1); left != 0; left &= left - 1) {
      const Sixteen<C> from(shared, first + 16 * (__ffs(static_cast<int>(left)) - 1));
      SplitFour values[p.nn];
      take_level<C>(from, columns, d, values);
      add_level<C>(sums.node[j], from.leaf, d, tile * kTile + g, values);
    }
  }
  for (int c = place.m; c < kSixteens; c += p.grid_m) {
    const Sixteen<C> from(shared, first + 16 * c);
#pragma unroll
    for (int d = 0; d < step_min(4, l.depth); ++d) {
      SplitFour values[p.nn];
      take_level<C>(from, columns, d, values);
      add_level<C>(sums.top, from.leaf, d, g, values);
    }
  }
}

// Sums in memory: a thread's own, one after the other. Tensor cores cut off what they add, so that they must not add
// too many numbers: this rounds.
template <class C>
__device__ __forceinline__ void put_sums(StepSums<C>& sums, float* table, bool first) {
  constexpr Stepper p = C::p;
  float* const leaf = table + threadIdx.x;
  float* const node = leaf + 4 * p.lt * p.ln * p.threads;
  const auto put = [&](float* to, float& from) {
    *to = first ? from : *to + from;
    from = 0.0F;
  };
#pragma unroll
  for (int i = 0; i < 4 * p.lt * p.ln; ++i) put(leaf + i * p.threads, sums.leaf[i / (4 * p.ln)][i / 4 % p.ln][i % 4]);
#pragma unroll
  for (int i = 0; i < 4 * p.nt * p.nn; ++i) put(node + i * p.threads, sums.node[i / (4 * p.nn)][i / 4 % p.nn][i % 4]);
  float* const top = node + 4 * p.nt * p.nn * p.threads;
#pragma unroll
  for (int i = 0; i < 4 * p.nn; ++i) put(top + i * p.threads, sums.top[i / 4][i % 4]);
}

// Place of a sum in a tile of a warp, in the order of put_sums().
template <class C>
__device__ __forceinline__ int place_in_tile(int row, int column) {
  return (row % kTile / 8 * 2 + column % 2) * C::p.threads + row % 8 * 4 + column % kTileColumns / 2;
}

// One sum of a leaf or node, over the teams. tile: counted from the first that a warp has; tiles_m, tiles_n: of a warp.
template <class C>
__device__ __forceinline__ float sum_at(const float* table, int tiles_m, int tiles_n, int tile, int row, int column) {
  constexpr Stepper p = C::p;
  const int tile_n = column / kTileColumns, warp = tile / tiles_m * p.grid_n + tile_n / tiles_n;
  const float* const at =
      table + (tile % tiles_m * tiles_n + tile_n % tiles_n) * 4 * p.threads + warp * 32 + place_in_tile<C>(row, column);
  float sum = 0.0F;
#pragma unroll
  for (int team = 0; team < p.threads / 32 / p.team; ++team) sum += at[team * p.team * 32];
  return sum;
}
template <class C>
__device__ __forceinline__ float leaf_sum(const float* table, int leaf, int column) {
  return sum_at<C>(table, C::p.lt, C::p.ln, leaf / kTile, leaf, column);
}
template <class C>
__device__ __forceinline__ float node_sum(const float* table, int node, int column) {
  constexpr Stepper p = C::p;
  const int row = node + 1;
  table += 4 * p.lt * p.ln * p.threads;
  if (row >= kTile) return sum_at<C>(table, at_least_one(p.nt), p.nn, row / kTile - 1, row, column);
  const int tile_n = column / kTileColumns;
  const float* const at =
      table + 4 * (p.nt * p.nn + tile_n % p.nn) * p.threads + tile_n / p.nn * 32 + place_in_tile<C>(row, column);
  float sum = 0.0F;
#pragma unroll
  for (int m = 0; m < p.threads / 32 / p.grid_n; ++m) sum += at[m * p.grid_n * 32];
  return sum;
}

}  // namespace remede::cuda

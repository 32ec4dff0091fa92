// The sums of the stepwise form (stepper.h): from counts of entries to their order, and from entries to tables. All
// threads of a block call these together. Which warp adds up which leaf changes no result.
#pragma once

#include "remede/executor/cuda/step_forward.cuh"

namespace remede::cuda {

template <class C>
__device__ __forceinline__ std::int32_t* ints(float* shared, int place) {
  return reinterpret_cast<std::int32_t*>(shared + place);
}

// Where the entries of a chunk are.
template <class C>
__device__ __forceinline__ float* step_entries(const Start& s) {
  if constexpr (C::p.entries > 0)
    return step_memory() + C::p.entries;
  else
    return global(s.staged);
}

// Where the tables of sums are.
template <class C>
__device__ __forceinline__ float* step_tables(const Start& s) {
  if constexpr (C::p.tables > 0)
    return step_memory() + C::p.tables;
  else
    return global(s.table);
}

// Sums over the threads before this one, of two numbers. buffer: (2, warps).
template <class C>
__device__ __forceinline__ int2 sums_before(int2 own, int* buffer) {
  constexpr int kWarps = C::p.threads / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  int2 upto = own;
#pragma unroll
  for (int o = 1; o < 32; o *= 2) {
    const int x = __shfl_up_sync(kAll, upto.x, o), y = __shfl_up_sync(kAll, upto.y, o);
    if (lane >= o) upto.x += x, upto.y += y;
  }
  if (lane == 31) buffer[warp] = upto.x, buffer[kWarps + warp] = upto.y;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < kWarps; ++w)
    if (w < warp) upto.x += buffer[w], upto.y += buffer[kWarps + w];
  __syncthreads();
  return {upto.x - own.x, upto.y - own.y};
}

// Where the entries of every leaf begin, and within them those of every warp. Returns the parts beyond the first of all
// leaves.
template <class C>
__device__ __noinline__ int order_leaves(int* buffer) {
  constexpr Layout l = C::l;
  float* const shared = step_memory();
  constexpr Stepper p = C::p;
  constexpr int kWarps = p.threads / 32, kEach = step_ceil(l.leaves, p.threads);
  std::int32_t* const counts = ints<C>(shared, p.counts);
  int count[kEach];
  int2 sum = {0, 0};
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int leaf = static_cast<int>(threadIdx.x) * kEach + i;
    count[i] = 0;
    if (leaf < l.leaves)
#pragma unroll
      for (int w = 0; w < kWarps; ++w) count[i] += counts[w * l.leaves + leaf];
    sum.x += count[i];
    sum.y += count[i] > 0 ? (count[i] - 1) / p.part : 0;
  }
  int2 at = sums_before<C>(sum, buffer);
  if (static_cast<int>(threadIdx.x) == p.threads - 1) buffer[0] = at.y + sum.y;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int leaf = static_cast<int>(threadIdx.x) * kEach + i;
    if (leaf >= l.leaves) break;
    ints<C>(shared, p.first)[leaf] = at.x;
    ints<C>(shared, p.total)[leaf] = count[i];
    ints<C>(shared, p.extra)[leaf] = at.y;
    int next = at.x;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      const int own = counts[w * l.leaves + leaf];
      counts[w * l.leaves + leaf] = next;
      next += own;
    }
    at.x = next;
    at.y += count[i] > 0 ? (count[i] - 1) / p.part : 0;
  }
  __syncthreads();
  return buffer[0];
}

// A float as two of 11 bits, which is what tensor cores multiply: its leading bits, and the rest.
struct TwoParts {
  unsigned high, low;
  __device__ __forceinline__ explicit TwoParts(float x) {
    high = __float_as_uint(x) & 0xffffe000U;
    low = __float_as_uint(x - __uint_as_float(high));
  }
  TwoParts() = default;
};

__device__ __forceinline__ void multiply(float (&c)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
                                         unsigned b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// Sums of a leaf in registers: of rows that need all columns, and of those that need the last.
template <class C>
struct TileSums {
  static constexpr int kOnes = C::p.tiles_m - C::p.full_m;
  float full[at_least_one(C::p.full_m)][C::p.tiles_n][4] = {};
  float ones[at_least_one(kOnes)][4] = {};
};

// Eight entries, as in a tile: rows times columns. count: those that count; where entries are in shared memory, others
// follow.
template <class C>
__device__ __forceinline__ void multiply_eight(const float* eight, int count, TileSums<C>& sums) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
  const float* const from = eight + t * p.tile_pitch + g;
  TwoParts columns[p.tiles_n][2];
#pragma unroll
  for (int n = 0; n < p.tiles_n; ++n)
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int f = n * kTileColumns + g;
      float value = f == l.n_v ? 1.0F : 0.0F;
      if (f < l.n_v) value = from[4 * i * p.tile_pitch + p.columns + n * kTileColumns];
      if (p.entries > 0 && t + 4 * i >= count) value = 0.0F;
      columns[n][i] = TwoParts(value);
    }
#pragma unroll
  for (int m = 0; m < p.tiles_m; ++m) {
    TwoParts rows[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float value = from[i / 2 * 4 * p.tile_pitch + m * kTile + i % 2 * 8];
      rows[i] = TwoParts(p.entries > 0 && t + i / 2 * 4 >= count ? 0.0F : value);
    }
    if (m >= p.full_m) {
      constexpr unsigned kOne = 0x3f800000U;  // 1.0F
      float(&to)[4] = sums.ones[m - p.full_m];
      multiply(to, rows[0].high, rows[1].high, rows[2].high, rows[3].high, kOne, kOne);
      multiply(to, rows[0].low, rows[1].low, rows[2].low, rows[3].low, kOne, kOne);
      continue;
    }
#pragma unroll
    for (int n = 0; n < p.tiles_n; ++n) {
      float(&to)[4] = sums.full[m][n];
      multiply(to, rows[0].high, rows[1].high, rows[2].high, rows[3].high, columns[n][0].high, columns[n][1].high);
      multiply(to, rows[0].high, rows[1].high, rows[2].high, rows[3].high, columns[n][0].low, columns[n][1].low);
      multiply(to, rows[0].low, rows[1].low, rows[2].low, rows[3].low, columns[n][0].high, columns[n][1].high);
    }
  }
}

// ADDS the sums to the table of a leaf, or ASSIGNS.
template <class C>
__device__ __forceinline__ void put_tiles(const TileSums<C>& sums, float* table, bool add) {
  constexpr Stepper p = C::p;
  constexpr int kColumns = p.tiles_n * kTileColumns;
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int m = 0; m < p.full_m; ++m)
#pragma unroll
    for (int n = 0; n < p.tiles_n; ++n)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float* const to = table + (m * kTile + half * 8 + g) * kColumns + n * kTileColumns + 2 * t;
        float2 sum = {sums.full[m][n][2 * half], sums.full[m][n][2 * half + 1]};
        if (add) {
          const float2 old = *reinterpret_cast<const float2*>(to);
          sum.x += old.x, sum.y += old.y;
        }
        *reinterpret_cast<float2*>(to) = sum;
      }
  if (t != 0) return;  // all columns are the same
#pragma unroll
  for (int m = 0; m < sums.kOnes; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = m * kTile + half * 8 + g;
      if (row >= p.rows - p.full_m * kTile) continue;  // nobody reads it
      float* const to = table + p.full_m * kTile * kColumns + row;
      *to = add ? *to + sums.ones[m][2 * half] : sums.ones[m][2 * half];
    }
}

// One warp: rows times columns, added up over `count` entries. ADDS to the table, or ASSIGNS. The next entries are
// loaded while some are added.
template <class C>
__device__ __forceinline__ void add_entries(float* tile, const float* entries, int count, float* table, bool add) {
  constexpr Stepper p = C::p;
  if constexpr (p.entries > 0) {
    TileSums<C> all;
    for (int k = 0; k < count; k += 8) multiply_eight<C>(entries + k * p.tile_pitch, count - k, all);
    put_tiles<C>(all, table, add);
    return;
  }
  constexpr int kQuads = p.entry / 4, kEach = step_ceil(kEntries * kQuads, 32);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  TileSums<C> sums;
  constexpr int kAhead = kEach <= 4 ? 3 : 1;  // tiles
  float4 next[kAhead][kEach];
  const auto load = [&](int first, float4(&to)[kEach]) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      to[i] = {0.0F, 0.0F, 0.0F, 0.0F};
      if (i * 32 + lane < kEntries * kQuads && first + (i * 32 + lane) / kQuads < count)
        to[i] = __ldcs(reinterpret_cast<const float4*>(entries) + first * kQuads + i * 32 + lane);
    }
  };
#pragma unroll
  for (int a = 0; a < kAhead; ++a) load(a * kEntries, next[a]);
  for (int k = 0; k < count; k += kAhead * kEntries) {
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      const int at = k + a * kEntries;
      if (at >= count) break;
      __syncwarp();
#pragma unroll
      for (int i = 0; i < kEach; ++i)
        if (i * 32 + lane < kEntries * kQuads)
          reinterpret_cast<float4*>(tile)[(i * 32 + lane) / kQuads * (p.tile_pitch / 4) + (i * 32 + lane) % kQuads] =
              next[a][i];
      __syncwarp();
      load(at + kAhead * kEntries, next[a]);
      multiply_eight<C>(tile, count - at, sums);
      if (at + 8 < count) multiply_eight<C>(tile + 8 * p.tile_pitch, count - at - 8, sums);
    }
  }
  put_tiles<C>(sums, table, add);
}

// The leaf with part number `part` of those beyond the first.
template <class C>
__device__ __forceinline__ int leaf_of_part(const std::int32_t* extra, int part) {
  int leaf = 0;
#pragma unroll
  for (int step = C::l.leaves / 2; step > 0; step /= 2)
    if (extra[leaf + step] <= part) leaf += step;
  return leaf;
}

// ADDS the tables of parts beyond the first to those of their leaves, in order. A warp takes some numbers of a leaf
// at a time.
template <class C>
__device__ __forceinline__ void add_parts(const std::int32_t* total, const std::int32_t* extra, int parts,
                                          float* tables) {
  constexpr Stepper p = C::p;
  constexpr int kEach = p.entries > 0 && p.table <= 256 ? p.table / 32
                        : p.table % 128 == 0            ? 4
                        : p.table % 64 == 0             ? 2
                                                        : 1;
  constexpr int kSlices = p.table / (32 * kEach);
  static_assert(kSlices * 32 * kEach == p.table);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int job = static_cast<int>(threadIdx.x) / 32; job < parts * kSlices; job += p.threads / 32) {
    const int leaf = leaf_of_part<C>(extra, job / kSlices), more = (total[leaf] - 1) / p.part;
    if (job / kSlices != extra[leaf]) continue;  // not the first of its leaf
    float* const to = tables + static_cast<std::size_t>(leaf) * p.table + job % kSlices * 32 * kEach + lane;
    const float* from = to + static_cast<std::ptrdiff_t>(C::l.leaves + extra[leaf] - leaf) * p.table;
    float sum[kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k) sum[k] = to[k * 32];
#pragma unroll 4
    for (int part = 0; part < more; ++part, from += p.table)
#pragma unroll
      for (int k = 0; k < kEach; ++k) sum[k] += from[k * 32];
#pragma unroll
    for (int k = 0; k < kEach; ++k) to[k * 32] = sum[k];
  }
}

// ADDS the entries of a chunk to the tables of the leaves. Warps take leaves as they come, or in turn; parts beyond the
// first of a leaf have tables of their own, which are added in their order.
template <class C>
__device__ __noinline__ void add_chunk(const Start& s, int parts, int* next) {
  constexpr Layout l = C::l;
  float* const shared = step_memory();
  const float* const entries = step_entries<C>(s);
  constexpr int kPitch = C::p.entries > 0 ? C::p.tile_pitch : C::p.entry;
  float* const tables = step_tables<C>(s);
  constexpr Stepper p = C::p;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int32_t* const first = ints<C>(shared, p.first);
  const std::int32_t* const total = ints<C>(shared, p.total);
  const std::int32_t* const extra = ints<C>(shared, p.extra);
  std::int32_t* const seen = ints<C>(shared, p.seen);
  constexpr int kTogether = step_ceil(l.leaves, 128);  // leaves that are taken at a time: many have no entry
  const auto add = [&](int leaf, int begin, int table, bool again) {
    const int count = min(p.part, total[leaf] - begin);
    if (count > 0)
      add_entries<C>(own_tile<C>(shared), entries + static_cast<std::size_t>(first[leaf] + begin) * kPitch, count,
                     tables + static_cast<std::size_t>(table) * p.table, again);
  };
  for (int turn = static_cast<int>(threadIdx.x) / 32;; turn += p.threads / 32) {
    int job = turn;  // with entries in shared memory, asking for the next job would take longer than a job
    if constexpr (p.entries == 0) job = __shfl_sync(kAll, lane == 0 ? atomicAdd(next, 1) : 0, 0);
    if (job < parts) {  // the longest first
      const int leaf = leaf_of_part<C>(extra, job);
      add(leaf, (job - extra[leaf] + 1) * p.part, l.leaves + job, false);
      continue;
    }
    const int begin = (job - parts) * kTogether;
    if (begin >= l.leaves) break;
    for (int leaf = begin; leaf < step_min(begin + kTogether, l.leaves); ++leaf) add(leaf, 0, leaf, seen[leaf] != 0);
  }
  __syncthreads();
  for (int leaf = static_cast<int>(threadIdx.x); leaf < l.leaves; leaf += p.threads)
    if (total[leaf] > 0) seen[leaf] = 1;
  add_parts<C>(total, extra, parts, tables);
  __syncthreads();
}

}  // namespace remede::cuda

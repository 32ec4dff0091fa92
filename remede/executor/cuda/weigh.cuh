// How the derivative by each split follows from that by the memory (phases.cuh): step by step, in parallel.
#pragma once

#include "remede/executor/cuda/answer.cuh"

namespace remede::cuda {

// What a leaf is worth to one cell, for q = 1: its part of the slope of r.
struct CellWeights {
  float gate, write, rate;  // derivatives for q = 1
};

__device__ __forceinline__ float cell_worth(const Layout& l, const float* arena, int cell, float argument,
                                            const CellWeights& c, float memory) {
  const float gate = arena[l.gate_value + cell];
  if (l.effects == 0) {
    const float rate = l.blends ? c.rate * arena[l.rate_value + cell] : 0.0F;
    return fmaf(c.gate, gate, fmaf(c.write, argument, rate));
  }
  if (gate < 0.0F) return 0.0F;
  const float u = tanh(argument);
  return l.blends ? arena[l.blend + cell] * (u - memory) : u;
}

__device__ __forceinline__ CellWeights cell_weights(const Layout& l, const float* arena, int cell, float u, float m) {
  const float open = arena[l.gate_value + cell] >= 0.0F ? 1.0F : 0.0F, slope = arena[l.gate_slope + cell];
  if (!l.blends) return {u * slope, open * (1.0F - u * u), 0.0F};
  const float a = arena[l.blend + cell], change = a * (u - m);
  return {change * slope, open * a * (1.0F - u * u), open * change * (1.0F - a)};
}

__device__ __forceinline__ float split_slope(const Layout& l, float z) {
  const float slope = l.slope;
  if (l.softsign) {
    const float d = 1.0F + fabsf(slope * z);
    return 0.5F * slope * one_over(d * d);
  }
  const float e = exp(-fabsf(slope * z)), d = 1.0F + e;
  return slope * e * one_over(d * d);
}

// A group for a step: where there are many cells.
template <int G, int K>
__device__ __forceinline__ void weigh_by_group(const Layout& l, const Start& s, const Work& w, const Chunk& chunk) {
  const int n_x = l.n_x, n_m = l.n_m, n_y = l.n_y;
  const int lane = threadIdx.x % G, group = threadIdx.x / G, groups = blockDim.x / G;
  const auto* const nodes = reinterpret_cast<const float2*>(w.arena + l.node);
  float* const filled = w.arena + l.scratch + group * l.scratch_pitch;
  float* const raw = filled + n_x;
  float* const memory = raw + n_x;
  const bool missing = l.missing != 0;
  const float* const inputs = missing ? s.noisy != nullptr ? s.noisy : s.data.x : nullptr;
  const bool by_step = s.noisy != nullptr;
  const std::uint32_t rounds = (chunk.steps + groups - 1) / groups;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const bool has = round * groups + group < chunk.steps;
    const std::uint32_t i = has ? round * groups + group : 0;
    float* const r = w.records + static_cast<std::size_t>(i) * l.record;
    const int j = w.leaf[i];
    const float* const x = missing ? inputs + static_cast<std::size_t>(by_step ? i : w.at[i]) * n_x : r;
    for (int f = lane; f < n_x; f += G) {
      filled[f] = r[f];
      raw[f] = x[f];
    }
    CellWeights c[K];
    float here[K], m[K];
#pragma unroll
    for (int o = 0; o < K; ++o) {
      const int k = lane + o * G;
      here[o] = m[o] = 0.0F;
      if (k < n_m) {
        const int cell = j * n_m + k;
        m[o] = memory[k] = r[n_x + k];
        c[o] = cell_weights(l, w.arena, cell, r[l.write + k], m[o]);
        here[o] = cell_worth(l, w.arena, cell, r[l.gate + k], c[o], m[o]);
      }
    }
    __syncwarp();
    // What the answer of a leaf is worth: this lane's constants, and its inputs and cells.
    const auto worth_of = [&](int leaf) {
      float sum = 0.0F;
      for (int y = lane; y < n_y; y += G) sum = fmaf(r[l.g + y], w.arena[l.output + leaf * n_y + y], sum);
      if (l.linear)
        for (int f = lane; f < l.n_v; f += G) {
          const float* column = w.arena + l.linears + leaf * n_y * l.linear_pitch + f;
          float by = 0.0F;
          for (int y = 0; y < n_y; ++y, column += l.linear_pitch) by = fmaf(r[l.g + y], *column, by);
          sum = fmaf(by, f < n_x ? filled[f] : memory[f - n_x], sum);
        }
      return sum;
    };
    const float base_here = worth_of(j);
    for (int d = 0; d < l.depth; ++d) {
      const int child = (j + l.leaves) >> (l.depth - d - 1);
      const float2 node = nodes[(child >> 1) - 1];
      const float value = raw[feature_of(node)];
      const int other = descend(l, child ^ 1, l.depth - d - 1, nodes, [&](int f) { return raw[f]; }) - l.leaves;
      float slope = split_slope(l, value - node.x);
      if ((child & 1) == 0) slope = -slope;
      const bool known = value == value;
      const float base = group_sum<G>(base_here - worth_of(other));
      if (has && lane == 0) r[l.base + d] = known ? slope * base : 0.0F;
#pragma unroll
      for (int o = 0; o < K; ++o) {
        const int k = lane + o * G;
        if (k >= n_m) continue;
        const int cell = other * n_m + k;
        const float* row = w.arena + l.writes + cell * l.write_pitch;
        float argument = dot(l.has_bias ? w.arena[l.bias + cell] : 0.0F, row, filled, n_x);
        if (l.reads_memory) argument = dot(argument, row + n_x, memory, n_m);
        const float worth = cell_worth(l, w.arena, cell, argument, c[o], m[o]);
        if (has) r[l.slopes + d * l.cells + k] = known ? slope * (here[o] - worth) : 0.0F;
      }
    }
    if (has)
#pragma unroll
      for (int o = 0; o < K; ++o) {
        const int k = lane + o * G;
        if (k >= n_m) continue;
        r[l.gate + k] = c[o].gate;
        r[l.write + k] = c[o].write;
        if (l.blends) r[l.rate + k] = c[o].rate;
        if (l.linear) {
          float sum = 0.0F;
          for (int y = 0; y < n_y; ++y)
            sum = fmaf(r[l.g + y], w.arena[l.linears + (j * n_y + y) * l.linear_pitch + n_x + k], sum);
          r[l.direct + k] = sum;
        }
      }
    __syncwarp();
  }
  __syncthreads();
}

// Copies `count` floats (a multiple of four, beginning at a multiple of four) of the records of 32 steps, or of as many
// as there are, to rows in shared memory, or back. A record by itself is scattered among those of other threads.
__device__ __forceinline__ void copy_rows(float* records, int record, int steps, float* rows, int pitch, int count,
                                          bool back) {
  const int lane = threadIdx.x % 32, parts = count / 4;
#pragma unroll 4
  for (int i = lane; i < steps * parts; i += 32) {
    const int step = i / parts, part = i - step * parts;
    auto* const place = reinterpret_cast<float4*>(records + static_cast<std::size_t>(step) * record) + part;
    float* const row = rows + step * pitch + 4 * part;
    if (back) {
      *place = {row[0], row[1], row[2], row[3]};
    } else {
      const float4 four = *place;
      row[0] = four.x, row[1] = four.y, row[2] = four.z, row[3] = four.w;
    }
  }
}

// One step of weigh_by_thread. r: what the record holds up to the rates; changed in place. slopes, bases: of this step;
// store(d) is called after each level.
template <int C, typename Store>
__device__ __forceinline__ void weigh_step(const Layout& l, const float* arena, int j, float* r, const float* x,
                                           float* slopes, float* bases, const Store& store) {
  const int n_x = l.n_x, n_m = l.n_m, n_y = l.n_y;
  const auto* const nodes = reinterpret_cast<const float2*>(arena + l.node);
  CellWeights c[C];
  float here[C], m[C];
#pragma unroll
  for (int k = 0; k < C; ++k) {
    here[k] = m[k] = 0.0F;
    c[k] = {0.0F, 0.0F, 0.0F};
    if (k < n_m) {
      m[k] = r[n_x + k];
      c[k] = cell_weights(l, arena, j * n_m + k, r[l.write + k], m[k]);
      here[k] = cell_worth(l, arena, j * n_m + k, r[l.gate + k], c[k], m[k]);
    }
  }
  const auto worth_of = [&](int leaf) {
    float sum = 0.0F;
    for (int y = 0; y < n_y; ++y) sum = fmaf(r[l.g + y], leaf_output(l, arena, leaf, y, r), sum);
    return sum;
  };
  const float base_here = worth_of(j);
  const auto value_of = [&](int f) { return l.missing && f < n_x ? x[f] : r[f]; };
  for (int d = 0; d < l.depth; ++d) {
    const int child = (j + l.leaves) >> (l.depth - d - 1);
    const float2 node = nodes[(child >> 1) - 1];
    const float value = value_of(feature_of(node));
    int other = child ^ 1;
    while (other < l.leaves) {
      const float2 next = nodes[other - 1];
      other = 2 * other + goes_right(l, next, value_of(feature_of(next)));
    }
    other -= l.leaves;
    const bool known = value == value;
    const float slope = ((child & 1) == 0 ? -1.0F : 1.0F) * split_slope(l, value - node.x);
    bases[d] = known ? slope * (base_here - worth_of(other)) : 0.0F;
    float argument[C];
#pragma unroll
    for (int k = 0; k < C; ++k) argument[k] = k < n_m && l.has_bias ? arena[l.bias + other * n_m + k] : 0.0F;
    const float* const rows = arena + l.writes + other * n_m * l.write_pitch;
    for (int f = 0; f < n_x; ++f) {
      const float input = r[f];
#pragma unroll
      for (int k = 0; k < C; ++k)
        if (k < n_m) argument[k] = fmaf(rows[k * l.write_pitch + f], input, argument[k]);
    }
    if (l.reads_memory)
#pragma unroll
      for (int f = 0; f < C; ++f)
        if (f < n_m)
#pragma unroll
          for (int k = 0; k < C; ++k)
            if (k < n_m) argument[k] = fmaf(rows[k * l.write_pitch + n_x + f], m[f], argument[k]);
#pragma unroll
    for (int k = 0; k < C; ++k)
      if (k < n_m) {
        const float worth = cell_worth(l, arena, other * n_m + k, argument[k], c[k], m[k]);
        slopes[k] = known ? slope * (here[k] - worth) : 0.0F;
      }
    store(d);
  }
}

// What going back through a cell takes, in place of what the forward pass left.
template <int C>
__device__ __forceinline__ void put_weights(const Layout& l, const float* arena, int j, float* r, float* rate,
                                            float* direct) {
  const int n_x = l.n_x, n_m = l.n_m, n_y = l.n_y;
#pragma unroll
  for (int k = 0; k < C; ++k)
    if (k < n_m) {
      const CellWeights c = cell_weights(l, arena, j * n_m + k, r[l.write + k], r[n_x + k]);
      r[l.gate + k] = c.gate;
      r[l.write + k] = c.write;
      if (l.blends) rate[k] = c.rate;
      if (l.linear) {
        float sum = 0.0F;
        for (int y = 0; y < n_y; ++y)
          sum = fmaf(r[l.g + y], arena[l.linears + (j * n_y + y) * l.linear_pitch + n_x + k], sum);
        direct[k] = sum;
      }
    }
}

// A thread for a step: where there are at most C cells. The records of a warp's 32 steps pass through shared memory.
template <int C>
__device__ __forceinline__ void weigh_by_thread(const Layout& l, const Start& s, const Work& w, const Chunk& chunk) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, tiles = (chunk.steps + 31) / 32;
  const bool by_step = s.noisy != nullptr;
  const float* const inputs = by_step ? s.noisy : s.data.x;
  float* const stage = w.arena + l.stage + warp * l.stage_warp;
  float* const row = stage + lane * l.stage_pitch;
  float* const slopes = stage + 32 * l.stage_pitch;  // (32, cells + 1) of one level
  for (int tile = warp; tile < tiles; tile += static_cast<int>(blockDim.x / 32)) {
    const int first = tile * 32, steps = min(32, static_cast<int>(chunk.steps) - first);
    const bool has = lane < steps;
    const std::uint32_t i = first + (has ? lane : 0);
    float* const records = w.records + static_cast<std::size_t>(first) * l.record;
    copy_rows(records, l.record, steps, stage, l.stage_pitch, l.rate, false);
    __syncwarp();
    const int j = w.leaf[i];
    float* const mine = row + l.rate;  // bases, then rates and direct parts, behind the copied record
    const float* const x = l.missing ? inputs + static_cast<std::size_t>(by_step ? i : w.at[i]) * l.n_x : nullptr;
    weigh_step<C>(l, w.arena, j, row, x, slopes + lane * (l.cells + 1), mine, [&](int d) {
      __syncwarp();
      copy_rows(records + l.slopes + d * l.cells, l.record, steps, slopes, l.cells + 1, l.cells, true);
      __syncwarp();
    });
    put_weights<C>(l, w.arena, j, row, mine + l.stage_rate, mine + l.stage_direct);
    __syncwarp();
    copy_rows(records + l.gate, l.record, steps, stage + l.gate, l.stage_pitch, l.rate - l.gate, true);
    copy_rows(records + l.base, l.record, steps, stage + l.rate, l.stage_pitch, l.direct - l.base, true);
    if (l.blends)
      copy_rows(records + l.rate, l.record, steps, stage + l.rate + l.stage_rate, l.stage_pitch, l.cells, true);
    if (l.linear)
      copy_rows(records + l.direct, l.record, steps, stage + l.rate + l.stage_direct, l.stage_pitch, l.cells, true);
    __syncwarp();
  }
  __syncthreads();
}

}  // namespace remede::cuda

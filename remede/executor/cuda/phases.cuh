// The phases of an update, each a function that all threads of a block call together. A sequence is the work of a GROUP
// of G lanes of a warp; lane l has the cells l, l + G, ... (K of them at most).
//
//   forward    sequence by sequence: memory, leaves
//   answer     step by step: outputs, loss and its derivative
//   weigh      step by step: how the derivative by each split follows from q, the derivative by the memory
//   backward   sequence by sequence: q, which is all that must be computed one step after the other
//   add_up     sum by sum: a thread owns four numbers of a table and adds up the steps in order. No atomics, and no
//              result that depends on the order in which threads run
//
// Only forward and backward are sequential in time. docs/mathematics.md has the formulas.
#pragma once

#include "remede/executor/cuda/arithmetic.cuh"

namespace remede::cuda {

#ifdef __CUDACC_RTC__
constexpr int kUnrolledLevels = kMostDepth;  // the depth is known
#else
constexpr int kUnrolledLevels = 1;
#endif
constexpr float kLowestFloat = -3.402823466e38F;
constexpr unsigned kAll = 0xffffffffU;
constexpr float kMostBack = 1e9F;  // as remede::kMostBack

// What the phases hand on. Pointers into global memory, but for the arena: of the tree, scratch and sums.
struct Work {
  float* arena;
  float* records;
  std::int32_t* leaf;
  std::uint32_t* at;
  float scale;  // of the derivatives; 0: the loss alone is wanted
};

struct LossSums {
  double loss = 0, correct = 0;
};

// A pointer that the compiler may take for one into global memory: other stores than through such then leave what was
// read from shared memory alone.
template <typename T>
__device__ __forceinline__ T* global(T* p) {
  __builtin_assume(__isGlobal(p));
  return p;
}

template <int G>
__device__ __forceinline__ float group_sum(float x) {
#pragma unroll
  for (int o = G / 2; o > 0; o /= 2) x += __shfl_xor_sync(kAll, x, o);
  return x;
}

template <int G>
__device__ __forceinline__ int most_of_warp(int x) {
#pragma unroll
  for (int o = 16; o >= G; o /= 2) x = max(x, __shfl_xor_sync(kAll, x, o));
  return x;
}

// The sum over all threads, in a fixed order, for every thread.
__device__ inline double block_sum(double x, double* buffer) {
  for (int o = 16; o > 0; o /= 2) x += __shfl_xor_sync(kAll, x, o);
  __syncthreads();
  if (threadIdx.x % 32 == 0) buffer[threadIdx.x / 32] = x;
  __syncthreads();
  double sum = 0;
  for (int w = 0; w < static_cast<int>(blockDim.x / 32); ++w) sum += buffer[w];
  return sum;
}

// A node in the arena: its threshold, and its feature packed with the side of missing values.
__device__ __forceinline__ int feature_of(const float2& node) { return __float_as_int(node.y) & 0xffffff; }

// Whether a value goes right at a node. No branch: neighbouring lanes differ.
__device__ __forceinline__ int goes_right(const Layout& l, const float2& node, float value) {
  int right = value >= node.x ? 1 : 0;
  if (l.missing) right |= value != value ? __float_as_int(node.y) >> 24 : 0;
  return right;
}

// Leaf below node i, `levels` further down; both counted from 1, as in a heap. value(f): of a feature.
template <typename Value>
__device__ __forceinline__ int descend(const Layout& l, int i, int levels, const float2* nodes, const Value& value) {
#pragma unroll kUnrolledLevels
  for (int d = 0; d < levels; ++d) {
    const float2 node = nodes[i - 1];
    i = 2 * i + goes_right(l, node, value(feature_of(node)));
  }
  return i;
}

// The tree as the phases read it, from its parameters.
__device__ __forceinline__ void prepare(const Layout& l, const std::uint8_t* missing_right, const float* p,
                                        float* arena) {
  const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
  auto* const nodes = reinterpret_cast<float2*>(arena + l.node);
  for (int i = threadIdx.x / 32; i < l.nodes; i += warps) {
    const float* logits = p + l.begin[0] + i * l.n_v;
    float best = kLowestFloat;
    int f = 1 << 30;
    for (int k = lane; k < l.n_v; k += 32)
      if (f == 1 << 30 || logits[k] > best) best = logits[k], f = k;
    for (int o = 16; o > 0; o /= 2) {
      const float other = __shfl_xor_sync(kAll, best, o);
      const int of = __shfl_xor_sync(kAll, f, o);
      if (of != 1 << 30 && (f == 1 << 30 || other > best || (other == best && of < f))) best = other, f = of;
    }
    if (f >= l.n_v) f = 0;
    if (lane == 0)
      nodes[i] = {p[l.begin[1] + i * l.n_v + f], __int_as_float(f | (missing_right[i] != 0 ? 1 << 24 : 0))};
  }
  const int step = blockDim.x, first = threadIdx.x;
  for (int i = first; i < l.leaves * l.n_y; i += step) arena[l.output + i] = p[l.begin[2] + i];
  for (int i = first; i < l.leaves * l.n_m; i += step) {
    const float gate = p[l.begin[3] + i], share = sigmoid(gate);
    arena[l.gate_value + i] = gate;
    arena[l.gate_slope + i] = share * (1.0F - share);
    if (l.has_bias) arena[l.bias + i] = p[l.begin[5] + i];
    if (l.blends) {
      const float rate = p[l.begin[6] + i];
      arena[l.rate_value + i] = rate;
      arena[l.blend + i] = sigmoid(rate);
    }
  }
  const int writes = l.leaves * l.n_m * l.n_w;
  for (int i = first; i < writes; i += step) {
    const int row = i / l.n_w;
    arena[l.writes + row * l.write_pitch + (i - row * l.n_w)] = p[l.begin[4] + i];
  }
  if (l.linear)
    for (int i = first; i < l.leaves * l.n_y * l.n_v; i += step) {
      const int row = i / l.n_v;
      arena[l.linears + row * l.linear_pitch + (i - row * l.n_v)] = p[l.begin[7] + i];
    }
  __syncthreads();
}

// Inputs of the chunk's sequences with the noise of this epoch, as executor/blur.cpp adds it. A thread per sequence.
__device__ __noinline__ inline void add_noise(const Start& s, int n_x, Chunk chunk, std::uint64_t drawn) {
  constexpr std::uint64_t kOffsetSeed = 0x6f6666;
  for (std::uint32_t i = threadIdx.x; i < chunk.count; i += blockDim.x) {
    const Entry entry = s.entries[chunk.first + i];
    const std::int64_t from = s.data.offset[entry.sequence];
    const auto steps = static_cast<std::uint32_t>(s.data.offset[entry.sequence + 1] - from);
    const float* x = s.data.x + from * n_x;
    float* to = s.noisy + static_cast<std::size_t>(entry.base) * n_x;
    Random offsets(drawn ^ kOffsetSeed, entry.sequence);
    for (int f = 0; f < n_x; ++f) {
      const double uniform = static_cast<double>(offsets.bits() >> 11) * 0x1.0p-53;
      const float offset = s.offset_noise[f] * static_cast<float>(-1.0 + 2.0 * uniform);
      for (std::uint32_t t = 0; t < steps; ++t) to[t * n_x + f] = offset;
    }
    Random random(drawn, entry.sequence);
    std::uint64_t bits = 0;
    for (std::uint32_t k = 0, f = 0; k < steps * n_x; ++k, f = f + 1 == n_x ? 0 : f + 1) {
      if (k % 4 == 0) bits = random.bits();
      const float part = (static_cast<float>(bits & 0xffffU) - 32767.5F) / 32768.0F;
      to[k] = x[k] + to[k] + s.noise[f] * part;
      bits >>= 16U;
    }
  }
  __syncthreads();
}

// sum + row . v, in four sums: a single one would wait for itself.
__device__ __forceinline__ float dot(float sum, const float* row, const float* v, int n) {
  float a = 0.0F, b = 0.0F, c = 0.0F;
  int f = 0;
  for (; f + 4 <= n; f += 4) {
    sum = fmaf(row[f], v[f], sum);
    a = fmaf(row[f + 1], v[f + 1], a);
    b = fmaf(row[f + 2], v[f + 2], b);
    c = fmaf(row[f + 3], v[f + 3], c);
  }
  for (; f < n; ++f) sum = fmaf(row[f], v[f], sum);
  return (sum + a) + (b + c);
}

template <int G, int K>
__device__ __forceinline__ void forward(const Layout& l, const Start& s, const Work& w, const Chunk& chunk) {
  const int n_x = l.n_x, n_m = l.n_m;
  const bool learns = w.scale > 0.0F;
  const int lane = threadIdx.x % G, group = threadIdx.x / G, groups = blockDim.x / G;
  const auto* const nodes = reinterpret_cast<const float2*>(w.arena + l.node);
  float* const filled = w.arena + l.scratch + group * l.scratch_pitch;
  float* const raw = filled + n_x;
  float* const memory = raw + n_x;
  const float* const fill = global(s.fill);
  const Entry* const entries = global(s.entries) + chunk.first;
  const std::int64_t* const offsets = global(s.data.offset);
  const float* const noisy = s.noisy == nullptr ? nullptr : global(s.noisy);
  const float* const all = global(s.data.x);
  const float* const before = s.before;
  float* const after = s.after;
  for (std::uint32_t first = 0; first < chunk.count; first += groups) {
    const bool has = first + group < chunk.count;
    Entry entry = {0, 0};
    std::int64_t from = 0;
    int length = 0;
    if (has) {
      entry = entries[first + group];
      from = offsets[entry.sequence];
      length = static_cast<int>(offsets[entry.sequence + 1] - from);
    }
    const int most = most_of_warp<G>(length);
    float m[K];
#pragma unroll
    for (int c = 0; c < K; ++c) {
      const int k = lane + c * G;
      m[c] = has && k < n_m && before != nullptr ? before[static_cast<std::size_t>(entry.sequence) * n_m + k] : 0.0F;
    }
    const float* x = noisy != nullptr ? noisy + static_cast<std::size_t>(entry.base) * n_x : all + from * n_x;
    float* r = w.records + static_cast<std::size_t>(entry.base) * l.record;
    float next0 = length > 0 && lane < n_x ? x[lane] : 0.0F;
    float next1 = length > 0 && lane + G < n_x ? x[lane + G] : 0.0F;
    for (int t = 0; t < most; ++t, r += l.record) {
      const bool active = t < length;
      if (active) {
        const float now0 = next0, now1 = next1;
        if (t + 1 < length) {
          if (lane < n_x) next0 = x[n_x + lane];
          if (lane + G < n_x) next1 = x[n_x + lane + G];
        }
        const auto take = [&](int f, float value) {
          raw[f] = value;
          if (l.missing) value = value != value ? fill[f] : value;
          filled[f] = r[f] = value;
        };
        if (lane < n_x) take(lane, now0);
        if (lane + G < n_x) take(lane + G, now1);
        if (n_x > 2 * G)
          for (int f = lane + 2 * G; f < n_x; f += G) take(f, x[f]);
#pragma unroll
        for (int c = 0; c < K; ++c) {
          const int k = lane + c * G;
          if (k < n_m) memory[k] = r[n_x + k] = m[c];
        }
        x += n_x;
      }
      __syncwarp();
      if (active) {
        const int j = descend(l, 1, l.depth, nodes, [&](int f) { return raw[f]; }) - l.leaves;
        if (lane == 0) {
          w.leaf[entry.base + t] = j;
          w.at[entry.base + t] = static_cast<std::uint32_t>(from) + t;
          r[l.n_v] = 1.0F;
        }
#pragma unroll
        for (int c = 0; c < K; ++c) {
          const int k = lane + c * G;
          if (k < n_m) {
            const int cell = j * n_m + k;
            const float* row = w.arena + l.writes + cell * l.write_pitch;
            float a = dot(l.has_bias ? w.arena[l.bias + cell] : 0.0F, row, filled, n_x);
            if (l.reads_memory) a = dot(a, row + n_x, memory, n_m);
            const float u = tanh(a);
            if (learns) {
              r[l.gate + k] = a;
              r[l.write + k] = u;
            }
            if (w.arena[l.gate_value + cell] >= 0.0F) m[c] += l.blends ? w.arena[l.blend + cell] * (u - m[c]) : u;
          }
        }
      }
      __syncwarp();
    }
    if (has && after != nullptr)
#pragma unroll
      for (int c = 0; c < K; ++c)
        if (lane + c * G < n_m) after[static_cast<std::size_t>(entry.sequence) * n_m + lane + c * G] = m[c];
  }
  __syncthreads();
}

// Output y of leaf j for the inputs and memory v.
__device__ __forceinline__ float leaf_output(const Layout& l, const float* arena, int j, int y, const float* v) {
  const int at = j * l.n_y + y;
  const float constant = arena[l.output + at];
  return l.linear ? dot(constant, arena + l.linears + at * l.linear_pitch, v, l.n_v) : constant;
}

// The outputs of one sequence added up in time, and their derivatives back: the first-order form. A thread per sequence
// and output.
__device__ __noinline__ inline void accumulate(int n_y, int record, const Start& s, float* outputs, Chunk chunk,
                                               bool back) {
  for (std::uint32_t i = threadIdx.x; i < chunk.count * n_y; i += blockDim.x) {
    const Entry entry = s.entries[chunk.first + i / n_y];
    const auto steps = static_cast<int>(s.data.offset[entry.sequence + 1] - s.data.offset[entry.sequence]);
    float* g = outputs + static_cast<std::size_t>(entry.base) * record + i % n_y;
    for (int t = 1; t < steps; ++t) {
      const int to = back ? steps - 1 - t : t;
      g[static_cast<std::size_t>(to) * record] += g[static_cast<std::size_t>(back ? to + 1 : to - 1) * record];
    }
  }
  __syncthreads();
}

// The loss of one step; y (n_y) becomes its derivative.
__device__ __forceinline__ void step_loss(const Objective& objective, float* y, const float* target, int n_y, int n_t,
                                          float weight, float scale, LossSums& sums) {
  const Step<float, float> step = {y, target, n_y, n_t, scale > 0.0F ? scale * weight : weight};
  with_formula(objective, [&](auto formula) {
    const StepLoss<float> result = decltype(formula)::run(objective, step);
    sums.loss += static_cast<double>(weight) * static_cast<double>(result.loss);
    sums.correct += static_cast<double>(weight) * static_cast<double>(result.correct);
  });
}

// Three classes or two, from registers: the loop over them is unrolled.
template <int N>
__device__ __forceinline__ void few_classes(float* g, float label, float weight, float scale, LossSums& sums) {
  float y[N];
#pragma unroll
  for (int k = 0; k < N; ++k) y[k] = g[k];
  const Step<float, float> step = {y, &label, N, 1, scale > 0.0F ? scale * weight : weight};
  const StepLoss<float> result = CrossEntropyFormula::run(Objective(), step);
  sums.loss += static_cast<double>(weight) * static_cast<double>(result.loss);
  sums.correct += static_cast<double>(weight) * static_cast<double>(result.correct);
#pragma unroll
  for (int k = 0; k < N; ++k) g[k] = y[k];
}

__device__ __noinline__ inline LossSums losses_of(int n_y, int n_t, int record, const Start& s, float* outputs,
                                                  const std::uint32_t* all_places, float scale, std::uint32_t steps) {
  const Objective objective = {static_cast<Loss>(s.loss), {s.quantiles}, {s.scale}};
  const float* const weights = global(s.data.weight);
  const std::int32_t* const labels = s.data.label;
  const float* const values = s.data.value;
  float* const records = global(outputs);
  const std::uint32_t* const places = global(all_places);
  const int kind = objective.loss == Loss::kCrossEntropy ? n_y : 0;
  LossSums sums;
  for (std::uint32_t i = threadIdx.x; i < steps; i += blockDim.x) {
    float* const g = records + static_cast<std::size_t>(i) * record;
    const std::size_t at = places[i];
    const float weight = weights[at];
    const float label = labels != nullptr ? static_cast<float>(labels[at]) : 0.0F;
    if (weight == 0.0F) {
      for (int y = 0; y < n_y; ++y) g[y] = 0.0F;
    } else if (kind == 2) {
      few_classes<2>(g, label, weight, scale, sums);
    } else if (kind == 3) {
      few_classes<3>(g, label, weight, scale, sums);
    } else {
      step_loss(objective, g, labels != nullptr ? &label : values + at * n_t, n_y, n_t, weight, scale, sums);
    }
  }
  return sums;
}

// The loss of the steps, and its derivative by their outputs in place of the outputs.
template <int G>
__device__ __forceinline__ void answer(const Layout& l, const Start& s, const Work& w, const Chunk& chunk,
                                       LossSums& sums) {
  if (l.linear) {
    const int lane = threadIdx.x % G, groups = blockDim.x / G;
    const std::uint32_t rounds = (chunk.steps + groups - 1) / groups;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const std::uint32_t i = round * groups + threadIdx.x / G;
      const bool has = i < chunk.steps;
      float* const r = w.records + static_cast<std::size_t>(has ? i : 0) * l.record;
      const int j = w.leaf[has ? i : 0];
      for (int y = 0; y < l.n_y; ++y) {  // lanes share the sum of an output
        const int at = j * l.n_y + y;
        const float* const row = w.arena + l.linears + at * l.linear_pitch;
        float part = lane == 0 ? w.arena[l.output + at] : 0.0F;
        for (int f = lane; f < l.n_v; f += G) part = fmaf(row[f], r[f], part);
        part = group_sum<G>(part);
        if (has && lane == 0) r[l.g + y] = part;
      }
    }
  } else {
    for (std::uint32_t i = threadIdx.x; i < chunk.steps; i += blockDim.x) {
      float* const g = w.records + static_cast<std::size_t>(i) * l.record + l.g;
      const float* const output = w.arena + l.output + w.leaf[i] * l.n_y;
      for (int y = 0; y < l.n_y; ++y) g[y] = output[y];
    }
  }
  if (l.linear || l.first_order) __syncthreads();
  if (l.first_order) accumulate(l.n_y, l.record, s, w.records + l.g, chunk, false);
  const LossSums more = losses_of(l.n_y, l.n_t, l.record, s, w.records + l.g, w.at, w.scale, chunk.steps);
  sums.loss += more.loss;
  sums.correct += more.correct;
  __syncthreads();
  if (l.first_order && w.scale > 0.0F) accumulate(l.n_y, l.record, s, w.records + l.g, chunk, true);
}

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
    return __fdividef(0.5F * slope, d * d);
  }
  const float e = exp(-fabsf(slope * z)), d = 1.0F + e;
  return __fdividef(slope * e, d * d);
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

// The parts of a record that going back needs: loaded a step ahead.
template <int K>
struct Back {
  int leaf;
  float gate[K], write[K], rate[K], direct[K];
  float slope[kMostDepth][K], base[kMostDepth];
};

template <int G, int K>
__device__ __forceinline__ void load_back(const Layout& l, const float* r, int leaf, int lane, Back<K>& to) {
  to.leaf = leaf;
#pragma unroll
  for (int c = 0; c < K; ++c) {
    const int k = lane + c * G;
    if (k < l.n_m) {
      to.gate[c] = r[l.gate + k];
      to.write[c] = r[l.write + k];
      if (l.blends) to.rate[c] = r[l.rate + k];
      to.direct[c] = l.linear ? r[l.direct + k] : 0.0F;
    }
  }
#pragma unroll
  for (int d = 0; d < kMostDepth; ++d)
    if (d < l.depth) {
      to.base[d] = r[l.base + d];
#pragma unroll
      for (int c = 0; c < K; ++c)
        to.slope[d][c] = lane + c * G < l.n_m ? r[l.slopes + d * l.cells + lane + c * G] : 0.0F;
    }
}

template <int G, int K>
__device__ __forceinline__ void backward(const Layout& l, const Start& s, const Work& w, const Chunk& chunk) {
  const int n_x = l.n_x, n_m = l.n_m, leaves = l.leaves, depth = l.depth, record = l.record;
  const int lane = threadIdx.x % G, group = threadIdx.x / G, groups = blockDim.x / G;
  const float *gates = w.arena + l.gate_value, *blend = w.arena + l.blend, *writes = w.arena + l.writes;
  const auto* const nodes = reinterpret_cast<const float2*>(w.arena + l.node);
  float* const shared_a = w.arena + l.scratch + group * l.scratch_pitch + 2 * n_x + n_m;
  const Entry* const entries = global(s.entries) + chunk.first;
  const std::int64_t* const offsets = global(s.data.offset);
  for (std::uint32_t first = 0; first < chunk.count; first += groups) {
    int length = 0;
    std::uint32_t base = 0;
    if (first + group < chunk.count) {
      const Entry entry = entries[first + group];
      base = entry.base;
      length = static_cast<int>(offsets[entry.sequence + 1] - offsets[entry.sequence]);
    }
    const int most = most_of_warp<G>(length);
    float q[K];
#pragma unroll
    for (int c = 0; c < K; ++c) q[c] = 0.0F;
    Back<K> next = {};
    if (length > 0)
      load_back<G, K>(l, w.records + static_cast<std::size_t>(base + length - 1) * record, w.leaf[base + length - 1],
                      lane, next);
    float* r = w.records + (static_cast<std::ptrdiff_t>(base) + length - 1) * record;
    for (int t = length - 1; t >= length - most; --t, r -= record) {
      const bool active = t >= 0;
      const Back<K> now = next;
      if (t > 0) load_back<G, K>(l, r - record, w.leaf[base + t - 1], lane, next);
      const int j = now.leaf;
      float split[kMostDepth];
#pragma unroll
      for (int d = 0; d < kMostDepth; ++d)
        if (d < depth) {
          float part = 0.0F;
#pragma unroll
          for (int c = 0; c < K; ++c) part = fmaf(q[c], now.slope[d][c], part);
          split[d] = part;
        }
#pragma unroll
      for (int o = G / 2; o > 0; o /= 2)
#pragma unroll
        for (int d = 0; d < kMostDepth; ++d)
          if (d < depth) split[d] += __shfl_xor_sync(kAll, split[d], o);
#pragma unroll
      for (int d = 0; d < kMostDepth; ++d)
        if (d < depth) split[d] += now.base[d];
      float back[K], a[K];
#pragma unroll
      for (int c = 0; c < K; ++c) {
        const int k = lane + c * G, cell = j * n_m + k;
        back[c] = a[c] = 0.0F;
        if (active && k < n_m) {
          a[c] = q[c] * now.write[c];
          r[l.gate + k] = q[c] * now.gate[c];
          r[l.write + k] = a[c];
          if (l.blends) r[l.rate + k] = q[c] * now.rate[c];
          back[c] = (l.blends && gates[cell] >= 0.0F ? q[c] * (1.0F - blend[cell]) : q[c]) + now.direct[c];
          if (l.reads_memory) shared_a[k] = a[c];
        }
      }
      if (l.reads_memory) {
        __syncwarp();
        if (active)
#pragma unroll
          for (int c = 0; c < K; ++c) {
            const int k = lane + c * G;
            if (k < n_m) {
              const float* column = writes + j * n_m * l.write_pitch + n_x + k;
              float b0 = 0.0F, b1 = 0.0F, b2 = 0.0F;
              int i = 0;
              for (; i + 4 <= n_m; i += 4, column += 4 * l.write_pitch) {
                back[c] = fmaf(shared_a[i], column[0], back[c]);
                b0 = fmaf(shared_a[i + 1], column[l.write_pitch], b0);
                b1 = fmaf(shared_a[i + 2], column[2 * l.write_pitch], b1);
                b2 = fmaf(shared_a[i + 3], column[3 * l.write_pitch], b2);
              }
              for (; i < n_m; ++i, column += l.write_pitch) back[c] = fmaf(shared_a[i], column[0], back[c]);
              back[c] = (back[c] + b0) + (b1 + b2);
            }
          }
        __syncwarp();
      }
      if (active) {
#pragma unroll
        for (int d = 0; d < kMostDepth; ++d)
          if (d < depth) {
            if (lane == d % G) r[l.split + d] = split[d];
            const int of = feature_of(nodes[((j + leaves) >> (depth - d)) - 1]) - n_x;
#pragma unroll
            for (int c = 0; c < K; ++c)
              if (lane + c * G == of) back[c] += split[d];
          }
#pragma unroll
        for (int c = 0; c < K; ++c) q[c] = fminf(fmaxf(back[c], -kMostBack), kMostBack);
      }
    }
  }
  __syncthreads();
}

// What one step adds to a unit's sums.
struct Term {
  float4 vector;
  float scalar;
  int leaf;
};

// ADDS the chunk's steps to the tables of sums. Table p has the p-th part of the steps. Numbers are loaded some steps
// before they are added: loads take long.
__device__ __forceinline__ void add_up(const Layout& l, const Start& s, const Work& w, const Chunk& chunk) {
  constexpr int kAhead = 4;
  const int record = l.record, all = l.units * l.tables;
  for (int job = threadIdx.x; job < all; job += blockDim.x) {
    const int part = job / l.units;
    const SumUnit unit = global(s.units)[job - part * l.units];
    float* const table = w.arena + l.sums + part * l.sums_size + unit.begin;
    const auto begin = static_cast<int>(static_cast<std::uint64_t>(chunk.steps) * part / l.tables),
               end = static_cast<int>(static_cast<std::uint64_t>(chunk.steps) * (part + 1) / l.tables);
    const float* const vectors = w.records + unit.vector;
    const float* const scalars = w.records + unit.scalar;
    const auto term = [&](int i) {
      const std::size_t at = static_cast<std::size_t>(i) * record;
      return Term{*reinterpret_cast<const float4*>(vectors + at), scalars[at], w.leaf[i]};
    };
    const auto add = [&](const Term& t) {
      auto* const to = reinterpret_cast<float4*>(table + ((t.leaf + l.leaves) >> unit.shift) * unit.pitch);
      float4 sum = *to;
      sum.x = fmaf(t.scalar, t.vector.x, sum.x);
      sum.y = fmaf(t.scalar, t.vector.y, sum.y);
      sum.z = fmaf(t.scalar, t.vector.z, sum.z);
      sum.w = fmaf(t.scalar, t.vector.w, sum.w);
      *to = sum;
    };
    Term next[kAhead];
    int i = begin;
    if (i + kAhead <= end) {
#pragma unroll
      for (int k = 0; k < kAhead; ++k) next[k] = term(i + k);
      for (; i + kAhead <= end; i += kAhead) {
        Term now[kAhead];
#pragma unroll
        for (int k = 0; k < kAhead; ++k) now[k] = next[k];
        if (i + 2 * kAhead <= end)
#pragma unroll
          for (int k = 0; k < kAhead; ++k) next[k] = term(i + kAhead + k);
#pragma unroll
        for (int k = 0; k < kAhead; ++k) add(now[k]);
      }
    }
    for (; i < end; ++i) add(term(i));
  }
  __syncthreads();
}

}  // namespace remede::cuda

// Outputs, loss and its derivative (phases.cuh): step by step, in parallel.
#pragma once

#include "remede/executor/cuda/forward.cuh"

namespace remede::cuda {

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
    const auto steps = static_cast<int>(s.data.spans[entry.sequence].length);
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

}  // namespace remede::cuda

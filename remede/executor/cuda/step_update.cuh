// The tree in shared memory as the stepwise form reads it (stepper.h), and the gradient from its sums. All threads of a
// block call these together.
#pragma once

#include "remede/executor/cuda/optimise.cuh"
#include "remede/executor/cuda/step_backward.cuh"

namespace remede::cuda {

template <class C>
__device__ __forceinline__ void step_prepare(const Start& s, float* shared) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  const float* const parameters = global(s.parameters);
  const std::uint8_t* const missing_right = global(s.missing_right);
  auto* const nodes = reinterpret_cast<float2*>(shared + p.nodes);
  for (int i = static_cast<int>(threadIdx.x); i < l.nodes; i += p.threads) {
    const float* const logits = parameters + l.begin[0] + i * l.n_v;
    float best = logits[0];
    int f = 0;
#pragma unroll 8
    for (int k = 1; k < l.n_v; ++k) {
      const float logit = logits[k];
      if (logit > best) best = logit, f = k;
    }
    const int side = l.missing && missing_right[i] != 0 ? 1 << 24 : 0;
    nodes[i + 1] = {parameters[l.begin[1] + i * l.n_v + f], __int_as_float(f * p.pitch | side)};
  }
  float* const rows = shared + p.leaf_rows;
  // Numbers of a leaf that lie side by side both in the parameters and in its row, in pieces of `width`.
  const auto copy = [&](int group, int place, int per_leaf, int width, int pitch) {
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < l.leaves * per_leaf; i += p.threads) {
      const int leaf = i / per_leaf, at = i - leaf * per_leaf;
      rows[leaf * p.row + place + at / width * pitch + at % width] = parameters[l.begin[group] + i];
    }
  };
  copy(2, p.output, l.n_y, l.n_y, l.n_y);
  if (l.n_m > 0) copy(4, p.writes, at_least_one(l.n_m * l.n_w), l.n_w, p.write_pitch);
  if (l.linear) copy(7, p.linear, l.n_y * l.n_v, l.n_v, p.linear_pitch);
  constexpr int kCells = at_least_one(l.n_m);
#pragma unroll 2
  for (int i = static_cast<int>(threadIdx.x); i < l.leaves * l.n_m; i += p.threads) {
    float* const row = rows + i / kCells * p.row + i % kCells;
    const float gate = parameters[l.begin[3] + i], share = sigmoid(gate);
    row[p.gate_value] = gate;
    row[p.slope] = share * (1.0F - share);
    if (l.has_bias) row[p.bias] = parameters[l.begin[5] + i];
    if (l.blends) {
      const float rate = parameters[l.begin[6] + i];
      row[p.rate_value] = rate;
      row[p.blend] = sigmoid(rate);
    }
  }
  __syncthreads();
}

// Of one node, by a thread: as node_gradient(). Returns its sum of squares.
template <class C>
__device__ __forceinline__ double step_node_gradient(const float* parameters, float* gradient, const float2* nodes,
                                                     const float* table, int node) {
  constexpr Layout l = C::l;
  const int row = node * l.n_v;
  const float* const logits = parameters + l.begin[0] + row;
  const float* const thresholds = parameters + l.begin[1] + row;
  const float count = node_sum<C>(table, node, l.n_v);
  float by_choice[l.n_v], share[l.n_v];
#pragma unroll
  for (int f = 0; f < l.n_v; ++f) {
    share[f] = logits[f];
    by_choice[f] = fmaf(-thresholds[f], count, node_sum<C>(table, node, f));
  }
  if (l.softmax) {
    float top = share[0], total = 0.0F, mean = 0.0F;
#pragma unroll
    for (int f = 1; f < l.n_v; ++f) top = fmaxf(top, share[f]);
#pragma unroll
    for (int f = 0; f < l.n_v; ++f) {
      share[f] = exp(share[f] - top);
      total += share[f];
      mean = fmaf(share[f], by_choice[f], mean);
    }
    mean /= total;
#pragma unroll
    for (int f = 0; f < l.n_v; ++f) by_choice[f] = share[f] / total * (by_choice[f] - mean);
  }
  const int chosen = row_of<C>(nodes[node + 1]);
  double squares = static_cast<double>(count) * count;
#pragma unroll
  for (int f = 0; f < l.n_v; ++f) {
    gradient[l.begin[0] + row + f] = by_choice[f];
    gradient[l.begin[1] + row + f] = chosen == f * C::p.pitch ? -count : 0.0F;
    squares += static_cast<double>(by_choice[f]) * by_choice[f];
  }
  return squares;
}

// ASSIGNS the gradient; returns its squared norm.
template <class C>
__device__ __forceinline__ double step_gradient(const Start& s, const float* shared, double* buffer) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  const float* const parameters = global(s.parameters);
  float* const gradient = global(s.gradient);
  const float* const table = global(s.table);
  const auto* const nodes = reinterpret_cast<const float2*>(shared + p.nodes);
  double squares = 0;
  for (int i = static_cast<int>(threadIdx.x); i < l.nodes; i += p.threads)
    squares += step_node_gradient<C>(parameters, gradient, nodes, table, i);
  const auto gather = [&](int group, int column, int per_leaf) {
#pragma unroll 2
    for (int i = static_cast<int>(threadIdx.x); i < l.leaves * per_leaf; i += p.threads) {
      const int leaf = i / per_leaf;
      const float g = leaf_sum<C>(table, leaf, column + i - leaf * per_leaf);
      gradient[l.begin[group] + i] = g;
      squares += static_cast<double>(g) * g;
    }
  };
  constexpr int kCells = at_least_one(l.n_m);
  gather(2, 0, l.n_y);
  if (l.n_m > 0) {
    gather(3, l.n_y, kCells);
    if (l.blends) gather(6, l.n_y + l.n_m, kCells);
    if (l.has_bias) gather(5, l.n_y + l.n_m * (1 + l.blends), kCells);
    gather(4, p.pure, kCells * l.n_w);
  }
  if (l.linear) gather(7, p.pure + l.n_m * l.n_w, l.n_y * l.n_v);
  return block_sum(squares, buffer);
}

}  // namespace remede::cuda

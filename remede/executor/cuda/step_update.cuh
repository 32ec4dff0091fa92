// The tree in shared memory as the stepwise form reads it (stepper.h), and the gradient from its sums. All threads of a
// block call these together.
#pragma once

#include "remede/executor/cuda/optimise.cuh"
#include "remede/executor/cuda/step_backward.cuh"

namespace remede::cuda {

template <class C>
__device__ __noinline__ void step_prepare(const Start& s) {
  constexpr Layout l = C::l;
  float* const shared = step_memory();
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
    nodes[i + 1] = {parameters[l.begin[1] + i * l.n_v + f], __int_as_float(f * p.look_pitch | side)};
  }
  float* const rows = shared + p.leaf_rows;
  // The numbers of a leaf, in pieces of `width`.
  // What lies between the pieces is 0.
  const auto copy = [&](int group, int place, int pieces, int width, int pitch) {
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < l.leaves * pieces * pitch; i += p.threads) {
      const int piece = i / pitch, at = i - piece * pitch, leaf = piece / pieces;
      rows[leaf * p.row + place + i - leaf * pieces * pitch] =
          at < width ? parameters[l.begin[group] + piece * width + at] : 0.0F;
    }
  };
  // Outputs, and the weights of linear ones, as differences from those of the last class.
  const auto copy_answers = [&](int group, int place, int width, int pitch) {
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < l.leaves * l.n_g * pitch; i += p.threads) {
      const int piece = i / pitch, at = i - piece * pitch, leaf = piece / l.n_g;
      const float* const own = parameters + l.begin[group] + leaf * l.n_y * width + at;
      float x = at < width ? own[(piece - leaf * l.n_g) * width] : 0.0F;
      if (l.n_g < l.n_y && at < width) x -= own[l.n_g * width];
      rows[leaf * p.row + place + i - leaf * l.n_g * pitch] = x;
    }
  };
  copy_answers(2, p.output, 1, 1);
  if (l.n_m > 0) copy(4, p.writes, at_least_one(l.n_m), l.n_w, p.write_pitch);
  if (l.linear) copy_answers(7, p.linear, l.n_v, p.linear_pitch);
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

// One sum of a leaf.
template <class C>
__device__ __forceinline__ float leaf_sum(const float* tables, const std::int32_t* seen, int leaf, int row,
                                          int column) {
  constexpr Stepper p = C::p;
  constexpr int kFull = p.full_m * kTile, kColumns = p.tiles_n * kTileColumns;
  const int at = row < kFull ? row * kColumns + column : kFull * kColumns + row - kFull;
  return seen[leaf] != 0 ? tables[static_cast<std::size_t>(leaf) * p.table + at] : 0.0F;
}

// The sum of output y from those that are kept, sum(0) to sum(n_g - 1).
template <class C, class Sum>
__device__ __forceinline__ float answer_sum(int y, Sum sum) {
  if (C::l.n_g == C::l.n_y || y < C::l.n_g) return sum(y);
  float all = 0.0F;
#pragma unroll 4
  for (int k = 0; k < C::l.n_g; ++k) all += sum(k);
  return -all;
}

// The threads counted from the last one: for work beside what the first ones do.
template <class C>
__device__ __forceinline__ int thread_from_last() {
  return C::p.threads - 1 - static_cast<int>(threadIdx.x);
}

// ASSIGNS the sums of the nodes (nodes from 1, n_v + 1): over the leaves below them; where these are many, over some of
// them at a time, and then over what that gave.
template <class C>
__device__ __forceinline__ void sum_nodes(float* shared, const float* tables) {
  constexpr Layout l = C::l;
  constexpr Stepper p = C::p;
  constexpr int kColumns = l.n_v + 1, kTop = step_top(l), kParts = 1 << kTop, kLeaves = l.leaves / kParts;
  const std::int32_t* const seen = ints<C>(shared, p.seen);
  const auto over_leaves = [&](int level, int first, int count, int column) {
    float sum = 0.0F;
#pragma unroll 8
    for (int i = 0; i < count; ++i) sum += leaf_sum<C>(tables, seen, first + i, p.split + level, column);
    return sum;
  };
  for (int i = static_cast<int>(threadIdx.x); i < kTop * kParts * kColumns; i += p.threads) {
    const int column = i % kColumns, part = i / kColumns % kParts, level = i / kColumns / kParts;
    shared[p.parts + i] = over_leaves(level, part * kLeaves, kLeaves, column);
  }
  for (int i = thread_from_last<C>() + kParts * kColumns; i < l.leaves * kColumns; i += p.threads) {
    const int column = i % kColumns, node = i / kColumns, level = 31 - __clz(node), below = l.depth - level;
    shared[p.node_sums + i] = over_leaves(level, (node << below) - l.leaves, 1 << below, column);
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x) + kColumns; i < kParts * kColumns; i += p.threads) {
    const int column = i % kColumns, node = i / kColumns, level = 31 - __clz(node), below = kTop - level;
    const float* const from = shared + p.parts + (level * kParts + (node << below) - kParts) * kColumns + column;
    float sum = 0.0F;
    for (int k = 0; k < 1 << below; ++k) sum += from[k * kColumns];
    shared[p.node_sums + i] = sum;
  }
  __syncthreads();
}

// Of one node, by a thread: as node_gradient(). Returns its sum of squares.
template <class C>
__device__ __forceinline__ double step_node_gradient(const float* parameters, float* gradient, const float* shared,
                                                     int node) {
  constexpr Layout l = C::l;
  const int row = node * l.n_v;
  const float* const logits = parameters + l.begin[0] + row;
  const float* const thresholds = parameters + l.begin[1] + row;
  const float* const sums = shared + C::p.node_sums + (node + 1) * (l.n_v + 1);
  const float count = sums[l.n_v];
  float by_choice[l.n_v], share[l.n_v];
#pragma unroll
  for (int f = 0; f < l.n_v; ++f) {
    share[f] = logits[f];
    by_choice[f] = fmaf(-thresholds[f], count, sums[f]);
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
  const int chosen = row_of<C>(reinterpret_cast<const float2*>(shared + C::p.nodes)[node + 1]);
  double squares = static_cast<double>(count) * count;
#pragma unroll
  for (int f = 0; f < l.n_v; ++f) {
    gradient[l.begin[0] + row + f] = by_choice[f];
    gradient[l.begin[1] + row + f] = chosen == f * C::p.look_pitch ? -count : 0.0F;
    squares += static_cast<double>(by_choice[f]) * by_choice[f];
  }
  return squares;
}

// Where the gradient of an update is: in shared memory where that has room for it, since the device's memory is what
// deep trees wait for.
template <class C>
__device__ __forceinline__ float* step_gradient_at(const Start& s) {
  return C::p.gradient > 0 ? step_memory() + C::p.gradient : global(s.gradient);
}

// Copies it to where the host finds it.
template <class C>
__device__ __forceinline__ void give_gradient(const Start& s) {
  constexpr Layout l = C::l;
  if constexpr (C::p.gradient > 0)
    for (int i = static_cast<int>(threadIdx.x); i < l.begin[kGroups]; i += C::p.threads)
      s.gradient[i] = step_gradient_at<C>(s)[i];
}

// ASSIGNS the gradient; returns this thread's part of its squared norm. The leaves' rows in shared memory are lost.
template <class C>
__device__ __noinline__ double step_gradient(const Start& s) {
  constexpr Layout l = C::l;
  float* const shared = step_memory();
  constexpr Stepper p = C::p;
  const float* const parameters = global(s.parameters);
  float* const gradient = step_gradient_at<C>(s);
  const float* const tables = step_tables<C>(s);
  const std::int32_t* const seen = ints<C>(shared, p.seen);
  if constexpr (p.onehot)
    hot_nodes<C>(shared);
  else
    sum_nodes<C>(shared, tables);
  double squares = 0;
  for (int i = static_cast<int>(threadIdx.x); i < l.nodes; i += p.threads)
    squares += step_node_gradient<C>(parameters, gradient, shared, i);
  if constexpr (p.onehot) {
    // Sums of a leaf from `column` on, which are side by side.
    const auto gather_hot = [&](int group, int column, int per_leaf) {
      for (int i = thread_from_last<C>(); i < l.leaves * per_leaf; i += p.threads) {
        const int leaf = i / per_leaf;
        const float g = hot_leaf_sum<C>(shared, leaf, column + i - leaf * per_leaf);
        gradient[l.begin[group] + i] = g;
        squares += static_cast<double>(g) * g;
      }
    };
    // Of outputs: `columns` sums each, from `column` on.
    const auto gather_answers = [&](int group, int column, int columns) {
      for (int i = thread_from_last<C>(); i < l.leaves * l.n_y * columns; i += p.threads) {
        const int leaf = i / (l.n_y * columns), at = i - leaf * (l.n_y * columns);
        const float g = answer_sum<C>(
            at / columns, [&](int y) { return hot_leaf_sum<C>(shared, leaf, column + y * columns + at % columns); });
        gradient[l.begin[group] + i] = g;
        squares += static_cast<double>(g) * g;
      }
    };
    gather_answers(2, 0, 1);
    if (l.n_m > 0) {
      gather_hot(3, l.n_g, at_least_one(l.n_m));
      if (l.blends) gather_hot(6, l.n_g + l.n_m, at_least_one(l.n_m));
      if (l.has_bias) gather_hot(5, l.n_g + l.n_m * (1 + l.blends), at_least_one(l.n_m));
      gather_hot(4, p.pure, at_least_one(l.n_m * l.n_w));
    }
    if (l.linear) gather_answers(7, p.pure + l.n_m * l.n_w, l.n_v);
    return squares;
  }
  // Numbers of a leaf: `rows` rows of the table from `row` on, with `columns` columns from `column` on.
  const auto gather = [&](int group, int row, int rows, int column, int columns) {
    const int per_leaf = rows * columns;
#pragma unroll 4
    for (int i = thread_from_last<C>(); i < l.leaves * per_leaf; i += p.threads) {
      const int leaf = i / per_leaf, at = i - leaf * per_leaf;
      const float g = leaf_sum<C>(tables, seen, leaf, row + at / columns, column + at % columns);
      gradient[l.begin[group] + i] = g;
      squares += static_cast<double>(g) * g;
    }
  };
  const auto gather_answers = [&](int group, int column, int columns) {
#pragma unroll 4
    for (int i = thread_from_last<C>(); i < l.leaves * l.n_y * columns; i += p.threads) {
      const int leaf = i / (l.n_y * columns), at = i - leaf * (l.n_y * columns);
      const float g = answer_sum<C>(
          at / columns, [&](int y) { return leaf_sum<C>(tables, seen, leaf, p.g + y, column + at % columns); });
      gradient[l.begin[group] + i] = g;
      squares += static_cast<double>(g) * g;
    }
  };
  gather_answers(2, l.n_v, 1);
  if (l.n_m > 0) {
    gather(3, p.gate, at_least_one(l.n_m), l.n_v, 1);
    gather(4, p.write, at_least_one(l.n_m), 0, l.n_w);
    if (l.has_bias) gather(5, p.write, at_least_one(l.n_m), l.n_v, 1);
    if (l.blends) gather(6, p.rate, at_least_one(l.n_m), l.n_v, 1);
  }
  if (l.linear) gather_answers(7, 0, l.n_v);
  return squares;
}

template <class C>
__device__ __noinline__ void step_optimise(const Start& s, const Update& u, float clip) {
  constexpr Layout l = C::l;
  optimise<step_min(8, step_ceil(l.begin[kGroups], C::p.threads))>(l, s, u, clip, step_gradient_at<C>(s));
}

}  // namespace remede::cuda

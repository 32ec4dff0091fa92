// The engine in its plain, readable form, in float or double: one sequence at a time, the exact path-sparse gradient of
// docs/mathematics.md. The fast engine is tested against this, and this against the golden vectors.
//
// Nothing here is thread-safe; different threads use different objects. Gradient functions ADD to their sums.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "remede/base/arithmetic.h"
#include "remede/executor/engine.h"
#include "remede/executor/entmax.h"
#include "remede/executor/parameters.h"
#include "remede/objective/plain.h"

namespace remede {

// One sequence as the engine sees it.
template <typename T>
struct SequenceView {
  std::size_t length = 0;
  const T* x = nullptr;                 // (length, n_x) NaN where missing
  const std::int32_t* label = nullptr;  // (length) in classification
  const T* value = nullptr;             // (length, n_t) in regression
  const T* weight = nullptr;            // (length) 0: no target here
  int n_t = 1;                          // targets of a step
};

// What the backward pass needs of the forward pass.
template <typename T>
struct Trace {
  std::vector<T> filled;           // (length, n_x) x with missing values filled
  std::vector<T> memory;           // (length + 1, n_m) before each step, and after the last
  std::vector<T> u;                // (length, n_m) the tanh of the reached leaf's write
  std::vector<T> y;                // (length, n_y) logits or values, accumulated in the first-order form
  std::vector<std::int32_t> leaf;  // (length)
};

template <typename T>
class PlainTree {
 public:
  PlainTree(const Parameters<T>& parameters, const GradientForm& form, const Objective& objective,
            std::span<const T> fill)
      : p_(parameters), form_(form), objective_(objective), shape_(parameters.shape), fill_(fill.begin(), fill.end()) {
    fill_.resize(static_cast<std::size_t>(shape_.n_x), T(0));
    const auto n_v = static_cast<std::size_t>(shape_.n_v());
    for (int i = 0; i < shape_.nodes(); ++i) {
      const T* logits = p_[Group::kIndex].data() + static_cast<std::size_t>(i) * n_v;
      feature_.push_back(static_cast<int>(std::max_element(logits, logits + n_v) - logits));
    }
    for (const T r : p_[Group::kRate]) blend_.push_back(sigmoid(r));
  }

  // From the memory `start` (n_m), or from zero.
  void forward(const SequenceView<T>& s, Trace<T>& trace, const T* start = nullptr) const {
    const int n_x = shape_.n_x, n_m = shape_.n_m, n_y = shape_.n_y;
    trace.filled.assign(s.x, s.x + s.length * n_x);
    trace.memory.assign((s.length + 1) * n_m, T(0));
    if (start != nullptr) std::copy_n(start, n_m, trace.memory.begin());
    trace.u.assign(s.length * n_m, T(0));
    trace.y.assign(s.length * n_y, T(0));
    trace.leaf.assign(s.length, 0);
    std::vector<T> v(static_cast<std::size_t>(shape_.n_v()));
    for (std::size_t t = 0; t < s.length; ++t) {
      T* x = trace.filled.data() + t * n_x;
      for (int k = 0; k < n_x; ++k)
        if (x[k] != x[k]) x[k] = fill_[k];
      const T* m = trace.memory.data() + t * n_m;
      T* next = trace.memory.data() + (t + 1) * n_m;
      T* u = trace.u.data() + t * n_m;
      T* y = trace.y.data() + t * n_y;
      std::copy(x, x + n_x, v.begin());
      std::copy(m, m + n_m, v.begin() + n_x);
      const int j = descend(0, s.x + t * n_x, m);
      trace.leaf[t] = j;
      for (int k = 0; k < n_y; ++k) {
        y[k] = leaf_output(j, k, v.data());
        if (shape_.form.output_order == OutputOrder::kFirst && t > 0) y[k] = y[k - n_y] + y[k];
      }
      for (int k = 0; k < n_m; ++k) {
        u[k] = tanh(write_sum(j, k, v.data()));
        next[k] = open(j, k) ? m[k] + full_change(j, k, u[k], m[k]) : m[k];
      }
    }
  }

  // Loss of the sequence. When `g` is given, the derivative of scale * loss by y is ASSIGNED to it: (length, n_y).
  BatchLoss loss(const SequenceView<T>& s, const Trace<T>& trace, T scale, std::vector<T>* g) const {
    const auto n_y = static_cast<std::size_t>(shape_.n_y);
    BatchLoss sum;
    if (g != nullptr) g->assign(s.length * n_y, T(0));
    std::vector<T> y(n_y);
    scalar::with_formula(objective_, [&](auto formula) {
      for (std::size_t t = 0; t < s.length; ++t) {
        const T w = s.weight[t];
        if (w == T(0)) continue;
        std::copy_n(trace.y.begin() + static_cast<std::ptrdiff_t>(t * n_y), n_y, y.begin());
        const T label = s.label != nullptr ? static_cast<T>(s.label[t]) : T(0);
        const T* target = s.label != nullptr ? &label : s.value + t * static_cast<std::size_t>(s.n_t);
        const auto step = decltype(formula)::run(
            objective_, scalar::Step<T, T>{y.data(), target, shape_.n_y, s.n_t, g != nullptr ? scale * w : w});
        sum.weight += static_cast<double>(w);
        sum.loss += static_cast<double>(w) * static_cast<double>(step.loss);
        sum.correct += static_cast<double>(w) * static_cast<double>(step.correct);
        if (g != nullptr) std::copy_n(y.begin(), n_y, g->begin() + static_cast<std::ptrdiff_t>(t * n_y));
      }
    });
    return sum;
  }

  // ADDS the gradient of this sequence to `sums`. In the group kIndex it leaves the derivative by the one-hot choice;
  // finish() turns the total into the derivative by the logits.
  void backward(const SequenceView<T>& s, const Trace<T>& trace, std::vector<T>& g, Parameters<T>& sums) const {
    const int n_x = shape_.n_x, n_m = shape_.n_m, n_y = shape_.n_y, n_v = shape_.n_v();
    std::vector<T> q(static_cast<std::size_t>(n_m), T(0)), back(q), v(static_cast<std::size_t>(n_v));
    Coefficients c(shape_);
    for (std::size_t t = s.length; t-- > 0;) {
      if (shape_.form.output_order == OutputOrder::kFirst && t + 1 < s.length)
        for (int k = 0; k < n_y; ++k) g[t * n_y + k] += g[(t + 1) * n_y + k];
      const T* m = trace.memory.data() + t * n_m;
      std::copy_n(trace.filled.data() + t * n_x, n_x, v.begin());
      std::copy_n(m, n_m, v.begin() + n_x);
      const int j = trace.leaf[t];
      coefficients(j, g.data() + t * n_y, q.data(), trace.u.data() + t * n_m, m, c);
      add_leaf(j, c, v.data(), sums);
      for (int k = 0; k < n_m; ++k) back[k] = through_leaf(j, k, c, q.data());
      add_splits(j, c, s.x + t * n_x, v.data(), q.data(), back.data(), sums);
      for (int k = 0; k < n_m; ++k) q[k] = std::clamp(back[k], -T(kMostBack), T(kMostBack));
    }
  }

  // Turns the derivative by the one-hot choice, summed over a batch, into the derivative by the logits, in place.
  void finish(Parameters<T>& gradient) const {
    if (form_.index == IndexGradient::kIdentity) return;
    const int n_v = shape_.n_v();
    std::vector<T> share(static_cast<std::size_t>(n_v));
    for (int i = 0; i < shape_.nodes(); ++i) {
      const T* logits = p_[Group::kIndex].data() + static_cast<std::size_t>(i) * n_v;
      T* d = gradient[Group::kIndex].data() + static_cast<std::size_t>(i) * n_v;
      const T top = *std::max_element(logits, logits + n_v);
      T total = T(0), mean = T(0);
      if (form_.index == IndexGradient::kEntmax) {
        entmax_roots<T>({logits, static_cast<std::size_t>(n_v)}, share);
        for (int f = 0; f < n_v; ++f) total += share[f];
        for (int f = 0; f < n_v; ++f) mean += share[f] / total * d[f];
      } else {
        for (int f = 0; f < n_v; ++f) total += share[f] = exp(logits[f] - top);
        for (int f = 0; f < n_v; ++f) mean += (share[f] /= total) * d[f];
      }
      for (int f = 0; f < n_v; ++f) d[f] = share[f] * (d[f] - mean);
    }
  }

 private:
  // The derivatives of the loss by the reached leaf's parameters, up to the factor v or w.
  struct Coefficients {
    explicit Coefficients(const Shape& s) : G(s.n_y), e(s.n_m), A(s.n_m), rg(s.n_m) {}
    std::vector<T> G;   // (n_y) by the output
    std::vector<T> e;   // (n_m) by the gate
    std::vector<T> A;   // (n_m) by the argument of the tanh
    std::vector<T> rg;  // (n_m) by the rate; 0 for writes that add
  };

  std::size_t cell(int j, int k) const { return static_cast<std::size_t>(j) * shape_.n_m + k; }
  bool open(int j, int k) const { return p_[Group::kGate][cell(j, k)] >= T(0); }
  bool blends() const { return shape_.form.write_rule == WriteRule::kBlend; }

  // The leaf below node i that (x, m) reaches by hard decisions.
  int descend(int i, const T* x, const T* m) const {
    while (i < shape_.nodes()) i = 2 * i + 1 + (goes_right(i, x, m) ? 1 : 0);
    return i - shape_.nodes();
  }
  bool goes_right(int i, const T* x, const T* m) const {
    const int f = feature_[i];
    const T value = f < shape_.n_x ? x[f] : m[f - shape_.n_x];
    if (value != value) return p_.missing_right[i] != 0;
    return value >= threshold(i);
  }
  T threshold(int i) const { return p_[Group::kThreshold][static_cast<std::size_t>(i) * shape_.n_v() + feature_[i]]; }

  T leaf_output(int j, int k, const T* v) const {
    T y = p_[Group::kOutput][static_cast<std::size_t>(j) * shape_.n_y + k];
    if (shape_.form.leaf_output == LeafOutput::kLinear) {
      const T* row = p_[Group::kLinear].data() + (static_cast<std::size_t>(j) * shape_.n_y + k) * shape_.n_v();
      for (int f = 0; f < shape_.n_v(); ++f) y = y + row[f] * v[f];
    }
    return y;
  }
  T write_sum(int j, int k, const T* v) const {
    T a = shape_.form.write_bias ? p_[Group::kBias][cell(j, k)] : T(0);
    const T* row = p_[Group::kWrite].data() + cell(j, k) * shape_.n_w();
    for (int f = 0; f < shape_.n_w(); ++f) a = a + row[f] * v[f];
    return a;
  }
  // What an open gate adds to the cell.
  T full_change(int j, int k, T u, T m) const { return blends() ? blend_[cell(j, k)] * (u - m) : u; }

  void coefficients(int j, const T* g, const T* q, const T* u, const T* m, Coefficients& c) const {
    std::copy_n(g, shape_.n_y, c.G.begin());
    for (int k = 0; k < shape_.n_m; ++k) {
      const T s = sigmoid(p_[Group::kGate][cell(j, k)]);
      const T is_open = open(j, k) ? T(1) : T(0);
      const T a = blends() ? blend_[cell(j, k)] : T(1);
      c.e[k] = q[k] * full_change(j, k, u[k], m[k]) * s * (T(1) - s);
      c.A[k] = q[k] * is_open * a * (T(1) - u[k] * u[k]);
      c.rg[k] = blends() ? q[k] * is_open * (u[k] - m[k]) * a * (T(1) - a) : T(0);
    }
  }

  void add_leaf(int j, const Coefficients& c, const T* v, Parameters<T>& sums) const {
    const int n_y = shape_.n_y, n_m = shape_.n_m, n_w = shape_.n_w(), n_v = shape_.n_v();
    for (int k = 0; k < n_y; ++k) {
      sums[Group::kOutput][static_cast<std::size_t>(j) * n_y + k] += c.G[k];
      if (shape_.form.leaf_output == LeafOutput::kLinear)
        for (int f = 0; f < n_v; ++f)
          sums[Group::kLinear][(static_cast<std::size_t>(j) * n_y + k) * n_v + f] += c.G[k] * v[f];
    }
    for (int k = 0; k < n_m; ++k) {
      sums[Group::kGate][cell(j, k)] += c.e[k];
      for (int f = 0; f < n_w; ++f) sums[Group::kWrite][cell(j, k) * n_w + f] += c.A[k] * v[f];
      if (shape_.form.write_bias) sums[Group::kBias][cell(j, k)] += c.A[k];
      if (blends()) sums[Group::kRate][cell(j, k)] += c.rg[k];
    }
  }

  // dLoss/dm[k] before the step, through the reached leaf: what stayed in the cell, what the writes and the output read
  // of it.
  T through_leaf(int j, int k, const Coefficients& c, const T* q) const {
    T d = q[k];
    if (blends() && open(j, k)) d = q[k] * (T(1) - blend_[cell(j, k)]);
    const int f = shape_.n_x + k;
    if (shape_.form.write_reads == WriteReads::kInputsAndMemory)
      for (int i = 0; i < shape_.n_m; ++i) d += c.A[i] * p_[Group::kWrite][cell(j, i) * shape_.n_w() + f];
    if (shape_.form.leaf_output == LeafOutput::kLinear)
      for (int i = 0; i < shape_.n_y; ++i)
        d += c.G[i] * p_[Group::kLinear][(static_cast<std::size_t>(j) * shape_.n_y + i) * shape_.n_v() + f];
    return d;
  }

  // What the loss would gain, to first order, if leaf l took the place of the reached one.
  T worth(int l, const Coefficients& c, const T* v, const T* q) const {
    T sum = T(0);
    for (int k = 0; k < shape_.n_y; ++k) sum += c.G[k] * leaf_output(l, k, v);
    for (int k = 0; k < shape_.n_m; ++k) {
      if (form_.mix == Mix::kParameters) {
        sum += c.e[k] * p_[Group::kGate][cell(l, k)] + c.A[k] * write_sum(l, k, v);
        if (blends()) sum += c.rg[k] * p_[Group::kRate][cell(l, k)];
      } else if (open(l, k)) {
        sum += q[k] * full_change(l, k, tanh(write_sum(l, k, v)), v[shape_.n_x + k]);
      }
    }
    return sum;
  }

  T split_slope(T z) const {
    const T slope = static_cast<T>(form_.slope);
    if (form_.split == SplitGradient::kSigmoid) {
      const T s = sigmoid(slope * z);
      return slope * s * (T(1) - s);
    }
    const T d = T(1) + std::abs(slope * z);
    return T(0.5) * slope / (d * d);
  }

  // ADDS the gradient of the splits on the path to leaf j, and to `back` what goes through them into memory.
  void add_splits(int j, const Coefficients& c, const T* x, const T* v, const T* q, T* back,
                  Parameters<T>& sums) const {
    const T here = shape_.depth > 0 ? worth(j, c, v, q) : T(0);
    for (int child = j + shape_.nodes(); child > 0;) {
      const int i = (child - 1) / 2;
      const bool right = child == 2 * i + 2;
      const int f = feature_[i];
      const bool missing = f < shape_.n_x && x[f] != x[f];
      if (!missing) {
        const T there = worth(descend(right ? 2 * i + 1 : 2 * i + 2, x, v + shape_.n_x), c, v, q);
        const T r = (right ? here - there : there - here) * split_slope(v[f] - threshold(i));
        const std::size_t row = static_cast<std::size_t>(i) * shape_.n_v();
        for (int k = 0; k < shape_.n_v(); ++k)
          sums[Group::kIndex][row + k] += r * (v[k] - p_[Group::kThreshold][row + k]);
        sums[Group::kThreshold][row + f] -= r;
        if (f >= shape_.n_x) back[f - shape_.n_x] += r;
      }
      child = i;
    }
  }

  const Parameters<T>& p_;
  GradientForm form_;
  Objective objective_;
  Shape shape_;
  std::vector<T> fill_;       // (n_x)
  std::vector<int> feature_;  // (nodes) the chosen feature
  std::vector<T> blend_;      // (leaves, n_m)
};

}  // namespace remede

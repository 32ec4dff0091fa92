// The derivatives of run_gradient(), after forward-inl.h. Included once per instruction set.
#if defined(REMEDE_LAWS_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REMEDE_LAWS_BACKWARD_INL_H_
#undef REMEDE_LAWS_BACKWARD_INL_H_
#else
#define REMEDE_LAWS_BACKWARD_INL_H_
#endif

#include "remede/executor/laws/forward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace remede::HWY_NAMESPACE {

// A run whose forward pass is followed by the derivatives of the loss.
class LawGradient : public LawRun {
 public:
  using LawRun::LawRun;

  // After forward(). ADDs to g.
  void backward(double* g) {
    std::fill_n(w_.d_level.begin(), k_ * kLanes, 0.0F);
    std::size_t left = b_.asked.size();
    for (std::size_t t = b_.steps; t-- > 0;) {
      const bool asked = left > 0 && b_.asked[left - 1] == t;
      if (asked) --left;
      back_step(t, asked);
    }
    gather(g);
  }

 private:
  // Adds a weighted derivative to the earlier cells that a cell reads.
  void back_earlier(const lw::Terms& terms, const Wide& d, Wide* d_output) {
    for (std::int32_t i = terms.begin; i < terms.end; ++i) {
      const lw::Term& term = p_.term[static_cast<std::size_t>(i)];
      Wide& to = d_output[static_cast<std::size_t>(term.source) - n_x_];
      to = fused(set(v_[term.weight]), d, to);
    }
  }

  // The derivative by the output or the level of a cell, with that of the answers at this step.
  Wide with_answers(std::size_t t, const lw::Terms& readers, Wide d) {
    for (std::int32_t i = readers.begin; i < readers.end; ++i) {
      const lw::Reader& reader = p_.reader[static_cast<std::size_t>(i)];
      Wide by = load(w_.d_y.data() + (t * n_y_ + static_cast<std::size_t>(reader.output)) * kLanes);
      if (reader.leaf >= 0) {
        const std::uint32_t here = leaf_bits(t, static_cast<std::size_t>(reader.leaf));
        if (here == 0) continue;
        by = keep(mask(here), by);
      }
      d = fused(set(v_[reader.weight]), by, d);
    }
    return d;
  }

  void back_step(std::size_t t, bool asked) {
    const Wide zero = set(0.0F), one = set(1.0F);
    Wide d_output[lw::kMostLawCells], d_level[lw::kMostLawCells], d_before[lw::kMostLawCells];
    for (std::size_t k = 0; k < k_; ++k) {
      d_output[k] = zero;
      d_level[k] = load(w_.d_level.data() + k * kLanes);
      if (!asked) continue;
      d_output[k] = with_answers(t, p_.read_by[k], d_output[k]);
      d_level[k] = with_answers(t, p_.read_by[k_ + k], d_level[k]);
    }
    for (std::size_t k = k_; k-- > 0;) {
      const Wide q = load(w_.share.data() + (t * k_ + k) * kLanes),
                 a = load(w_.argument.data() + (t * k_ + k) * kLanes);
      const Wide m = load(state(t) + (k_ + k) * kLanes);
      const WideMask above = gt(a, zero);
      Wide d_a, d_q;
      if (s_.law[k] == Law::kStore) {
        const Wide d_sum = fused(sub(d_output[k], d_level[k]), q, d_level[k]);
        d_q = mul(add(m, keep(above, a)), sub(d_output[k], d_level[k]));
        d_a = keep(above, d_sum);
        d_before[k] = d_sum;
      } else {
        const bool positive = s_.law[k] == Law::kPositiveAverage;
        const Wide d = add(d_level[k], d_output[k]), u = positive ? keep(above, a) : a;
        d_q = mul(d, sub(u, m));
        d_a = mul(d, q);
        d_before[k] = sub(d, d_a);
        if (t == 0 && s_.first[k] != 0) {
          const WideMask begins = mask(begins_);
          d_q = select(begins, zero, d_q);
          d_a = select(begins, d, d_a);
          d_before[k] = select(begins, zero, d_before[k]);
        }
        if (positive) d_a = keep(above, d_a);
      }
      const Wide d_z = mul(d_q, mul(q, sub(one, q)));
      if (p_.tap_level[k] != 0) d_before[k] = fused(set(v_[tap_level_ + k]), d_z, d_before[k]);
      back_earlier(p_.earlier[k], d_a, d_output);
      store(d_a, w_.d_a.data() + (t * k_ + k) * kLanes);
      store(d_z, w_.d_z.data() + (t * k_ + k) * kLanes);
    }
    if (nodes_ > 0) back_splits(t, asked, d_before);
    for (std::size_t k = 0; k < k_; ++k) store(d_before[k], w_.d_level.data() + k * kLanes);
  }

  void back_splits(std::size_t t, bool asked, Wide* d_before) {
    constexpr float kSlope = static_cast<float>(lw::kSplitSlope);
    Wide worth[2 * (1 << lw::kMostDepth)];  // of nodes, then leaves, of the complete tree
    for (std::size_t l = 0; l < leaves_; ++l) {
      Wide sum = set(0.0F);
      for (std::size_t k = 0; k < k_; ++k) {
        const float shift = v_[tap_leaf_ + l * k_ + k];
        if (shift != 0.0F && std::isfinite(shift))
          sum = fused(set(shift), load(w_.d_z.data() + (t * k_ + k) * kLanes), sum);
      }
      for (std::size_t o = 0; o < n_y_ && asked; ++o) {
        Wide y = set(v_[output_ + l * n_y_ + o]);
        if (!p_.leaf_answer.empty()) y = with_terms(t, p_.leaf_answer[l * n_y_ + o], y);
        sum = fused(y, load(w_.d_y.data() + (t * n_y_ + o) * kLanes), sum);
      }
      worth[nodes_ + l] = sum;
    }
    std::uint32_t reached[2 * (1 << lw::kMostDepth)] = {0xffff};
    for (std::size_t i = 0; i < nodes_; ++i) {
      const std::uint32_t right = w_.right[t * nodes_ + i];
      reached[2 * i + 1] = reached[i] & ~right;
      reached[2 * i + 2] = reached[i] & right;
    }
    for (std::size_t i = nodes_; i-- > 0;) {
      worth[i] = select(mask(w_.right[t * nodes_ + i]), worth[2 * i + 2], worth[2 * i + 1]);
      Wide r = set(0.0F);
      if (p_.side[i] == lw::Side::kFree && reached[i] != 0) {
        const auto f = static_cast<std::size_t>(p_.feature[i]);
        const Wide away = sub(load(tested(t, f)), set(v_[threshold_ + i * n_v_ + f]));
        const Wide wide = fused(set(kSlope), abs(away), set(1.0F));
        r = div(mul(sub(worth[2 * i + 2], worth[2 * i + 1]), set(0.5F * kSlope)), mul(wide, wide));
        r = keep(mask(reached[i]), r);
        if (f >= n_x_) d_before[f - n_x_] = add(d_before[f - n_x_], r);
      }
      store(r, w_.d_split.data() + (t * nodes_ + i) * kLanes);
    }
  }

  // Notes that the gradient of a number is the sum, over the steps, of a derivative times this row.
  void weighs(std::size_t number, const lw::Row& row) {
    w_.weights.push_back(number);
    w_.rows.push_back(row);
  }
  void weighs(const lw::Terms& terms) {
    for (std::int32_t i = terms.begin; i < terms.end; ++i) {
      const lw::Term& term = p_.term[static_cast<std::size_t>(i)];
      weighs(static_cast<std::size_t>(term.weight), row_of(static_cast<std::size_t>(term.source)));
    }
  }
  static lw::Row ones() {
    alignas(64) static constexpr float kOnes[kLanes] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    return {kOnes, 0};
  }

  // d: (steps, stride, kLanes). step(i): the i-th of `count` steps. by(t, derivative): the derivative or a part of it.
  template <typename Step, typename By>
  void sum_rows(const float* d, std::size_t stride, std::size_t count, const Step& step, const By& by) {
    w_.sums.resize(w_.rows.size());
    in_tiles(w_.rows.size(), [&](auto tile, std::size_t first) {
      lw::Row row[tile];
      Wide sum[tile];
      std::copy_n(w_.rows.data() + first, tile(), row);
      std::fill_n(sum, tile(), set(0.0F));
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t t = step(i);
        const Wide now = by(t, load(d + t * stride * kLanes));
        for (std::size_t j = 0; j < tile; ++j) sum[j] = fused(now, load(row[j].first + t * row[j].stride), sum[j]);
      }
      totals<tile>(sum, w_.sums.data() + first);
    });
  }
  static constexpr auto kEach = [](std::size_t i) { return i; };
  static constexpr auto kWhole = [](std::size_t, const Wide& derivative) { return derivative; };
  void sum_all_steps(const float* d, std::size_t stride) { sum_rows(d, stride, b_.steps, kEach, kWhole); }
  template <typename By>
  void sum_asked_steps(std::size_t o, const By& by) {
    const float* d = w_.d_y.data() + o * kLanes;
    if (b_.asked.size() == b_.steps)
      sum_rows(d, n_y_, b_.steps, kEach, by);
    else
      sum_rows(
          d, n_y_, b_.asked.size(), [&](std::size_t i) { return b_.asked[i]; }, by);
  }
  void add_sums(double* g) {
    for (std::size_t i = 0; i < w_.weights.size(); ++i) g[w_.weights[i]] += w_.sums[i];
    w_.weights.clear();
    w_.rows.clear();
  }

  // Adds the sums of a derivative over the steps at each leaf to g[leaf * width].
  template <typename Step>
  void add_by_leaf(const float* d, std::size_t stride, std::size_t count, const Step& step, double* g,
                   std::size_t width) {
    in_tiles(leaves_, [&](auto tile, std::size_t first) {
      Wide sum[tile];
      double sums[tile];
      std::fill_n(sum, tile(), set(0.0F));
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t t = step(i);
        const Wide now = load(d + t * stride * kLanes);
        for (std::size_t j = 0; j < tile; ++j) sum[j] = add(sum[j], keep(mask(leaf_bits(t, first + j)), now));
      }
      totals<tile>(sum, sums);
      for (std::size_t j = 0; j < tile; ++j) g[(first + j) * width] += sums[j];
    });
  }

  void gather(double* g) {
    w_.weights.clear();
    w_.rows.clear();
    for (std::size_t k = 0; k < k_; ++k) {
      const float *d_a = w_.d_a.data() + k * kLanes, *d_z = w_.d_z.data() + k * kLanes;
      weighs(bias_ + k, ones());
      weighs(p_.input[k]);
      weighs(p_.earlier[k]);
      sum_all_steps(d_a, k_);
      add_sums(g);
      weighs(tap_ + k, ones());
      weighs(p_.tap[k]);
      if (p_.tap_level[k] != 0) weighs(tap_level_ + k, row_tested(n_x_ + k));
      sum_all_steps(d_z, k_);
      add_sums(g);
      if (p_.tap_leaf[k] != 0) add_by_leaf(d_z, k_, b_.steps, kEach, g + tap_leaf_ + k, k_);
    }
    for (std::size_t o = 0; o < n_y_; ++o) {
      weighs(p_.answer[o]);
      if (leaves_ == 1) weighs(output_ + o, ones());
      sum_asked_steps(o, kWhole);
      add_sums(g);
      if (leaves_ > 1)
        add_by_leaf(
            w_.d_y.data() + o * kLanes, n_y_, b_.asked.size(), [&](std::size_t i) { return b_.asked[i]; },
            g + output_ + o, n_y_);
      for (std::size_t l = 0; l < leaves_ && !p_.leaf_answer.empty(); ++l) {
        weighs(p_.leaf_answer[l * n_y_ + o]);
        sum_asked_steps(o, [&](std::size_t t, const Wide& now) { return keep(mask(leaf_bits(t, l)), now); });
        add_sums(g);
      }
    }
    for (std::size_t i = 0; i < nodes_; ++i)
      if (p_.side[i] == lw::Side::kFree) gather_split(i, g);
  }

  void gather_split(std::size_t i, double* g) {
    for (std::size_t f = 0; f < n_v_ && p_.learn_index; ++f) weighs(f, row_tested(f));
    weighs(n_v_, ones());
    sum_all_steps(w_.d_split.data() + i * kLanes, nodes_);
    w_.weights.clear();
    w_.rows.clear();
    const double r = w_.sums.back();
    g[threshold_ + i * n_v_ + static_cast<std::size_t>(p_.feature[i])] -= r;
    if (!p_.learn_index) return;
    const float* logits = v_ + index_ + i * n_v_;
    const float top = logits[p_.feature[i]];
    double sum = 0, mean = 0;
    std::vector<double> share(n_v_), by(n_v_);
    for (std::size_t f = 0; f < n_v_; ++f) {
      share[f] = static_cast<double>(remede::exp(logits[f] - top));
      by[f] = w_.sums[f] - static_cast<double>(v_[threshold_ + i * n_v_ + f]) * r;
      sum += share[f];
      mean += share[f] * by[f];
    }
    for (std::size_t f = 0; f < n_v_; ++f) g[index_ + i * n_v_ + f] += share[f] / sum * (by[f] - mean / sum);
  }
};

}  // namespace remede::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

// The steps of run_block(), one vector of 16 lanes at a time. Included once per instruction set.
#if defined(REMEDE_LAWS_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REMEDE_LAWS_KERNEL_INL_H_
#undef REMEDE_LAWS_KERNEL_INL_H_
#else
#define REMEDE_LAWS_KERNEL_INL_H_
#endif

#include "remede/base/vector-inl.h"
#include "remede/executor/laws/kernel.h"
#include "remede/objective/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace remede::HWY_NAMESPACE {

namespace lw = remede::laws;

// One run of a block: what all its steps share.
class LawRun {
 public:
  LawRun(const lw::Program& program, const float* values, const lw::Block& block, const Objective& objective,
         float smoothing, lw::Scratch& scratch)
      : p_(program),
        s_(program.shape),
        v_(values),
        b_(block),
        objective_(objective),
        classes_(objective.loss == Loss::kCrossEntropy),
        smoothing_(smoothing),
        w_(scratch),
        n_x_(static_cast<std::size_t>(s_.n_x)),
        k_(static_cast<std::size_t>(s_.cells())),
        n_y_(static_cast<std::size_t>(s_.n_y)),
        nodes_(static_cast<std::size_t>(s_.nodes())),
        leaves_(static_cast<std::size_t>(s_.leaves())),
        bias_(s_.begin(lw::Group::kBias)),
        tap_(s_.begin(lw::Group::kTap)),
        tap_level_(s_.begin(lw::Group::kTapLevel)),
        tap_leaf_(s_.begin(lw::Group::kTapLeaf)),
        output_(s_.begin(lw::Group::kOutput)),
        threshold_(s_.begin(lw::Group::kThreshold)),
        index_(s_.begin(lw::Group::kIndex)),
        n_v_(static_cast<std::size_t>(s_.n_v())) {
    const std::size_t t = b_.steps * kLanes;
    const auto grow = [](auto& buffer, std::size_t size) {
      if (buffer.size() < size) buffer.resize(size);
    };
    grow(w_.state, (b_.steps + 1) * 2 * k_ * kLanes);
    for (AlignedVector<float>* buffer : {&w_.share, &w_.argument, &w_.d_a, &w_.d_z}) grow(*buffer, t * k_);
    grow(w_.d_y, t * n_y_);
    grow(w_.d_split, t * nodes_);
    grow(w_.d_level, kLanes * k_);
    grow(w_.right, b_.steps * nodes_);
    grow(w_.leaf, b_.steps * leaves_);
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      if (b_.from[lane] == lw::kEmpty) begins_ |= 1U << lane;
  }

  void forward(float* level, lw::Sums& sums) {
    if (k_ > 0) std::copy(level, level + k_ * kLanes, w_.state.begin() + static_cast<std::ptrdiff_t>(k_ * kLanes));
    Wide loss = set(0.0F), wrong = set(0.0F), weight = set(0.0F);
    std::size_t next = 0;  // among the steps asked
    for (std::size_t t = 0; t < b_.steps; ++t) {
      walk(t);
      for (std::size_t k = 0; k < k_; ++k) move_cell(t, k);
      if (next == b_.asked.size() || b_.asked[next] != t) continue;
      ++next;
      answer(t);
      const Wide w = load(b_.weight.data() + t * kLanes);
      weight = add(weight, w);
      if (classes_)
        judge_classes(t, w, loss, wrong);
      else
        judge_values(t, w, loss);
    }
    sums.loss += total(loss);
    sums.wrong += total(wrong);
    sums.weight += total(weight);
    if (k_ > 0) std::copy_n(state(b_.steps) + k_ * kLanes, k_ * kLanes, level);
  }

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
  // Rows of 16 numbers at step t. A source below n_x is an input, then come outputs and levels after the step.
  const float* x(std::size_t t) const { return b_.x.data() + t * n_x_ * kLanes; }
  float* state(std::size_t steps_done) { return w_.state.data() + steps_done * 2 * k_ * kLanes; }
  const float* row(std::size_t t, std::size_t source) {
    return source < n_x_ ? x(t) + source * kLanes : state(t + 1) + (source - n_x_) * kLanes;
  }
  const float* tested(std::size_t t, std::size_t f) {  // what splits test: inputs, levels before the step
    return f < n_x_ ? x(t) + f * kLanes : state(t) + (k_ + f - n_x_) * kLanes;
  }
  std::uint32_t leaf_bits(std::size_t t, std::size_t l) const { return w_.leaf[t * leaves_ + l]; }

  static double total(const Wide& a) {
    alignas(64) float lanes[kLanes];
    store(a, lanes);
    double sum = 0;
    for (const float lane : lanes) sum += static_cast<double>(lane);
    return sum;
  }

  Wide with_terms(std::size_t t, const lw::Terms& terms, Wide sum) {
    for (std::int32_t i = terms.begin; i < terms.end; ++i) {
      const lw::Term& term = p_.term[static_cast<std::size_t>(i)];
      sum = fused(set(v_[term.weight]), load(row(t, static_cast<std::size_t>(term.source))), sum);
    }
    return sum;
  }

  void walk(std::size_t t) {
    std::uint16_t* leaf = w_.leaf.data() + t * leaves_;
    if (nodes_ == 0) {
      leaf[0] = 0xffff;
      return;
    }
    std::uint32_t reached[2 * (1 << lw::kMostDepth)] = {0xffff};
    for (std::size_t i = 0; i < nodes_; ++i) {
      const auto f = static_cast<std::size_t>(p_.feature[i]);
      std::uint32_t right = bits(ge(load(tested(t, f)), set(v_[threshold_ + i * n_v_ + f])));
      if (!b_.missing.empty() && f < n_x_) {
        const std::uint32_t missing = b_.missing[t * n_x_ + f];
        right = p_.missing_right[i] != 0 ? right | missing : right & ~missing;
      }
      if (p_.side[i] != lw::Side::kFree) right = p_.side[i] == lw::Side::kRight ? 0xffffU : 0U;
      w_.right[t * nodes_ + i] = static_cast<std::uint16_t>(right);
      reached[2 * i + 1] = reached[i] & ~right;
      reached[2 * i + 2] = reached[i] & right;
    }
    for (std::size_t l = 0; l < leaves_; ++l) leaf[l] = static_cast<std::uint16_t>(reached[nodes_ + l]);
  }

  // The number of each lane's leaf, of `stride` numbers per leaf.
  Wide of_leaf(std::size_t t, std::size_t first, std::size_t stride) const {
    Wide value = set(v_[first]);
    for (std::size_t l = 1; l < leaves_; ++l)
      if (leaf_bits(t, l) != 0) value = select(mask(leaf_bits(t, l)), set(v_[first + l * stride]), value);
    return value;
  }

  void move_cell(std::size_t t, std::size_t k) {
    const Wide zero = set(0.0F);
    const Wide m = load(state(t) + (k_ + k) * kLanes);
    Wide z = with_terms(t, p_.tap[k], set(v_[tap_ + k]));
    if (p_.tap_level[k] != 0) z = fused(set(v_[tap_level_ + k]), m, z);
    if (p_.tap_leaf[k] != 0) z = add(z, of_leaf(t, tap_leaf_ + k, k_));
    const Wide q = sigmoid(z);
    Wide a = with_terms(t, p_.argument[k], set(v_[bias_ + k]));
    a = within(a, kCellBound);
    store(q, w_.share.data() + (t * k_ + k) * kLanes);
    store(a, w_.argument.data() + (t * k_ + k) * kLanes);
    const Wide positive = select(gt(a, zero), a, zero);
    Wide output, level;
    if (s_.law[k] == Law::kStore) {
      const Wide sum = add(m, positive);
      output = mul(q, sum);
      level = sub(sum, output);
    } else {
      const Wide u = s_.law[k] == Law::kPositiveAverage ? positive : a;
      level = fused(q, sub(u, m), m);
      if (t == 0 && s_.first[k] != 0) level = select(mask(begins_), u, level);
      output = level;
    }
    store(output, state(t + 1) + k * kLanes);
    store(within(level, kCellBound), state(t + 1) + (k_ + k) * kLanes);
  }

  void answer(std::size_t t) {
    for (std::size_t o = 0; o < n_y_; ++o) {
      Wide y = with_terms(t, p_.answer[o], of_leaf(t, output_ + o, n_y_));
      if (!p_.leaf_answer.empty())
        for (std::size_t l = 0; l < leaves_; ++l)
          if (leaf_bits(t, l) != 0)
            y = add(y, keep(mask(leaf_bits(t, l)), with_terms(t, p_.leaf_answer[l * n_y_ + o], set(0.0F))));
      store(y, w_.d_y.data() + (t * n_y_ + o) * kLanes);
    }
  }

  // Answers become derivatives in place.
  void judge_values(std::size_t t, const Wide& w, Wide& loss) {
    const std::size_t n_t = b_.target.size() / (b_.steps * kLanes);
    const Step<Wide, float> step{w_.d_y.data() + t * n_y_ * kLanes, b_.target.data() + t * n_t * kLanes,
                                 static_cast<int>(n_y_), static_cast<int>(n_t), w};
    with_formula(objective_, [&](auto formula) {
      loss = add(loss, keep(gt(w, set(0.0F)), mul(w, formula.run(objective_, step).loss)));
    });
  }

  void judge_classes(std::size_t t, const Wide& w, Wide& loss, Wide& wrong) {
    float* at = w_.d_y.data() + t * n_y_ * kLanes;
    const Wide label = load(b_.target.data() + t * kLanes);
    Wide top = load(at), own = top, mean = set(0.0F), sum = set(0.0F);
    for (std::size_t o = 0; o < n_y_; ++o) {
      const Wide y = load(at + o * kLanes);
      top = select(gt(y, top), y, top);
      own = select(eq(label, set(static_cast<float>(o))), y, own);
      mean = add(mean, y);
    }
    const float rest = smoothing_ / static_cast<float>(n_y_);
    for (std::size_t o = 0; o < n_y_; ++o) {
      const Wide e = exp(sub(load(at + o * kLanes), top));
      sum = add(sum, e);
      store(e, at + o * kLanes);
    }
    const Wide log_sum = add(log(sum), top), scale = div(set(1.0F), sum);
    const Wide wanted = fused(set(rest), mean, mul(set(1.0F - smoothing_), own));
    loss = add(loss, mul(w, sub(log_sum, wanted)));
    wrong = add(wrong, select(lt(own, top), w, set(0.0F)));
    for (std::size_t o = 0; o < n_y_; ++o) {
      const Wide target = select(eq(label, set(static_cast<float>(o))), set(1.0F - smoothing_ + rest), set(rest));
      store(mul(w, sub(mul(load(at + o * kLanes), scale), target)), at + o * kLanes);
    }
  }

  // Adds a weighted derivative to what the terms read: outputs, and levels after the step.
  void back_terms(const lw::Terms& terms, const Wide& d, Wide* d_output, Wide* d_level) {
    for (std::int32_t i = terms.begin; i < terms.end; ++i) {
      const lw::Term& term = p_.term[static_cast<std::size_t>(i)];
      const auto source = static_cast<std::size_t>(term.source);
      if (source < n_x_) continue;
      Wide& to = source < n_x_ + k_ ? d_output[source - n_x_] : d_level[source - n_x_ - k_];
      to = fused(set(v_[term.weight]), d, to);
    }
  }

  void back_step(std::size_t t, bool asked) {
    const Wide zero = set(0.0F), one = set(1.0F);
    Wide d_output[lw::kMostLawCells], d_level[lw::kMostLawCells], d_before[lw::kMostLawCells];
    for (std::size_t k = 0; k < k_; ++k) {
      d_output[k] = zero;
      d_level[k] = load(w_.d_level.data() + k * kLanes);
    }
    for (std::size_t o = 0; o < n_y_ && asked; ++o) {
      const Wide d = load(w_.d_y.data() + (t * n_y_ + o) * kLanes);
      back_terms(p_.answer[o], d, d_output, d_level);
      if (!p_.leaf_answer.empty())
        for (std::size_t l = 0; l < leaves_; ++l)
          if (leaf_bits(t, l) != 0)
            back_terms(p_.leaf_answer[l * n_y_ + o], keep(mask(leaf_bits(t, l)), d), d_output, d_level);
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
      back_terms(p_.argument[k], d_a, d_output, d_level);
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

  // Sum over the steps of a derivative's row, times what it was weighed with where given.
  template <typename Source>
  double summed(const float* d, std::size_t stride, const Source& source) {
    Wide sum = set(0.0F);
    for (std::size_t t = 0; t < b_.steps; ++t) sum = fused(load(d + t * stride * kLanes), load(source(t)), sum);
    return total(sum);
  }
  double summed(const float* d, std::size_t stride) {
    Wide sum = set(0.0F);
    for (std::size_t t = 0; t < b_.steps; ++t) sum = add(sum, load(d + t * stride * kLanes));
    return total(sum);
  }
  double summed_at_leaf(const float* d, std::size_t stride, std::size_t l) {
    Wide sum = set(0.0F);
    for (std::size_t t = 0; t < b_.steps; ++t)
      if (leaf_bits(t, l) != 0) sum = add(sum, keep(mask(leaf_bits(t, l)), load(d + t * stride * kLanes)));
    return total(sum);
  }
  // The same of an answer's derivative, which only the steps asked have.
  void gather_answer_terms(std::size_t o, double* g) {
    const float* d = w_.d_y.data() + o * kLanes;
    for (std::int32_t i = p_.answer[o].begin; i < p_.answer[o].end; ++i) {
      const lw::Term& term = p_.term[static_cast<std::size_t>(i)];
      const auto source = static_cast<std::size_t>(term.source);
      Wide sum = set(0.0F);
      for (const std::size_t t : b_.asked) sum = fused(load(d + t * n_y_ * kLanes), load(row(t, source)), sum);
      g[term.weight] += total(sum);
    }
  }
  double summed_answer(std::size_t o, std::size_t l) {
    const float* d = w_.d_y.data() + o * kLanes;
    Wide sum = set(0.0F);
    for (const std::size_t t : b_.asked)
      if (leaf_bits(t, l) != 0) sum = add(sum, keep(mask(leaf_bits(t, l)), load(d + t * n_y_ * kLanes)));
    return total(sum);
  }
  void gather_terms(const lw::Terms& terms, const float* d, std::size_t stride, double* g) {
    for (std::int32_t i = terms.begin; i < terms.end; ++i) {
      const lw::Term& term = p_.term[static_cast<std::size_t>(i)];
      const auto source = static_cast<std::size_t>(term.source);
      g[term.weight] += summed(d, stride, [&](std::size_t t) { return row(t, source); });
    }
  }

  void gather(double* g) {
    for (std::size_t k = 0; k < k_; ++k) {
      const float *d_a = w_.d_a.data() + k * kLanes, *d_z = w_.d_z.data() + k * kLanes;
      g[bias_ + k] += summed(d_a, k_);
      g[tap_ + k] += summed(d_z, k_);
      gather_terms(p_.argument[k], d_a, k_, g);
      gather_terms(p_.tap[k], d_z, k_, g);
      if (p_.tap_level[k] != 0)
        g[tap_level_ + k] += summed(d_z, k_, [&](std::size_t t) { return state(t) + (k_ + k) * kLanes; });
      if (p_.tap_leaf[k] != 0)
        for (std::size_t l = 0; l < leaves_; ++l) g[tap_leaf_ + l * k_ + k] += summed_at_leaf(d_z, k_, l);
    }
    for (std::size_t o = 0; o < n_y_; ++o) {
      gather_answer_terms(o, g);
      for (std::size_t l = 0; l < leaves_; ++l) g[output_ + l * n_y_ + o] += summed_answer(o, l);
      for (std::size_t l = 0; l < leaves_ && !p_.leaf_answer.empty(); ++l) gather_leaf_terms(l, o, g);
    }
    for (std::size_t i = 0; i < nodes_; ++i)
      if (p_.side[i] == lw::Side::kFree) gather_split(i, g);
  }

  void gather_leaf_terms(std::size_t l, std::size_t o, double* g) {
    const lw::Terms& terms = p_.leaf_answer[l * n_y_ + o];
    for (std::int32_t i = terms.begin; i < terms.end; ++i) {
      const lw::Term& term = p_.term[static_cast<std::size_t>(i)];
      Wide sum = set(0.0F);
      for (const std::size_t t : b_.asked)
        if (leaf_bits(t, l) != 0)
          sum = fused(keep(mask(leaf_bits(t, l)), load(w_.d_y.data() + (t * n_y_ + o) * kLanes)),
                      load(row(t, static_cast<std::size_t>(term.source))), sum);
      g[term.weight] += total(sum);
    }
  }

  void gather_split(std::size_t i, double* g) {
    const float* d = w_.d_split.data() + i * kLanes;
    const double r = summed(d, nodes_);
    g[threshold_ + i * n_v_ + static_cast<std::size_t>(p_.feature[i])] -= r;
    if (!p_.learn_index) return;
    const float* logits = v_ + index_ + i * n_v_;
    const float top = logits[p_.feature[i]];
    double sum = 0, mean = 0;
    std::vector<double> share(n_v_), by(n_v_);
    for (std::size_t f = 0; f < n_v_; ++f) {
      share[f] = static_cast<double>(remede::exp(logits[f] - top));
      by[f] = summed(d, nodes_, [&](std::size_t t) { return tested(t, f); }) -
              static_cast<double>(v_[threshold_ + i * n_v_ + f]) * r;
      sum += share[f];
      mean += share[f] * by[f];
    }
    for (std::size_t f = 0; f < n_v_; ++f) g[index_ + i * n_v_ + f] += share[f] / sum * (by[f] - mean / sum);
  }

  const lw::Program& p_;
  const lw::Shape& s_;
  const float* v_;
  const lw::Block& b_;
  const Objective& objective_;
  bool classes_;
  float smoothing_;
  lw::Scratch& w_;
  std::size_t n_x_, k_, n_y_, nodes_, leaves_;
  std::size_t bias_, tap_, tap_level_, tap_leaf_, output_, threshold_, index_, n_v_;
  std::uint32_t begins_ = 0;
};

void run_law_block(const lw::Program& program, const float* values, const lw::Block& block, const Objective& objective,
                   float smoothing, float* level, lw::Scratch& scratch, lw::Sums& sums, double* gradient) {
  LawRun run(program, values, block, objective, smoothing, scratch);
  run.forward(level, sums);
  if (gradient != nullptr) run.backward(gradient);
}

}  // namespace remede::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

// The levels, answers and losses of run_block() and run_gradient(), one vector of 16 lanes at a time. Included once per
// instruction set.
#if defined(REMEDE_LAWS_FORWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REMEDE_LAWS_FORWARD_INL_H_
#undef REMEDE_LAWS_FORWARD_INL_H_
#else
#define REMEDE_LAWS_FORWARD_INL_H_
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
  LawRun(const lw::Program& program, const float* values, const lw::Block& block, const float* x,
         const Objective& objective, float smoothing, lw::Scratch& scratch)
      : p_(program),
        s_(program.shape),
        v_(values),
        b_(block),
        x_(x),
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

  // Returns the weight of the targets and leaves the derivatives of the loss in the scratch. With loss_too, also adds
  // the loss to `sums`.
  template <bool loss_too>
  double forward(float* level, lw::Sums& sums) {
    if (k_ > 0) std::copy(level, level + k_ * kLanes, w_.state.begin() + static_cast<std::ptrdiff_t>(k_ * kLanes));
    weigh_inputs();
    for (std::size_t t = 0; t < b_.steps; ++t) {
      walk(t);
      for (std::size_t k = 0; k < k_; ++k) move_cell(t, k);
    }
    if (k_ > 0) std::copy_n(state(b_.steps) + k_ * kLanes, k_ * kLanes, level);
    in_tiles(b_.asked.size(), [&](auto tile, std::size_t first) { answer<tile>(b_.asked.data() + first); });
    Wide loss = set(0.0F), wrong = set(0.0F), weight = set(0.0F);
    for (const std::size_t t : b_.asked) {
      const Wide w = load(b_.weight.data() + t * kLanes);
      weight = add(weight, w);
      if (classes_)
        judge_classes<loss_too>(t, w, loss, wrong);
      else
        judge_values(t, w, loss);
    }
    const double all = total(weight);
    if (!loss_too) return all;
    sums.loss += total(loss);
    sums.wrong += total(wrong);
    sums.weight += all;
    return all;
  }

 protected:
  // Rows of 16 numbers at step t.
  const float* x(std::size_t t) const { return x_ + t * n_x_ * kLanes; }
  float* state(std::size_t steps_done) { return w_.state.data() + steps_done * 2 * k_ * kLanes; }
  const float* tested(std::size_t t, std::size_t f) {  // what splits test: inputs, levels before the step
    return f < n_x_ ? x(t) + f * kLanes : state(t) + (k_ + f - n_x_) * kLanes;
  }
  std::uint32_t leaf_bits(std::size_t t, std::size_t l) const { return w_.leaf[t * leaves_ + l]; }

  // Independent sums are computed kTile at a time: a single one would wait for each of its additions.
  static constexpr std::size_t kTile = 4;
  template <std::size_t n>
  using Tile = std::integral_constant<std::size_t, n>;
  template <typename Visit>
  static void in_tiles(std::size_t count, const Visit& visit) {
    std::size_t first = 0;
    for (; first + kTile <= count; first += kTile) visit(Tile<kTile>{}, first);
    if (count - first == 3) visit(Tile<3>{}, first);
    if (count - first == 2) visit(Tile<2>{}, first);
    if (count - first == 1) visit(Tile<1>{}, first);
  }

  template <std::size_t n>
  static void totals(const Wide* a, double* to) {
    alignas(64) float lanes[n][kLanes];
    double sum[n] = {};
    for (std::size_t i = 0; i < n; ++i) store(a[i], lanes[i]);
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      for (std::size_t i = 0; i < n; ++i) sum[i] += static_cast<double>(lanes[i][lane]);
    std::copy_n(sum, n, to);
  }
  static double total(const Wide& a) {
    double sum = 0;
    totals<1>(&a, &sum);
    return sum;
  }

  // A source below n_x is an input, then come outputs and levels after the step.
  lw::Row row_of(std::size_t source) {
    return source < n_x_ ? lw::Row{x(0) + source * kLanes, n_x_ * kLanes}
                         : lw::Row{state(1) + (source - n_x_) * kLanes, 2 * k_ * kLanes};
  }
  lw::Row row_tested(std::size_t f) {
    return f < n_x_ ? row_of(f) : lw::Row{state(0) + (k_ + f - n_x_) * kLanes, 2 * k_ * kLanes};
  }

  // Where the terms of `n` steps find what they read.
  template <std::size_t n>
  struct Read {
    const float *inputs[n], *cells[n];  // rows of inputs; of outputs and levels
  };
  template <std::size_t n, typename StepNumber>
  Read<n> read_at(const StepNumber* t) {
    Read<n> read;
    for (std::size_t j = 0; j < n; ++j) {
      read.inputs[j] = x(t[j]);
      read.cells[j] = state(t[j] + 1);
    }
    return read;
  }
  // Adds the terms to the sum of each step.
  template <std::size_t n>
  void add_terms(const Read<n>& read, const lw::Terms& terms, Wide* sum) const {
    for (std::int32_t i = terms.begin; i < terms.end; ++i) {
      const lw::Term& term = p_.term[static_cast<std::size_t>(i)];
      const auto source = static_cast<std::size_t>(term.source);
      const Wide weight = set(v_[term.weight]);
      const bool input = source < n_x_;
      const float* const* from = input ? read.inputs : read.cells;
      const std::size_t row = (input ? source : source - n_x_) * kLanes;
      for (std::size_t j = 0; j < n; ++j) sum[j] = fused(weight, load(from[j] + row), sum[j]);
    }
  }
  Wide with_terms(std::size_t t, const lw::Terms& terms, Wide sum) {
    add_terms<1>(read_at<1>(&t), terms, &sum);
    return sum;
  }

  // What inputs contribute to the cells, and the taps that depend on nothing else.
  void weigh_inputs() {
    in_tiles(b_.steps, [&](auto tile, std::size_t first) {
      std::size_t t[tile];
      for (std::size_t j = 0; j < tile; ++j) t[j] = first + j;
      const Read<tile> read = read_at<tile>(t);
      for (std::size_t k = 0; k < k_; ++k) {
        Wide sum[tile];
        std::fill_n(sum, tile, set(v_[bias_ + k]));
        add_terms<tile>(read, p_.input[k], sum);
        for (std::size_t j = 0; j < tile; ++j) store(sum[j], w_.argument.data() + (t[j] * k_ + k) * kLanes);
        std::fill_n(sum, tile, set(v_[tap_ + k]));
        add_terms<tile>(read, p_.tap[k], sum);
        const bool done = !tap_moves(k), same = p_.tap[k].begin == p_.tap[k].end;
        for (std::size_t j = 0; j < tile; ++j) {
          if (done) sum[j] = same && j > 0 ? sum[0] : sigmoid(sum[j]);
          store(sum[j], w_.share.data() + (t[j] * k_ + k) * kLanes);
        }
      }
    });
  }
  // Whether the level or the leaf changes the tap.
  bool tap_moves(std::size_t k) const { return p_.tap_level[k] != 0 || p_.tap_leaf[k] != 0; }

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
    float *share = w_.share.data() + (t * k_ + k) * kLanes, *argument = w_.argument.data() + (t * k_ + k) * kLanes;
    Wide q = load(share);
    if (tap_moves(k)) {
      if (p_.tap_level[k] != 0) q = fused(set(v_[tap_level_ + k]), m, q);
      if (p_.tap_leaf[k] != 0) q = add(q, of_leaf(t, tap_leaf_ + k, k_));
      q = sigmoid(q);
      store(q, share);
    }
    const Wide a = within(with_terms(t, p_.earlier[k], load(argument)), kCellBound);
    store(a, argument);
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

  template <std::size_t n>
  void answer(const std::uint32_t* t) {
    const Read<n> read = read_at<n>(t);
    for (std::size_t o = 0; o < n_y_; ++o) {
      Wide y[n];
      for (std::size_t j = 0; j < n; ++j) y[j] = of_leaf(t[j], output_ + o, n_y_);
      add_terms<n>(read, p_.answer[o], y);
      for (std::size_t j = 0; j < n; ++j) {
        if (!p_.leaf_answer.empty())
          for (std::size_t l = 0; l < leaves_; ++l)
            if (leaf_bits(t[j], l) != 0)
              y[j] =
                  add(y[j], keep(mask(leaf_bits(t[j], l)), with_terms(t[j], p_.leaf_answer[l * n_y_ + o], set(0.0F))));
        store(y[j], w_.d_y.data() + (t[j] * n_y_ + o) * kLanes);
      }
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

  template <bool loss_too>
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
    if (loss_too) {
      const Wide log_sum = add(log(sum), top);
      const Wide wanted = fused(set(rest), mean, mul(set(1.0F - smoothing_), own));
      loss = add(loss, mul(w, sub(log_sum, wanted)));
      wrong = add(wrong, select(lt(own, top), w, set(0.0F)));
    }
    const Wide scale = div(set(1.0F), sum);
    for (std::size_t o = 0; o < n_y_; ++o) {
      const Wide target = select(eq(label, set(static_cast<float>(o))), set(1.0F - smoothing_ + rest), set(rest));
      store(mul(w, sub(mul(load(at + o * kLanes), scale), target)), at + o * kLanes);
    }
  }

  const lw::Program& p_;
  const lw::Shape& s_;
  const float* v_;
  const lw::Block& b_;
  const float* x_;
  const Objective& objective_;
  bool classes_;
  float smoothing_;
  lw::Scratch& w_;
  std::size_t n_x_, k_, n_y_, nodes_, leaves_;
  std::size_t bias_, tap_, tap_level_, tap_leaf_, output_, threshold_, index_, n_v_;
  std::uint32_t begins_ = 0;
};

}  // namespace remede::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

#include "remede/executor/laws/plain.h"

#include <algorithm>
#include <cmath>

#include "remede/base/arithmetic.h"
#include "remede/objective/plain.h"

namespace remede::laws {
namespace {

// One step's values that the way back reads.
struct PlainStep {
  std::vector<double> x, before, share, argument, output, level, d_y;
  std::vector<int> right;  // (nodes) 1: the split's test holds
  int leaf = 0;
};

class PlainSequence {
 public:
  PlainSequence(const Parameters& p, const Objective* objective)
      : p_(p),
        objective_(objective),
        s_(p.shape),
        n_x_(static_cast<std::size_t>(s_.n_x)),
        k_(static_cast<std::size_t>(s_.cells())),
        n_y_(static_cast<std::size_t>(s_.n_y)),
        n_z_(static_cast<std::size_t>(s_.n_z())) {}

  PlainRun forward(const Sequences& data, std::size_t s, double smoothing);
  void backward(std::vector<double>& gradient);

 private:
  double at(Group g, std::size_t i) const { return p_[g][i]; }
  double tested(const PlainStep& step, int f) const {
    const auto i = static_cast<std::size_t>(f);
    return i < n_x_ ? step.x[i] : step.before[i - n_x_];
  }
  double read(const PlainStep& step, std::size_t i) const {  // i of (x, outputs, new levels)
    return i < n_x_ ? step.x[i] : i < n_x_ + k_ ? step.output[i - n_x_] : step.level[i - n_x_ - k_];
  }
  void walk(PlainStep& step, const float* raw) const;
  void move_cell(PlainStep& step, std::size_t k, bool first) const;
  void answer(const PlainStep& step, double* y) const;
  double judge(PlainStep& step, const double* y, const Sequences& data, std::size_t t, double smoothing) const;
  void back_through_splits(const PlainStep& step, const std::vector<double>& d_z, std::vector<double>& d_level,
                           std::vector<double>& g) const;

  const Parameters& p_;
  const Objective* objective_;
  const Shape& s_;
  std::size_t n_x_, k_, n_y_, n_z_;
  std::vector<PlainStep> steps_;
};

void PlainSequence::walk(PlainStep& step, const float* raw) const {
  step.right.assign(static_cast<std::size_t>(s_.nodes()), 0);
  for (int i = 0; i < s_.nodes(); ++i) {
    const auto n = static_cast<std::size_t>(i);
    const int f = p_.feature(i);
    const bool missing = static_cast<std::size_t>(f) < n_x_ && std::isnan(raw[f]);
    const double threshold =
        at(Group::kThreshold, n * static_cast<std::size_t>(s_.n_v()) + static_cast<std::size_t>(f));
    bool right = missing ? p_.missing_right[n] != 0 : tested(step, f) >= threshold;
    if (p_.side[n] != Side::kFree) right = p_.side[n] == Side::kRight;
    step.right[n] = right ? 1 : 0;
  }
  int node = 0;
  while (node < s_.nodes()) node = 2 * node + 1 + step.right[static_cast<std::size_t>(node)];
  step.leaf = node - s_.nodes();
}

void PlainSequence::move_cell(PlainStep& step, std::size_t k, bool first) const {
  const double m = step.before[k];
  double z = at(Group::kTap, k), a = at(Group::kBias, k);
  for (std::size_t i = 0; i < n_x_; ++i) {
    z += at(Group::kTapInput, k * n_x_ + i) * step.x[i];
    a += at(Group::kInput, k * n_x_ + i) * step.x[i];
  }
  z += at(Group::kTapLevel, k) * m;
  z += at(Group::kTapLeaf, static_cast<std::size_t>(step.leaf) * k_ + k);
  for (std::size_t j = 0; j < k; ++j) a += at(Group::kEarlier, k * k_ + j) * step.output[j];
  const double q = std::isinf(z) ? (z > 0 ? 1.0 : 0.0) : sigmoid(z);
  step.share[k] = q;
  step.argument[k] = a;
  if (s_.law[k] == Law::kStore) {
    const double sum = m + std::max(0.0, a);
    step.output[k] = q * sum;
    step.level[k] = sum - step.output[k];
    return;
  }
  const double u = s_.law[k] == Law::kPositiveAverage ? std::max(0.0, a) : a;
  step.level[k] = first && s_.first[k] != 0 ? u : m + q * (u - m);
  step.output[k] = step.level[k];
}

void PlainSequence::answer(const PlainStep& step, double* y) const {
  const auto l = static_cast<std::size_t>(step.leaf);
  for (std::size_t o = 0; o < n_y_; ++o) {
    y[o] = at(Group::kOutput, l * n_y_ + o);
    for (std::size_t i = 0; i < n_z_; ++i) {
      y[o] += at(Group::kLinear, o * n_z_ + i) * read(step, i);
      if (s_.leaf_linear) y[o] += at(Group::kLeafLinear, (l * n_y_ + o) * n_z_ + i) * read(step, i);
    }
  }
}

double PlainSequence::judge(PlainStep& step, const double* y, const Sequences& data, std::size_t t,
                            double smoothing) const {
  step.d_y.assign(n_y_, 0.0);
  const auto w = data.weight.empty() ? 0.0 : static_cast<double>(data.weight[t]);
  if (w == 0) return 0;
  const auto n = static_cast<double>(n_y_);
  double loss = 0;
  if (objective_ != nullptr && !classifies(*objective_)) {
    const auto n_t = static_cast<std::size_t>(data.n_y);
    const std::vector<double> target(data.value.begin() + t * n_t, data.value.begin() + (t + 1) * n_t);
    step.d_y.assign(y, y + n_y_);
    const scalar::Step<double, double> of_step{step.d_y.data(), target.data(), static_cast<int>(n_y_), data.n_y, w};
    scalar::with_formula(*objective_, [&](auto formula) { loss = w * formula.run(*objective_, of_step).loss; });
    return loss;
  }
  if (data.label.empty()) {
    for (std::size_t o = 0; o < n_y_; ++o) {
      const double off = y[o] - static_cast<double>(data.value[t * n_y_ + o]);
      loss += w * off * off / n;
      step.d_y[o] = 2 * w * off / n;
    }
    return loss;
  }
  const double top = *std::max_element(y, y + n_y_);
  double sum = 0;
  for (std::size_t o = 0; o < n_y_; ++o) sum += std::exp(y[o] - top);
  for (std::size_t o = 0; o < n_y_; ++o) {
    const double target = smoothing / n + (static_cast<std::size_t>(data.label[t]) == o ? 1 - smoothing : 0.0);
    const double log_p = y[o] - top - std::log(sum);
    loss -= w * target * log_p;
    step.d_y[o] = w * (std::exp(log_p) - target);
  }
  return loss;
}

PlainRun PlainSequence::forward(const Sequences& data, std::size_t s, double smoothing) {
  PlainRun run;
  const auto begin = static_cast<std::size_t>(data.offset[s]), end = static_cast<std::size_t>(data.offset[s + 1]);
  std::vector<double> level(k_, 0.0), y(n_y_);
  for (std::size_t t = begin; t < end; ++t) {
    PlainStep& step = steps_.emplace_back();
    for (std::size_t i = 0; i < n_x_; ++i) {
      const float x = data.x[t * n_x_ + i];
      step.x.push_back(std::isnan(x) ? 0.0 : static_cast<double>(x));
    }
    step.before = level;
    step.share = step.argument = step.output = step.level = std::vector<double>(k_);
    walk(step, data.x.data() + t * n_x_);
    for (std::size_t k = 0; k < k_; ++k) move_cell(step, k, t == begin);
    level = step.level;
    answer(step, y.data());
    run.loss += judge(step, y.data(), data, t, smoothing);
    run.weight += data.weight.empty() ? 0.0 : static_cast<double>(data.weight[t]);
    run.output.insert(run.output.end(), y.begin(), y.end());
    run.level.insert(run.level.end(), level.begin(), level.end());
    run.leaf.push_back(step.leaf);
  }
  return run;
}

// What a leaf would be worth is linear in its numbers; a split on the way is worth the difference of the leaves that
// its two sides lead to. Adds to d_level what splits on levels pass back.
void PlainSequence::back_through_splits(const PlainStep& step, const std::vector<double>& d_z,
                                        std::vector<double>& d_level, std::vector<double>& g) const {
  const auto n_v = static_cast<std::size_t>(s_.n_v());
  const auto worth = [&](int leaf) {
    const auto l = static_cast<std::size_t>(leaf);
    double sum = 0;
    for (std::size_t k = 0; k < k_; ++k)
      if (std::isfinite(at(Group::kTapLeaf, l * k_ + k))) sum += d_z[k] * at(Group::kTapLeaf, l * k_ + k);
    for (std::size_t o = 0; o < n_y_; ++o) {
      double y = at(Group::kOutput, l * n_y_ + o);
      for (std::size_t i = 0; i < n_z_ && s_.leaf_linear; ++i)
        y += at(Group::kLeafLinear, (l * n_y_ + o) * n_z_ + i) * read(step, i);
      sum += step.d_y[o] * y;
    }
    return sum;
  };
  const auto leaf_below = [&](int node) {
    while (node < s_.nodes()) node = 2 * node + 1 + step.right[static_cast<std::size_t>(node)];
    return node - s_.nodes();
  };
  for (int node = 0; node < s_.nodes(); node = 2 * node + 1 + step.right[static_cast<std::size_t>(node)]) {
    const auto n = static_cast<std::size_t>(node);
    if (p_.side[n] != Side::kFree) continue;
    const auto f = static_cast<std::size_t>(p_.feature(node));
    const double distance = tested(step, static_cast<int>(f)) - at(Group::kThreshold, n * n_v + f);
    const double wide = 1 + kSplitSlope * std::abs(distance);
    const double r =
        (worth(leaf_below(2 * node + 2)) - worth(leaf_below(2 * node + 1))) * 0.5 * kSplitSlope / (wide * wide);
    g[s_.at(Group::kThreshold, n * n_v + f)] -= r;
    double top = at(Group::kIndex, n * n_v + f), total = 0, mean = 0;
    std::vector<double> share(n_v), d(n_v);
    for (std::size_t i = 0; i < n_v; ++i) {
      share[i] = std::exp(at(Group::kIndex, n * n_v + i) - top);
      total += share[i];
      d[i] = r * (tested(step, static_cast<int>(i)) - at(Group::kThreshold, n * n_v + i));
      mean += share[i] * d[i];
    }
    for (std::size_t i = 0; i < n_v; ++i)
      g[s_.at(Group::kIndex, n * n_v + i)] += share[i] / total * (d[i] - mean / total);
    if (f >= n_x_) d_level[f - n_x_] += r;
  }
}

void PlainSequence::backward(std::vector<double>& g) {
  std::vector<double> d_level(k_, 0.0);  // by the levels after the step
  for (std::size_t t = steps_.size(); t-- > 0;) {
    const PlainStep& step = steps_[t];
    const auto l = static_cast<std::size_t>(step.leaf);
    std::vector<double> d_output(k_, 0.0), d_before(k_, 0.0), d_z(k_, 0.0);
    for (std::size_t o = 0; o < n_y_; ++o) {
      g[s_.at(Group::kOutput, l * n_y_ + o)] += step.d_y[o];
      for (std::size_t i = 0; i < n_z_; ++i) {
        g[s_.at(Group::kLinear, o * n_z_ + i)] += step.d_y[o] * read(step, i);
        double w = at(Group::kLinear, o * n_z_ + i);
        if (s_.leaf_linear) {
          g[s_.at(Group::kLeafLinear, (l * n_y_ + o) * n_z_ + i)] += step.d_y[o] * read(step, i);
          w += at(Group::kLeafLinear, (l * n_y_ + o) * n_z_ + i);
        }
        if (i >= n_x_ + k_)
          d_level[i - n_x_ - k_] += step.d_y[o] * w;
        else if (i >= n_x_)
          d_output[i - n_x_] += step.d_y[o] * w;
      }
    }
    for (std::size_t k = k_; k-- > 0;) {
      const double q = step.share[k], m = step.before[k], a = step.argument[k];
      double d_a = 0, d_q = 0;
      if (s_.law[k] == Law::kStore) {
        const double sum = m + std::max(0.0, a);
        const double d_sum = d_level[k] * (1 - q) + d_output[k] * q;
        d_q = sum * (d_output[k] - d_level[k]);
        d_a = a > 0 ? d_sum : 0;
        d_before[k] = d_sum;
      } else {
        const bool positive = s_.law[k] == Law::kPositiveAverage;
        const double d = d_level[k] + d_output[k], u = positive ? std::max(0.0, a) : a;
        const bool starts = t == 0 && s_.first[k] != 0;
        d_q = starts ? 0 : d * (u - m);
        d_a = positive && !(a > 0) ? 0 : starts ? d : d * q;
        d_before[k] = starts ? 0 : d * (1 - q);
      }
      d_z[k] = d_q * q * (1 - q);
      g[s_.at(Group::kTap, k)] += d_z[k];
      g[s_.at(Group::kTapLevel, k)] += d_z[k] * m;
      g[s_.at(Group::kTapLeaf, l * k_ + k)] += d_z[k];
      g[s_.at(Group::kBias, k)] += d_a;
      d_before[k] += d_z[k] * at(Group::kTapLevel, k);
      for (std::size_t i = 0; i < n_x_; ++i) {
        g[s_.at(Group::kTapInput, k * n_x_ + i)] += d_z[k] * step.x[i];
        g[s_.at(Group::kInput, k * n_x_ + i)] += d_a * step.x[i];
      }
      for (std::size_t j = 0; j < k; ++j) {
        g[s_.at(Group::kEarlier, k * k_ + j)] += d_a * step.output[j];
        d_output[j] += d_a * at(Group::kEarlier, k * k_ + j);
      }
    }
    back_through_splits(step, d_z, d_before, g);
    d_level = d_before;
  }
}

}  // namespace

PlainRun run_plain(const Parameters& parameters, const Sequences& data, std::size_t s, double smoothing,
                   std::vector<double>* gradient, const Objective* objective) {
  PlainSequence sequence(parameters, objective);
  PlainRun run = sequence.forward(data, s, smoothing);
  if (gradient != nullptr) sequence.backward(*gradient);
  return run;
}

}  // namespace remede::laws

#include "remede/train/improve.h"

#include <algorithm>
#include <cmath>

#include "remede/model/predict.h"
#include "remede/objective/truth.h"
#include "remede/simplify/collapse.h"
#include "remede/simplify/edit.h"

namespace remede {
namespace {

constexpr std::size_t kMostValues = 1U << 17;  // of one node, kept to find thresholds between them

// The values that a node's feature had when sequences passed it, sorted.
using NodeValues = std::vector<std::vector<float>>;  // (inner)

// Calls see(step, x, m, leaf) at every step, m before the step.
template <typename See>
void walk(const Model& model, int t, const Sequences& data, const See& see) {
  const Tree& tree = model.trees[static_cast<std::size_t>(t)];
  std::vector<float> m(static_cast<std::size_t>(tree.memory_size())), before(m), y(static_cast<std::size_t>(tree.n_y));
  for (std::size_t s = 0; s < data.count(); ++s) {
    std::fill(m.begin(), m.end(), 0.0F);
    std::fill(y.begin(), y.end(), 0.0F);
    for (auto i = static_cast<std::size_t>(data.offset[s]); i < static_cast<std::size_t>(data.offset[s + 1]); ++i) {
      before = m;
      const float* x = data.x.data() + i * static_cast<std::size_t>(data.n_x);
      const int leaf = step(tree, x, model.fill.data(), m.data(), y.data());
      see(i, x, before.data(), leaf);
    }
  }
}

class Improver {
 public:
  Improver(Model& model, int t, const Sequences& training, const Sequences& validation, const ImproveOptions& options)
      : model_(model),
        t_(t),
        tree_(model.trees[static_cast<std::size_t>(t)]),
        data_{&training, &validation},
        options_(options),
        usual_(model.classifies() || !training.has_targets() ? 1.0 : constant_loss(model.objective(), training)) {}

  void run() {
    if (options_.refit) refit();
    for (int pass = 0; pass < options_.passes && !stopped(); ++pass) {
      start_judging();
      bool changed = false;
      if (options_.gates) changed = each_write(&Improver::flip_gate) || changed;
      if (options_.writes) changed = each_write(&Improver::rescale) || changed;
      if (options_.thresholds || options_.features || options_.missing) changed = each_split() || changed;
      if (options_.refit && changed) refit();
      if (!changed) break;
    }
    if ((options_.settle || options_.centre) && !stopped()) {
      start_judging();
      if (options_.settle && tree_.form.leaf_output == LeafOutput::kConstant) each_write(&Improver::settle);
      if (options_.centre) centre();
      if (options_.refit) refit();
    }
  }

 private:
  bool stopped() const { return options_.stop && options_.stop(); }

  void start_judging() {
    Tolerance none;
    none.accuracy = none.log_loss = none.loss_share = 0;
    none.effort = options_.effort;
    none.stop = options_.stop;
    judge_.emplace(model_, data_[0], data_[1], none);
    collect_values();
  }

  // Constant leaves answer what is best for the training targets that reach them.
  void refit() {
    if (tree_.form.leaf_output == LeafOutput::kLinear || tree_.form.output_order == OutputOrder::kFirst) return;
    if (model_.trees.size() > 1) return;  // a forest's answer is not one leaf's
    const Sequences& data = *data_[0];
    const Objective& objective = model_.objective();
    const auto n_y = static_cast<std::size_t>(tree_.n_y);
    std::vector<TargetSums> targets(static_cast<std::size_t>(tree_.leaf_count()), TargetSums(objective, data.n_y));
    walk(model_, t_, data, [&](std::size_t i, const float*, const float*, int leaf) {
      const auto w = static_cast<double>(data.weight[i]);
      if (w > 0) add_target(objective, truth_at(data, i), w, targets[static_cast<std::size_t>(leaf)]);
    });
    // Half a step of every class more than was seen: nothing is impossible.
    const Smoothing half{0, 0.5, 0.5 * static_cast<double>(n_y)};
    for (std::size_t leaf = 0; leaf < targets.size(); ++leaf)
      if (targets[leaf].weight > 0)
        best_constant(objective, targets[leaf], half, std::span(tree_.output).subspan(leaf * n_y, n_y));
  }

  void collect_values() {
    values_.assign(tree_.feature.size(), {});
    misses_.assign(tree_.feature.size(), false);
    for (const Sequences* data : data_) {
      walk(model_, t_, *data, [&](std::size_t, const float* x, const float* m, int) {
        for (std::int32_t i = tree_.root(); i >= 0;) {
          const std::int32_t f = tree_.feature[static_cast<std::size_t>(i)];
          const float v = f < tree_.n_x ? x[f] : m[f - tree_.n_x];
          auto& seen = values_[static_cast<std::size_t>(i)];
          if (std::isnan(v))
            misses_[static_cast<std::size_t>(i)] = true;
          else if (seen.size() < kMostValues)
            seen.push_back(v);
          const bool right = std::isnan(v) ? tree_.missing_right[static_cast<std::size_t>(i)] != 0
                                           : v >= tree_.threshold[static_cast<std::size_t>(i)];
          i = right ? tree_.right[static_cast<std::size_t>(i)] : tree_.left[static_cast<std::size_t>(i)];
        }
      });
    }
    for (auto& seen : values_) {
      std::sort(seen.begin(), seen.end());
      seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    }
  }

  // Tries the edited tree; keeps it where it is better (or, with `equal`, no worse).
  bool accept(const Tree& edited, const std::vector<std::uint8_t>& touched, bool equal = false) {
    const Verdict v = judge_->judge(t_, edited, touched);
    if (!v.accepted || v.correct < 0 || v.loss > (equal ? slack() : 0.0)) return false;
    if (!equal && v.correct <= 0 && v.loss > -options_.gain * usual_ * weight()) return false;
    tree_ = edited;
    judge_->commit(t_, edited, touched);
    return true;
  }

  double weight() const {
    double sum = 0;
    for (const Sequences* data : data_) sum += static_cast<double>(data->steps());
    return sum;
  }
  double slack() const { return 1e-9 * usual_ * weight(); }

  std::vector<std::uint8_t> only(int leaf) const {
    std::vector<std::uint8_t> touched(static_cast<std::size_t>(tree_.leaf_count()), 0);
    touched[static_cast<std::size_t>(leaf)] = 1;
    return touched;
  }
  std::vector<std::uint8_t> below(std::int32_t node) const {
    std::vector<std::uint8_t> touched(static_cast<std::size_t>(tree_.leaf_count()), 0);
    std::vector<std::int32_t> leaves;
    append_leaves(tree_, node, leaves);
    for (const std::int32_t leaf : leaves) touched[static_cast<std::size_t>(leaf)] = 1;
    return touched;
  }

  bool each_write(bool (Improver::*move)(int leaf, int cell)) {
    bool changed = false;
    for (int leaf = 0; leaf < tree_.leaf_count(); ++leaf)
      for (int cell = 0; cell < tree_.n_m && !stopped(); ++cell) changed = (this->*move)(leaf, cell) || changed;
    return changed;
  }

  bool flip_gate(int leaf, int cell) {
    Tree edited = tree_;
    std::uint8_t& gate = edited.gate[static_cast<std::size_t>(leaf * tree_.n_m + cell)];
    gate = gate == 0 ? 1 : 0;
    return accept(edited, only(leaf));
  }

  bool rescale(int leaf, int cell) {
    const auto at = static_cast<std::size_t>(leaf * tree_.n_m + cell);
    if (tree_.gate[at] == 0) return false;
    bool changed = false;
    for (const float factor : {4.0F, 16.0F, 0.25F}) {
      Tree edited = tree_;
      const auto n_w = static_cast<std::size_t>(tree_.n_w());
      for (std::size_t f = 0; f < n_w; ++f) edited.write[at * n_w + f] *= factor;
      if (!edited.bias.empty()) edited.bias[at] *= factor;
      changed = accept(edited, only(leaf)) || changed;
    }
    return changed;
  }

  // A memory that moves by small amounts drifts in longer sequences than were seen. Weights in whole-numbered ratios
  // cancel exactly, a saturated tanh is exactly 1, and a cell that is overwritten forgets what it was: each is taken
  // where nothing gets worse by it.
  bool settle(int leaf, int cell) {
    const auto at = static_cast<std::size_t>(leaf * tree_.n_m + cell);
    if (tree_.gate[at] == 0) return false;
    const auto n_w = static_cast<std::size_t>(tree_.n_w());
    std::vector<float> row(tree_.write.begin() + static_cast<std::ptrdiff_t>(at * n_w),
                           tree_.write.begin() + static_cast<std::ptrdiff_t>((at + 1) * n_w));
    row.push_back(tree_.bias.empty() ? 0.0F : tree_.bias[at]);
    float unit = 0;
    for (const float w : row) unit = std::max(unit, std::abs(w));
    if (unit == 0.0F) return false;
    const bool overwrites = tree_.blend.empty() || tree_.blend[at] == 1.0F;
    for (const bool overwrite : {true, false}) {
      if (overwrite && tree_.blend.empty()) continue;
      if (!overwrite && overwrites && !tree_.blend.empty()) continue;
      for (const float parts : {1.0F, 2.0F, 3.0F})
        for (const float gain : {32.0F, 8.0F, 2.0F, 1.0F, 0.5F}) {
          Tree edited = tree_;
          if (overwrite) edited.blend[at] = 1.0F;
          for (std::size_t f = 0; f < row.size(); ++f) {
            const float w = gain * std::nearbyint(row[f] / unit * parts);
            if (f < n_w)
              edited.write[at * n_w + f] = w;
            else if (!edited.bias.empty())
              edited.bias[at] = w;
          }
          if (accept(edited, only(leaf), true)) return true;
        }
    }
    return false;
  }

  bool each_split() {
    bool changed = false;
    for (std::int32_t i = 0; i < tree_.inner_count() && !stopped(); ++i) {
      if (options_.thresholds) changed = shift(i) || changed;
      if (options_.features) changed = swap_feature(i) || changed;
      if (options_.missing && misses_[static_cast<std::size_t>(i)]) changed = turn_missing(i) || changed;
    }
    return changed;
  }

  // Thresholds half way between neighbouring values, ever further from where it is now.
  bool shift(std::int32_t node) {
    const auto i = static_cast<std::size_t>(node);
    const std::vector<float>& seen = values_[i];
    const auto here = std::lower_bound(seen.begin(), seen.end(), tree_.threshold[i]) - seen.begin();
    const auto size = static_cast<std::ptrdiff_t>(seen.size());
    bool changed = false;
    for (std::ptrdiff_t far = 1; far < size; far *= 3) {
      for (const std::ptrdiff_t at : {here - far, here + far}) {
        if (at < 1 || at >= size) continue;
        Tree edited = tree_;
        edited.threshold[i] = between(seen[static_cast<std::size_t>(at) - 1], seen[static_cast<std::size_t>(at)]);
        changed = accept(edited, below(node)) || changed;
      }
    }
    return changed;
  }

  bool turn_missing(std::int32_t node) {
    Tree edited = tree_;
    std::uint8_t& right = edited.missing_right[static_cast<std::size_t>(node)];
    right = right == 0 ? 1 : 0;
    return accept(edited, below(node));
  }

  bool swap_feature(std::int32_t node) {
    const auto i = static_cast<std::size_t>(node);
    bool changed = false;
    for (std::int32_t f = 0; f < tree_.n_v(); ++f) {
      if (f == tree_.feature[i]) continue;
      std::vector<float> cuts;  // where others cut this feature
      for (std::size_t k = 0; k < tree_.feature.size(); ++k)
        if (tree_.feature[k] == f && std::find(cuts.begin(), cuts.end(), tree_.threshold[k]) == cuts.end())
          cuts.push_back(tree_.threshold[k]);
      if (cuts.empty()) cuts.push_back(0.0F);
      for (const float cut : cuts) {
        Tree edited = tree_;
        edited.feature[i] = f;
        edited.threshold[i] = cut;
        if (!accept(edited, below(node))) continue;
        changed = true;
        break;
      }
    }
    if (changed) collect_values();
    return changed;
  }

  static float between(float low, float high) {
    const float middle = low + 0.5F * (high - low);
    return middle > low ? middle : high;
  }

  // How far the threshold may go towards one side without loss: the number of the last value it may stand below.
  std::ptrdiff_t reach(std::int32_t node, std::ptrdiff_t here, int direction) {
    const auto i = static_cast<std::size_t>(node);
    const std::vector<float>& seen = values_[i];
    const auto size = static_cast<std::ptrdiff_t>(seen.size());
    const auto allowed = [&](std::ptrdiff_t at) {
      if (at < 1 || at >= size) return false;
      Tree edited = tree_;
      edited.threshold[i] = between(seen[static_cast<std::size_t>(at) - 1], seen[static_cast<std::size_t>(at)]);
      const Verdict v = judge_->judge(t_, edited, below(node));
      return v.accepted && v.correct >= 0 && v.loss <= slack();
    };
    std::ptrdiff_t good = here, jump = 1;
    while (allowed(good + direction * jump)) {
      good += direction * jump;
      jump *= 2;
    }
    for (; jump > 0; jump /= 2)
      if (allowed(good + direction * jump)) good += direction * jump;
    return good;
  }

  void centre() {
    for (std::int32_t node = 0; node < tree_.inner_count() && !stopped(); ++node) {
      const auto i = static_cast<std::size_t>(node);
      const std::vector<float>& seen = values_[i];
      const auto size = static_cast<std::ptrdiff_t>(seen.size());
      const auto here = std::lower_bound(seen.begin(), seen.end(), tree_.threshold[i]) - seen.begin();
      if (here < 1 || here >= size) continue;
      const std::ptrdiff_t low = reach(node, here, -1), high = reach(node, here, 1);
      Tree edited = tree_;
      edited.threshold[i] = between(seen[static_cast<std::size_t>(low) - 1], seen[static_cast<std::size_t>(high)]);
      accept(edited, below(node), true);
    }
  }

  Model& model_;
  int t_;
  Tree& tree_;
  const Sequences* data_[2];
  const ImproveOptions& options_;
  double usual_;  // loss of a constant answer, in whose unit differences count; of classes: 1
  std::optional<Judge> judge_;
  NodeValues values_;
  std::vector<bool> misses_;  // (inner) some value of the node's feature was missing
};

}  // namespace

void improve(Model& model, const Sequences& training, const Sequences& validation, const ImproveOptions& options) {
  for (int t = 0; t < static_cast<int>(model.trees.size()); ++t)
    if (!model.trees[static_cast<std::size_t>(t)].has_laws())  // its moves are about what leaves write
      Improver(model, t, training, validation, options).run();
}

}  // namespace remede

#include "remede/analysis/importance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include <fmt/format.h>

#include "remede/analysis/cells.h"
#include "remede/analysis/rows.h"
#include "remede/analysis/trace.h"
#include "remede/analysis/wording.h"
#include "remede/base/arithmetic.h"
#include "remede/base/random.h"
#include "remede/base/threads.h"
#include "remede/model/predict.h"
#include "remede/objective/truth.h"

namespace remede {
namespace {

// Whole sequences, spread evenly over the data, up to about `most` steps.
Sequences sampled(const Sequences& data, std::size_t most) {
  if (data.steps() <= most) return data;
  const double stride = static_cast<double>(data.steps()) / static_cast<double>(most);
  std::vector<std::uint32_t> numbers;
  for (double at = 0; at < static_cast<double>(data.count()); at += stride)
    numbers.push_back(static_cast<std::uint32_t>(at));
  return select(data, numbers);
}

// Scores outputs against the targets or, without targets, against the outputs of the unchanged model.
class Judge {
 public:
  Judge(const Model& model, const Sequences& data, std::vector<float> own)
      : model_(&model),
        data_(&data),
        own_(std::move(own)),
        targets_(data.has_targets()),
        classes_(model.schema.task == Task::kClassification) {}

  std::string name() const {
    if (!targets_) return classes_ ? "agreement with the unchanged model" : "distance from the unchanged model";
    return classes_ ? "accuracy" : "RMSE";
  }
  bool higher_is_better() const { return classes_; }

  std::int64_t scored_steps() const {
    const auto& weight = data_->weight;
    return targets_ ? std::count_if(weight.begin(), weight.end(), [](float w) { return w > 0; })
                    : static_cast<std::int64_t>(data_->steps());
  }

  double score(std::span<const float> output) const {
    double sum = 0, weight = 0;
    const auto n_y = static_cast<std::size_t>(model_->n_y());
    for (std::size_t t = 0; t < data_->steps(); ++t) {
      const double w = targets_ ? static_cast<double>(data_->weight[t]) : 1.0;
      if (w == 0) continue;
      weight += w;
      const auto y = output.subspan(t * n_y, n_y);
      sum += w * (classes_ ? hit(y, t) : squared(y, t));
    }
    if (weight == 0) return 0;
    return classes_ ? sum / weight : std::sqrt(sum / weight);
  }
  // By how much `output` is worse than the unchanged model.
  double loss(double score, std::span<const float> output) const {
    return classes_ ? score - this->score(output) : this->score(output) - score;
  }

 private:
  double hit(std::span<const float> y, std::size_t t) const {
    const int target = targets_ ? data_->label[t] : arg_max(std::span(own_).subspan(t * y.size(), y.size()));
    return arg_max(y) == target ? 1.0 : 0.0;
  }
  double squared(std::span<const float> y, std::size_t t) const {
    if (targets_) return squared_error(model_->objective(), y, truth_at(*data_, t));
    double sum = 0;
    for (std::size_t o = 0; o < y.size(); ++o) {
      const double d = static_cast<double>(y[o]) - static_cast<double>(own_[t * y.size() + o]);
      sum += d * d;
    }
    return sum / static_cast<double>(y.size());
  }

  const Model* model_;
  const Sequences* data_;
  std::vector<float> own_;
  bool targets_, classes_;
};

// Where a cell lies in the state of step().
std::size_t state_slot(const Model& model, int tree, int cell) {
  std::size_t at = 0;
  for (int t = 0; t < tree; ++t) {
    const Tree& before = model.trees[static_cast<std::size_t>(t)];
    at += static_cast<std::size_t>(before.memory_size() +
                                   (before.form.output_order == OutputOrder::kFirst ? before.n_y : 0));
  }
  return at + static_cast<std::size_t>(cell);
}

// The outputs when before every step the state slot is set by set(sequence, step in it).
template <typename Set>
std::vector<float> run_with(const Model& model, const Sequences& data, std::size_t slot, Set set) {
  const auto n_x = static_cast<std::size_t>(model.n_x()), n_y = static_cast<std::size_t>(model.n_y());
  std::vector<float> output(data.steps() * n_y), scratch(n_y);
  std::vector<std::int32_t> leaves(model.trees.size());
  for (std::size_t s = 0; s < data.count(); ++s) {
    std::vector<float> state(state_size(model));
    const auto first = static_cast<std::size_t>(data.offset[s]);
    for (std::size_t t = 0; t < data.length(s); ++t) {
      set(s, t, state[slot]);
      step(model, data.x.data() + (first + t) * n_x, state.data(), scratch.data(), output.data() + (first + t) * n_y,
           leaves.data());
    }
  }
  return output;
}

std::vector<float> outputs_with_input_shuffled(const Model& model, const Sequences& data, int input, Random random) {
  Sequences changed = data;
  const auto n_x = static_cast<std::size_t>(model.n_x()), f = static_cast<std::size_t>(input);
  std::vector<float> column;
  for (std::size_t t = 0; t < data.steps(); ++t) column.push_back(data.x[t * n_x + f]);
  random.shuffle(std::span(column));
  for (std::size_t t = 0; t < data.steps(); ++t) changed.x[t * n_x + f] = column[t];
  return predict(model, changed).output;
}

// The mean loss of score over some shuffles of an input.
double shuffled_input(const Model& model, const Sequences& data, const Judge& judge, double score, std::size_t input,
                      const ImportanceOptions& options) {
  double loss = 0;
  for (int r = 0; r < options.repeats; ++r) {
    const Random random(options.seed, input * 1000 + static_cast<std::size_t>(r));
    loss +=
        judge.loss(score, outputs_with_input_shuffled(model, data, static_cast<int>(input), random)) / options.repeats;
  }
  return loss;
}

// (steps) What the cell holds before every step.
std::vector<float> held_by(const Model& model, const Sequences& data, std::size_t slot) {
  std::vector<float> held(data.steps());
  run_with(model, data, slot, [&](std::size_t s, std::size_t t, float& cell) {
    held[static_cast<std::size_t>(data.offset[s]) + t] = cell;
  });
  return held;
}

// At every step the cell has the value that it held in another sequence at that step; if there is only one sequence,
// the value that it held at another step.
std::vector<float> outputs_with_cell_shuffled(const Model& model, const Sequences& data, std::size_t slot,
                                              const std::vector<float>& held, Random random) {
  std::vector<std::size_t> partner(data.count());
  std::iota(partner.begin(), partner.end(), std::size_t{0});
  random.shuffle(std::span(partner));
  const std::size_t turn = data.count() == 1 && data.steps() > 1 ? 1 + random.below(data.steps() - 1) : 0;
  return run_with(model, data, slot, [&](std::size_t s, std::size_t t, float& cell) {
    const std::size_t from = partner[s], length = data.length(from);
    if (length > 0)
      cell = held[static_cast<std::size_t>(data.offset[from]) +
                  (turn > 0 ? (t + turn) % length : std::min(t, length - 1))];
  });
}

// ASSIGNS what is lost without what the cell holds.
void shuffle_cell(const Model& model, const Sequences& data, const Judge& judge, double score, std::size_t number,
                  const ImportanceOptions& options, FeatureImportance& f) {
  const std::size_t slot = state_slot(model, f.tree, f.cell);
  const std::vector<float> held = held_by(model, data, slot);
  for (int r = 0; r < options.repeats; ++r) {
    const Random random(options.seed, number * 1000 + static_cast<std::size_t>(r));
    f.shuffled += judge.loss(score, outputs_with_cell_shuffled(model, data, slot, held, random)) / options.repeats;
  }
  f.frozen = judge.loss(score, run_with(model, data, slot, [](std::size_t, std::size_t, float& cell) { cell = 0; }));
}

// Nodes that test a feature, and formulas that use it.
void count_uses(const Wording& words, int feature, FeatureImportance& f) {
  const Tree& tree = *words.tree;
  for (const View::Node& n : words.view.nodes) {
    if (!n.is_leaf()) {
      f.splits += tree.feature[static_cast<std::size_t>(n.id)] == feature ? 1 : 0;
      continue;
    }
    for (int k = 0; k < tree.n_m; ++k)
      f.formulas += writes(words, n.leaf(), k) && write_weight(tree, n.leaf(), k, feature) != 0 ? 1 : 0;
    for (int o = 0; o < tree.n_y; ++o) f.formulas += answer_uses(tree, n.leaf(), o, feature) ? 1 : 0;
  }
  for (int k = 0; tree.has_laws() && k < tree.n_m; ++k)
    f.formulas += words.view.cell_in_use(k) && law_uses(tree, k, feature) ? 1 : 0;
}

std::vector<FeatureImportance> list_features(const Model& model) {
  std::vector<FeatureImportance> features;
  std::vector<Wording> words;
  for (std::size_t t = 0; t < model.trees.size(); ++t) words.push_back(make_wording(model, t));
  for (int i = 0; i < model.n_x(); ++i) {
    FeatureImportance f;
    f.name = words[0].feature[static_cast<std::size_t>(i)];
    for (const Wording& w : words) count_uses(w, i, f);
    features.push_back(f);
  }
  for (std::size_t t = 0; t < words.size(); ++t) {
    std::set<int> conditions;  // of counters, which are cells of their own; they hold nothing from step to step
    for (const CellStory& story : cell_stories(words[t]))
      if (story.counts_last) conditions.insert(story.cell - 1);
    for (int k = 0; k < words[t].tree->n_m; ++k) {
      if (!words[t].view.cell_in_use(k) || conditions.count(k) > 0) continue;
      FeatureImportance f;
      const std::string& name = words[t].feature[static_cast<std::size_t>(model.n_x() + k)];
      f.name = words.size() > 1 ? fmt::format("tree {} {}", t + 1, name) : name;
      f.tree = static_cast<int>(t);
      f.cell = k;
      count_uses(words[t], model.n_x() + k, f);
      features.push_back(f);
    }
  }
  return features;
}

// The share of a cell that is replaced or released in a step that reaches the leaf.
double share_of(const Model& model, const Tree& tree, int leaf, int k, const float* x, float level) {
  if (tree.has_laws()) return static_cast<double>(tap_share(tree, leaf, k, {x, model.fill.data()}, level));
  const std::size_t row = cell_row(tree, leaf, k);
  return tree.gate[row] != 0 ? static_cast<double>(tree.blend[row]) : 0.0;
}

// Cells whose content fades: those with laws, and those that blend and are never overwritten on the data.
std::vector<CellMemory> find_averages(const Model& model, const Sequences& data,
                                      const std::vector<FeatureImportance>& features) {
  constexpr double kOverwritten = 0.9;
  std::vector<CellMemory> averages;
  for (const FeatureImportance& feature : features) {
    if (feature.cell < 0) continue;
    const Tree& tree = model.trees[static_cast<std::size_t>(feature.tree)];
    if (!tree.has_laws() && tree.form.write_rule != WriteRule::kBlend) continue;
    std::vector<float> m(static_cast<std::size_t>(tree.memory_size())), y(static_cast<std::size_t>(tree.n_y));
    double kept = 0, most = 0;  // sum of the logarithms of what stays
    for (std::size_t s = 0; s < data.count(); ++s) {
      std::fill(m.begin(), m.end(), 0.0F);
      std::fill(y.begin(), y.end(), 0.0F);
      for (auto t = static_cast<std::size_t>(data.offset[s]); t < static_cast<std::size_t>(data.offset[s + 1]); ++t) {
        const float* const x = data.x.data() + t * static_cast<std::size_t>(model.n_x());
        const int leaf = find_leaf(tree, x, m.data());
        const double share = share_of(model, tree, leaf, feature.cell, x, m[static_cast<std::size_t>(feature.cell)]);
        most = std::max(most, share);
        kept += log(std::max(1.0 - share, 1e-9));
        act(tree, leaf, x, model.fill.data(), m.data(), y.data());
      }
    }
    if (!tree.has_laws() && (most >= kOverwritten || most == 0)) continue;
    const double rate = data.steps() > 0 ? -kept / static_cast<double>(data.steps()) : 0.0;
    averages.push_back({feature.name, feature.tree, feature.cell,
                        rate > 0 ? log(2.0) / rate : std::numeric_limits<double>::infinity()});
  }
  return averages;
}

bool fades(const LookBack& look, std::size_t tree, int cell) {
  return std::any_of(look.averages.begin(), look.averages.end(),
                     [&](const CellMemory& m) { return m.tree == static_cast<int>(tree) && m.cell == cell; });
}

// Follows all paths: how often each feature is tested, and the age of the values read from memory.
void follow_paths(const Model& model, const Sequences& data, Importance& importance) {
  std::map<std::int64_t, std::int64_t> distance;
  std::vector<std::int64_t> tested(importance.features.size(), 0);
  const auto n_x = static_cast<std::size_t>(model.n_x());
  for (std::size_t s = 0; s < data.count(); ++s) {
    const auto first = static_cast<std::size_t>(data.offset[s]);
    const Trace t = trace(model, std::span(data.x).subspan(first * n_x, data.length(s) * n_x));
    for (std::size_t i = 0; i < t.steps.size(); ++i) {
      for (std::size_t f = 0; f < importance.features.size(); ++f) {
        const FeatureImportance& feature = importance.features[f];
        bool any = false;
        for (std::size_t tree = 0; tree < model.trees.size(); ++tree) {
          const int number = feature.cell < 0                         ? static_cast<int>(f)
                             : feature.tree == static_cast<int>(tree) ? model.n_x() + feature.cell
                                                                      : -1;
          for (const PathTest& p : t.steps[i].trees[tree].path) any = any || p.feature == number;
        }
        tested[f] += any ? 1 : 0;
      }
      for (std::size_t tree = 0; tree < t.steps[i].trees.size(); ++tree)
        for (const MemoryRead& r : t.steps[i].trees[tree].reads) {
          if (fades(importance.look_back, tree, r.cell)) continue;
          if (r.written_at < 0)
            ++importance.look_back.unwritten;
          else
            ++distance[static_cast<std::int64_t>(i) - r.written_at];
        }
    }
  }
  importance.look_back.distance.assign(distance.begin(), distance.end());
  for (std::size_t f = 0; f < tested.size(); ++f)
    importance.features[f].tested =
        data.steps() > 0 ? static_cast<double>(tested[f]) / static_cast<double>(data.steps()) : 0.0;
}

}  // namespace

std::int64_t LookBack::reads() const {
  std::int64_t sum = 0;
  for (const auto& [d, count] : distance) sum += count;
  return sum;
}

std::int64_t LookBack::quantile(double share) const {
  const auto enough = static_cast<double>(reads()) * share;
  std::int64_t sum = 0;
  for (const auto& [d, count] : distance)
    if (static_cast<double>(sum += count) >= enough) return d;
  return 0;
}

Importance find_importance(const Model& model, const Sequences& all, const ImportanceOptions& options) {
  const Sequences data = sampled(all, options.most_steps);
  std::vector<float> own = predict(model, data).output;
  const Judge judge(model, data, own);
  Importance importance;
  importance.steps = static_cast<std::int64_t>(data.steps());
  importance.scored = judge.scored_steps();
  importance.score_name = judge.name();
  importance.higher_is_better = judge.higher_is_better();
  importance.score = judge.score(own);
  importance.features = list_features(model);
  importance.look_back.averages = find_averages(model, data, importance.features);
  follow_paths(model, data, importance);
  parallel_for(importance.features.size(), options.threads, [&](std::size_t i, int) {
    FeatureImportance& f = importance.features[i];
    if (f.cell < 0)
      f.shuffled = f.frozen = shuffled_input(model, data, judge, importance.score, i, options);
    else
      shuffle_cell(model, data, judge, importance.score, i, options, f);
  });
  std::stable_sort(importance.features.begin(), importance.features.end(),
                   [](const FeatureImportance& a, const FeatureImportance& b) {
                     return std::max(a.shuffled, a.frozen) > std::max(b.shuffled, b.frozen);
                   });
  return importance;
}

std::vector<double> input_importances(const Model& model, const Sequences& all, const ImportanceOptions& options) {
  const Sequences data = sampled(all, options.most_steps);
  const std::vector<float> own = predict(model, data).output;
  const Judge judge(model, data, own);
  const double score = judge.score(own);
  const std::vector<FeatureImportance> features = list_features(model);
  std::vector<double> losses(static_cast<std::size_t>(model.n_x()));
  parallel_for(losses.size(), options.threads, [&](std::size_t i, int) {
    if (features[i].splits + features[i].formulas == 0) return;  // nothing reads it
    losses[i] = std::max(0.0, shuffled_input(model, data, judge, score, i, options));
  });
  return losses;
}

}  // namespace remede

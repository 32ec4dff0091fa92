#include "remede/train/adapt.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "remede/base/error.h"
#include "remede/model/ranges.h"
#include "remede/model/size.h"
#include "remede/train/prepare.h"

namespace remede {
namespace {

// A number of a model that may move.
struct Moving {
  float* value;
  double step;  // of the next trial; its sign is the direction that helped last
  float low = -std::numeric_limits<float>::max(), high = std::numeric_limits<float>::max();
};

// What is zero is not there, but for constants, which a reader sees in any case.
class Numbers {
 public:
  Numbers(Model& model, const InputQuantiles& inputs, double target_spread)
      : inputs_(inputs), target_spread_(target_spread), logits_(model.classifies()) {
    for (Tree& tree : model.trees) add_tree(tree);
  }
  std::vector<Moving>& all() { return all_; }

 private:
  static constexpr double kFirstShare = 0.1;  // of a number, or of the spread of what it stands for

  void add(float& value, double unit) {
    all_.push_back({&value, kFirstShare * std::max(std::abs(static_cast<double>(value)), unit)});
  }
  void add_weights(std::vector<float>& weights) {
    for (float& w : weights)
      if (w != 0.0F && std::isfinite(w)) add(w, 0);
  }

  void add_tree(Tree& tree) {
    for (std::size_t i = 0; i < tree.threshold.size(); ++i) {
      const int f = tree.feature[i];
      add(tree.threshold[i], f < tree.n_x ? static_cast<double>(inputs_.spread(static_cast<std::size_t>(f))) : 0.1);
    }
    for (float& y : tree.output) add(y, logits_ ? 1.0 : target_spread_);
    add_weights(tree.linear);
    add_writes(tree);
    Cells& cells = tree.cells;
    for (std::vector<float>* some : {&cells.bias, &cells.input, &cells.earlier, &cells.tap, &cells.tap_input,
                                     &cells.tap_level, &cells.tap_leaf, &cells.linear, &cells.leaf_linear})
      add_weights(*some);
  }

  void add_writes(Tree& tree) {
    const auto n_w = static_cast<std::size_t>(tree.n_w());
    for (std::size_t row = 0; row < tree.gate.size(); ++row) {
      if (tree.gate[row] == 0) continue;
      for (std::size_t k = 0; k < n_w; ++k)
        if (float& w = tree.write[row * n_w + k]; w != 0.0F) add(w, 0);
      if (!tree.bias.empty()) add(tree.bias[row], 0.1);
      if (tree.blend.empty() || tree.blend[row] <= 0.0F || tree.blend[row] >= 1.0F) continue;
      add(tree.blend[row], 0);
      all_.back().low = 0.0F;
      all_.back().high = 1.0F;
    }
  }

  const InputQuantiles& inputs_;
  double target_spread_;
  bool logits_;
  std::vector<Moving> all_;
};

double spread_of_targets(const Sequences& data) {
  double sum = 0, squares = 0, count = 0;
  for (const float v : data.value) {
    if (!std::isfinite(v)) continue;
    sum += static_cast<double>(v);
    squares += static_cast<double>(v) * static_cast<double>(v);
    ++count;
  }
  if (count == 0) return 1;
  const double variance = squares / count - sum / count * (sum / count);
  return variance > 0 ? std::sqrt(variance) : 1;
}

class Adapter {
 public:
  Adapter(const Model& start, const Prepared& data, const Config& config, Session& session)
      : model_(start),
        config_(config),
        session_(session),
        training_(with_class_weights(data.training, config)),
        validation_(with_class_weights(data.validation, config)),
        quantiles_(input_quantiles(training_)),
        numbers_(model_, quantiles_, spread_of_targets(training_)),
        best_(start) {}

  void run() {
    constexpr int kPatience = 8;  // passes without a better validation
    loss_ = loss();
    validate();
    int worse = 0;
    while (!session_.halt() && work_ < most_work()) {
      pass();
      worse = validate() ? 0 : worse + 1;
      const bool small_steps = std::all_of(numbers_.all().begin(), numbers_.all().end(), [](const Moving& n) {
        return std::abs(n.step) < 1e-3 * std::max(std::abs(static_cast<double>(*n.value)), 1e-6);
      });
      if (worse >= kPatience || small_steps) break;
    }
  }
  Model& best() { return best_; }
  const std::vector<double>& training_curve() const { return training_curve_; }
  const std::vector<double>& validation_curve() const { return validation_curve_; }

 private:
  // Steps of the data that may be run in all: seconds to a minute.
  double most_work() const {
    constexpr double kMostSteps = 4e8;
    return kMostSteps * scale_of(config_).trials;
  }

  double loss() {
    work_ += static_cast<double>(training_.steps());
    const double found = score(model_, training_, config_.threads).loss;
    return std::isnan(found) ? std::numeric_limits<double>::infinity() : found;
  }

  bool try_value(Moving& number, double value) {
    const float before = *number.value, after = static_cast<float>(value);
    if (!(after >= number.low && after <= number.high) || after == before) return false;
    *number.value = after;
    const double found = loss();
    if (found < loss_) {
      loss_ = found;
      return true;
    }
    *number.value = before;
    return false;
  }

  void pass() {
    constexpr double kGrow = 1.6, kShrink = 0.4;
    std::vector<float> before;
    before.reserve(numbers_.all().size());
    for (const Moving& n : numbers_.all()) before.push_back(*n.value);
    for (Moving& n : numbers_.all()) {
      if (session_.halt()) return;
      const auto here = static_cast<double>(*n.value);
      if (try_value(n, here + n.step)) {
        n.step *= kGrow;
      } else if (try_value(n, here - n.step)) {
        n.step *= -kGrow;
      } else {
        n.step *= kShrink;
      }
    }
    follow(before);
  }

  // All numbers once more as far as they have come in this pass.
  void follow(const std::vector<float>& before) {
    std::vector<Moving>& all = numbers_.all();
    std::vector<float> here;
    here.reserve(all.size());
    for (const Moving& n : all) here.push_back(*n.value);
    if (here == before) return;
    for (std::size_t i = 0; i < all.size(); ++i)
      *all[i].value = std::clamp(here[i] + (here[i] - before[i]), all[i].low, all[i].high);
    const double found = loss();
    if (found < loss_) {
      loss_ = found;
      return;
    }
    for (std::size_t i = 0; i < all.size(); ++i) *all[i].value = here[i];
  }

  // Keeps the model where it is the best so far.
  bool validate() {
    const Score found = score(model_, validation_, config_.threads);
    training_curve_.push_back(loss_);
    validation_curve_.push_back(found.loss);
    const bool better = training_curve_.size() == 1 || found.loss < best_loss_;
    if (better) {
      best_loss_ = found.loss;
      best_ = model_;
    }
    Progress progress;
    progress.updates = training_curve_.size() - 1;
    progress.training_loss = loss_;
    progress.validation_loss = found.loss;
    progress.best_loss = best_loss_;
    progress.best_accuracy = found.accuracy;
    progress.phase = "adapt";
    session_.progress(progress);
    return better;
  }

  Model model_;
  const Config& config_;
  Session& session_;
  Sequences training_, validation_;
  InputQuantiles quantiles_;
  Numbers numbers_;
  Model best_;
  double loss_ = 0, best_loss_ = 0, work_ = 0;
  std::vector<double> training_curve_, validation_curve_;
};

// The structure is given: what decides about it has nothing to decide.
void expect_only_what_counts(const Config& config) {
  constexpr std::string_view kCounts[] = {"seed",         "threads", "effort", "time_limit", "validation_fraction",
                                          "class_weights"};
  for (const HyperParameter& p : hyper_parameters())
    if (p.given(config) && std::find(std::begin(kCounts), std::end(kCounts), p.name) == std::end(kCounts))
      fail("{}: has no effect here: the model to start from determines it", p.flag());
}

void expect_fit(const Model& start, const Dataset& data) {
  if (data.schema.inputs != start.schema.inputs || data.schema.classes != start.schema.classes ||
      data.schema.targets != start.schema.targets || data.schema.task != start.schema.task)
    fail("expected data with the inputs and targets of the model to start from, got others");
  if (data.unknown.count > 0)
    fail("expected the classes that the model to start from knows, got {} of another: {}",
         data.unknown.count == 1 ? "a target" : fmt::format("{} targets", data.unknown.count),
         data.unknown.note.empty() ? "train a new model" : data.unknown.note);
}

}  // namespace

Fit adapt(const Model& start, const Dataset& training, const Dataset* validation, const Config& asked,
          const Callbacks& callbacks) {
  check(asked);
  expect_only_what_counts(asked);
  expect_fit(start, training);
  if (validation != nullptr) expect_fit(start, *validation);
  Config config = asked;
  if (start.own_objective) {
    config.objective = start.own_objective->loss;
    if (!start.own_objective->quantiles.empty()) config.quantiles = start.own_objective->quantiles;
  }
  Session session(callbacks, {}, "", config.time_limit, config.recipe);
  const Prepared data = prepare(training, validation, config, {false, false});
  Adapter adapter(start, data, config, session);
  adapter.run();
  Fit result;
  result.model = std::move(adapter.best());
  TrainingRecord& record = result.model.training;
  record.settings = settings(asked);
  record.training_loss = adapter.training_curve();
  record.validation_loss = adapter.validation_curve();
  record.test.clear();
  record.notes = {fmt::format("started from a model of {} numbers, whose structure it has", size_of(start).numbers)};
  if (std::any_of(result.model.trees.begin(), result.model.trees.end(), [](const Tree& t) { return t.has_laws(); }))
    note_ranges(result.model, training.sequences);
  check(result.model, "adapted model");
  result.validation = score(result.model, data.validation, config.threads);
  result.held_out = data.held_out;
  result.trained_nodes = result.model.node_count();
  result.stopped = session.stop();
  result.late = session.was_late();
  if (result.late) record.notes.emplace_back("cut short by its time limit: another run may give another model");
  session.finish();
  return result;
}

}  // namespace remede

#include "remede/train/fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "remede/base/arithmetic.h"
#include "remede/base/error.h"
#include "remede/model/predict.h"
#include "remede/train/paper.h"
#include "remede/train/prepare.h"

namespace remede {
namespace {

constexpr std::uint64_t kUpdates = 20000;  // of a single start

// The form a single start has where nothing else is asked for.
LeafForm form_of(const Config& config) {
  LeafForm form;
  if (config.recipe == Recipe::kDefault) form.write_bias = true;
  return fixed_by(config, form);
}

GradientForm gradient_of(const Config& config) {
  GradientForm gradient;
  if (config.recipe == Recipe::kDefault)
    gradient = {SplitGradient::kSoftsign, 4.0F, IndexGradient::kSoftmax, Mix::kParameters};
  return fixed_by(config, gradient);
}

Model model_of(Outcome outcome, const Prepared& prepared, const Dataset& training, const Config& config) {
  Model model;
  model.schema = training.schema;
  model.fill = prepared.fill;
  model.trees = std::move(outcome.trees);
  for (Tree& tree : model.trees) fold(prepared.scaling, tree);
  model.training.settings = settings(config);
  model.training.training_loss = std::move(outcome.training_loss);
  model.training.validation_loss = std::move(outcome.validation_loss);
  check(model, "trained model");
  return model;
}

Checkpoint checkpoint_base(const Dataset& training, const Dataset* validation, const Config& config) {
  Checkpoint base;
  base.settings = settings(config);
  base.data = fingerprint(training);
  if (validation != nullptr) base.data = fingerprint(*validation, base.data);
  return base;
}

}  // namespace

Score score(const Model& model, const Sequences& data, int threads) {
  const Predictions predictions = predict(model, data, threads);
  const auto n_y = static_cast<std::size_t>(model.n_y());
  Score s;
  s.sequences = data.count();
  double weight = 0, correct = 0, log_loss = 0, squares = 0;
  for (std::size_t t = 0; t < data.steps(); ++t) {
    if (data.weight.empty() || data.weight[t] == 0.0F) continue;
    const auto w = static_cast<double>(data.weight[t]);
    const std::span<const float> y(predictions.output.data() + t * n_y, n_y);
    ++s.targets;
    weight += w;
    if (!data.label.empty()) {
      const int label = data.label[t];
      const auto p = static_cast<double>(y[static_cast<std::size_t>(label)]);
      if (arg_max(y) == label) correct += w;
      log_loss -= w * log(std::max(p, 1e-15));
    } else {
      for (std::size_t k = 0; k < n_y; ++k) {
        const double error = static_cast<double>(y[k]) - static_cast<double>(data.value[t * n_y + k]);
        squares += w * error * error / static_cast<double>(n_y);
      }
    }
  }
  if (weight == 0) return s;
  s.accuracy = correct / weight;
  s.log_loss = log_loss / weight;
  s.rmse = std::sqrt(squares / weight);
  return s;
}

Fit fit(const Dataset& training, const Dataset* validation, const Config& config, const Callbacks& callbacks,
        const Checkpoint* resume) {
  check(config);
  const LeafForm form = form_of(config);
  Checkpoint base = checkpoint_base(training, validation, config);
  if (resume != nullptr) expect_same(*resume, config, base.data);
  const Shifts shifts = {form.write_bias || config.memory == 0, form.output_order == OutputOrder::kZero};
  const Prepared prepared = prepare(training, validation, config, shifts);
  Session session(callbacks, std::move(base), resume != nullptr ? resume->state : "");
  const StartPlan plan = single_plan(config, training.schema, form, gradient_of(config));
  const Budget budget = budget_of(config, prepared.data.training.count(), kUpdates);
  Outcome outcome = train_single(plan, prepared.data, budget, config.threads, session);
  Fit result;
  result.trained_nodes = outcome.trained_nodes;
  result.stopped = outcome.stopped;
  result.held_out = prepared.held_out;
  result.model = model_of(std::move(outcome), prepared, training, config);
  result.validation = score(result.model, prepared.validation, config.threads);
  return result;
}

}  // namespace remede

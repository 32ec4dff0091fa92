#include "remede/train/fit.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "remede/base/threads.h"
#include "remede/simplify/simplify.h"
#include "remede/train/choose.h"
#include "remede/train/paper.h"
#include "remede/train/polish.h"
#include "remede/train/prepare.h"
#include "remede/train/search.h"

namespace remede {
namespace {

constexpr std::uint64_t kUpdates = 20000;  // of the paper's single start

Checkpoint checkpoint_base(const Dataset& training, const Dataset* validation, const Config& config) {
  Checkpoint base;
  base.settings = settings(config);
  base.data = fingerprint(training);
  if (validation != nullptr) base.data = fingerprint(*validation, base.data);
  return base;
}

SearchResult run_recipe(const Config& config, const Schema& schema, const std::vector<Prepared>& folds,
                        Session& session) {
  const Prepared& prepared = folds.front();
  std::vector<const TrainingData*> data;
  for (const Prepared& fold : folds) data.push_back(&fold.data);
  if (config.recipe == Recipe::kDefault) return search(config, draw_portfolios(config, prepared.data), data, session);
  const StartPlan plan = single_plan(config, schema, fixed_by(config, LeafForm()), fixed_by(config, GradientForm()));
  const Budget budget = budget_of(config, prepared.data.training.count(), kUpdates);
  return train_single(plan, prepared.data, budget, config.threads, session);
}

// The finalist's hard tree, in the data's own units.
Model model_of(const Finalist& finalist, const Prepared& prepared, const Schema& schema, const Config& config) {
  Model model;
  model.schema = schema;
  model.fill = prepared.fill;
  model.trees.push_back(harden(finalist.parameters));
  fold(prepared.scaling, model.trees.back());
  model.training.settings = settings(config);
  model.training.training_loss = finalist.training_curve;
  model.training.validation_loss = finalist.validation_curve;
  check(model, "trained model");
  return model;
}

// Whether every form that the recipe may try can undo a shift of the inputs (scaling.h).
bool may_shift_inputs(const Config& config) {
  if (config.memory == 0) return true;
  const bool bias = config.recipe == Recipe::kDefault && config.form != FormChoice::kPaper;
  return config.write_bias.value_or(bias);
}

// The trees of several models as one.
Model assemble(const std::vector<const Model*>& models) {
  Model model = *models.front();
  for (std::size_t i = 1; i < models.size(); ++i)
    model.trees.insert(model.trees.end(), models[i]->trees.begin(), models[i]->trees.end());
  return model;
}

Model assemble_kept(const std::vector<Candidate>& candidates) {
  std::vector<const Model*> models;
  for (const Candidate& c : candidates) models.push_back(&c.model());
  return assemble(models);
}

// On data never learned from: where there are folds, the copies of each on what it held out.
Score score_held_out(const std::vector<Candidate>& candidates, const std::vector<Prepared>& folds, int threads) {
  if (folds.size() == 1) return score(assemble_kept(candidates), folds.front().validation, threads);
  Score sum;
  double squares = 0;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    std::vector<const Model*> models;
    for (const Candidate& c : candidates) models.push_back(&c.copies[f]);
    const Score s = score(assemble(models), folds[f].validation, threads);
    sum.sequences += s.sequences;
    sum.targets += s.targets;
    sum.weight += s.weight;
    sum.accuracy += s.accuracy * s.weight;
    sum.log_loss += s.log_loss * s.weight;
    squares += s.rmse * s.rmse * s.weight;
  }
  sum.accuracy /= sum.weight;
  sum.log_loss /= sum.weight;
  sum.rmse = std::sqrt(squares / sum.weight);
  return sum;
}

// Polishes what was chosen, on all the data, where data are few enough for that to matter.
void polish_all(const std::vector<std::vector<Finalist>>& finalists, std::vector<Candidate>& candidates,
                const Dataset& training, const std::vector<Prepared>& folds, const Config& config) {
  const Sequences judged = thinned(training.sequences);
  const TrainingData all = everything(training, folds.front(), config);  // scales are the same in every fold
  parallel_for(candidates.size(), config.threads, [&](std::size_t i, int) {
    Candidate& c = candidates[i];
    const Finalist& finalist = finalists[c.finalist][c.kept];
    if (finalist.plan.shape.form.leaf_output != LeafOutput::kLinear) return;
    const Prepared& prepared = folds[c.kept];
    Model& model = c.copies[c.kept];
    model = model_of(polish(finalist, all), prepared, training.schema, config);
    SimplifyOptions options;
    options.exact.drop_inputs = false;
    options.tolerance.log_loss = options.tolerance.squared_error =
        0;  // nothing is held out any more, and what is known by heart bears much
    if (config.simplify) model = simplify(model, options, &judged, &judged).model;
  });
}

}  // namespace

Fit fit(const Dataset& training, const Dataset* validation, const Config& config, const Callbacks& callbacks,
        const Checkpoint* resume) {
  check(config);
  Checkpoint base = checkpoint_base(training, validation, config);
  if (resume != nullptr) expect_same(*resume, config, base.data);
  const bool shift_values = config.output_order != OutputOrder::kFirst;
  const std::vector<Prepared> folds =
      prepare_folds(training, validation, config, {may_shift_inputs(config), shift_values});
  Session session(callbacks, std::move(base), resume != nullptr ? resume->state : "");
  SearchResult found = run_recipe(config, training.schema, folds, session);
  if (found.stopped)
    found.finalists.resize(std::min<std::size_t>(found.finalists.size(), static_cast<std::size_t>(config.trees)));

  std::vector<std::vector<Model>> models;
  for (const std::vector<Finalist>& start : found.finalists) {
    std::vector<Model>& copies = models.emplace_back();
    for (std::size_t f = 0; f < folds.size(); ++f)
      copies.push_back(model_of(start[f], folds[f], training.schema, config));
  }
  double solved = 0;
  for (const Prepared& fold : folds) solved += solved_loss(fold.validation) / static_cast<double>(folds.size());
  std::vector<Candidate> candidates = choose(std::move(models), folds, config, solved);
  candidates.resize(std::min<std::size_t>(candidates.size(), static_cast<std::size_t>(config.trees)));
  Fit result;
  result.trained_nodes = candidates.front().trained_nodes;
  result.stopped = found.stopped;
  result.held_out = folds.front().held_out;
  result.validation = score_held_out(candidates, folds, config.threads);
  // The score is that of data never learned from; the model is then given the rest as well.
  if (validation == nullptr && result.held_out && config.recipe == Recipe::kDefault && !found.stopped)
    polish_all(found.finalists, candidates, training, folds, config);
  result.model = assemble_kept(candidates);
  SimplifyOptions exactly;
  exactly.exact.drop_inputs = false;  // the model reads the data it was given
  if (config.simplify) result.model = simplify(result.model, exactly, nullptr, nullptr).model;
  return result;
}

}  // namespace remede

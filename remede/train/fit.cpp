#include "remede/train/fit.h"

#include <algorithm>
#include <iterator>

#include "remede/simplify/simplify.h"
#include "remede/base/threads.h"
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

SearchResult run_recipe(const Config& config, const Schema& schema, const Prepared& prepared, Session& session) {
  if (config.recipe == Recipe::kDefault)
    return search(config, draw_portfolios(config, prepared.data.training), prepared.data, session);
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

// The trees of the candidates as one model.
Model assemble(const std::vector<Candidate>& candidates) {
  Model model = candidates.front().model;
  for (std::size_t i = 1; i < candidates.size(); ++i)
    model.trees.insert(model.trees.end(), candidates[i].model.trees.begin(), candidates[i].model.trees.end());
  return model;
}

// Polishes what was chosen, on all the data, where data are few enough for that to matter.
void polish_all(const std::vector<Finalist>& finalists, std::vector<Candidate>& candidates, const Dataset& training,
                const Prepared& prepared, const Config& config) {
  const TrainingData all = everything(training, prepared, config);
  parallel_for(candidates.size(), config.threads, [&](std::size_t i, int) {
    Candidate& c = candidates[i];
    const Finalist& finalist = finalists[c.finalist];
    if (finalist.plan.shape.form.leaf_output != LeafOutput::kLinear) return;
    c.model = model_of(polish(finalist, all), prepared, training.schema, config);
    SimplifyOptions options;
    options.exact.drop_inputs = false;
    if (config.simplify) c.model = simplify(c.model, options, &training.sequences, &training.sequences).model;
  });
}

}  // namespace

Fit fit(const Dataset& training, const Dataset* validation, const Config& config, const Callbacks& callbacks,
        const Checkpoint* resume) {
  check(config);
  Checkpoint base = checkpoint_base(training, validation, config);
  if (resume != nullptr) expect_same(*resume, config, base.data);
  const bool shift_values = config.output_order != OutputOrder::kFirst;
  const Prepared prepared = prepare(training, validation, config, {may_shift_inputs(config), shift_values});
  Session session(callbacks, std::move(base), resume != nullptr ? resume->state : "");
  SearchResult found = run_recipe(config, training.schema, prepared, session);
  if (found.stopped) found.finalists.resize(std::min<std::size_t>(found.finalists.size(), static_cast<std::size_t>(config.trees)));

  std::vector<Model> models;
  for (const Finalist& finalist : found.finalists) models.push_back(model_of(finalist, prepared, training.schema, config));
  std::vector<Candidate> candidates =
      choose(std::move(models), prepared.training, prepared.validation, config, solved_loss(prepared.validation));
  candidates.resize(std::min<std::size_t>(candidates.size(), static_cast<std::size_t>(config.trees)));
  Fit result;
  result.trained_nodes = candidates.front().trained_nodes;
  result.stopped = found.stopped;
  result.held_out = prepared.held_out;
  result.model = assemble(candidates);
  result.validation = score(result.model, prepared.validation, config.threads);
  // The score is that of data never learned from; the model is then given the rest as well.
  if (validation == nullptr && prepared.held_out && config.recipe == Recipe::kDefault && !found.stopped) {
    polish_all(found.finalists, candidates, training, prepared, config);
    result.model = assemble(candidates);
  }
  if (config.simplify) result.model = simplify(result.model, {}, nullptr, nullptr).model;  // inputs that nothing reads go
  return result;
}

}  // namespace remede

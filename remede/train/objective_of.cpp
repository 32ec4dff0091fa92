#include "remede/train/objective_of.h"

#include "remede/base/error.h"

namespace remede {

Objective objective_of(const Config& config, const Schema& schema) {
  Objective objective = default_objective(schema.task);
  if (config.objective) objective.loss = *config.objective;
  if (config.quantiles) {
    if (objective.loss != Loss::kQuantile)
      fail("--quantiles: expected --objective quantile, got {}", word_of(objective));
    objective.quantiles = *config.quantiles;
  } else if (objective.loss == Loss::kQuantile) {
    objective.quantiles = {0.1F, 0.5F, 0.9F};
  }
  check(objective, schema.task, static_cast<int>(schema.targets.size()),
        config.quantiles ? "--quantiles" : "--objective");
  if (config.output_order == OutputOrder::kFirst && !classifies(objective) && !has_identity_link(objective))
    fail("--output-order: expected zero with --objective {}, got first", word_of(objective));
  return objective;
}

}  // namespace remede

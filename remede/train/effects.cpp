#include "remede/train/effects.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "remede/base/error.h"

namespace remede {
namespace {

using Names = std::initializer_list<std::string_view>;

void refuse_given(const Config& config, Names names, std::string_view reason) {
  for (const HyperParameter& p : hyper_parameters())
    if (std::find(names.begin(), names.end(), p.name) != names.end() && p.given(config))
      fail("{}: has no effect here: {}", p.flag(), reason);
}

// The paper's leaf is what all starts have unless single options of the form say otherwise.
bool papers_leaf(const Config& config) {
  return config.form == FormChoice::kPaper || (config.recipe.single_start && config.form == FormChoice::kAuto);
}

void expect_parts_of_the_leaf(const Config& config) {
  if (without_memory(config))
    refuse_given(config,
                 {"write_rule", "write_reads", "write_bias", "rate_gate", "rate_write", "rate_bias", "rate_rate"},
                 "a tree without memory (--memory 0) has no writes");
  if (config.depth == 0)
    refuse_given(config, {"split_gradient", "slope", "index_gradient", "mix", "rate_index", "rate_threshold"},
                 "a tree of --depth 0 has no splits");
  if (!config.write_bias.value_or(!papers_leaf(config)))
    refuse_given(config, {"rate_bias"}, "these writes have no bias (see --write-bias)");
  if (config.write_rule.value_or(papers_leaf(config) ? WriteRule::kAdd : WriteRule::kBlend) == WriteRule::kAdd)
    refuse_given(config, {"rate_rate"}, "these writes add and do not blend (see --write-rule)");
  if (config.leaf_output.value_or(papers_leaf(config) ? LeafOutput::kConstant : LeafOutput::kLinear) ==
      LeafOutput::kConstant)
    refuse_given(config, {"rate_linear"}, "these leaves have constant outputs (see --leaf-output)");
}

void expect_parts_of_the_recipe(const Config& config) {
  if (config.recipe.single_start) {
    refuse_given(config, {"starts"},
                 "the recipe (paper or gradtree) trains one start, or as many as its field 'restarts' says");
    refuse_given(config, {"trees", "numbers", "accurate", "increasing", "decreasing"},
                 "the recipe (paper or gradtree) trains one tree and leaves no choice among models");
    if (config.updates || config.epochs)
      refuse_given(config, {"effort"},
                   "with this recipe (paper or gradtree) it scales the updates, which --updates or --epochs fix");
  } else {
    refuse_given(config, {"patience", "validate_every", "decay"},
                 "it belongs to --recipe paper and gradtree; the default recipe trains in rounds (see --updates and "
                 "--effort)");
    if (config.starts && config.trees > *config.starts)
      fail("--trees: expected at most as many as --starts, got {} trees from {} starts", config.trees, *config.starts);
  }
}

// A split on a transformed input is one on the input; a weight is not.
void expect_splits_alone(const Config& config) {
  if (!config.recipe.quantile_transform) return;
  const char* const why = "with a recipe that transforms inputs to quantiles (gradtree)";
  if (!config.recipe.single_start) fail("--recipe: 'single_start': expected true {}, got false", why);
  if (!without_memory(config))
    fail("--memory: expected 0 {}, got {}", why, config.memory.value_or(config.recipe.single_cells));
  if (fixed_by(config, LeafForm()).leaf_output == LeafOutput::kLinear)
    fail("--leaf-output: expected constant leaves {}, got linear ones", why);
}

void expect_choices_of_size(const Config& config) {
  const Names choices = {"numbers", "accurate", "increasing", "decreasing"};
  if (config.trees > 1) refuse_given(config, choices, "several trees (--trees) are not chosen by size");
  if (!config.simplify) refuse_given(config, choices, "without --simplify yes there is one model to choose from");
  if (config.numbers) refuse_given(config, {"accurate"}, "--numbers already says which model to save");
}

}  // namespace

void expect_effects(const Config& config) {
  expect_parts_of_the_recipe(config);
  expect_splits_alone(config);
  expect_parts_of_the_leaf(config);
  expect_choices_of_size(config);
  if (!config.simplify) refuse_given(config, {"improve"}, "exact moves need the simplified tree (--simplify yes)");
  if (config.recipe.improved == 0)
    refuse_given(config, {"improve"}, "the recipe (gradtree) applies exact moves to no tree: field 'improved'");
}

void expect_effects(const Config& config, const Schema& schema) {
  if (schema.task == Task::kRegression) refuse_given(config, {"class_weights"}, "regression has no classes");
  if (without_memory(config) && schema.n_x() == 1)
    refuse_given(config, {"index_gradient", "rate_index"}, "one input and no memory leave no choice of features");
}

}  // namespace remede

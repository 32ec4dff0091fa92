#include "remede/train/begin.h"

#include "remede/executor/cuda/cuda.h"
#include "remede/train/effects.h"
#include "remede/train/frontier/trends.h"

namespace remede {
namespace {

// auto becomes what there is. A GPU is ahead where many starts fill it, and on data that are not learned in seconds
// anywhere (docs/performance.md).
Config with_device(Config config, const Sequences& training) {
  if (config.device != DeviceChoice::kAuto) return config;
  const int starts = config.recipe.single_start ? 1 : config.starts.value_or(config.recipe.starts);
  const bool worth =
      training.steps() >= static_cast<std::size_t>(config.recipe.gpu_steps) && starts >= config.recipe.gpu_starts;
  config.device = worth && why_no_gpu().empty() ? DeviceChoice::kGpu : DeviceChoice::kCpu;
  return config;
}

// Whether every form that the recipe may try can undo a shift of the inputs (scaling.h).
bool may_shift_inputs(const Config& config) {
  if (without_memory(config)) return true;
  const bool bias = !config.recipe.single_start && config.form != FormChoice::kPaper;
  return config.write_bias.value_or(bias);
}

}  // namespace

Config settled(const Config& asked, const Dataset& training) {
  check(asked);
  Config config = with_device(asked, training.sequences);
  expect_effects(config, training.schema);
  static_cast<void>(frontier::trends_of(config, training.schema));  // a wrong name is told at once
  return config;
}

Shifts shifts_of(const Config& config) {
  return {may_shift_inputs(config), config.output_order != OutputOrder::kFirst};
}

std::vector<Prepared> folds_of_fit(const Dataset& training, const Dataset* validation, const Config& config,
                                   const Scaling* scaling) {
  return prepare_folds(training, validation, config, shifts_of(config), scaling);
}

Checkpoint checkpoint_base(const Dataset& training, const Dataset* validation, const Config& config) {
  Checkpoint base;
  base.settings = settings(config);
  base.data = fingerprint(training);
  if (validation != nullptr) base.data = fingerprint(*validation, base.data);
  return base;
}

}  // namespace remede

#include "remede/train/polish.h"

#include <memory>

#include "remede/executor/executor.h"

namespace remede {
std::uint64_t polish_updates(const StartPlan& plan) {
  if (plan.shape.form.leaf_output != LeafOutput::kLinear) return 0;
  return static_cast<std::uint64_t>(plan.polish_rounds * static_cast<double>(plan.first_round));
}

Finalist polish(const Finalist& finalist, const TrainingData& everything, Device device,
                const std::function<bool()>& stop) {
  const auto updates =
      static_cast<std::uint64_t>(finalist.plan.budget_share * static_cast<double>(polish_updates(finalist.plan)));
  if (updates == 0) return finalist;
  const std::unique_ptr<Executor> executor = make_executor(device, {&everything}, 1);
  const std::unique_ptr<Trainer> start = executor->start(finalist.plan, 0);
  Trainer& trainer = *start;
  Trainer* const only[] = {start.get()};
  trainer.begin_at(finalist.parameters);
  trainer.begin_decay(updates);
  executor->advance(only, updates, stop);
  if (trainer.lost() || trainer.updates() < updates) return finalist;
  Finalist polished = finalist;
  polished.parameters = trainer.averaged();
  return polished;
}

}  // namespace remede

#include "remede/train/polish.h"

namespace remede {
namespace {

constexpr std::uint64_t kRoundsOfNoise = 3;  // first rounds: what is never shown twice alike can be learned for longer

}  // namespace

Finalist polish(const Finalist& finalist, const TrainingData& everything) {
  if (finalist.plan.shape.form.leaf_output != LeafOutput::kLinear) return finalist;
  Trainer trainer(finalist.plan, everything);
  trainer.begin_at(finalist.parameters);
  const std::uint64_t updates = (finalist.plan.noise > 0.0F ? kRoundsOfNoise : 1) * finalist.plan.first_round;
  trainer.begin_decay(updates);
  const auto engine = make_engine(1);
  trainer.advance_to(updates, *engine);
  Finalist polished = finalist;
  if (!trainer.lost()) polished.parameters = trainer.averaged();
  return polished;
}

}  // namespace remede

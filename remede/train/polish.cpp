#include "remede/train/polish.h"

namespace remede {
namespace {

constexpr std::uint64_t kRounds = 3;  // as long as so many first rounds

}  // namespace

Finalist polish(const Finalist& finalist, const TrainingData& everything) {
  if (finalist.plan.shape.form.leaf_output != LeafOutput::kLinear) return finalist;
  Trainer trainer(finalist.plan, everything);
  trainer.begin_at(finalist.parameters);
  trainer.begin_decay(kRounds * finalist.plan.first_round);
  const auto engine = make_engine(1);
  trainer.advance_to(kRounds * finalist.plan.first_round, *engine);
  Finalist polished = finalist;
  if (!trainer.lost()) polished.parameters = trainer.averaged();
  return polished;
}

}  // namespace remede

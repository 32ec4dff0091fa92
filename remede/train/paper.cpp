#include "remede/train/paper.h"

#include <algorithm>
#include <memory>

#include "remede/base/error.h"
#include "remede/executor/executor.h"
#include "remede/train/objective_of.h"

namespace remede {
namespace {

// The update at which something is decided next.
std::uint64_t next_decision(const Trainer& trainer, const Budget& budget) {
  const std::uint64_t end = trainer.schedule().decays() ? trainer.schedule().end() : budget.updates - budget.decay;
  return std::min(trainer.validated_at() + budget.validate_every, end);
}

// The last validation belongs to a start: one that was saved before it is not finished.
bool finished(const Trainer& trainer) {
  const bool ended = trainer.updates() >= trainer.schedule().end() && trainer.validated_at() == trainer.updates();
  return trainer.lost() || ended;
}

// The rates decay when the time has come, or earlier, from the best parameters, when nothing has got better for long.
void decide(Trainer& trainer, const Budget& budget) {
  if (trainer.schedule().decays()) return;
  if (trainer.updates() >= budget.updates - budget.decay) {
    trainer.begin_decay(budget.decay);
  } else if (trainer.updates() - trainer.best_updates() >= budget.patience) {
    trainer.return_to_best();
    trainer.begin_decay(std::min(budget.decay, trainer.updates()));
  }
}

Progress progress_of(const Trainer& trainer) {
  Progress p;
  p.updates = trainer.updates();
  p.training_loss = trainer.training_curve().back();
  p.validation_loss = trainer.validation_curve().back();
  p.best_loss = trainer.best_loss();
  p.best_accuracy = trainer.best_accuracy();
  p.phase = trainer.schedule().decays() ? "decay" : "start";
  return p;
}

// Of the updates after the first ones, which an earlier run made.
double share_done(const Trainer& trainer, const Budget& budget, std::uint64_t first) {
  const std::uint64_t end = trainer.schedule().decays() ? trainer.schedule().end() : budget.updates;
  return end <= first ? 1.0 : static_cast<double>(trainer.updates() - first) / static_cast<double>(end - first);
}

std::string state_of(const Trainer& trainer) {
  ByteWriter bytes;
  trainer.save(bytes);
  return bytes.take();
}

void load_state(std::string_view state, Trainer& trainer) {
  ByteReader bytes(state, "checkpoint");
  trainer.load(bytes);
  bytes.expect_end();
}

SearchResult result_of(const Trainer& trainer, bool stopped) {
  if (!trainer.has_best()) fail("expected a finite loss, got none: the inputs may be too large (see --standardise)");
  SearchResult result;
  result.finalists.push_back({finalist_of(trainer)});
  result.stopped = stopped;
  return result;
}

}  // namespace

StartPlan single_plan(const Config& config, const Schema& schema, const LeafForm& form, const GradientForm& gradient) {
  StartPlan plan = base_plan(config);
  plan.shape = {config.depth.value_or(config.recipe.single_depth), schema.n_x(),
                config.memory.value_or(config.recipe.single_cells),
                outputs_of(objective_of(config, schema), schema.n_y()), fixed_by(config, form)};
  plan.gradient = fixed_by(config, gradient);
  plan.batch = config.batch.value_or(config.recipe.batch_most);
  return plan;
}

SearchResult train_single(const StartPlan& plan, const TrainingData& data, const Budget& budget, const Config& config,
                          Session& session) {
  const std::unique_ptr<Executor> executor = make_executor(device_of(config), {&data}, config.threads);
  const auto pause = [&session] { return session.pause(); };
  const std::unique_ptr<Trainer> start = executor->start(plan, 0);
  Trainer& trainer = *start;
  Trainer* const only[] = {start.get()};
  bool stopped = false;
  if (!session.resume().empty()) load_state(session.resume(), trainer);
  if (trainer.validation_curve().empty()) {
    executor->validate(only);
    decide(trainer, budget);
  }
  const std::uint64_t first = trainer.updates();
  while (!finished(trainer) && !stopped) {
    const std::uint64_t next = next_decision(trainer, budget);
    executor->advance(only, next - trainer.updates(), pause);
    stopped = session.halt();
    if (session.stop() || session.checkpoint_due()) session.checkpoint(state_of(trainer));
    const bool paused = trainer.updates() < next && !stopped;
    if (paused || trainer.lost()) continue;
    executor->validate(only);  // when stopped, too: the best so far may be now
    decide(trainer, budget);
    session.expect_in_phase(share_done(trainer, budget, first), 0.0, 0.0);
    session.progress(progress_of(trainer));
  }
  SearchResult result = result_of(trainer, stopped);
  result.note = executor->note();
  if (session.keeps_checkpoints()) result.state = state_of(trainer);
  return result;
}

}  // namespace remede

#include "remede/train/paper.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

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

using Trainers = std::vector<std::unique_ptr<Trainer>>;

const Trainer& leading(const Trainers& starts) {
  return **std::min_element(starts.begin(), starts.end(),
                            [](const auto& a, const auto& b) { return a->best_loss() < b->best_loss(); });
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
double share_done(const Trainers& starts, const Budget& budget, const std::vector<std::uint64_t>& first) {
  double sum = 0;
  for (std::size_t k = 0; k < starts.size(); ++k) {
    const Trainer& trainer = *starts[k];
    const std::uint64_t end = trainer.schedule().decays() ? trainer.schedule().end() : budget.updates;
    sum += finished(trainer) || end <= first[k]
               ? 1.0
               : static_cast<double>(trainer.updates() - first[k]) / static_cast<double>(end - first[k]);
  }
  return sum / static_cast<double>(starts.size());
}

std::string state_of(const Trainers& starts) {
  ByteWriter bytes;
  for (const auto& trainer : starts) trainer->save(bytes);
  return bytes.take();
}

void load_state(std::string_view state, const Trainers& starts) {
  ByteReader bytes(state, "checkpoint");
  for (const auto& trainer : starts) trainer->load(bytes);
  bytes.expect_end();
}

// To the next update at which one of the unfinished starts is judged. Where nothing paused it, judges those that are
// there; where the fit is stopped, all of them, since the best so far may be now. Whether any was judged.
bool advance(Executor& executor, const Trainers& starts, const Budget& budget, Session& session, bool& stopped) {
  std::vector<Trainer*> running, due;
  std::vector<std::uint64_t> next;
  std::uint64_t updates = std::numeric_limits<std::uint64_t>::max();
  for (const auto& trainer : starts) {
    if (finished(*trainer)) continue;
    running.push_back(trainer.get());
    next.push_back(next_decision(*trainer, budget));
    updates = std::min(updates, next.back() - trainer->updates());
  }
  executor.advance(running, updates, [&session] { return session.pause(); });
  stopped = session.halt();
  if (session.stop() || session.checkpoint_due()) session.checkpoint(state_of(starts));
  for (std::size_t k = 0; k < running.size(); ++k)
    if (!running[k]->lost() && (stopped || running[k]->updates() >= next[k])) due.push_back(running[k]);
  if (due.empty()) return false;
  executor.validate(due);
  for (Trainer* const trainer : due) decide(*trainer, budget);
  return true;
}

SearchResult result_of(const Trainers& starts, bool stopped) {
  SearchResult result;
  for (const auto& trainer : starts)
    if (trainer->has_best()) result.finalists.push_back({finalist_of(*trainer)});
  if (result.finalists.empty())
    fail("expected a finite loss, got none: the inputs may be too large (see --standardise)");
  result.stopped = stopped;
  return result;
}

}  // namespace

GradientForm single_gradient(const Recipe& recipe) {
  GradientForm form;
  if (recipe.single_softsign) form.split = SplitGradient::kSoftsign;
  if (recipe.single_entmax) form.index = IndexGradient::kEntmax;
  return form;
}

StartPlan single_plan(const Config& config, const Schema& schema, const LeafForm& form, const GradientForm& gradient) {
  StartPlan plan = base_plan(config);
  plan.shape = {config.depth.value_or(config.recipe.single_depth), schema.n_x(),
                config.memory.value_or(config.recipe.single_cells),
                outputs_of(objective_of(config, schema), schema.n_y()), fixed_by(config, form)};
  plan.gradient = fixed_by(config, gradient);
  plan.batch = config.batch.value_or(config.recipe.batch_most);
  plan.average = static_cast<float>(config.recipe.single_average);
  return plan;
}

SearchResult train_single(const StartPlan& plan, const TrainingData& data, const Budget& budget, const Config& config,
                          Session& session) {
  const std::unique_ptr<Executor> executor = make_executor(device_of(config), {&data}, config.threads);
  Trainers starts;
  for (int k = 0; k < config.recipe.restarts; ++k) {
    StartPlan own = plan;
    own.stream = static_cast<std::uint64_t>(k);
    starts.push_back(executor->start(own, 0));
  }
  if (!session.resume().empty()) load_state(session.resume(), starts);
  std::vector<std::uint64_t> first;
  for (const auto& trainer : starts) {
    Trainer* const only[] = {trainer.get()};
    if (trainer->validation_curve().empty()) {
      executor->validate(only);
      decide(*trainer, budget);
    }
    first.push_back(trainer->updates());
  }
  bool stopped = false;
  while (!stopped && !std::all_of(starts.begin(), starts.end(), [](const auto& t) { return finished(*t); })) {
    if (!advance(*executor, starts, budget, session, stopped)) continue;
    session.expect_in_phase(share_done(starts, budget, first), 0.0, 0.0);
    session.progress(progress_of(leading(starts)));
  }
  SearchResult result = result_of(starts, stopped);
  result.note = executor->note();
  if (session.keeps_checkpoints()) result.state = state_of(starts);
  return result;
}

}  // namespace remede

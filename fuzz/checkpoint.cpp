// Checkpoints. Bytes as they come must be refused or round-trip. And since a checksum keeps almost all of them out, a
// real state is damaged byte by byte, given a new checksum, and resumed: it goes on or is refused.
#include "remede/train/checkpoint.h"

#include <memory>
#include <vector>

#include "fuzz/harness.h"
#include "remede/data/tasks.h"
#include "remede/train/paper.h"
#include "remede/train/search.h"

namespace remede::fuzz {
namespace {

// A search, or the single start of the paper, that was stopped at once. What comes before and after it reads no state.
struct Run {
  Dataset data;
  Config config;
  std::vector<Prepared> folds;
  std::vector<const TrainingData*> parts;
  std::vector<Portfolio> stages;  // empty: a single start
  std::string state;
};

Callbacks stopped_at_once(std::string* state) {
  Callbacks callbacks;
  callbacks.stop = [] { return true; };
  callbacks.checkpoint = [state](const Checkpoint& checkpoint) {
    if (state != nullptr) *state = checkpoint.state;
  };
  return callbacks;
}

void go_on(const Run& run, const std::string& from, std::string* state) {
  const Callbacks callbacks = stopped_at_once(state);
  Session session(callbacks, {}, from);
  if (!run.stages.empty()) {
    search(run.config, run.stages, run.parts, session);
    return;
  }
  const StartPlan plan = single_plan(run.config, run.data.schema, LeafForm(), GradientForm());
  train_single(plan, run.folds.front().data, budget_of(run.config, run.data.sequences.count()), run.config, session);
}

std::unique_ptr<const Run> begun(const Recipe& recipe) {
  auto run = std::make_unique<Run>();
  run->data = generate("fixed-delay", {.sequences = 12, .delay = 1});
  run->config.recipe = recipe;
  run->config.threads = 1;
  run->config.depth = 1;
  run->config.memory = 1;
  if (!recipe.single_start) run->config.starts = 1;
  run->folds = prepare_folds(run->data, nullptr, run->config, {});
  run->folds.resize(1);
  run->parts = {&run->folds.front().data};
  if (!recipe.single_start) run->stages = draw_portfolios(run->config, run->folds.front().data);
  go_on(*run, "", &run->state);
  require(!run->state.empty(), "a run that is stopped saves its state");
  return run;
}

// Three bytes each: where, and what stands there now.
std::string damaged(std::string state, std::string_view changes) {
  while (changes.size() >= 3) {
    const unsigned low = take_byte(changes);
    const unsigned high = take_byte(changes);
    const unsigned value = take_byte(changes);
    state[(low + 256 * high) % state.size()] = static_cast<char>(value);
  }
  if (changes.size() == 1) state.resize(take_byte(changes) * state.size() / 256);  // and cut off
  return state;
}

// Settings under their names, one per line: they are those of this run or are refused.
void compare_settings(std::string_view lines) {
  Checkpoint checkpoint;
  checkpoint.settings = settings(Config());
  for (std::size_t k = 0; !lines.empty(); ++k) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    checkpoint.settings[(k * 7 + line.size()) % checkpoint.settings.size()].second = line;
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
  }
  const Checkpoint back = checkpoint_from_bytes(to_bytes(checkpoint), "file");
  require(back.settings == checkpoint.settings, "settings round-trip");
  error_of([&] { expect_same(back, Config(), 0); });
}

}  // namespace

void checkpoint(std::string_view input) {
  const unsigned kind = take_byte(input) % 4;
  if (kind >= 2) {
    static const std::unique_ptr<const Run> paper = begun(paper_recipe());
    static const std::unique_ptr<const Run> portfolio = begun(default_recipe());
    const Run& run = kind == 2 ? *paper : *portfolio;
    error_of([&] { go_on(run, damaged(run.state, input), nullptr); });
    return;
  }
  if (kind == 1) return compare_settings(input);
  Checkpoint read;
  if (!error_of([&] { read = checkpoint_from_bytes(input, "file"); }).empty()) return;
  require(to_bytes(read) == input, "a checkpoint round-trips");
}

}  // namespace remede::fuzz

// Checkpoints. Bytes as they come must be refused or round-trip. And since a checksum keeps almost all of them out, a
// real state is damaged byte by byte, given a new checksum, and resumed: it goes on or is refused.
#include "remede/train/checkpoint.h"

#include "fuzz/harness.h"
#include "remede/data/tasks.h"
#include "remede/train/fit.h"

namespace remede::fuzz {
namespace {

struct Run {
  Dataset data;
  Config config;
  Checkpoint saved;
};

Run begun(const Recipe& recipe) {
  Run run;
  run.data = generate("fixed-delay", {.sequences = 12, .delay = 1});
  run.config.recipe = recipe;
  run.config.threads = 1;
  if (!recipe.single_start) run.config.starts = 1;
  run.config.depth = 1;
  run.config.memory = 1;
  Callbacks callbacks;
  callbacks.stop = [] { return true; };
  callbacks.checkpoint = [&run](const Checkpoint& checkpoint) { run.saved = checkpoint; };
  fit(run.data, nullptr, run.config, callbacks);
  require(!run.saved.state.empty(), "a run that is stopped saves its state");
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

void resume(const Run& run, std::string_view changes) {
  Checkpoint checkpoint = run.saved;
  checkpoint.state = damaged(checkpoint.state, changes);
  checkpoint = checkpoint_from_bytes(to_bytes(checkpoint), "file");
  Callbacks callbacks;
  callbacks.stop = [] { return true; };
  error_of([&] { fit(run.data, nullptr, run.config, callbacks, &checkpoint); });
}

}  // namespace

void checkpoint(std::string_view input) {
  const unsigned kind = take_byte(input) % 4;
  if (kind >= 2) {
    static const Run paper = begun(paper_recipe());
    static const Run search = begun(default_recipe());
    return resume(kind == 2 ? paper : search, input);
  }
  Checkpoint read;
  if (!error_of([&] { read = checkpoint_from_bytes(input, "file"); }).empty()) return;
  require(to_bytes(read) == input, "a checkpoint round-trips");
}

}  // namespace remede::fuzz

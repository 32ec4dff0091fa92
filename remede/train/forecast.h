// How long the rest of a search will take, estimated from the time that its parts have taken so far. For display only:
// the model does not depend on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace remede {

// How fast the starts of a stage are, in seconds of one thread.
struct Pace {
  double update_seconds = 0, updates = 0;
  double validation_seconds = 0, validations = 0;

  void add(double seconds_of_updates, double count, double seconds_of_validation);
  bool known() const { return updates > 0 && validations > 0; }
  double update() const { return updates > 0 ? update_seconds / updates : 0.0; }
  double validation() const { return validations > 0 ? validation_seconds / validations : 0.0; }
};

// Starts that remain after a round: the better half, but not more than `most` and not fewer than the finalists.
struct Thinning {
  std::size_t finalists = 1;
  std::size_t most = std::numeric_limits<std::size_t>::max();
};

// One stage of a search.
struct StageSize {
  std::size_t starts = 0;
  std::size_t copies = 1;  // of each start: one per fold
  Thinning thinning;
  std::uint64_t first_round = 0;
  std::uint64_t validations = 1;  // in a round
  double budget_share = 1;
  std::uint64_t least_rounds = 2;
  int threads = 1;
};

// Updates of one start in the first `rounds` rounds, and in one of them.
std::uint64_t updates_until(std::uint64_t rounds, std::uint64_t first_round, double budget_share);
std::uint64_t updates_in_round(std::uint64_t round, std::uint64_t first_round, double budget_share);

// Seconds for one round of so many starts, and for all rounds after `round`, in which `starts` take part. `finishing`:
// it is the last.
double seconds_of_round(const StageSize& stage, std::uint64_t round, std::size_t starts, const Pace& pace);
double seconds_after_round(const StageSize& stage, std::uint64_t round, std::size_t starts, bool finishing,
                           const Pace& pace);

}  // namespace remede

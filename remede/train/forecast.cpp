#include "remede/train/forecast.h"

#include <algorithm>

#include "remede/train/search.h"

namespace remede {

void Pace::add(double seconds_of_updates, double count, double seconds_of_validation) {
  update_seconds += seconds_of_updates;
  updates += count;
  validation_seconds += seconds_of_validation;
  validations += 1;
}

std::uint64_t updates_until(std::uint64_t rounds, std::uint64_t first_round, double budget_share) {
  return static_cast<std::uint64_t>(budget_share * static_cast<double>(updates_after(rounds, first_round)));
}

std::uint64_t updates_in_round(std::uint64_t round, std::uint64_t first_round, double budget_share) {
  return updates_until(round + 1, first_round, budget_share) - updates_until(round, first_round, budget_share);
}

double seconds_of_round(const StageSize& stage, std::uint64_t round, std::size_t starts, const Pace& pace) {
  const auto updates = static_cast<double>(updates_in_round(round, stage.first_round, stage.budget_share));
  const double one = updates * pace.update() + static_cast<double>(stage.validations) * pace.validation();
  const auto threads = static_cast<std::size_t>(std::max(1, stage.threads));
  const std::size_t turns = (starts * stage.copies + threads - 1) / threads;
  return one * static_cast<double>(turns);
}

double seconds_after_round(const StageSize& stage, std::uint64_t round, std::size_t starts, bool finishing,
                           const Pace& pace) {
  double sum = 0;
  while (!finishing) {
    starts = survivors_of(starts, stage.thinning);
    finishing = is_last_next(round, starts, stage.thinning.finalists, stage.least_rounds);
    sum += seconds_of_round(stage, ++round, starts, pace);
  }
  return sum;
}

}  // namespace remede

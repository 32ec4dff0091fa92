// Pruning: from trained parameters down to a handful of numbers, a few at a time, with updates in between.
#pragma once

#include <functional>
#include <vector>

#include "remede/train/frontier/learner.h"

namespace remede::frontier {

// How many numbers the saved model will have: two per split, and one for every other number in use.
std::size_t numbers_in_use(const laws::Parameters& parameters);

// Takes out of use what nothing reads: cells, and the numbers of leaves that no step can reach.
void drop_unread(laws::Parameters& parameters);

// One model on the way.
struct Snapshot {
  laws::Parameters parameters;
  std::size_t numbers = 0;
  int cells = 0;
  Judged validation;
  std::vector<double> rates;  // for more updates
  LearnerOptions options;
  std::uint64_t stream = 0;
};

template <MaybeConst<Snapshot> T>
void fields(T& s, auto&& each) {
  each(s.parameters, s.numbers, s.cells, s.validation, s.rates, s.options, s.stream);
}

// The models that the learner goes through, from what it holds down to Recipe::prune_until.
std::vector<Snapshot> prune(const Problem& problem, Learner& learner, const std::vector<double>& rates,
                            std::uint64_t stream, std::size_t polish_updates, const std::function<bool()>& stop);

}  // namespace remede::frontier

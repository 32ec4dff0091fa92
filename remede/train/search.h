// The default recipe: many starts, few survivors. A portfolio of starts over forms, depths, cells and rates is trained
// side by side; after every round the worse half, by validation loss, is dropped; the finalists are finished with
// falling rates. The best snapshot of every start is kept, so that a solved model is never lost again. Portfolios come
// in stages, the simplest forms first: where one solves the task, the next is not needed.
//
// Where data are few there are several folds: every start is trained once for each, on the other sequences, and judged
// by its mean loss over all of them, so that the choice does not depend on a handful of sequences.
//
// What a start does depends on its plan alone, and rounds end together: the result does not depend on the number of
// threads.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "remede/executor/start.h"
#include "remede/train/forecast.h"
#include "remede/train/prepare.h"
#include "remede/train/session.h"

namespace remede {

// A start that reached the end.
struct Finalist {
  StartPlan plan;
  Parameters<float> parameters;  // the best snapshot
  double loss = 0;               // there, on validation data
  double accuracy = 0;           // 0 in regression
  std::vector<double> training_curve;
  std::vector<double> validation_curve;
};

Finalist finalist_of(const Trainer& trainer);  // its best. REQUIRES: trainer.has_best()

// A validation loss at which nothing is left to learn.
double solved_loss(const Objective& objective, const Sequences& validation, const Recipe& recipe = {});

struct SearchResult {
  std::vector<std::vector<Finalist>> finalists;  // (starts, folds)
  bool stopped = false;                          // by the session, before its end
  Pace pace;                                     // of the last stage
  std::string note;                              // of the executor
  std::string state;                             // the whole search, for a checkpoint; where the session keeps them
};

// How starts are dropped, rounds of a stage that begins with so many, and updates of a start after some rounds: the
// first two are equally long, then each takes as many updates as all before it.
Thinning thinning_of(const Config& config);
std::size_t survivors_of(std::size_t starts, const Thinning& thinning);  // of a round
std::uint64_t rounds_of(std::size_t starts, const Thinning& thinning, std::uint64_t least_rounds);
// Whether the round after `round`, in which so many take part, is the last.
bool is_last_next(std::uint64_t round, std::size_t starts, std::size_t finalists, std::uint64_t least_rounds);
std::uint64_t updates_after(std::uint64_t rounds, std::uint64_t first_round);

// The starts of one stage.
struct Portfolio {
  std::vector<StartPlan> starts;
  double entry = std::numeric_limits<double>::infinity();  // passed over where no loss so far is below this times that
                                                           // of a constant answer
  // Where a simpler model predicts well, or long sequences make it expensive, the stage is in doubt: its first round
  // has no more updates than this until a start shows that it learns. 0: it is not in doubt.
  std::uint64_t trial = 0;
  double lifted = 0;  // the loss below which it is no longer in doubt
};

// Whether nothing in the configuration fixes the form of the model: then models whose cells have laws may compete.
bool leaves_form_open(const Config& config);

// The portfolios of the recipe, one per stage: what the configuration fixes, the rest drawn from each start's own
// random stream. `folds`: how many such data a start is trained on. `signal_loss`: the lowest loss of a static tree or
// a linear system, as far as there is one.
std::vector<Portfolio> draw_portfolios(const Config& config, const TrainingData& data, std::size_t folds = 1,
                                       double signal_loss = std::numeric_limits<double>::infinity());

// REQUIRES: at least one fold. They outlive the call.
// `seconds_after(finalists, pace, solved)`: how long what follows the search will take, for the forecast.
using SecondsAfter = std::function<double(std::size_t finalists, const Pace& pace, bool solved)>;
// `rows`: where it is not null, the last round of each stage learns from all of them instead of the folds.
class Rows;
SearchResult search(const Config& config, const std::vector<Portfolio>& stages,
                    const std::vector<const TrainingData*>& folds, Session& session, const SecondsAfter& after = {},
                    Rows* rows = nullptr);

}  // namespace remede

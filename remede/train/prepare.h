// From data sets to what the starts learn from: the validation split, class weights and scales.
#pragma once

#include "remede/data/dataset.h"
#include "remede/data/raw.h"
#include "remede/executor/trainer.h"
#include "remede/train/config.h"
#include "remede/train/scaling.h"

namespace remede {

struct Prepared {
  TrainingData data;        // weighted and scaled
  Scaling scaling;          // how
  Objective objective;      // of the targets as they stand in the file; data.objective: of the scaled ones
  std::vector<float> fill;  // (n_x) what a missing raw input counts as
  Sequences training;  // as they stand in the file, thinned where they are many: what finished models are simplified,
                       // improved and scored on
  Sequences validation;
  bool held_out = true;  // false: there was nothing to hold out, and validation is on training data
};

// All of the training data set, the held-out part included, weighted and scaled as `prepared` was.
TrainingData everything(const Dataset& training, const Prepared& prepared, const Config& config);

// What the forms that will be tried can undo (scaling.h).
struct Shifts {
  bool inputs = false;
  bool values = false;
};

// `validation`: null holds out sequences of the training data (the last steps where there is only one sequence).
// Throws Error when there is nothing to learn from or the two do not fit together.
// `scaling`: where it is not null, it is taken in place of the one that the data suggest.
Prepared prepare(const Dataset& training, const Dataset* validation, const Config& config, const Shifts& shifts,
                 const Scaling* scaling = nullptr);

// The same, once for each fold if so few sequences would be held out that the choice among starts would depend on a
// handful of them: every sequence is then held out by one fold, and all folds have the same scales. Otherwise there is
// one.
std::vector<Prepared> prepare_folds(const Dataset& training, const Dataset* validation, const Config& config,
                                    const Shifts& shifts, const Scaling* scaling = nullptr);

// The training data of a fit, with words as what they count as in the part that fit() will not hold out.
// `validation`: the fit is given validation data of its own, and nothing is held out.
Dataset encode_for_fit(RawDataset raw, bool validation, const Config& config);

// Some of the sequences with targets where there are very many steps, else all: enough to judge a finished model by.
// Whole sequences: one that is longer than that alone stays as it is.
Sequences thinned(const Sequences& all, const Recipe& recipe = {});

// The same with the class weights that the configuration asks for.
Sequences with_class_weights(const Sequences& data, const Config& config);

// How long one start runs, in updates.
struct Budget {
  std::uint64_t updates = 0;   // in all, the decay included
  std::uint64_t decay = 0;     // of these, at the end
  std::uint64_t patience = 0;  // without a better validation before the decay begins early
  std::uint64_t validate_every = 0;
};
// Of a single start: what the configuration gives, else what the recipe says, scaled by the effort.
Budget budget_of(const Config& config, std::size_t sequences);

// By Group: what the configuration gives, else the recipe's.
Rates rates_of(const Config& config);

// What all starts have in common: rates, first values, the options of growing.
StartPlan base_plan(const Config& config);

// The share of the sequences that is held out.
double validation_fraction(const Config& config);

// The updates that --updates or --epochs allow one start; nothing where neither is given.
std::optional<std::uint64_t> most_updates(const Config& config, std::size_t sequences, int batch);

// How much larger or smaller the effort makes the parts of a fit.
struct EffortScale {
  double starts = 1;
  double updates = 1;  // of a start
  double trials = 1;   // edits of a finished tree that are judged
};
EffortScale scale_of(const Config& config);

}  // namespace remede

// How the recordings of one class differ from one another, as sensors are mounted anew and people change; and what
// models are judged by where only a few recordings are held out.
#pragma once

#include <vector>

#include "remede/data/sequences.h"
#include "remede/train/recipe/recipe.h"

namespace remede::frontier {

// Whether there are several sequences, but too few to show how they differ.
bool are_few(const Sequences& training, const Recipe& recipe);

// (n_x) The standard deviation, in the units of the data, of a sequence's mean around the mean of its class. 0 where
// no class has two sequences. The class of a sequence is that of its last target. REQUIRES: classification
std::vector<double> spread_of_recordings(const Sequences& data);

// Whether so few of the sequences are held out, or fewer than there are classes of whole sequences, that a choice by
// these alone would be hardly better than chance.
bool too_few_to_judge(const Sequences& training, const Sequences& validation, const Recipe& recipe);

// The held-out data; where they are too few, also the training sequences, each shifted as another recording might be.
Sequences judging_data(const Sequences& training, const Sequences& validation, const Recipe& recipe);

// Whether models of numbers are also compared on the training data: there are few recordings, and the held-out part has
// so few targets that the best of many models on it is the luckiest.
bool too_short_to_judge(const Sequences& training, const Sequences& validation, const Recipe& recipe);

}  // namespace remede::frontier

// What a sequence can bring to a model at a step: the columns of its data and their possible values.
//
// A column of numbers has one option, or several where the assumptions leave several pieces (x1 in {0, 1}); a column of
// words has an option for every word that the model tells apart, one for all other words, and one for a missing value.
// An option gives a range to every input that is made from the column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "remede/model/model.h"
#include "remede/simplify/range.h"

namespace remede {

struct InputOption {
  std::string word;          // of a column of words, as it may stand in a file; empty: missing, or a number
  bool missing = false;      // nothing else
  std::vector<Range> range;  // (inputs of the column)
};

struct InputColumn {
  std::string name;
  bool words = false;
  bool gap = false;         // the time since the step before: missing at the first step, not negative
  std::vector<int> inputs;  // the inputs made from it
  std::vector<InputOption> options;
};

// Everything that the schema allows: finite numbers or nothing, known and other words or nothing.
std::vector<InputColumn> all_inputs(const Schema& schema);

// The number of the column with this name, -1 where there is none; of an input: the column it is made from.
int column_named(const std::vector<InputColumn>& columns, const std::string& name);
int column_of_input(const std::vector<InputColumn>& columns, int input);

}  // namespace remede

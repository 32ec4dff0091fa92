// The size of a model: how many numbers a reader has to take in. One definition for our models, for the frontier and
// for the peers in bench/ (docs/real-data.md).
//
// Two per split (what it tests and the threshold); every weight, bias, rate, tap term, offset and leaf output (per
// class) that is not zero; one per leaf write, for the cell it names. A constant leaf of a classifier counts one: the
// class it names. Counted as saved, in the data's own units.
#pragma once

#include <string>

#include "remede/model/model.h"

namespace remede {

struct Size {
  long long numbers = 0;
  long long cells = 0;
  long long splits = 0;
};

Size size_of(const Model& model);

// "15 numbers: 2 cells, 0 splits", with the trees where there are several.
std::string size_text(const Model& model);

}  // namespace remede

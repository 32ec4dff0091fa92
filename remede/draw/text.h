// A model as indented text that a person can follow.
#pragma once

#include <string>

#include "remede/analysis/observe.h"
#include "remede/model/model.h"

namespace remede {

struct TextOptions {
  bool colours = false;                // ANSI colours, for terminals
  int terms = -1;                      // longest sum written out; 0: no limit; -1: usual_terms()
  std::size_t columns = 100;           // what a leaf does goes onto one line while it fits
  const Observations* seen = nullptr;  // counts and scores at the leaves
};

std::string to_text(const Model& model);
std::string to_text(const Model& model, const TextOptions& options);

// "y from x1 and x2: 27 numbers, 2 cells, 3 splits". Shared by the other views as their title.
std::string title_text(const Model& model);

}  // namespace remede

// What a name in a property stands for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "remede/verify/formula.h"
#include "remede/verify/inputs.h"

namespace remede {

// An input, column of words, answer or cell, in this order where a name means several; the comparison is left open.
// Throws Error where a name is that of cells of several trees.
std::optional<Atom> find_quantity(const Model& model, const std::vector<InputColumn>& columns, const std::string& name);

// "an input, an answer or a cell (x1, x2, y, m1)".
std::string known_quantities(const Model& model, const std::vector<InputColumn>& columns, bool inputs_only);

// The first dozen, with commas.
std::string listed_names(const std::vector<std::string>& names);

}  // namespace remede

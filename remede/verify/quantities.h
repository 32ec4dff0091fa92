// What a name in a property stands for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "remede/verify/formula.h"
#include "remede/verify/inputs.h"

namespace remede {

inline constexpr std::string_view kInputPrefix = "input.";

// An answer, input, column of words or cell, in this order where a name means several: with a horizon the target is an
// input as well, and "input.NAME" is always an input. Where `inputs_only` (assumptions), answers are not looked at. The
// comparison is left open. Throws Error where a name is that of cells of several
// trees, or of an input and of a target whose answers are called otherwise (quantiles).
std::optional<Atom> find_quantity(const Model& model, const std::vector<InputColumn>& columns, const std::string& name,
                                  bool inputs_only);

// How an input or a column of words is called where only its name tells what is meant: with kInputPrefix where
// the name is that of a target as well.
std::string name_of_input(const Model& model, const std::string& name);

// A name as the language reads it: "[pump on]", or in quotation marks where it has a closing bracket. Throws Error
// where it has these and all quotation marks.
std::string quoted_name(const std::string& name);

// "an input, an answer or a cell (x1, x2, y, m1)".
std::string known_quantities(const Model& model, const std::vector<InputColumn>& columns, bool inputs_only);

// The first dozen, with commas.
std::string listed_names(const std::vector<std::string>& names);

}  // namespace remede

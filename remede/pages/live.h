// The page of `remede serve`: inputs, memory and answers of live sequences as they come.
#pragma once

#include <string>
#include <vector>

#include "remede/model/model.h"

namespace remede {

// Complete but for the rows, which it asks of the server it came from. cells: the names of what `recent` gives.
std::string live_page(const Model& model, const std::vector<std::string>& cells);

}  // namespace remede

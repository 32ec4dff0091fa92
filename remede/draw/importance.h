// Importance as a table and as JSON.
#pragma once

#include <string>

#include "remede/analysis/importance.h"

namespace remede {

std::string importance_text(const Importance& importance, bool colours = false);
std::string scored_text(const Importance& importance);  // "1,200 steps", "493 of 1,200 steps"
std::string importance_json(const Importance& importance);

}  // namespace remede

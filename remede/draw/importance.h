// Importance as a table and as JSON.
#pragma once

#include <string>

#include "remede/analysis/importance.h"

namespace remede {

std::string importance_text(const Importance& importance, bool colours = false);
std::string importance_json(const Importance& importance);

}  // namespace remede

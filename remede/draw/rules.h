// Rules as text, one line each, and as JSON.
#pragma once

#include <string>

#include "remede/analysis/rules.h"

namespace remede {

std::string rules_text(const Model& model, const Observations* seen = nullptr);
std::string rules_json(const Model& model, const Observations* seen = nullptr);

}  // namespace remede

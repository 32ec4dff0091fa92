// How good a model is on data, as text and as JSON.
#pragma once

#include <cstddef>
#include <string>

#include "remede/model/metrics.h"
#include "remede/schema/schema.h"

namespace remede {

std::string scores_text(const Schema& schema, const Scores& scores);

// unknown: targets of classes that training had not seen. What is not defined is null.
std::string scores_json(const Schema& schema, const Scores& scores, std::size_t unknown);

}  // namespace remede

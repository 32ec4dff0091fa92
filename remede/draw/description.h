// How a data file is interpreted, as text and as JSON.
#pragma once

#include <string>

#include "remede/data/describe.h"

namespace remede {

std::string description_text(const Description& description);
std::string description_json(const Description& description);

// What can be said of data that cannot be read as asked: every column. complaint: why they cannot be read.
std::string survey_text(const Survey& survey);
std::string survey_json(const Survey& survey, const std::string& complaint);

}  // namespace remede

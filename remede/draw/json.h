// Numbers for JSON: a float as the shortest decimal that reads back as the same float, NaN as null.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "remede/base/text.h"

namespace remede {

inline nlohmann::ordered_json json_number(float value) {
  if (!std::isfinite(value)) return nullptr;
  char text[32];
  *std::to_chars(text, text + sizeof(text) - 1, value).ptr = '\0';
  return std::strtod(text, nullptr);
}

inline nlohmann::ordered_json json_numbers(std::span<const float> values) {
  auto list = nlohmann::ordered_json::array();
  for (const float v : values) list.push_back(json_number(v));
  return list;
}

// One line per entry of the top level would be long: two spaces of indent, and names that are no UTF-8 are made so.
inline std::string json_text(const nlohmann::ordered_json& json, int indent = 2) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace remede

// Pieces of the JSON text of a model file. Used by file_write.cpp and file_cells.cpp only.
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "remede/model/tree.h"

namespace remede::model_text {

inline std::string text(std::string_view words) { return nlohmann::ordered_json(words).dump(); }

// The shortest text that a reader who parses doubles and rounds once to float turns into the same float.
inline std::string number(float value) {
  if (value == 0.0F) return std::signbit(value) ? "-0.0" : "0";  // "-0" would be read as an integer, without its sign
  std::string shortest = fmt::format("{}", value);
  double parsed = 0.0;
  std::from_chars(shortest.data(), shortest.data() + shortest.size(), parsed);
  return static_cast<float>(parsed) == value ? shortest : fmt::format("{}", static_cast<double>(value));
}

inline std::string number(double value) {
  return value == 0.0 && std::signbit(value) ? "-0.0" : fmt::format("{}", value);
}

template <typename T>
std::string numbers(const T* values, std::size_t count) {
  std::string line = "[";
  for (std::size_t i = 0; i < count; ++i) line += (i == 0 ? "" : ", ") + number(values[i]);
  return line + "]";
}

inline std::string texts(const std::vector<std::string>& words) {
  std::string line = "[";
  for (std::size_t i = 0; i < words.size(); ++i) line += (i == 0 ? "" : ", ") + text(words[i]);
  return line + "]";
}

inline std::string entry(const char* name, std::string_view value) { return fmt::format("\"{}\": {}", name, value); }

inline std::string ranges(const std::vector<SeenRange>& values) {
  std::string line = "[";
  for (std::size_t i = 0; i < values.size(); ++i)
    line += fmt::format("{}[{}, {}]", i == 0 ? "" : ", ", number(values[i].low), number(values[i].high));
  return line + "]";
}

// Items of a list or object, one per line.
inline std::string lines(const std::vector<std::string>& items, const std::string& indent, char open, char close) {
  if (items.empty()) return {open, close};
  std::string all(1, open);
  for (std::size_t i = 0; i < items.size(); ++i) all += (i == 0 ? "\n  " : ",\n  ") + indent + items[i];
  return all + "\n" + indent + close;
}

}  // namespace remede::model_text

// Reading values of an untrusted model file, with errors that name the place. Used by file_read.cpp and
// file_cells.cpp only.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "remede/base/error.h"
#include "remede/model/file_words.h"
#include "remede/model/tree.h"

namespace remede::model_file {

using Json = nlohmann::ordered_json;

// Where a value stands, e.g. "model.json: trees[0].nodes[3].left": spelt only when an error needs it.
struct Place {
  const Place* above = nullptr;
  std::string_view name;
  std::ptrdiff_t number = -1;

  std::string text() const {
    if (above == nullptr) return std::string(name);
    const std::string before = above->text();
    if (number >= 0) return fmt::format("{}[{}]", before, number);
    return before + (above->above == nullptr ? ": " : ".") + std::string(name);
  }
};

// The value as an error shows it: in one line, not too long.
inline std::string shown_json(const Json& value) {
  if (value.is_structured()) return value.is_array() ? fmt::format("a list of {}", value.size()) : "an object";
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

[[noreturn]] inline void unexpected(const Place& at, std::string_view expected, const Json& got) {
  fail("{}: expected {}, got {}", at.text(), expected, shown_json(got));
}

inline const Json& member(const Json& object, std::string_view key, const Place& at) {
  if (!object.is_object()) unexpected(at, "an object", object);
  const auto found = object.find(key);
  if (found == object.end()) fail("{}: expected '{}', got an object without it", at.text(), key);
  return *found;
}

inline const Json& list(const Json& object, std::string_view key, const Place& at, std::size_t most) {
  const Json& value = member(object, key, at);
  const Place place{&at, key};
  if (!value.is_array()) unexpected(place, "a list", value);
  if (value.size() > most) fail("{}: expected at most {} items, got {}", place.text(), most, value.size());
  return value;
}

// -1 where the value is no whole number or does not fit an int; none of ours is negative.
inline int whole_number(const Json& value) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<int>::max());
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMost) return -1;
  return value.get<int>();
}

// REQUIRES: low >= 0.
inline int read_integer(const Json& object, std::string_view key, const Place& at, int low, int high) {
  const Json& value = member(object, key, at);
  const int number = whole_number(value);
  if (number < low || number > high) {
    const std::string range =
        low == high ? fmt::format("{}", low) : fmt::format("a whole number from {} to {}", low, high);
    unexpected({&at, key}, range, value);
  }
  return number;
}

inline std::string read_text(const Json& value, const Place& at) {
  if (!value.is_string()) unexpected(at, "text", value);
  return value.get<std::string>();
}

inline std::vector<std::string> read_texts(const Json& object, std::string_view key, const Place& at,
                                           std::size_t most) {
  std::vector<std::string> texts;
  const Place place{&at, key};
  for (const Json& item : list(object, key, at, most))
    texts.push_back(read_text(item, {&place, {}, static_cast<std::ptrdiff_t>(texts.size())}));
  return texts;
}

template <typename E>
E read_word(const Json& object, std::string_view key, const Place& at, const Words<E>& words) {
  const Json& value = member(object, key, at);
  for (const auto& [meaning, name] : words)
    if (value.is_string() && value.get_ref<const std::string&>() == name) return meaning;
  unexpected({&at, key}, fmt::format("\"{}\" or \"{}\"", words[0].second, words[1].second), value);
}

// T is float or double. What is finite in the text must be finite as T.
template <typename T>
T read_number(const Json& value, const Place& at) {
  const auto number = value.is_number() ? static_cast<T>(value.get<double>()) : T{NAN};
  if (!std::isfinite(number)) unexpected(at, "a number", value);
  return number;
}

// Appends the numbers of a list of exactly `count`.
inline void read_numbers(const Json& value, const Place& at, std::size_t count, std::vector<float>& to) {
  if (!value.is_array()) unexpected(at, "a list of numbers", value);
  if (value.size() != count) fail("{}: expected {} numbers, got {}", at.text(), count, value.size());
  for (std::size_t i = 0; i < count; ++i)
    to.push_back(read_number<float>(value[i], {&at, {}, static_cast<std::ptrdiff_t>(i)}));
}

// A list of `count` pairs, each a low and a high number.
inline std::vector<SeenRange> read_ranges(const Json& object, std::string_view key, const Place& at,
                                          std::size_t count) {
  const Json& items = list(object, key, at, count);
  const Place place{&at, key};
  if (items.size() != count) fail("{}: expected {} pairs of numbers, got {}", place.text(), count, items.size());
  std::vector<SeenRange> ranges;
  for (const Json& item : items) {
    std::vector<float> pair;
    read_numbers(item, {&place, {}, static_cast<std::ptrdiff_t>(ranges.size())}, 2, pair);
    ranges.push_back({pair[0], pair[1]});
  }
  return ranges;
}

using InputNumbers = std::unordered_map<std::string, std::int32_t>;

// The number of the input of this name.
inline std::int32_t read_input(const Json& name, const Place& at, const InputNumbers& inputs) {
  const auto found = inputs.find(read_text(name, at));
  if (found == inputs.end()) unexpected(at, "the name of an input", name);
  return found->second;
}

}  // namespace remede::model_file

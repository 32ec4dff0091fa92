// How words become inputs, in a form that Python can keep, pickle and give back.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "remede/data/raw.h"

namespace remede::python {

// input, column, made from times, words, what each counts as, what others count as
using PlainCode =
    std::tuple<std::string, std::string, bool, std::vector<std::string>, std::vector<float>, std::optional<float>>;

inline std::vector<PlainCode> to_plain(const std::vector<InputCode>& codes) {
  std::vector<PlainCode> plain;
  for (const InputCode& c : codes) plain.emplace_back(c.input, c.column, c.gap, c.words, c.values, c.other);
  return plain;
}

inline std::vector<InputCode> from_plain(const std::vector<PlainCode>& plain) {
  std::vector<InputCode> codes;
  for (const auto& [input, column, gap, words, values, other] : plain)
    codes.push_back({input, column, gap, words, values, other});
  return codes;
}

}  // namespace remede::python

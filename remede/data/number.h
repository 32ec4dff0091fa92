// Numbers as text, in and out. A cell is read as double with std::from_chars and rounded once to float; a float is written with
// the fewest digits that read back as the same float.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

namespace remede {

enum class CellKind { kNumber, kMissing, kText };

// A cell as a number. `value` is set for kNumber (it may be infinite) and is NaN for kMissing: empty, NA, N/A, NaN, null, ?.
// Spaces around it and a leading + are allowed.
CellKind parse_cell(std::string_view cell, double& value);

std::string_view trim(std::string_view text);  // without the spaces and tabs at its ends

// The same without the trimming: the number that `text` is from end to end.
bool parse_number(std::string_view text, double& value);

// An integer that fits, from end to end; for times, which may be finer than a double.
inline bool parse_integer(std::string_view text, long long& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

// Appends the shortest text that parse_cell and one rounding turn into the same float again. NaN (missing) appends nothing.
void append_float(std::string& to, float value);

}  // namespace remede

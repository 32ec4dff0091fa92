// Numbers as text, in and out. A cell is read as double with std::from_chars and rounded once to float; a float is
// written with the fewest digits that read back as the same float.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace remede {

inline constexpr const char* kFittingNumber = "a finite number that fits a float";  // for messages

inline constexpr float kMissingValue = std::numeric_limits<float>::quiet_NaN();

enum class CellKind { kNumber, kMissing, kText };

// A cell as a number. `value` is set for kNumber (it may be infinite) and is NaN for kMissing: empty, NA, N/A, NaN,
// null, ?. Spaces around it and a leading + are allowed.
CellKind parse_cell(std::string_view cell, double& value);

// 1.5kg, $12, <5, 31.12.2024: more often a number gone wrong than a word.
bool begins_like_a_number(std::string_view text);
bool has_decimal_comma(std::string_view text);  // 19,97

std::string_view trim(std::string_view text);  // without the spaces and tabs at its ends
std::string lower(std::string_view text);      // A to Z as a to z
bool is_one_of(std::string_view word, std::span<const std::string_view> list);

// The same without the trimming: the number that `text` is from end to end.
bool parse_number(std::string_view text, double& value);

// The plain case of std::from_chars, with the same result: -12.345, with at most 15 digits and no exponent. Such digits
// are a whole number below 2^53 divided by a power of ten below 10^22: both exact in double, so the one division rounds
// correctly. Returns the first character behind the number, or null for all other texts. REQUIRES: a character that
// cannot belong to a number ends the text.
inline const char* parse_plain_number(const char* at, double& value) {
  constexpr double kPowers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  constexpr std::ptrdiff_t kMostDigits = 15;
  const bool negative = *at == '-';
  if (negative) ++at;
  std::uint64_t whole = 0;
  const auto take_digits = [&] {
    const char* const begin = at;
    for (unsigned digit = 0; (digit = static_cast<unsigned char>(*at) - unsigned{'0'}) < 10; ++at)
      whole = whole * 10 + digit;
    return at - begin;
  };
  std::ptrdiff_t digits = take_digits();
  std::ptrdiff_t decimals = 0;
  if (*at == '.') {
    ++at;
    decimals = take_digits();
    digits += decimals;
  }
  if (digits == 0 || digits > kMostDigits || *at == 'e' || *at == 'E') return nullptr;
  const double magnitude = static_cast<double>(whole) / kPowers[decimals];
  value = negative ? -magnitude : magnitude;
  return at;
}

// An integer that fits, from end to end; for times, which may be finer than a double.
inline bool parse_integer(std::string_view text, long long& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

// Appends the shortest text that parse_cell and one rounding turn into the same float again. NaN (missing) appends
// nothing.
void append_float(std::string& to, float value);

}  // namespace remede

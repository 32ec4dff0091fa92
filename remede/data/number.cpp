#include "remede/data/number.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace remede {
namespace {

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] - 'A' + 'a') : text[i];
    if (c != lower[i]) return false;
  }
  return true;
}

bool is_missing(std::string_view text) {
  return text.empty() || text == "?" || text == "NA" || text == "N/A" || equals_ignoring_case(text, "nan") ||
         equals_ignoring_case(text, "null");
}

// std::from_chars says "out of range" for numbers too large and too small alike: tell by the decimal place of the first
// digit that is not zero. REQUIRES: text is a number out of range.
double out_of_range(std::string_view text) {
  const bool negative = text.front() == '-';
  const std::size_t e = text.find_first_of("eE");
  const std::string_view digits = text.substr(0, e);
  const std::size_t first = digits.find_first_of("123456789");
  const std::size_t point = std::min(digits.find('.'), digits.size());
  double place = first < point ? static_cast<double>(point - first) : -static_cast<double>(first - point);
  double exponent = 0.0;
  if (e != std::string_view::npos) {
    std::string_view power = text.substr(e + 1);
    const bool minus = power.front() == '-';
    if (power.front() == '+' || minus) power.remove_prefix(1);
    for (const char c : power) exponent = exponent * 10.0 + (c - '0');  // grows to infinity, which is right
    if (minus) exponent = -exponent;
  }
  const double value = place + exponent > 0.0 ? std::numeric_limits<double>::infinity() : 0.0;
  return negative ? -value : value;
}

}  // namespace

std::string_view trim(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool parse_number(std::string_view text, double& value) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return false;
  if (error == std::errc::result_out_of_range) value = out_of_range(text);
  return true;
}

CellKind parse_cell(std::string_view cell, double& value) {
  const std::string_view text = trim(cell);
  value = std::numeric_limits<double>::quiet_NaN();
  if (is_missing(text)) return CellKind::kMissing;
  if (!parse_number(text, value)) return CellKind::kText;
  return std::isnan(value) ? CellKind::kMissing : CellKind::kNumber;
}

bool begins_like_a_number(std::string_view text) {
  constexpr std::string_view kSigns[] = {"+",      "-",      ".",      ",",      " ",      "$",
                                         "<",      ">",      "=",      "~",      "\u20ac", "\u00a3",
                                         "\u00a5", "\u2212", "\u2264", "\u2265", "\u2248", "\u00a0"};
  for (bool sign = true; sign;) {
    sign = false;
    for (const std::string_view one : kSigns)
      if (text.starts_with(one)) {
        text.remove_prefix(one.size());
        sign = true;
      }
  }
  return !text.empty() && text[0] >= '0' && text[0] <= '9';
}

bool has_decimal_comma(std::string_view text) {
  std::string pointed(text);
  const std::size_t comma = pointed.find(',');
  if (comma == std::string::npos) return false;
  pointed[comma] = '.';
  double value = 0.0;
  return parse_cell(pointed, value) == CellKind::kNumber;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool is_one_of(std::string_view word, std::span<const std::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

void append_float(std::string& to, float value) {
  if (std::isnan(value)) return;
  char text[64];
  auto end = std::to_chars(text, text + sizeof text, value).ptr;
  // The shortest text of a float is right for a reader that rounds to float at once; ours goes through double, and for
  // a few floats the text lies so close to the middle between two that this makes a difference. Then all digits are
  // written.
  double back = 0.0;
  std::from_chars(text, end, back);
  if (static_cast<float>(back) != value) end = std::to_chars(text, text + sizeof text, static_cast<double>(value)).ptr;
  to.append(text, end);
}

}  // namespace remede

#include "remede/explain/number.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace remede {
namespace {

// Without the zeros that say nothing: "0.500" is "0.5", "3.0" is "3".
std::string stripped(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

// Length of the well-formed UTF-8 sequence at the start of `text`, 0 when it is broken.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t n = first < 0x80   ? 1
                        : first < 0xC2 ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF5 ? 4
                                       : 0;
  if (n == 0 || n > text.size()) return 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  if (first == 0xE0 && byte(1) < 0xA0) return 0;  // overlong
  if (first == 0xED && byte(1) > 0x9F) return 0;  // surrogates
  if (first == 0xF0 && byte(1) < 0x90) return 0;  // overlong
  if (first == 0xF4 && byte(1) > 0x8F) return 0;  // beyond Unicode
  return n;
}

}  // namespace

std::string short_number(double value, int digits) {
  if (std::isnan(value)) return "missing";
  if (std::isinf(value)) return value > 0 ? "infinity" : "-infinity";
  if (value == 0) return "0";
  const std::string scientific = fmt::format("{:.{}e}", value, digits - 1);
  const std::size_t e = scientific.find('e');
  const int exponent = std::atoi(scientific.c_str() + e + 1);
  if (exponent < -4 || exponent > 6) return stripped(scientific.substr(0, e)) + fmt::format("e{}", exponent);
  return stripped(fmt::format("{:.{}f}", value, std::max(0, digits - 1 - exponent)));
}

std::string percent(double share) {
  if (std::isnan(share)) return "?%";
  const double p = 100 * share;
  if (p >= 100) return "100%";
  if (p > 99.9) return ">99.9%";
  if (p <= 0) return "0%";
  if (p < 0.1) return "<0.1%";
  return p > 99 || p < 1 ? stripped(fmt::format("{:.1f}", p)) + "%" : fmt::format("{:.0f}%", p);
}

std::string grouped(long long count) {
  const std::string digits = std::to_string(count);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::size_t left = digits.size() - i;
    if (i > 0 && left % 3 == 0 && digits[i - 1] != '-') text += ',';
    text += digits[i];
  }
  return text;
}

std::string plural(long long count, const char* noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

std::string printable(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size();) {
    const std::size_t n = sequence_length(name.substr(i));
    const auto byte = static_cast<unsigned char>(name[i]);
    const bool control =
        n == 1 ? byte < 0x20 || byte == 0x7F : n == 2 && byte == 0xC2 && static_cast<unsigned char>(name[i + 1]) < 0xA0;
    // U+FFFE and U+FFFF are no characters, and XML has no place for them.
    const bool no_character = n == 3 && byte == 0xEF && static_cast<unsigned char>(name[i + 1]) == 0xBF &&
                              static_cast<unsigned char>(name[i + 2]) >= 0xBE;
    if (n == 0 || control || no_character)
      text += fmt::format("\\x{:02x}", byte);
    else
      text += name.substr(i, n);
    i += std::max<std::size_t>(n, 1);
  }
  return text;
}

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string padded(std::string_view text, std::size_t columns) {
  const std::size_t w = width(text);
  return std::string(text) + std::string(w < columns ? columns - w : 0, ' ');
}

std::string padded_left(std::string_view text, std::size_t columns) {
  const std::size_t w = width(text);
  return std::string(w < columns ? columns - w : 0, ' ') + std::string(text);
}

std::string clipped(std::string_view text, std::size_t columns) {
  if (width(text) <= columns) return std::string(text);
  std::string kept;
  for (std::size_t i = 0, n = 0; i < text.size() && n + 1 < columns; ++n) {
    const std::size_t length = std::max<std::size_t>(sequence_length(text.substr(i)), 1);
    kept += text.substr(i, length);
    i += length;
  }
  return kept + "…";
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'')
      out += "&#39;";
    else
      out += c;
  }
  return out;
}

}  // namespace remede

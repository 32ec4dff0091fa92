#include "remede/base/text.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace remede {
namespace {

// Without trailing zeros: "0.500" becomes "0.5", "3.0" becomes "3".
std::string stripped(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

// Length of the UTF-8 sequence that begins at i, 0 where there is none. Overlong forms, surrogates and numbers beyond
// the last code point are none.
std::size_t utf8_length(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U; };
  const auto follows = [&](std::size_t k, unsigned low = 0x80, unsigned high = 0xbf) {
    return byte(k) >= low && byte(k) <= high;
  };
  const unsigned c = byte(i);
  if (c < 0x80) return 1;
  if (c >= 0xc2 && c <= 0xdf) return follows(i + 1) ? 2 : 0;
  if (c >= 0xe0 && c <= 0xef) {
    const unsigned low = c == 0xe0 ? 0xa0 : 0x80;
    const unsigned high = c == 0xed ? 0x9f : 0xbf;
    return follows(i + 1, low, high) && follows(i + 2) ? 3 : 0;
  }
  if (c >= 0xf0 && c <= 0xf4) {
    const unsigned low = c == 0xf0 ? 0x90 : 0x80;
    const unsigned high = c == 0xf4 ? 0x8f : 0xbf;
    return follows(i + 1, low, high) && follows(i + 2) && follows(i + 3) ? 4 : 0;
  }
  return 0;
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
    const std::size_t n = utf8_length(name, i);
    const auto byte = static_cast<unsigned char>(name[i]);
    const bool control =
        n == 1 ? byte < 0x20 || byte == 0x7F : n == 2 && byte == 0xC2 && static_cast<unsigned char>(name[i + 1]) < 0xA0;
    // U+FFFE and U+FFFF are not characters and are not allowed in XML.
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

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

std::string shown(std::string_view text) {
  constexpr std::size_t kMaxShownBytes = 40;  // bytes of the text
  std::string out = "'";
  for (std::size_t i = 0; i < text.size();) {
    if (i >= kMaxShownBytes) {
      out += "...";
      break;
    }
    const std::size_t length = utf8_length(text, i);
    const auto c = static_cast<unsigned char>(text[i]);
    if (length == 0 || c < 0x20 || c == 0x7f) {
      out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\t' ? "\\t" : fmt::format("\\x{:02x}", c);
      i += 1;
    } else {
      out += text.substr(i, length);
      i += length;
    }
  }
  return out + "'";
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
    const std::size_t length = std::max<std::size_t>(utf8_length(text, i), 1);
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

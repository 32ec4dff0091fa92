#include "remede/pages/web.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "remede/base/error.h"

namespace remede {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string base64_bytes(std::span<const std::uint8_t> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    const std::uint32_t three = (std::uint32_t{bytes[i]} << 16U) | (left > 1 ? std::uint32_t{bytes[i + 1]} << 8U : 0U) |
                                (left > 2 ? std::uint32_t{bytes[i + 2]} : 0U);
    text += kDigits[three >> 18U];
    text += kDigits[(three >> 12U) & 63U];
    text += left > 1 ? kDigits[(three >> 6U) & 63U] : '=';
    text += left > 2 ? kDigits[three & 63U] : '=';
  }
  return text;
}

template <typename T>
std::string base64_words(std::span<const T> values) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(values.size() * 4);
  for (const T value : values) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    for (unsigned shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<std::uint8_t>((word >> shift) & 255U));
  }
  return base64_bytes(bytes);
}

}  // namespace

std::string_view web_file(std::string_view name) {
  for (const WebFile& file : web_files())
    if (file.name == name) return file.text;
  fail("expected a file of remede/pages/web, got {:?}", name);
}

std::string filled_page(std::string_view file, const std::vector<std::pair<std::string, std::string>>& texts) {
  const std::string_view page = web_file(file);
  std::string filled;
  std::size_t at = 0;
  while (at < page.size()) {
    const std::size_t open = page.find("{{", at);
    const std::size_t close = open == std::string_view::npos ? open : page.find("}}", open);
    if (close == std::string_view::npos) break;
    filled += page.substr(at, open - at);
    const std::string_view name = page.substr(open + 2, close - open - 2);
    const auto given = std::find_if(texts.begin(), texts.end(), [&](const auto& text) { return text.first == name; });
    filled += given != texts.end() ? std::string_view(given->second) : web_file(name);
    at = close + 2;
  }
  return filled += page.substr(at);
}

std::string script_safe(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string base64(std::span<const float> values) { return base64_words(values); }
std::string base64(std::span<const std::int32_t> values) { return base64_words(values); }

}  // namespace remede

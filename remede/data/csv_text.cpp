// The rest of csv.h: showing and writing cells.
#include <fmt/format.h>

#include "remede/data/csv.h"

namespace remede {

// Length of the UTF-8 sequence that begins at i, 0 where there is none. Overlong forms, surrogates and numbers beyond
// the last code point are none.
static std::size_t utf8_length(std::string_view text, std::size_t i) {
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

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 40;  // bytes of the text
  std::string out = "'";
  for (std::size_t i = 0; i < text.size();) {
    if (i >= kMost) {
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

void CsvWriter::begin_cell() {
  if (cells_++ > 0) buffer_ += ',';
}

void CsvWriter::text(std::string_view cell) {
  begin_cell();
  if (cell.find_first_of(",\"\r\n") == std::string_view::npos) {
    buffer_ += cell;
    return;
  }
  buffer_ += '"';
  for (const char c : cell) {
    if (c == '"') buffer_ += '"';
    buffer_ += c;
  }
  buffer_ += '"';
}

void CsvWriter::number(float value) {
  begin_cell();
  append_float(buffer_, value);
}

void CsvWriter::integer(std::int64_t value) {
  begin_cell();
  fmt::format_to(std::back_inserter(buffer_), "{}", value);
}

void CsvWriter::end_row() {
  if (buffer_.size() == row_begin_ && cells_ == 1) buffer_ += "\"\"";  // a blank line would be no row
  buffer_ += '\n';
  cells_ = 0;
  if (buffer_.size() > (std::size_t{1} << 16)) {
    file_.write(buffer_);
    buffer_.clear();
  }
  row_begin_ = buffer_.size();
}

void CsvWriter::commit() {
  file_.write(buffer_);
  buffer_.clear();
  file_.commit();
}

}  // namespace remede

// The rest of csv.h: writing cells.
#include <fmt/format.h>

#include "remede/data/csv.h"

namespace remede {

void CsvWriter::begin_cell() {
  if (cells_++ > 0) buffer_ += ',';
}

// Semicolons and tabs are quoted as well: a reader could take them for the separator. So is a name that begins with a
// byte order mark: at the beginning of the file a reader would skip the mark.
void append_csv_text(std::string_view cell, std::string& to) {
  const bool marked = cell.starts_with("\xef\xbb\xbf");
  if (!marked && cell.find_first_of(",;\t\"\r\n") == std::string_view::npos) {
    to += cell;
    return;
  }
  to += '"';
  for (const char c : cell) {
    if (c == '"') to += '"';
    to += c;
  }
  to += '"';
}

void CsvWriter::text(std::string_view cell) {
  begin_cell();
  append_csv_text(cell, buffer_);
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

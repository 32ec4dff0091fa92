// Long-format text tables: reading in blocks, writing with quotes where needed. RFC 4180, and what people write instead
// of it: LF or CRLF, a byte order mark, blank lines, no newline at the end, ';' or tab in place of the comma.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "remede/base/file.h"
#include "remede/base/text.h"
#include "remede/data/bytes.h"
#include "remede/data/number.h"
#include "remede/schema/roles.h"

namespace remede {

// Cuts bytes into rows and cells. For every row call next_row(), then for each column in turn exactly one of number(),
// text() and skip(). Throws Error naming file, line and column for anything that is not a table. Not thread-safe.
class CsvReader {
 public:
  static constexpr std::size_t kMaxRow = std::size_t{64} << 20;  // bytes; beyond that it is not a table
  static constexpr std::size_t kMaxColumns =
      std::size_t{1} << 17;                        // twice the inputs of a model, for ids, targets and what is ignored
  static constexpr const char* kRowWord = "line";  // what line() counts

  // Reads the header. `block`: bytes asked for at once.
  explicit CsvReader(ByteSource source, std::size_t block = std::size_t{1} << 18)
      : CsvReader(std::move(source), {}, block) {}
  CsvReader(ByteSource source, TableFormat format, std::size_t block = std::size_t{1} << 18);

  const std::vector<std::string>& columns() const {
    return columns_;
  }  // named ones are distinct; "" for one without a name
  char separator() const { return separator_; }
  // Rows have one cell more than the header has names, as R writes tables: the first column has no name.
  bool row_names() const { return row_names_; }

  bool next_row();  // false at the end of the file

  // The cell as a number, NaN where it is missing. False: it is a text, which last_cell() gives.
  bool number(double& value);
  // The cell without its quotes; valid until the next call of any function.
  std::string_view text();
  void skip() { text(); }

  std::string_view last_cell() const { return cell_; }  // after number() gave false
  std::uint64_t line() const { return line_; }          // the first line of the current row, from 1
  std::uint64_t bytes_used() const { return used_ + static_cast<std::uint64_t>(at_ - buffer_.data()); }
  std::uint64_t bytes_in_all() const { return source_.size; }  // 0: not known
  const std::string& name() const { return source_.name; }
  std::string where(std::size_t column) const;  // "data.csv: line 7, column 'x1'"

 private:
  void read_header();
  void begin_table();
  void name_columns();
  void guess_separator();
  bool cut_by_blanks() const;
  void notice_row_names();
  std::size_t cells_of_row(const char* from, bool& last_is_empty) const;
  void squeeze_blanks(std::size_t from);
  void skip_line();
  void refuse_known_formats(std::string_view head) const;
  bool fill();
  void append_block();
  bool other_number(double& value);
  std::string_view quoted_text();
  void end_cell(const char* end);
  [[noreturn]] void wrong_number_of_cells(const char* from);

  ByteSource source_;
  TableFormat format_;
  std::size_t block_;
  bool row_names_ = false;
  bool squeezing_ = false;  // the separator is any number of blanks: the buffer holds one for each
  // At the end of the buffer, while squeezing:
  bool in_quotes_ = false;
  bool closed_quote_ = false;  // the last byte closed a quoted text
  bool in_comment_ = false;
  std::vector<std::string> columns_;
  std::size_t expected_ = 0;  // cells in a row; 0 while the header is read
  std::vector<char> buffer_;
  std::size_t filled_ = 0;  // bytes in the buffer
  bool source_at_end_ = false;
  const char* row_ = nullptr;  // begin of the current row, kept in the buffer until the next one
  const char* at_ = nullptr;   // begin of the next cell
  const char* end_ = nullptr;  // one past the last newline in the buffer: up to here every line is whole
  std::uint64_t used_ = 0;     // bytes that have left the buffer
  std::size_t column_ = 0;     // of the next cell
  std::uint64_t line_ = 1;     // of the current row
  std::uint64_t next_line_ = 1;
  char separator_ = ',';
  std::string_view cell_;
  std::string unquoted_;
};

// Notes where a cell ended. `end` points at its separator or its end of line, which stands before end_.
inline void CsvReader::end_cell(const char* end) {
  if (*end == separator_) {
    if (++column_ == expected_) wrong_number_of_cells(end + 1);
    at_ = end + 1;
    return;
  }
  if (++column_ != expected_ && expected_ != 0) wrong_number_of_cells(nullptr);
  column_ = 0;
  ++next_line_;
  at_ = end + (*end == '\r' ? 2 : 1);
}

inline bool CsvReader::number(double& value) {
  const char* end = parse_plain_number(at_, value);  // stops at the newline before end_ at the latest
  if (end == nullptr) {
    const auto [behind, error] = std::from_chars(at_, end_, value);
    if (error != std::errc{}) return other_number(value);
    end = behind;
  }
  if (*end != separator_ && *end != '\n' && !(*end == '\r' && end[1] == '\n')) return other_number(value);
  end_cell(end);
  return true;
}

inline std::string_view CsvReader::text() {
  if (*at_ == '"') return quoted_text();
  const char* end = at_;
  while (*end != separator_ && *end != '\n') ++end;
  if (*end == '\n' && end != at_ && end[-1] == '\r') --end;
  const std::string_view cell(at_, static_cast<std::size_t>(end - at_));
  end_cell(end);
  return cell;
}

// Throws Error naming `file` where names of columns repeat or are not UTF-8; "" is no name.
void expect_distinct_names(const std::string& file, const std::vector<std::string>& columns);

// Appends a cell of a table, in quotes where it needs them.
void append_csv_text(std::string_view cell, std::string& to);

// Writes a table row by row. Nothing is in the file before commit().
class CsvWriter {
 public:
  explicit CsvWriter(const std::string& path) : file_(path) {}

  void text(std::string_view cell);  // in quotes where it needs them
  void number(float value);          // shortest form that reads back as the same float; NaN: an empty cell
  void integer(std::int64_t value);
  void end_row();
  void commit();

 private:
  void begin_cell();

  AtomicFile file_;
  std::string buffer_;
  std::size_t row_begin_ = 0;
  std::size_t cells_ = 0;  // in the current row
};

}  // namespace remede

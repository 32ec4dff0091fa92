#include "remede/data/csv.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "remede/base/error.h"

namespace remede {

CsvReader::CsvReader(ByteSource source, TableFormat format, std::size_t block)
    : source_(std::move(source)), format_(std::move(format)), block_(block) {
  buffer_.resize(block_ + 1);  // one more: a missing newline at the end of the file is put there
  row_ = at_ = end_ = buffer_.data();
  read_header();
}

std::string CsvReader::where(std::size_t column) const {
  const std::string& name = columns_[column];
  if (name.empty()) return fmt::format("{}: line {}, column {}", source_.name, line_, column + 1);
  return fmt::format("{}: line {}, column {}", source_.name, line_, shown(name));
}

// Puts the next bytes behind those in the buffer.
void CsvReader::append_block() {
  if (buffer_.size() < filled_ + block_ + 1) buffer_.resize(std::max(2 * buffer_.size(), filled_ + block_ + 1));
  const std::size_t got = source_.read(buffer_.data() + filled_, block_);
  const char* const from = buffer_.data() + filled_;
  if (const void* nul = std::memchr(from, 0, got)) {
    if (used_ == 0) refuse_known_formats({buffer_.data(), filled_ + got});
    const auto lines = std::count<const char*>(buffer_.data(), static_cast<const char*>(nul), '\n');
    fail("{}: line {}: expected text, got a NUL byte: this is not a CSV file", source_.name,
         line_ + static_cast<std::uint64_t>(lines));
  }
  filled_ += got;
  source_at_end_ = got == 0;
  if (squeezing_) squeeze_blanks(filled_ - got);
}

// Brings in more whole lines behind the current row, which moves to the front of the buffer. False: there are no more.
bool CsvReader::fill() {
  if (source_at_end_) return false;
  const auto dropped = static_cast<std::size_t>(row_ - buffer_.data());
  const auto offset = static_cast<std::size_t>(at_ - row_);
  const auto whole = static_cast<std::size_t>(end_ - row_);  // bytes of whole lines there are already
  if (dropped > 0) std::memmove(buffer_.data(), row_, filled_ - dropped);
  filled_ -= dropped;
  used_ += dropped;
  std::size_t now = whole;
  for (std::size_t seen = whole; now == whole && !source_at_end_; seen = filled_) {
    append_block();
    if (source_at_end_ && filled_ > whole) buffer_[filled_++] = '\n';  // the last line may end without one
    // Squeezing takes a blank back when the end of its line follows: then what is new begins one byte earlier.
    const std::size_t from = std::max(whole, seen - std::min<std::size_t>(seen, squeezing_ ? 1 : 0));
    const std::size_t last = std::string_view(buffer_.data() + from, filled_ - from).rfind('\n');
    if (last != std::string_view::npos) now = from + last + 1;
    if (now == whole && filled_ > kMaxRow)
      fail("{}: line {}: expected lines of at most {} MiB, got a longer one", source_.name, next_line_, kMaxRow >> 20);
  }
  row_ = buffer_.data();
  at_ = row_ + offset;
  end_ = row_ + now;
  return now > whole;
}

bool CsvReader::next_row() {
  for (;;) {
    row_ = at_;
    line_ = next_line_;
    if (at_ == end_ && !fill()) return false;
    if (format_.comment && *at_ == *format_.comment) {
      skip_line();
      continue;
    }
    if (*at_ != '\n' && !(*at_ == '\r' && at_[1] == '\n')) break;
    at_ += *at_ == '\r' ? 2 : 1;  // a blank line
    ++next_line_;
  }
  return true;
}

// Everything that is not a plain number followed by a separator.
bool CsvReader::other_number(double& value) {
  cell_ = text();
  return parse_cell(cell_, value) != CellKind::kText;
}

std::string_view CsvReader::quoted_text() {
  const std::size_t column = column_;
  const char* from = at_ + 1;   // what is not in unquoted_ yet
  const char* searched = from;  // no quote before it
  const char* quote = nullptr;
  bool whole = true;  // the cell stands in the buffer as it is
  unquoted_.clear();
  for (;;) {
    quote = static_cast<const char*>(std::memchr(searched, '"', static_cast<std::size_t>(end_ - searched)));
    if (quote == nullptr) {
      const auto offset = from - row_;
      const auto length = end_ - row_;
      if (static_cast<std::size_t>(length) > kMaxRow)
        fail("{}: expected a closing quote within {} MiB, got none", where(column), kMaxRow >> 20);
      if (!fill()) fail("{}: expected a closing quote, got the end of the file", where(column));
      from = row_ + offset;
      searched = row_ + length;
      continue;
    }
    if (quote[1] != '"') break;  // there is a next byte: the last one before end_ is a newline
    unquoted_.append(from, quote + 1);
    from = searched = quote + 2;
    whole = false;
  }
  std::string_view cell(from, static_cast<std::size_t>(quote - from));
  if (!whole) cell = unquoted_.append(cell);
  next_line_ += static_cast<std::uint64_t>(std::count(cell.begin(), cell.end(), '\n'));
  const char* const end = quote + 1;
  if (*end != separator_ && *end != '\n' && !(*end == '\r' && end[1] == '\n'))
    fail("{}: expected a separator after the closing quote, got {}", where(column), shown({end, 1}));
  end_cell(end);
  return cell;
}

// The cells from here to the end of the row.
std::size_t CsvReader::cells_of_row(const char* from, bool& last_is_empty) const {
  std::size_t cells = 1;
  bool in_quotes = false;
  const char* cell = from;
  const char* p = from;
  for (; p != end_ && (in_quotes || *p != '\n'); ++p) {
    if (*p == '"') in_quotes = !in_quotes;
    if (in_quotes || *p != separator_) continue;
    ++cells;
    cell = p + 1;
  }
  last_is_empty = trim({cell, static_cast<std::size_t>(p - cell)}).empty() || *cell == '\r';
  return cells;
}

// `from`: the first cell too many, or null where cells are missing.
void CsvReader::wrong_number_of_cells(const char* from) {
  bool last_is_empty = false;
  const std::size_t cells = column_ + (from == nullptr ? 0 : cells_of_row(from, last_is_empty));
  const char* const as = !format_.names.empty() ? "as --names says"
                         : row_names_           ? "as in the first row (one more than the header has names)"
                                                : "as in the header";
  fail("{}: line {}: expected {} cells {}, got {}", source_.name, line_, expected_, as, cells);
}

// Files that are often mistaken for CSV: a name helps more than "not a number".
void CsvReader::refuse_known_formats(std::string_view head) const {
  const auto refuse = [&](const char* what) {
    fail("{}: expected a CSV file as plain text, got {}", source_.name, what);
  };
  if (head.starts_with("\x1f\x8b")) refuse("gzip data: decompress it first");
  if (head.starts_with("\x28\xb5\x2f\xfd")) refuse("zstd data: decompress it first");
  if (head.starts_with("PK\x03\x04")) refuse("a zip or spreadsheet file: save it as CSV");
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")) refuse("UTF-16: save it as UTF-8");
  const std::string_view first = head.substr(0, head.find('\n'));
  for (std::size_t i = 0; i < first.size(); ++i) {
    const auto c = static_cast<unsigned char>(first[i]);
    if (c == '\r' && i + 1 < first.size()) refuse("lines that end in CR alone: save it with LF or CRLF");
    if ((c < 0x20 && c != '\t' && c != '\r') || c == 0x7f) refuse("control characters in the header");
  }
}

}  // namespace remede

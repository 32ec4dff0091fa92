#include "remede/data/csv.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <unordered_set>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "remede/base/error.h"

namespace remede {

ByteSource open_bytes(const std::string& path) {
  const bool standard = path == "-";
  ByteSource source;
  source.name = standard ? "standard input" : path;
  const int descriptor = standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail("{}: cannot open: {}", source.name, std::strerror(errno));
  const std::shared_ptr<void> closer(nullptr, [descriptor, standard](void*) {
    if (!standard) ::close(descriptor);
  });
  struct stat there {};
  if (::fstat(descriptor, &there) == 0 && S_ISREG(there.st_mode))
    source.size = static_cast<std::uint64_t>(there.st_size);
  source.read = [descriptor, closer, name = source.name](char* to, std::size_t room) {
    for (;;) {
      const ssize_t got = ::read(descriptor, to, room);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) fail("{}: cannot read: {}", name, std::strerror(errno));
    }
  };
  return source;
}

CsvReader::CsvReader(ByteSource source, std::size_t block) : source_(std::move(source)), block_(block) {
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
    const std::size_t last = std::string_view(buffer_.data() + seen, filled_ - seen).rfind('\n');
    if (last != std::string_view::npos) now = seen + last + 1;
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

// `from`: the first cell too many, or null where cells are missing.
void CsvReader::wrong_number_of_cells(const char* from) {
  std::size_t cells = column_;
  bool in_quotes = false;
  for (const char* p = from; p != nullptr; ++p) {
    if (p == end_ || (!in_quotes && *p == '\n')) {
      ++cells;
      break;
    }
    if (*p == '"') in_quotes = !in_quotes;
    if (!in_quotes && *p == separator_) ++cells;
  }
  fail("{}: line {}: expected {} cells as in the header, got {}", source_.name, line_, expected_, cells);
}

// Files that are often mistaken for CSV: a name helps more than "not a number".
void CsvReader::refuse_known_formats(std::string_view head) const {
  const auto refuse = [&](const char* what) {
    fail("{}: expected a CSV file as plain text, got {}", source_.name, what);
  };
  if (head.starts_with("\x1f\x8b")) refuse("gzip data: unpack it first");
  if (head.starts_with("\x28\xb5\x2f\xfd")) refuse("zstd data: unpack it first");
  if (head.starts_with("PK\x03\x04")) refuse("a zip or spreadsheet file: save it as CSV");
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")) refuse("UTF-16: save it as UTF-8");
  const std::string_view first = head.substr(0, head.find('\n'));
  for (std::size_t i = 0; i < first.size(); ++i) {
    const auto c = static_cast<unsigned char>(first[i]);
    if (c == '\r' && i + 1 < first.size()) refuse("lines that end in CR alone: save it with LF or CRLF");
    if ((c < 0x20 && c != '\t' && c != '\r') || c == 0x7f) refuse("control characters in the header");
  }
}

// A comma in the header decides for the comma; else whichever of ';' and tab is there more often.
void CsvReader::guess_separator() {
  std::size_t commas = 0;
  std::size_t semicolons = 0;
  std::size_t tabs = 0;
  bool in_quotes = false;
  for (const char* p = at_; p != end_ && (in_quotes || *p != '\n'); ++p) {
    if (*p == '"') in_quotes = !in_quotes;
    if (in_quotes) continue;
    commas += *p == ',' ? 1 : 0;
    semicolons += *p == ';' ? 1 : 0;
    tabs += *p == '\t' ? 1 : 0;
  }
  if (commas == 0 && semicolons + tabs > 0) separator_ = semicolons >= tabs ? ';' : '\t';
}

void CsvReader::read_header() {
  fill();
  refuse_known_formats({row_, static_cast<std::size_t>(end_ - row_)});
  if (std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with("\xef\xbb\xbf")) at_ += 3;
  if (!next_row()) fail("{}: expected a header line, got an empty file", source_.name);
  guess_separator();
  do {
    if (columns_.size() == kMaxColumns) fail("{}: expected at most {} columns, got more", source_.name, kMaxColumns);
    columns_.emplace_back();  // so that where() can name the column by its number
    const std::string_view cell = text();
    columns_.back() = trim(cell);
  } while (column_ != 0);
  expected_ = columns_.size();
  std::unordered_set<std::string_view> names;
  for (const std::string& column : columns_) {
    if (!is_utf8(column)) fail("{}: expected column names in UTF-8, got {}", source_.name, shown(column));
    if (!column.empty() && !names.insert(column).second)
      fail("{}: expected column names that differ, got {} twice", source_.name, shown(column));
  }
}

}  // namespace remede

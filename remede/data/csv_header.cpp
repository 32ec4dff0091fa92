// The beginning of a table: what is left out, the separator, the names of the columns.
#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "remede/base/error.h"
#include "remede/data/csv.h"
#include "remede/data/number.h"

namespace remede {

// Leaves one blank of every run and none at the ends of a line, from byte `from` of the buffer on. What stands before
// it has been through here already. As in text(), a quote opens only at the beginning of a cell, and a comment has
// none.
void CsvReader::squeeze_blanks(std::size_t from) {
  std::size_t to = from;
  const auto before = [&] { return to == 0 ? '\n' : buffer_[to - 1]; };
  for (std::size_t i = from; i < filled_; ++i) {
    const char c = buffer_[i];
    const bool cell_begins = before() == ' ' || before() == '\n';
    if (!in_quotes_ && before() == '\n' && format_.comment == c) in_comment_ = true;
    if (c == '"' && !in_comment_ && (in_quotes_ || cell_begins || closed_quote_)) {
      in_quotes_ = !in_quotes_;
      closed_quote_ = !in_quotes_;  // one more quote would open it again: it stands for a quote
    } else {
      closed_quote_ = false;
    }
    const bool blank = (c == ' ' || c == '\t') && !in_quotes_;
    if (blank && cell_begins) continue;
    if ((c == '\n' || c == '\r') && !in_quotes_ && before() == ' ') --to;
    if (c == '\n') in_comment_ = false;
    buffer_[to++] = blank ? ' ' : c;
  }
  if (source_at_end_ && to > 0 && buffer_[to - 1] == ' ' && !in_quotes_) --to;
  filled_ = to;
}

// REQUIRES: a whole line begins at at_.
void CsvReader::skip_line() {
  at_ = std::find(at_, end_, '\n') + 1;
  ++next_line_;
}

// Whether blanks alone separate the cells: with names, the first line has as many words; without, the first two lines
// have the same number of words and the second begins with a number (a header of several words may be one name).
bool CsvReader::cut_by_blanks() const {
  const auto line = [&](const char* from) {
    return std::string_view(from,
                            static_cast<std::size_t>(std::find(from, static_cast<const char*>(end_), '\n') - from));
  };
  const auto words = [](std::string_view text) {
    std::size_t count = 0;
    bool in_word = false;
    bool in_quotes = false;
    for (const char c : text) {
      if (c == '"') in_quotes = !in_quotes;
      const bool blank = (c == ' ' || c == '\r') && !in_quotes;
      count += !blank && !in_word ? 1 : 0;
      in_word = !blank;
    }
    return count;
  };
  const std::string_view first = line(at_);
  const std::size_t cells = words(first);
  if (cells < 2) return false;
  if (!format_.names.empty()) return cells == format_.names.size();
  if (first.data() + first.size() == end_) return false;
  const std::string_view second = trim(line(first.data() + first.size() + 1));
  double number = 0.0;
  return words(second) == cells && parse_cell(second.substr(0, second.find(' ')), number) == CellKind::kNumber;
}

// A comma in the first line decides for the comma; else whichever of ';' and tab is there more often; else blanks,
// where every line has the same number of words.
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
  if (commas > 0) return;
  if (semicolons + tabs > 0) {
    separator_ = semicolons >= tabs ? ';' : '\t';
  } else if (cut_by_blanks()) {
    separator_ = ' ';
  }
}

// s1..s21 is s1, s2, ..., s21.
static void append_names(const std::string& given, std::vector<std::string>& names) {
  constexpr auto kMost = static_cast<int>(CsvReader::kMaxColumns);
  const auto expect_room = [&](std::size_t more) {
    if (names.size() + more > CsvReader::kMaxColumns)
      fail("--names: expected at most {} columns, got more", CsvReader::kMaxColumns);
  };
  const std::string_view name = trim(given);
  const std::size_t dots = name.find("..");
  const auto split = [](std::string_view text) {
    std::size_t digits = text.size();
    while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9') --digits;
    int number = -1;
    std::from_chars(text.data() + digits, text.data() + text.size(), number);
    return std::pair(text.substr(0, digits), number);
  };
  if (dots != std::string_view::npos) {
    const auto [stem, first] = split(name.substr(0, dots));
    const auto [end_stem, last] = split(name.substr(dots + 2));
    if (first < 0 || last < first || last > kMost || (!end_stem.empty() && end_stem != stem))
      fail("--names: expected a range of names such as s1..s21, got {}", shown(given));
    expect_room(static_cast<std::size_t>(last - first) + 1);
    for (int i = first; i <= last; ++i) names.push_back(fmt::format("{}{}", stem, i));
    return;
  }
  expect_room(1);
  names.emplace_back(name);
}

void CsvReader::name_columns() {
  if (!format_.names.empty()) {
    columns_ = format_.names;
    return;
  }
  do {
    if (columns_.size() == kMaxColumns) fail("{}: expected at most {} columns, got more", source_.name, kMaxColumns);
    columns_.emplace_back();  // so that where() can name the column by its number
    const std::string_view cell = text();
    columns_.back() = trim(cell);
  } while (column_ != 0);
}

// A header that is one name short, and rows that do not merely end in a separator.
void CsvReader::notice_row_names() {
  if (!format_.names.empty() || columns_.size() < 2 || !next_row()) return;
  bool last_is_empty = false;
  if (cells_of_row(at_, last_is_empty) != expected_ + 1 || last_is_empty) return;
  row_names_ = true;
  columns_.insert(columns_.begin(), std::string());
  expected_ = columns_.size();
}

// Up to the first line that counts, and what separates its cells.
void CsvReader::begin_table() {
  const auto head = [&] { return std::string_view(at_, static_cast<std::size_t>(end_ - at_)); };
  fill();
  refuse_known_formats(head());
  if (head().starts_with("\xef\xbb\xbf")) at_ += 3;
  for (int line = 0; line < format_.skip; ++line) {
    row_ = at_;
    line_ = next_line_;
    if (at_ == end_ && !fill())
      fail("{}: --skip: expected more than {} lines, got {}", source_.name, format_.skip, line);
    skip_line();
  }
  const auto expect_row = [&] {
    if (!next_row())
      fail("{}: expected {}, got an empty file", source_.name,
           format_.names.empty() ? "a header line" : "rows of data");
  };
  expect_row();
  if (format_.separator) {
    separator_ = *format_.separator;
  } else {
    guess_separator();
  }
  if (separator_ != ' ') return;
  // What is in the buffer behind at_ is squeezed now, what follows as it is read.
  squeezing_ = true;
  const auto from = static_cast<std::size_t>(at_ - buffer_.data());
  const std::size_t lines_end = static_cast<std::size_t>(end_ - buffer_.data());
  const std::string rest(buffer_.data() + lines_end, filled_ - lines_end);
  const bool at_end = source_at_end_;
  if (from > 0) buffer_[from - 1] = '\n';
  source_at_end_ = false;
  filled_ = lines_end;
  squeeze_blanks(from);
  end_ = buffer_.data() + filled_;
  const std::size_t whole = filled_;
  std::copy(rest.begin(), rest.end(), buffer_.begin() + static_cast<std::ptrdiff_t>(whole));
  filled_ = whole + rest.size();
  source_at_end_ = at_end;
  squeeze_blanks(whole);
  expect_row();  // blanks alone are squeezed to nothing
}

void CsvReader::read_header() {
  std::vector<std::string> names_of_columns;
  for (const std::string& name : format_.names) append_names(name, names_of_columns);
  format_.names = std::move(names_of_columns);
  begin_table();
  name_columns();
  expected_ = columns_.size();
  notice_row_names();
  expect_distinct_names(source_.name, columns_);
}

// Wherever the header stands: one in the first line is refused for them with the file (refuse_known_formats).
static bool has_control_characters(std::string_view name) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool ends_line = c == '\n' || (c == '\r' && name.substr(i + 1).starts_with('\n'));
    if ((c < 0x20 && c != '\t' && !ends_line) || c == 0x7f) return true;
  }
  return false;
}

void expect_distinct_names(const std::string& file, const std::vector<std::string>& columns) {
  std::unordered_set<std::string_view> names;
  for (const std::string& column : columns) {
    if (!is_utf8(column)) fail("{}: expected column names in UTF-8, got {}", file, shown(column));
    if (has_control_characters(column))
      fail("{}: expected column names without control characters, got {}", file, shown(column));
    if (column.empty() || names.insert(column).second) continue;
    double value = 0;
    const bool number = parse_cell(column, value) == CellKind::kNumber;
    fail("{}: expected unique column names, got {} twice{}", file, shown(column),
         number ? "; if the file has no header line, --names NAME,NAME,..." : "");
  }
}

}  // namespace remede

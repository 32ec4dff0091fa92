// From rows of a file to steps of sequences: rows of an id may be interleaved and unsorted, time orders them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "remede/base/column.h"
#include "remede/data/texts.h"

namespace remede {

// The line of each row, without storing one per row: only where a row is not on the line after the one before.
class RowLines {
 public:
  void add(std::uint64_t line);
  std::uint64_t line(std::size_t row) const;  // REQUIRES: row was added

 private:
  std::size_t rows_ = 0;
  std::uint64_t next_ = 0;
  std::vector<std::pair<std::size_t, std::uint64_t>> jumps_;  // (row, its line)
};

// Where the steps of sequences come from.
struct StepOrder {
  Column<std::int64_t> offset;     // (sequences + 1)
  Column<std::int64_t> row;        // (steps) row of each step
  bool as_in_file = true;          // row[s] == s
  std::size_t repeated_times = 0;  // steps whose time is that of the step before
  std::string moved_text;          // a time where rows were put in the order of texts; else empty
  Texts ids;                       // (sequences) empty without an id column
  Texts times;                     // (steps) empty without a time column
};

// Whether a step at the time `now` may follow one at `before`, for times that come one by one: not earlier by the order
// of RowSorter, and both numbers, both dates, or both other texts. REQUIRES: neither is a missing value.
bool may_follow(std::string_view before, std::string_view now);

// Takes the id and time of each row and puts the rows in order at the end. Most files are already in order, and then
// only this is checked. Sequences are in the order of their first rows.
class RowSorter {
 public:
  // id_column: a name, "row", or empty for one sequence; time_column: a name, or empty for the order of the file.
  // strict: a time that occurs twice in a sequence is an error; else such rows keep the order of the file. store: where
  // large columns go (column.h).
  RowSorter(std::string id_column, std::string time_column, bool strict, const std::shared_ptr<ColumnStore>& store);

  // What follows is of this file. `row_word`: what begin_row() counts, a line or a row.
  void begin_file(const std::string& file, const char* row_word) { files_.push_back({rows_, file, row_word}); }

  // For each row: begin_row(), then id() and time() where there are such columns, in any order, then end_row().
  void begin_row(std::uint64_t line) {
    lines_.add(line);
    ++rows_;
  }
  void id(std::string_view text);
  void time(std::string_view text);
  void end_row() {
    if (timed_ && in_order_ && by_ != By::kRow && run_.back().first_row != rows_ - 1) in_order_ = last_time_is_later();
  }
  void reserve(std::size_t rows);

  std::size_t rows() const { return rows_; }

  // Throws Error when times have no order, or one occurs twice in a sequence and strict. Leaves the object empty.
  StepOrder finish();

 private:
  enum class By : std::uint8_t { kFile, kRow, kId };  // one sequence; every row its own; the id column
  // Rows of one sequence that stand together in the file.
  struct Run {
    std::uint32_t sequence = 0;
    std::size_t first_row = 0;
  };
  struct File {
    std::size_t first_row = 0;
    std::string name;
    const char* row_word = "line";
  };

  bool last_time_is_later() const;
  void gather(StepOrder& order) const;
  void sort_by_time(StepOrder& order);
  void parse_times();
  void check_text_times() const;
  bool earlier(std::size_t row_a, std::size_t row_b) const;
  void refuse_repeated(std::size_t sequence, std::size_t first, std::size_t second) const;
  std::string where(std::size_t row, const std::string& column) const;
  const File& file_of(std::size_t row) const;

  std::shared_ptr<ColumnStore> store_;
  By by_;
  bool timed_;
  bool strict_;
  std::vector<File> files_;
  std::string id_column_;
  std::string time_column_;
  std::size_t rows_ = 0;
  RowLines lines_;
  Interner ids_;
  Column<Run> run_;
  bool together_ = true;      // every sequence is one run
  bool in_order_ = true;      // so far no time was found that is not later than the one before it in its run
  bool numeric_ = true;       // all times are numbers
  double time_ = 0.0;         // of the last row, where numeric_
  double time_before_ = 0.0;  // and of the row before
  Texts times_;               // (rows)
  Column<double> number_;     // (rows) numbers and dates as numbers, made only for sorting; empty: other texts
};

// Puts rows of `width` values in the order of steps, in place: values[s] becomes the former values[row[s]].
// REQUIRES: row is a permutation.
template <typename T>
void put_in_order(Column<T>& values, std::size_t width, const Column<std::int64_t>& row) {
  if (values.empty()) return;
  std::vector<bool> done(row.size());
  std::vector<T> held(width);
  const auto at = [&](std::size_t s) { return values.begin() + static_cast<std::ptrdiff_t>(s * width); };
  const auto w = static_cast<std::ptrdiff_t>(width);
  for (std::size_t begin = 0; begin < row.size(); ++begin) {
    if (done[begin] || row[begin] == static_cast<std::int64_t>(begin)) continue;
    std::copy(at(begin), at(begin) + w, held.begin());
    std::size_t s = begin;
    for (;; s = static_cast<std::size_t>(row[s])) {
      done[s] = true;
      const auto from = static_cast<std::size_t>(row[s]);
      if (from == begin) break;
      std::copy(at(from), at(from) + w, at(s));
    }
    std::copy(held.begin(), held.end(), at(s));
  }
}

}  // namespace remede

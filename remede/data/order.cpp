#include "remede/data/order.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "remede/base/error.h"
#include "remede/data/csv.h"
#include "remede/data/number.h"

namespace remede {

void RowLines::add(std::uint64_t line) {
  if (rows_ == 0 || line != next_) jumps_.emplace_back(rows_, line);
  ++rows_;
  next_ = line + 1;
}

std::uint64_t RowLines::line(std::size_t row) const {
  const auto after = std::upper_bound(jumps_.begin(), jumps_.end(), row,
                                      [](std::size_t r, const auto& jump) { return r < jump.first; });
  const auto& [first, line] = *(after - 1);
  return line + (row - first);
}

RowSorter::RowSorter(std::string id_column, std::string time_column, bool strict,
                     const std::shared_ptr<ColumnStore>& store)
    : store_(store),
      by_(id_column == "row"  ? By::kRow
          : id_column.empty() ? By::kFile
                              : By::kId),
      timed_(!time_column.empty()),
      strict_(strict),
      id_column_(std::move(id_column)),
      time_column_(std::move(time_column)),
      ids_(store),
      run_(store),
      times_(store),
      number_(store) {
  if (by_ == By::kFile) run_.push_back({0, 0});
}

const RowSorter::File& RowSorter::file_of(std::size_t row) const {
  const auto after = std::upper_bound(files_.begin(), files_.end(), row,
                                      [](std::size_t r, const File& file) { return r < file.first_row; });
  return *(after - 1);
}

std::string RowSorter::where(std::size_t row, const std::string& column) const {
  const File& file = file_of(row);
  return fmt::format("{}: {} {}, column {}", file.name, file.row_word, lines_.line(row), shown(column));
}

void RowSorter::reserve(std::size_t rows) {
  if (timed_) times_.reserve(rows, rows * (times_.empty() ? 1 : times_.back().size() + 1));
}

void RowSorter::id(std::string_view text) {
  if (!run_.empty() && text == ids_.texts()[run_.back().sequence]) return;
  if (text.empty()) fail("{}: expected the id of a sequence, got an empty cell", where(rows_ - 1, id_column_));
  const std::uint32_t sequence = ids_.intern(text);
  together_ = together_ && sequence == run_.size();
  run_.push_back({sequence, rows_ - 1});
}

void RowSorter::time(std::string_view text) {
  time_before_ = time_;
  long long whole = 0;
  CellKind kind = CellKind::kNumber;
  if (parse_integer(text, whole)) {  // most times are
    time_ = static_cast<double>(whole);
  } else {
    kind = parse_cell(text, time_);
  }
  if (kind == CellKind::kMissing)
    fail("{}: expected a time, got {}", where(rows_ - 1, time_column_), text.empty() ? "an empty cell" : shown(text));
  if (numeric_ && kind == CellKind::kText) {
    numeric_ = false;
    in_order_ = rows_ == 1;  // the numbers before it were compared as numbers
  }
  times_.push_back(text);
}

bool RowSorter::last_time_is_later() const {
  return numeric_ ? time_ > time_before_ : times_[rows_ - 1] > times_[rows_ - 2];
}

bool RowSorter::earlier(std::size_t row_a, std::size_t row_b) const {
  if (!numeric_) return times_[row_a] < times_[row_b];
  if (number_[row_a] != number_[row_b]) return number_[row_a] < number_[row_b];
  long long a = 0;  // nanoseconds since 1970 differ in digits that a double does not hold
  long long b = 0;
  return parse_integer(trim(times_[row_a]), a) && parse_integer(trim(times_[row_b]), b) && a < b;
}

// Collects the rows of each sequence, in the order of the file.
void RowSorter::gather(StepOrder& order) const {
  const std::size_t sequences = by_ == By::kId ? ids_.size() : 1;
  order.offset.assign(sequences + 1, 0);
  const auto end_of_run = [&](std::size_t i) { return i + 1 < run_.size() ? run_[i + 1].first_row : rows_; };
  for (std::size_t i = 0; i < run_.size(); ++i)
    order.offset[run_[i].sequence + 1] += static_cast<std::int64_t>(end_of_run(i) - run_[i].first_row);
  std::partial_sum(order.offset.begin(), order.offset.end(), order.offset.begin());
  order.row.resize(rows_);
  Column<std::int64_t> next = order.offset;
  for (std::size_t i = 0; i < run_.size(); ++i)
    for (std::size_t r = run_[i].first_row; r < end_of_run(i); ++r)
      order.row[static_cast<std::size_t>(next[run_[i].sequence]++)] = static_cast<std::int64_t>(r);
}

// Texts that are not numbers are put in the order of their bytes, which is the order of time for 2024-05-01 12:30 and
// the like. For days before months, or numbers of different width inside a text, it is not, and guessing would shuffle
// the data.
void RowSorter::check_text_times() const {
  const auto digit = [](std::string_view t, std::size_t i) { return i < t.size() && t[i] >= '0' && t[i] <= '9'; };
  const auto digits = [&](std::string_view t, std::size_t i, std::size_t n) {
    for (std::size_t k = i; k < i + n; ++k)
      if (!digit(t, k)) return false;
    return true;
  };
  for (std::size_t r = 0; r < rows_; ++r) {
    const std::string_view t = times_[r];
    const bool year_first = digits(t, 0, 4) && t.size() > 4 && (t[4] == '-' || t[4] == '/' || t[4] == '.');
    const bool day_or_month_first =
        digits(t, 0, 2) && digits(t, 3, 2) && digits(t, 6, 2) && t[2] != ':' && !digit(t, 2);
    if (year_first || (!day_or_month_first && t.size() == times_[0].size())) continue;
    fail(
        "{}: expected times that can be put in order (numbers, dates as YYYY-MM-DD, texts of equal length), got {}; "
        "--time none keeps the order of the rows",
        where(r, time_column_), shown(t));
  }
}

void RowSorter::sort_by_time(StepOrder& order) {
  if (numeric_) {
    number_.resize(rows_);
    for (std::size_t r = 0; r < rows_; ++r) parse_cell(times_[r], number_[r]);
  }
  bool checked = numeric_;
  const auto is_earlier = [this](std::int64_t a, std::int64_t b) {
    return earlier(static_cast<std::size_t>(a), static_cast<std::size_t>(b));
  };
  for (std::size_t s = 0; s + 1 < order.offset.size(); ++s) {
    const auto begin = order.row.begin() + order.offset[s];
    const auto end = order.row.begin() + order.offset[s + 1];
    if (!std::is_sorted(begin, end, is_earlier)) {
      if (!checked) check_text_times();
      checked = true;
      std::stable_sort(begin, end, is_earlier);
    }
    for (auto row = begin; row != end && row + 1 != end; ++row) {
      if (is_earlier(*row, *(row + 1))) continue;
      if (strict_) refuse_repeated(s, static_cast<std::size_t>(*row), static_cast<std::size_t>(*(row + 1)));
      ++order.repeated_times;
    }
  }
}

void RowSorter::refuse_repeated(std::size_t sequence, std::size_t first, std::size_t second) const {
  const File& other = file_of(first);
  fail("{}: duplicate time {}{} (first on {} {}{})", where(second, time_column_), shown(times_[second]),
       by_ == By::kId ? " in sequence " + shown(ids_.texts()[sequence]) : "", other.row_word, lines_.line(first),
       &other == &file_of(second) ? "" : " of " + other.name);
}

StepOrder RowSorter::finish() {
  StepOrder order{Column<std::int64_t>(store_), Column<std::int64_t>(store_), true, 0, Texts(store_), Texts(store_)};
  if (by_ == By::kRow || (together_ && in_order_)) {
    order.row.resize(rows_);
    std::iota(order.row.begin(), order.row.end(), std::int64_t{0});
    if (by_ == By::kRow) {
      order.offset = order.row;
    } else {
      for (const Run& run : run_) order.offset.push_back(static_cast<std::int64_t>(run.first_row));
    }
    order.offset.push_back(static_cast<std::int64_t>(rows_));
    order.times = std::move(times_);
  } else {
    gather(order);
    if (timed_) sort_by_time(order);
    order.as_in_file = std::is_sorted(order.row.begin(), order.row.end());
    if (order.as_in_file) {
      order.times = std::move(times_);
    } else if (timed_) {
      for (const std::int64_t r : order.row) order.times.push_back(times_[static_cast<std::size_t>(r)]);
    }
  }
  order.ids = ids_.take();
  return order;
}

}  // namespace remede

#include "remede/data/order.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "remede/base/error.h"
#include "remede/data/csv.h"
#include "remede/data/number.h"
#include "remede/data/raw.h"

namespace remede {
namespace {

// The zone at the end of a date, +01:00; empty where there is none.
std::string_view zone_of(std::string_view time) {
  constexpr std::size_t kDate = 10;  // characters of YYYY-MM-DD, which may have signs
  const std::size_t sign = time.find_last_of("+-");
  return sign == std::string_view::npos || sign < kDate ? std::string_view() : time.substr(sign);
}

// Whether two texts differ only in their digits, which are at the same places.
bool differ_in_digits(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [&](char x, char y) { return x == y || (digit(x) && digit(y)); });
}

// Whether the order of two dates is that of their bytes: they have digits at the same places, and the same zone.
bool written_alike(std::string_view a, std::string_view b) {
  return differ_in_digits(a, b) && zone_of(a) == zone_of(b);
}

// By their text alone: numbers that a double holds as one may differ (nanoseconds since 1970).
bool earlier_whole_number(std::string_view text_a, std::string_view text_b) {
  long long a = 0;
  long long b = 0;
  return parse_integer(trim(text_a), a) && parse_integer(trim(text_b), b) && a < b;
}

enum class TimeKind : std::uint8_t { kNumber, kDate, kText };

TimeKind kind_of_time(std::string_view time, double& value) {
  if (parse_cell(time, value) == CellKind::kNumber) return TimeKind::kNumber;
  return parse_time(time, value) ? TimeKind::kDate : TimeKind::kText;
}

}  // namespace

bool may_follow(std::string_view before, std::string_view now) {
  long long whole_before = 0;
  long long whole_now = 0;
  if (parse_integer(before, whole_before) && parse_integer(now, whole_now)) return whole_before <= whole_now;
  double value_before = 0.0;
  double value_now = 0.0;
  const TimeKind kind = kind_of_time(before, value_before);
  if (kind_of_time(now, value_now) != kind) return false;
  if (kind == TimeKind::kText) return before <= now;
  if (value_before != value_now) return value_before < value_now;
  if (kind == TimeKind::kNumber) return !earlier_whole_number(now, before);
  return before <= now || !written_alike(before, now);
}

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
  if (numeric_) return time_ > time_before_;
  const std::string_view now = times_[rows_ - 1];
  const std::string_view before = times_[rows_ - 2];
  return now > before && written_alike(now, before);
}

bool RowSorter::earlier(std::size_t row_a, std::size_t row_b) const {
  if (number_.empty()) return times_[row_a] < times_[row_b];
  if (number_[row_a] != number_[row_b]) return number_[row_a] < number_[row_b];
  if (!numeric_) return written_alike(times_[row_a], times_[row_b]) && times_[row_a] < times_[row_b];
  return earlier_whole_number(times_[row_a], times_[row_b]);
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

// Numbers as they are, dates as seconds since 1970; nothing where some time is neither.
void RowSorter::parse_times() {
  number_.resize(rows_);
  for (std::size_t r = 0; r < rows_; ++r) {
    const CellKind kind = parse_cell(times_[r], number_[r]);
    if (numeric_ || (kind == CellKind::kText && parse_time(times_[r], number_[r]))) continue;
    number_.clear();
    return;
  }
}

// Other texts are put in the order of their bytes, which is the order of time for 12:30, step 07 and 2024-W05. For days
// before months, names of months, or numbers of different width it is not, and guessing would shuffle the data.
void RowSorter::check_text_times() const {
  const auto day_or_month_first = [](std::string_view t) {
    constexpr std::string_view kDay = "31.12.20";
    return t.size() >= kDay.size() && differ_in_digits(t.substr(0, 2), kDay.substr(0, 2)) &&
           differ_in_digits(t.substr(3, 2), kDay.substr(3, 2)) && differ_in_digits(t.substr(6, 2), kDay.substr(6, 2)) &&
           t[2] != ':' && (t[2] < '0' || t[2] > '9');
  };
  for (std::size_t r = 0; r < rows_; ++r) {
    if (differ_in_digits(times_[r], times_[0]) && !day_or_month_first(times_[r])) continue;
    fail(
        "{}: expected times that can be put in order (numbers, dates as YYYY-MM-DD HH:MM:SS, texts that differ only in "
        "their digits, year before month), got {}; --time none --ignore {} keeps the order of the rows",
        where(r, time_column_), shown(times_[r]), time_column_);
  }
}

void RowSorter::sort_by_time(StepOrder& order) {
  parse_times();
  bool checked = !number_.empty();
  const auto is_earlier = [this](std::int64_t a, std::int64_t b) {
    return earlier(static_cast<std::size_t>(a), static_cast<std::size_t>(b));
  };
  for (std::size_t s = 0; s + 1 < order.offset.size(); ++s) {
    const auto begin = order.row.begin() + order.offset[s];
    const auto end = order.row.begin() + order.offset[s + 1];
    if (!std::is_sorted(begin, end, is_earlier)) {
      if (!checked) check_text_times();
      checked = true;
      if (number_.empty() && order.moved_text.empty()) order.moved_text = times_[static_cast<std::size_t>(*begin)];
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
  StepOrder order{
      Column<std::int64_t>(store_), Column<std::int64_t>(store_), true, 0, "", Texts(store_), Texts(store_)};
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

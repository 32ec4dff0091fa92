#include "remede/data/target.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "remede/base/error.h"
#include "remede/data/frame.h"
#include "remede/data/number.h"

namespace remede {

TargetReader::TargetReader(std::string file, std::vector<std::string> names, std::optional<Task> task,
                           const std::shared_ptr<ColumnStore>& store)
    : file_(std::move(file)), names_(std::move(names)), code_(store), value_(store) {
  if (task == Task::kClassification && names_.size() > 1)
    fail("{}: expected one target column in classification, got {}", file_, names_.size());
  if (task == Task::kClassification) mode_ = Mode::kLabels;
  if (task == Task::kRegression || names_.size() > 1) mode_ = Mode::kNumbers;
}

TargetReader::TargetReader(std::string file, std::vector<std::string> names, const Schema& schema, bool strict,
                           const std::shared_ptr<ColumnStore>& store)
    : file_(std::move(file)),
      names_(std::move(names)),
      mode_(schema.task == Task::kRegression ? Mode::kNumbers : Mode::kLabels),
      strict_(strict),
      known_(true),
      classes_(schema.classes),
      code_(store),
      value_(store) {}

void TargetReader::reserve(std::size_t rows) {
  if (mode_ == Mode::kNumbers) {
    value_.reserve(rows * names_.size());
  } else {
    code_.reserve(rows);
  }
}

template <typename Rows>
void TargetReader::read(Rows& csv, std::size_t column, std::size_t slot) {
  if (mode_ == Mode::kNumbers) {
    value_[value_.size() - names_.size() + slot] = read_number(csv, column);
  } else {
    read_label(csv, column);
  }
}

template <typename Rows>
float TargetReader::read_number(Rows& csv, std::size_t column) const {
  double value = 0.0;
  if (!csv.number(value)) {
    if (!strict_) return kMissingValue;
    const char* hint = guessed_ ? " as in the rows before (for classes, use --task classification)" : "";
    fail("{}: expected a number{}, got {}", csv.where(column), hint, shown(csv.last_cell()));
  }
  const auto rounded = static_cast<float>(value);
  if (std::isfinite(rounded)) return rounded;
  if (!std::isnan(value) && strict_) fail("{}: expected {}, got {}", csv.where(column), kFittingNumber, value);
  return kMissingValue;
}

template <typename Rows>
void TargetReader::read_label(Rows& csv, std::size_t column) {
  code_.push_back(texts_.intern(csv.text()));
  if (texts_.size() > cells_.size()) add_cell(csv.where(column));
}

void TargetReader::read_folder(std::string_view folder) {
  if (mode_ == Mode::kNumbers) fail("{}: --target folder: expected classification, got regression", file_);
  mode_ = Mode::kLabels;
  code_.push_back(texts_.intern(folder));
  if (texts_.size() > cells_.size()) add_cell(file_ + ": folder");
}

// Takes up the newest distinct cell.
void TargetReader::add_cell(std::string where) {
  const std::string_view text = texts_.texts().back();
  Cell cell;
  cell.kind = parse_cell(text, cell.value);
  if (known_ && cell.kind != CellKind::kMissing) {
    cell.label = classes_.find(text, cell.kind, cell.value);
    if (cell.label < 0 && unknown_.size() < kMostUnknown) unknown_.emplace_back(text);
  }
  if (!known_ && !is_utf8(text)) fail("{}: expected text in UTF-8, got {}", where, shown(text));
  distinct_numbers_ += cell.kind == CellKind::kNumber ? 1 : 0;
  distinct_missing_ += cell.kind == CellKind::kMissing ? 1 : 0;
  if (cell.kind == CellKind::kText && !a_text_) a_text_ = static_cast<std::uint32_t>(cells_.size());
  cell.where = where;
  cells_.push_back(std::move(cell));
  if (known_) return;
  if (cells_.size() - distinct_missing_ > kMostClasses)
    fail("{}: expected at most {} classes, got more: is {} the column to predict?", where, kMostClasses,
         shown(names_[0]));
  if (mode_ != Mode::kUndecided || distinct_numbers_ <= kMostClassNumbers) return;
  if (a_text_)
    fail("{}: expected a number as in other rows (for classes, use --task classification), got {}",
         cells_[*a_text_].where, shown(texts_.texts()[*a_text_]));
  become_numbers();
}

// Classes of which one is 7,1 or many begin like numbers are more likely amounts that cannot be read.
void TargetReader::refuse_damaged_numbers() const {
  std::size_t damaged = 0;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const std::string_view text = texts_.texts()[i];
    if (cells_[i].kind != CellKind::kText || !begins_like_a_number(trim(text))) continue;
    if (has_decimal_comma(trim(text)))
      fail("{}: expected a number with a decimal point, got {} with a comma (for classes, use --task classification)",
           cells_[i].where, shown(text));
    if (++damaged > kMostClassNumbers)
      fail("{}: expected a number, got {} (for classes, use --task classification)", cells_[i].where, shown(text));
  }
}

// From numbered cells to values; there is one target.
void TargetReader::become_numbers() {
  std::vector<float> value_of_cell;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const auto rounded = static_cast<float>(cells_[i].value);
    if (std::isinf(rounded)) fail("{}: expected {}, got {}", cells_[i].where, kFittingNumber, shown(texts_.texts()[i]));
    value_of_cell.push_back(cells_[i].kind == CellKind::kNumber ? rounded : kMissingValue);
  }
  value_.reserve(code_.capacity());
  for (const std::uint32_t code : code_) value_.push_back(value_of_cell[code]);
  code_ = Column<std::uint32_t>(code_.store());
  mode_ = Mode::kNumbers;
  guessed_ = true;
}

// Gives each distinct cell its class and returns the classes: in the order of their numbers when all are numbers (equal
// numbers are one class, named as first seen), else in the order of their bytes.
std::vector<std::string> TargetReader::number_classes() {
  const Texts& texts = texts_.texts();
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < cells_.size(); ++i)
    if (cells_[i].kind != CellKind::kMissing) order.push_back(i);
  const bool numbers = !a_text_;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return numbers ? cells_[a].value < cells_[b].value : texts[a] < texts[b];
  });
  std::vector<std::string> classes;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const bool same = numbers && k > 0 && cells_[order[k]].value == cells_[order[k - 1]].value;
    if (!same) classes.emplace_back(texts[order[k]]);
    cells_[order[k]].label = static_cast<std::int32_t>(classes.size()) - 1;
  }
  if (classes.size() == 1 && !part_)
    fail("{}: column {}: expected at least two classes, got only {}", file_, shown(names_[0]), shown(classes[0]));
  return classes;
}

void TargetReader::finish_labels(Schema& schema, Sequences& sequences) {
  if (!known_) schema.classes = number_classes();
  schema.task = Task::kClassification;
  sequences.label = Column<std::int32_t>(code_.store());
  sequences.weight = Column<float>(code_.store());
  sequences.label.resize(code_.size());
  sequences.weight.resize(code_.size());
  for (std::size_t r = 0; r < code_.size(); ++r) {
    const Cell& cell = cells_[code_[r]];
    const bool unknown = known_ && cell.label < 0 && cell.kind != CellKind::kMissing;
    sequences.label[r] = unknown ? kUnknownClass : std::max(cell.label, 0);
    sequences.weight[r] = cell.label < 0 && !unknown ? 0.0F : 1.0F;
  }
}

void TargetReader::finish_numbers(Schema& schema, Sequences& sequences) {
  schema.task = Task::kRegression;
  const std::size_t n = names_.size();
  sequences.weight = Column<float>(value_.store());
  sequences.weight.resize(value_.size() / n);
  for (std::size_t r = 0; r < sequences.weight.size(); ++r) {
    const auto row = value_.begin() + static_cast<std::ptrdiff_t>(r * n);
    const bool complete =
        std::none_of(row, row + static_cast<std::ptrdiff_t>(n), [](float v) { return std::isnan(v); });
    sequences.weight[r] = complete ? 1.0F : 0.0F;
    if (!complete) std::fill_n(row, n, 0.0F);
  }
  sequences.value = std::move(value_);
}

template void TargetReader::read(CsvReader&, std::size_t, std::size_t);
template void TargetReader::read(FrameReader&, std::size_t, std::size_t);

void TargetReader::finish(Schema& schema, Sequences& sequences) {
  if (mode_ == Mode::kUndecided) {
    refuse_damaged_numbers();
    const bool whole = std::all_of(cells_.begin(), cells_.end(), [](const Cell& cell) {
      return cell.kind != CellKind::kNumber || std::floor(cell.value) == cell.value;
    });
    const bool infinite = std::any_of(cells_.begin(), cells_.end(), [](const Cell& cell) {
      return cell.kind == CellKind::kNumber && std::isinf(cell.value);
    });
    if (!a_text_ && (!whole || infinite)) become_numbers();
  }
  if (mode_ == Mode::kNumbers) {
    finish_numbers(schema, sequences);
  } else {
    finish_labels(schema, sequences);
  }
  const auto& weight = sequences.weight;
  if (!std::any_of(weight.begin(), weight.end(), [](float w) { return w > 0.0F; })) {
    if (strict_ && !part_)
      fail("{}: column {}: expected a value in some row, got none", file_, fmt::join(names_, ", "));
    sequences.label.clear();
    sequences.value.clear();
    sequences.weight.clear();
  }
}

}  // namespace remede

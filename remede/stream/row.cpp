#include "remede/stream/row.h"

#include <algorithm>
#include <cmath>

#include "remede/base/error.h"
#include "remede/base/text.h"
#include "remede/data/number.h"
#include "remede/schema/words.h"

namespace remede {

RowInputs::RowInputs(const Schema& schema) : classes_(schema.classes), x_(schema.inputs.size(), kMissingValue) {
  const CodeIndex codes(schema.codes);
  for (std::size_t i = 0; i < schema.inputs.size(); ++i) {
    const InputCode* const code = codes.find(schema.inputs[i]);
    if (code != nullptr && code->gap) {
      gaps_.push_back(i);
      continue;
    }
    const std::string& name = code == nullptr ? schema.inputs[i] : code->column;
    std::size_t at = static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
    if (at == names_.size()) {
      names_.push_back(name);
      columns_.emplace_back();
      columns_.back().history =
          schema.horizon > 0 && std::find(schema.targets.begin(), schema.targets.end(), name) != schema.targets.end();
    }
    columns_[at].uses.push_back({i, code});
    columns_[at].words = code != nullptr;
  }
}

std::optional<std::size_t> RowInputs::find(std::string_view column) const {
  const auto at = std::find(names_.begin(), names_.end(), column);
  if (at == names_.end()) return std::nullopt;
  return static_cast<std::size_t>(at - names_.begin());
}

void RowInputs::missing(std::size_t column) {
  columns_[column].is_missing = true;
  for (const Use& use : columns_[column].uses) x_[use.input] = kMissingValue;
}

void RowInputs::word(Column& column, std::string_view text) {
  if (!is_utf8(text)) fail("expected text in UTF-8, got {}", shown(text));
  bool known = false;
  for (const Use& use : column.uses) {
    x_[use.input] = value_of_word(*use.code, text).value_or(kMissingValue);
    known = known || std::find(use.code->words.begin(), use.code->words.end(), text) != use.code->words.end() ||
            (has_boolean_words(*use.code) && !std::isnan(x_[use.input]));
  }
  column.is_missing = false;
  if (!known) ++column.unknown;
}

// The class of the target's past, as predict reads it from a file. One that training did not know is no value.
void RowInputs::past_class(Column& column, std::string_view cell) {
  double value = 0;
  const CellKind kind = parse_cell(cell, value);
  const std::int32_t found = kind == CellKind::kMissing ? -1 : classes_.find(cell, kind, value);
  column.is_missing = found < 0;
  column.unknown += found < 0 && kind != CellKind::kMissing ? 1 : 0;
  for (const Use& use : column.uses)
    x_[use.input] =
        found < 0 ? kMissingValue
                  : value_of_word(*use.code, classes_.names()[static_cast<std::size_t>(found)]).value_or(kMissingValue);
}

void RowInputs::number(std::size_t column, double value) {
  Column& to = columns_[column];
  if (std::isnan(value)) return missing(column);
  if (to.words && to.history) return past_class(to, fmt::format("{}", value));
  if (to.words) return word(to, fmt::format("{}", value));  // 1 and 1.0 are one category
  const auto rounded = static_cast<float>(value);
  if (!std::isfinite(rounded)) fail("column {}: expected {}, got {}", shown(names_[column]), kFittingNumber, value);
  to.is_missing = false;
  for (const Use& use : to.uses) x_[use.input] = rounded;
}

void RowInputs::text(std::size_t column, std::string_view cell) {
  Column& to = columns_[column];
  if (to.words && to.history) return past_class(to, cell);
  double value = 0;
  switch (parse_cell(cell, value)) {
    case CellKind::kMissing:
      return missing(column);
    case CellKind::kNumber:
      return number(column, value);
    case CellKind::kText:
      break;
  }
  if (!to.words) fail("column {}: expected a number, got {}", shown(names_[column]), shown(cell));
  word(to, trim(cell));
}

std::span<const float> RowInputs::finish(double now, double before) {
  const auto gap = static_cast<float>(now - before);  // NaN where either is
  for (const std::size_t input : gaps_) x_[input] = gap;
  bool history_missing = false;
  for (const Column& column : columns_) history_missing = history_missing || (column.history && column.is_missing);
  if (history_missing)  // targets of a step are all there, or none
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (columns_[c].history) missing(c);
  return x_;
}

}  // namespace remede

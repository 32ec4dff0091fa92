// The columns of tables without regard to their roles: what can be said of data that cannot be read as asked.
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>

#include "remede/base/text.h"
#include "remede/data/columns.h"
#include "remede/data/csv.h"
#include "remede/data/describe.h"
#include "remede/data/number.h"
#include "remede/data/ts.h"

namespace remede {
namespace {

// One column while it is read.
struct SurveyedColumn {
  std::string name;
  std::size_t rows = 0;
  std::size_t missing = 0;
  std::size_t numbers = 0;
  std::size_t dates = 0;
  std::size_t infinite = 0;
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  Interner words;                   // of texts, up to one more than a column may have
  std::vector<std::size_t> counts;  // (words)

  void add(std::string_view cell) {
    ++rows;
    double value = 0.0;
    const CellKind kind = parse_cell(cell, value);
    if (kind == CellKind::kMissing) {
      ++missing;
    } else if (kind == CellKind::kNumber) {
      ++numbers;
      infinite += std::isfinite(static_cast<float>(value)) ? 0 : 1;
      low = std::min(low, value);
      high = std::max(high, value);
    } else {
      add_text(trim(cell));
    }
  }

  void add_text(std::string_view text) {
    double time = 0.0;
    dates += parse_time(text, time) ? 1 : 0;
    if (words.size() > kMostWords && !words.find(text)) return;
    const std::uint32_t word = words.intern(text);
    if (word == counts.size()) counts.push_back(0);
    ++counts[word];
  }

  std::size_t texts() const { return rows - missing - numbers; }
};

ColumnDescription described(const SurveyedColumn& column) {
  ColumnDescription to;
  to.name = column.name;
  to.missing = column.missing;
  to.low = to.median = to.high = std::numeric_limits<double>::quiet_NaN();
  if (column.numbers > 0) {
    to.low = column.low;
    to.high = column.high;
  }
  to.distinct = column.words.size();
  for (std::size_t w = 0; w < column.counts.size(); ++w)
    to.words.emplace_back(std::string(column.words.texts()[w]), column.counts[w]);
  std::stable_sort(to.words.begin(), to.words.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  to.type = column.texts() == 0                ? "number"
            : column.numbers > 0               ? "mixed"
            : column.dates == column.texts()   ? "date"
            : column.words.size() > kMostWords ? "text"
                                               : "category";
  return to;
}

template <typename Rows>
void survey_rows(Rows& rows, std::vector<SurveyedColumn>& columns) {
  if (columns.empty()) {
    for (const std::string& name : rows.columns()) columns.emplace_back().name = name;
  }
  std::unordered_map<std::string_view, SurveyedColumn*> by_name;
  for (SurveyedColumn& column : columns) by_name.emplace(column.name, &column);
  std::vector<SurveyedColumn*> at;
  for (std::size_t c = 0; c < rows.columns().size(); ++c) {
    const std::string& name = rows.columns()[c];
    const auto found = by_name.find(name);
    const bool unnamed = name.empty() && c < columns.size() && columns[c].name.empty();  // several may have no name
    at.push_back(unnamed ? &columns[c] : found == by_name.end() ? nullptr : found->second);
  }
  while (rows.next_row())
    for (SurveyedColumn* const column : at) {
      const std::string_view cell = rows.text();
      if (column != nullptr) column->add(cell);
    }
}

bool contains_any(const std::string& name, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const char* part) { return name.find(part) != std::string::npos; });
}

bool is_any(const std::string& name, std::initializer_list<const char*> words) {
  return std::find(words.begin(), words.end(), name) != words.end();
}

}  // namespace

std::string likely_role(const std::string& name) {
  const std::string bare = letters_and_digits(name);
  if (!usually_called(ColumnPart::kId, {name}).empty() || (bare.size() > 2 && bare.ends_with("id")) ||
      is_any(bare, {"subject", "patient", "unit", "unitnumber", "session", "device", "machine", "engine", "customer",
                    "user", "person", "participant", "trial", "episode", "run", "recording", "instance", "vehicle"}))
    return "id";
  if (!usually_called(ColumnPart::kTime, {name}).empty() || contains_any(bare, {"time", "date"}) ||
      is_any(bare, {"cycle", "day", "hour", "minute", "second", "tick", "frame", "month", "year", "week"}))
    return "time";
  if (!usually_called(ColumnPart::kTarget, {name}).empty() || contains_any(bare, {"label", "class", "target"}) ||
      is_any(bare, {"outcome", "response", "output", "result", "state", "status", "activity", "failure", "rul"}))
    return "target";
  return "";
}

Survey survey(std::vector<TableSource> tables, const TableFormat& format) {
  std::vector<SurveyedColumn> columns;
  Survey to;
  try {
    for (TableSource& source : tables) {
      if (auto* const frame = std::get_if<Frame>(&source)) {
        FrameReader rows(std::move(*frame));
        survey_rows(rows, columns);
      } else {
        CsvReader rows(as_table(std::move(std::get<ByteSource>(source))), format);
        survey_rows(rows, columns);
      }
    }
  } catch (const std::exception&) {  // what was read before it stands; the caller knows of an error already
  }
  for (const SurveyedColumn& column : columns) {
    to.rows = std::max(to.rows, column.rows);
    to.columns.push_back(described(column));
    const std::string& name = column.name;
    if (name.empty()) continue;
    std::string role = likely_role(name);
    const bool ordered = to.columns.back().type == "number" || to.columns.back().type == "date";
    if (role == "time" && (!ordered || column.missing > 0)) role = "";
    if (!role.empty()) {
      to.columns.back().role = role + "?";
      to.suggestions.push_back(fmt::format("{} may be the {}: --{} {}", shown(name), role, role, name));
    } else if (to.columns.back().type == "date") {
      to.suggestions.push_back(fmt::format("{} holds dates: --time {} or --ignore {}", shown(name), name, name));
    } else if (to.columns.back().type == "text") {
      to.suggestions.push_back(
          fmt::format("{} holds more than {} different words: --ignore {}", shown(name), kMostWords, name));
    }
    const bool few = column.words.size() + std::min(column.numbers, kMostWords) <= kMostWords;
    if (to.columns.back().type == "mixed")
      to.suggestions.push_back(fmt::format("{} holds numbers in {} rows and words in {}: {}--ignore {}", shown(name),
                                           column.numbers, column.texts(),
                                           few ? fmt::format("--categorical {} or ", name) : "", name));
    if (column.infinite > 0)
      to.suggestions.push_back(
          fmt::format("{} holds {} numbers that do not fit a float: --ignore {}", shown(name), column.infinite, name));
  }
  return to;
}

}  // namespace remede

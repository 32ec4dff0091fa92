#include "remede/draw/description.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "remede/base/tables.h"
#include "remede/base/text.h"
#include "remede/draw/json.h"

namespace remede {
namespace {

using Json = nlohmann::ordered_json;

std::string share_text(std::size_t part, std::size_t whole) {
  if (part == 0) return "-";
  const double percentage = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return percentage < 0.1 ? "<0.1%" : fmt::format("{:.1f}%", percentage);
}

// Numbers: smallest, median, largest. Words: the most frequent, with their shares.
std::string column_values(const ColumnDescription& column, std::size_t steps) {
  constexpr std::size_t kMaxListedWords = 8;
  if (column.role == "id") return fmt::format("{} sequences", grouped(static_cast<long long>(column.distinct)));
  if (column.role == "time")
    return fmt::format("{} to {}", printable(column.words[0].first), printable(column.words[1].first));
  if (column.type == "number") {
    if (std::isnan(column.low)) return "no value";
    if (std::isnan(column.median)) return fmt::format("{:.6g} to {:.6g}", column.low, column.high);
    return fmt::format("{:.6g} to {:.6g}, median {:.6g}", column.low, column.high, column.median);
  }
  std::string text;
  const std::size_t there = steps - column.missing;
  for (std::size_t w = 0; w < std::min(kMaxListedWords, column.words.size()); ++w)
    text += fmt::format("{}{} {}", w == 0 ? "" : ", ", printable(column.words[w].first),
                        share_text(column.words[w].second, there));
  if (column.words.size() > kMaxListedWords) text += fmt::format(", {} more", column.words.size() - kMaxListedWords);
  return text;
}

std::string column_type(const ColumnDescription& column) {
  if (column.type == "category") return fmt::format("{} categories", column.distinct);
  if (column.type == "class") return fmt::format("{} classes", column.distinct);
  return column.type;
}

std::string columns_text(const Description& d) {
  std::vector<std::vector<std::string>> rows = {{"column", "role", "type", "missing", "values"}};
  for (const ColumnDescription& column : d.columns)
    rows.push_back({printable(column.name), column.role, column_type(column), share_text(column.missing, d.steps),
                    column_values(column, d.steps)});
  std::string text = '\n' + left_table(rows);
  if (!d.suggestions.empty()) text += '\n';
  for (const std::string& suggestion : d.suggestions) text += fmt::format("suggestion: {}\n", suggestion);
  return text;
}

Json json_of_description(const Description& d) {
  Json json = {
      {"sequences", d.sequences},
      {"steps", d.steps},
      {"length", {{"shortest", d.shortest}, {"median", d.median_length}, {"longest", d.longest}}},
      {"task", !d.has_target ? Json(nullptr) : Json(d.task == Task::kClassification ? "classification" : "regression")},
      {"steps_with_target", d.steps_with_target},
      {"columns", Json::array()},
      {"notes", d.notes},
      {"suggestions", d.suggestions}};
  for (const ColumnDescription& c : d.columns) {
    Json column = {{"name", c.name}, {"role", c.role}, {"type", c.type}, {"missing", c.missing}};
    if (c.type == "number" && c.role != "time" && std::isfinite(c.median)) {
      column["low"] = c.low;
      column["median"] = c.median;
      column["high"] = c.high;
    }
    if (c.type == "class" || c.type == "category")
      for (const auto& [word, count] : c.words) column["counts"][word] = count;
    json["columns"].push_back(std::move(column));
  }
  return json;
}

// A survey knows columns and rows, but not how they form sequences.
Description described(const Survey& survey) {
  Description d;
  d.columns = survey.columns;
  d.suggestions = survey.suggestions;
  d.sequences = 0;
  d.steps = survey.rows;
  return d;
}

}  // namespace

std::string description_text(const Description& d) {
  const auto count = [](std::size_t n) { return grouped(static_cast<long long>(n)); };
  std::string text =
      fmt::format("{} sequence{}, {} steps", count(d.sequences), d.sequences == 1 ? "" : "s", count(d.steps));
  if (d.sequences > 1)
    text += fmt::format(" ({} to {} each, median {})", count(d.shortest), count(d.longest), count(d.median_length));
  text += '\n';
  if (d.has_target) {
    text += fmt::format("{}: {} steps with a target", d.task == Task::kClassification ? "classification" : "regression",
                        count(d.steps_with_target));
    if (d.sequences_with_one_target == d.sequences && d.sequences > 1 && d.longest > 1)
      text += ", one per sequence, at its last step";
    text += '\n';
  }
  return text + columns_text(d);
}

std::string description_json(const Description& d) { return json_text(json_of_description(d), -1); }

std::string survey_text(const Survey& survey) {
  return fmt::format("{} rows\n{}", grouped(static_cast<long long>(survey.rows)), columns_text(described(survey)));
}

std::string survey_json(const Survey& survey, const std::string& complaint) {
  Json json = json_of_description(described(survey));
  for (const char* const unknown : {"sequences", "length", "task", "steps_with_target"}) json[unknown] = nullptr;
  json["error"] = complaint;
  return json_text(json, -1);
}

}  // namespace remede

#include "remede/data/describe.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "remede/base/text.h"
#include "remede/data/number.h"
#include "remede/data/split.h"

namespace remede {
namespace {

constexpr std::size_t kFewWholeNumbers = 12;

// The values of one column of a (steps, width) array that are there.
std::vector<float> values_of(const Column<float>& all, std::size_t width, std::size_t column) {
  std::vector<float> values;
  for (std::size_t at = column; at < all.size(); at += width)
    if (!std::isnan(all[at])) values.push_back(all[at]);
  return values;
}

void describe_numbers(std::vector<float> values, ColumnDescription& to) {
  to.type = "number";
  to.low = to.median = to.high = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) return;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  to.low = static_cast<double>(*low);
  to.high = static_cast<double>(*high);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  to.median = static_cast<double>(*middle);
  if (values.size() % 2 == 0)
    to.median = (to.median + static_cast<double>(*std::max_element(values.begin(), middle))) / 2;
}

void count_words(const std::vector<std::string>& names, const std::vector<std::size_t>& counts, ColumnDescription& to) {
  for (std::size_t w = 0; w < names.size(); ++w)
    if (counts[w] > 0) to.words.emplace_back(names[w], counts[w]);
  to.distinct = to.words.size();
  std::stable_sort(to.words.begin(), to.words.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
}

// How many distinct values, up to a few; none where some are not whole.
std::size_t few_whole_numbers(const std::vector<float>& values) {
  std::set<float> distinct;
  for (const float v : values) {
    if (std::floor(v) != v) return 0;
    distinct.insert(v);
    if (distinct.size() > kFewWholeNumbers) return 0;
  }
  return distinct.size();
}

void suggest_for_numbers(const RawDataset& raw, const std::string& name, const std::vector<float>& values,
                         Description& to) {
  const std::size_t steps = raw.data.sequences.steps();
  if (values.size() == steps && steps > 2 && raw.data.times.empty()) {
    bool rises = true;
    for (std::size_t i = 1; i < values.size() && rises; ++i) rises = values[i] - values[i - 1] == 1.0F;
    if (rises)
      to.suggestions.push_back(
          fmt::format("{} rises by 1 from row to row: --time {} or --ignore {}", shown(name), name, name));
  }
  const std::size_t few = few_whole_numbers(values);
  if (few > 2 && steps > 20 * few)
    to.suggestions.push_back(fmt::format(
        "{} holds {} different whole numbers: if they are categories, --categorical {}", shown(name), few, name));
  if (few == 1) to.suggestions.push_back(fmt::format("{} never changes: --ignore {}", shown(name), name));
}

void describe_inputs(const RawDataset& raw, Description& to) {
  const Sequences& s = raw.data.sequences;
  for (std::size_t i = 0; i < raw.inputs.size(); ++i) {
    const RawInput& input = raw.inputs[i];
    ColumnDescription column;
    column.name = input.gap ? gap_name(input.name) : input.name;
    column.role = "input";
    const std::vector<float> values = values_of(s.x, raw.inputs.size(), i);
    column.missing = s.steps() - values.size();
    if (input.words) {
      column.type = "category";
      std::vector<std::size_t> counts(input.known.size());
      for (const float v : values) ++counts[static_cast<std::size_t>(v)];
      count_words(input.known, counts, column);
    } else {
      if (!input.gap) suggest_for_numbers(raw, input.name, values, to);
      describe_numbers(values, column);
    }
    to.columns.push_back(std::move(column));
  }
}

void describe_targets(const RawDataset& raw, Description& to) {
  const Sequences& s = raw.data.sequences;
  const Schema& schema = raw.data.schema;
  to.has_target = s.has_targets();
  to.task = schema.task;
  if (!to.has_target) return;
  to.steps_with_target =
      static_cast<std::size_t>(std::count_if(s.weight.begin(), s.weight.end(), [](float w) { return w > 0.0F; }));
  for (std::size_t i = 0; i < s.count(); ++i) {
    const auto begin = s.weight.begin() + s.offset[i];
    const auto end = s.weight.begin() + s.offset[i + 1];
    if (begin != end && *(end - 1) > 0.0F && std::all_of(begin, end - 1, [](float w) { return w == 0.0F; }))
      ++to.sequences_with_one_target;
  }
  const std::size_t n_y = schema.targets.size();
  for (std::size_t k = 0; k < n_y; ++k) {
    ColumnDescription column;
    column.name = schema.targets[k];
    column.role = "target";
    column.missing = s.steps() - to.steps_with_target;
    if (schema.task == Task::kClassification) {
      column.type = "class";
      std::vector<std::size_t> counts(schema.classes.size());
      for (std::size_t t = 0; t < s.steps(); ++t)
        if (s.weight[t] > 0.0F) ++counts[static_cast<std::size_t>(s.label[t])];
      count_words(schema.classes, counts, column);
    } else {
      std::vector<float> values;
      for (std::size_t t = 0; t < s.steps(); ++t)
        if (s.weight[t] > 0.0F) values.push_back(s.value[t * n_y + k]);
      describe_numbers(std::move(values), column);
    }
    to.columns.push_back(std::move(column));
  }
}

void describe_order(const RawDataset& raw, Description& to) {
  const Dataset& data = raw.data;
  if (!data.ids.empty()) {
    ColumnDescription id;
    id.name = data.schema.id;
    id.role = "id";
    id.type = "text";
    id.distinct = data.ids.size();
    to.columns.push_back(std::move(id));
  }
  if (data.times.empty()) return;
  ColumnDescription time;
  time.name = data.schema.time;
  time.role = "time";
  double value = 0.0;
  const std::string_view first = data.times[0];
  time.type = parse_cell(first, value) == CellKind::kNumber ? "number" : parse_time(first, value) ? "date" : "text";
  std::string_view earliest = first;
  std::string_view latest = first;
  const auto earlier = [](std::string_view a, std::string_view b) {
    double at_a = 0.0;
    double at_b = 0.0;
    return parse_time(a, at_a) && parse_time(b, at_b) ? at_a < at_b : a < b;
  };
  for (std::size_t s = 0; s < data.sequences.count(); ++s) {  // whose steps are in order
    const std::string_view begin = data.times[static_cast<std::size_t>(data.sequences.offset[s])];
    const std::string_view end = data.times[static_cast<std::size_t>(data.sequences.offset[s + 1]) - 1];
    if (earlier(begin, earliest)) earliest = begin;
    if (earlier(latest, end)) latest = end;
  }
  time.words.emplace_back(std::string(earliest), 1);
  time.words.emplace_back(std::string(latest), 1);
  time.low = time.median = time.high = std::numeric_limits<double>::quiet_NaN();
  to.columns.push_back(std::move(time));
}

// Inputs whose names suggest a role that no column has.
void suggest_roles(const RawDataset& raw, const Roles& roles, Description& to) {
  const Schema& schema = raw.data.schema;
  for (const RawInput& input : raw.inputs) {
    const std::string role = input.gap ? "" : likely_role(input.name);
    const bool free = role == "id"     ? schema.id.empty() && !roles.id
                      : role == "time" ? schema.time.empty() && !roles.time
                                       : role == "target" && !to.has_target;
    if (free)
      to.suggestions.push_back(fmt::format("{} may be the {}: --{} {}", shown(input.name), role, role, input.name));
  }
}

// Names that are numbers, but do not count the columns, may be the first row of a table without a header.
bool is_named_by_data(const RawDataset& raw) {
  bool counting = true;
  double last = 0.0;
  for (const RawInput& input : raw.inputs) {
    double value = 0.0;
    if (input.gap) continue;
    if (parse_cell(input.name, value) != CellKind::kNumber) return false;
    counting = counting && (&input == raw.inputs.data() || value == last + 1);
    last = value;
  }
  return !raw.inputs.empty() && (!counting || last != std::floor(last));
}

void suggest(const RawDataset& raw, const Roles& roles, Description& to) {
  const Schema& schema = raw.data.schema;
  if (is_named_by_data(raw))
    to.suggestions.push_back(
        "the columns have numbers as names: if the file has no header line, --names NAME,NAME,...");
  suggest_roles(raw, roles, to);
  if (!to.has_target)
    to.suggestions.push_back(
        raw.inputs.empty()
            ? "no target column: --target COLUMN"
            : fmt::format("no target column: --target COLUMN (the last column is {})", shown(raw.inputs.back().name)));
  const bool numbers = to.has_target && schema.task == Task::kClassification && !raw.task_stated &&
                       std::all_of(schema.classes.begin(), schema.classes.end(), [](const std::string& c) {
                         double value = 0.0;
                         return parse_cell(c, value) == CellKind::kNumber;
                       });
  if (numbers && schema.classes.size() > 2)
    to.suggestions.push_back(fmt::format("{} is read as {} classes: if it is an amount, --task regression",
                                         shown(schema.targets[0]), schema.classes.size()));
  if (to.has_target && schema.task == Task::kClassification && to.steps_with_target == to.steps && to.sequences > 1 &&
      sequence_labels(raw.data.sequences) && schema.target_per == TargetPer::kStep && to.longest > 1)
    to.suggestions.push_back("every sequence has one class: --target-per sequence predicts it once, at the last step");
}

}  // namespace

Description describe(const RawDataset& raw, const Roles& roles) {
  const Sequences& s = raw.data.sequences;
  Description to;
  to.sequences = s.count();
  to.steps = s.steps();
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < s.count(); ++i) lengths.push_back(s.length(i));
  std::sort(lengths.begin(), lengths.end());
  if (!lengths.empty()) {
    to.shortest = lengths.front();
    to.median_length = lengths[lengths.size() / 2];
    to.longest = lengths.back();
  }
  to.notes = raw.data.notes;
  describe_order(raw, to);
  describe_inputs(raw, to);
  describe_targets(raw, to);
  suggest(raw, roles, to);
  return to;
}

}  // namespace remede

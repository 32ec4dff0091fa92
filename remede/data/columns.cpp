#include "remede/data/columns.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "remede/base/error.h"
#include "remede/data/csv.h"
#include "remede/data/number.h"

namespace remede {
namespace {

// What columns are often called. The first list of each is looked for as it stands (in any case), then both without
// regard to case, blanks and punctuation: CaseID and case:concept:name.
struct UsualNames {
  std::vector<std::string_view> plain;
  std::vector<std::string_view> other;  // letters and digits only
};
const UsualNames& usual_names(ColumnPart part) {
  static const UsualNames ids = {
      {"id", "sequence", "seq", "sequence_id", "seq_id", "sequenceid", "series", "series_id"},
      {"sequenceid", "seqid", "seriesid", "caseid", "case", "caseconceptname", "traceid"}};
  static const UsualNames times = {{"time", "step", "t", "timestamp", "date", "datetime", "time_step", "timestep"},
                                   {"timestep", "timetimestamp", "completetimestamp", "starttimestamp"}};
  static const UsualNames targets = {{"y", "target", "label", "class"}, {"classlabel", "targetlabel", "targetclass"}};
  return part == ColumnPart::kId ? ids : part == ColumnPart::kTime ? times : targets;
}

const char* word_of(ColumnPart part) {
  switch (part) {
    case ColumnPart::kSkip:
      return "ignored";
    case ColumnPart::kId:
      return "id";
    case ColumnPart::kTime:
      return "time";
    case ColumnPart::kInput:
      return "input";
    case ColumnPart::kTarget:
      return "target";
    case ColumnPart::kWeight:
      return "weight";
    case ColumnPart::kGroup:
      return "group";
  }
  return "";
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 20;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMost; ++i) text += (i == 0 ? "" : ", ") + shown(names[i]);
  if (names.size() > kMost) text += fmt::format(" and {} more", names.size() - kMost);
  return names.empty() ? "none" : text;
}

// Gives columns their parts one after the other; a column has one part.
class Assignment {
 public:
  Assignment(const std::string& file, const std::vector<std::string>& columns) : file_(file), columns_(columns) {
    layout_.column.resize(columns.size());
    taken_.resize(columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c) {
      taken_[c] = columns[c].empty();
      if (!taken_[c]) number_.emplace(columns[c], c);
    }
    note_columns_without_name();
  }

  ColumnLayout& layout() { return layout_; }
  const std::vector<std::string>& columns() const { return columns_; }

  bool has(const std::string& name) const { return number_.contains(name); }

  // Gives the column of this name its part. REQUIRES: has(name).
  void take(const std::string& name, ColumnPart part, std::size_t slot = 0) {
    const std::size_t c = number_.find(name)->second;
    if (taken_[c])
      fail("{}: expected one role for column {}, got {} and {}", file_, shown(name), word_of(layout_.column[c].part),
           word_of(part));
    taken_[c] = true;
    layout_.column[c] = {part, static_cast<std::uint32_t>(slot)};
  }

  void require(const std::string& name, const char* flag) const {
    if (!has(name)) fail("{}: {}: expected one of the columns {}, got {}", file_, flag, listed(columns_), shown(name));
  }

  // What the model knows its sequences or their order by is not here, and a guess would change its answers.
  [[noreturn]] void refuse_without(const std::string& name, std::string_view flag) const {
    if (flag == "--id")
      fail(
          "{}: expected the column {}, which names the sequence of each row, as in training, got the columns {}: use "
          "--id none if all rows are one sequence, --id row if each row is one, --id COLUMN for another column (in "
          "Python id='none', id='row', id='COLUMN', or a list with an array or frame per sequence)",
          file_, shown(name), listed(columns_));
    fail(
        "{}: expected the column {}, which orders the steps of a sequence, as in training, got the columns {}: use "
        "--time none if the rows are in order, --time COLUMN for another column (in Python time='none', "
        "time='COLUMN')",
        file_, shown(name), listed(columns_));
  }

  // The one free column whose name suggests the part; empty when there is none.
  std::string guess(ColumnPart part, const char* what, const char* flag) const {
    std::vector<std::string> free;
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (!taken_[c]) free.push_back(columns_[c]);
    const std::vector<std::string> found = usually_called(part, free);
    if (found.size() > 1)
      fail("{}: expected one {} column, got {}: choose one with {} (and leave out others with --ignore)", file_, what,
           listed(found), flag);
    return found.empty() ? "" : found.front();
  }

  // made: inputs will be made from other columns.
  void take_rest_as_inputs(bool made) {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (taken_[c]) continue;
      layout_.column[c] = {ColumnPart::kInput, static_cast<std::uint32_t>(layout_.inputs.size())};
      layout_.inputs.push_back(columns_[c]);
      if (columns_[c] == "row" && layout_.id == "row")
        layout_.notes.push_back(
            "every row is a sequence, and the column 'row' is an input: leave it out with --ignore row");
    }
    if (layout_.inputs.empty() && !made)
      fail("{}: expected at least one input column, got only {}", file_, listed(columns_));
    if (layout_.inputs.size() > kMostInputColumns)
      fail("{}: expected at most {} input columns, got {}: leave some out with --ignore", file_, kMostInputColumns,
           layout_.inputs.size());
  }

  void take_ignored(const Roles& roles, bool must_exist) {
    for (const std::string& name : roles.ignore) {
      if (must_exist) require(name, "--ignore");
      if (has(name)) take(name, ColumnPart::kSkip);
    }
  }

  // Several files without an id column are a sequence each.
  void take_id(std::string name, bool several) {
    if (name.empty() && several) name = "file";
    layout_.id = name;
    layout_.file = name == "file" && !has(name);
    if (!name.empty() && name != "row" && !layout_.file) take(name, ColumnPart::kId);
    if (name.empty()) layout_.notes.push_back("no id column: the file is one sequence");
    if (layout_.file && several) layout_.notes.push_back("every file is one sequence");
  }

  void take_time(const std::string& name) {
    layout_.time = name;
    if (!name.empty()) take(name, ColumnPart::kTime);
  }

  void take_targets(const std::vector<std::string>& names) {
    layout_.targets = names;
    layout_.folder = is_folder(names);
    if (layout_.folder) return;
    for (std::size_t i = 0; i < names.size(); ++i) take(names[i], ColumnPart::kTarget, i);
  }

  void take_optional(const std::optional<std::string>& name, ColumnPart part) {
    if (name && has(*name)) take(*name, part);
  }

  // Whether these targets are the folder rather than a column of that name.
  bool is_folder(const std::vector<std::string>& names) const {
    return names.size() == 1 && names[0] == "folder" && !has(names[0]);
  }

 private:
  // The first few one by one, the others in one line.
  void note_columns_without_name() {
    constexpr std::size_t kMostNotes = 5;
    std::size_t count = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (!columns_[c].empty()) continue;
      if (++count <= kMostNotes) layout_.notes.push_back(fmt::format("column {} has no name and is left out", c + 1));
    }
    if (count > kMostNotes)
      layout_.notes.push_back(fmt::format("{} more columns have no name and are left out", count - kMostNotes));
  }

  const std::string& file_;
  const std::vector<std::string>& columns_;
  std::unordered_map<std::string_view, std::size_t> number_;  // of each column that has a name
  std::vector<bool> taken_;
  ColumnLayout layout_;
};

bool is_none(const std::string& name) { return name.empty() || name == "none"; }

}  // namespace

std::vector<std::string> usually_called(ColumnPart part, const std::vector<std::string>& columns) {
  const UsualNames& names = usual_names(part);
  std::vector<std::string> found;
  for (const std::string& column : columns)
    if (is_one_of(lower(column), names.plain)) found.push_back(column);
  if (!found.empty()) return found;
  for (const std::string& column : columns) {
    const std::string bare = letters_and_digits(column);
    if (!bare.empty() && (is_one_of(bare, names.plain) || is_one_of(bare, names.other))) found.push_back(column);
  }
  return found;
}

std::string letters_and_digits(std::string_view name) {
  std::string bare;
  for (const char c : lower(name))
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) bare += c;
  return bare;
}

ColumnLayout lay_out(const std::string& file, const std::vector<std::string>& columns, const Roles& roles,
                     bool several) {
  Assignment a(file, columns);
  // All that is given comes first, so that no guess takes a column that is spoken for.
  const auto pseudo = [&](const std::string& name) { return is_none(name) || name == "row" || name == "file"; };
  a.take_ignored(roles, true);
  if (roles.id && !pseudo(*roles.id)) a.require(*roles.id, "--id");
  if (roles.time && !is_none(*roles.time)) a.require(*roles.time, "--time");
  if (!a.is_folder(roles.target))
    for (const std::string& name : roles.target) a.require(name, "--target");
  if (roles.weight) a.require(*roles.weight, "--weight");
  if (roles.group) a.require(*roles.group, "--group or --split");
  for (const std::string& name : roles.categorical) a.require(name, "--categorical");
  if (roles.id) a.take_id(is_none(*roles.id) ? "" : *roles.id, several && !is_none(*roles.id));
  if (roles.time) a.take_time(is_none(*roles.time) ? "" : *roles.time);
  a.take_targets(roles.target);
  a.take_optional(roles.weight, ColumnPart::kWeight);
  a.take_optional(roles.group, ColumnPart::kGroup);
  if (!roles.id) a.take_id(roles.guess ? a.guess(ColumnPart::kId, "id", "--id") : "", several);
  if (!roles.time) a.take_time(roles.guess ? a.guess(ColumnPart::kTime, "time", "--time") : "");
  if (roles.target.empty()) {
    const std::string name = roles.guess ? a.guess(ColumnPart::kTarget, "target", "--target") : "";
    if (name.empty() && roles.need_target)
      fail("{}: expected a target column (y, target, label or class), got {}: name it with --target", file,
           listed(columns));
    if (!name.empty()) a.take_targets({name});
  }
  a.take_rest_as_inputs(roles.horizon.value_or(0) > 0 || roles.time_gap);
  return a.layout();
}

ColumnLayout lay_out(const std::string& file, const std::vector<std::string>& columns, const Roles& roles,
                     const Schema& schema, const std::vector<std::string>& inputs, bool need_target, bool several) {
  Assignment a(file, columns);
  a.take_ignored(roles, false);
  const auto chosen = [&](const std::optional<std::string>& given, const std::string& of_schema, const char* flag) {
    const std::string name = given ? (is_none(*given) ? "" : *given) : of_schema;
    const bool pseudo = (name == "row" || name == "file") && flag == std::string_view("--id");
    if (name.empty() || a.has(name) || pseudo) return name;
    if (given) a.require(name, flag);
    a.refuse_without(name, flag);
  };
  const std::vector<std::string>& targets = roles.target.empty() ? schema.targets : roles.target;
  const bool all_targets = a.is_folder(targets) ||
                           std::all_of(targets.begin(), targets.end(), [&](const auto& name) { return a.has(name); });
  if (need_target && !all_targets)
    fail("{}: expected the target {}, got the columns {}", file, listed(targets), listed(columns));
  if (all_targets && targets.size() != schema.targets.size())
    fail("{}: --target: expected {} columns as in the model, got {}", file, schema.targets.size(), targets.size());
  std::vector<std::string> missing;
  for (const std::string& name : inputs)
    if (!a.has(name)) missing.push_back(name);
  if (!missing.empty())
    fail("{}: expected the input columns {}, got the columns {}: missing {}", file, listed(inputs), listed(columns),
         listed(missing));
  if (roles.weight) a.require(*roles.weight, "--weight");
  if (roles.group) a.require(*roles.group, "--group or --split");
  for (std::size_t i = 0; i < inputs.size(); ++i) a.take(inputs[i], ColumnPart::kInput, i);
  a.layout().inputs = inputs;
  a.take_id(chosen(roles.id, schema.id, "--id"), several && !(roles.id && is_none(*roles.id)));
  const bool ordered = a.layout().id != "row" || roles.time;  // a row alone has no order
  a.take_time(ordered || a.has(schema.time) ? chosen(roles.time, schema.time, "--time") : "");
  if (all_targets) a.take_targets(targets);
  a.take_optional(roles.weight, ColumnPart::kWeight);
  a.take_optional(roles.group, ColumnPart::kGroup);
  return a.layout();
}

ColumnLayout lay_out_like(const ColumnLayout& first, const std::string& first_file,
                          const std::vector<std::string>& first_columns, const std::string& file,
                          const std::vector<std::string>& columns) {
  ColumnLayout layout = first;
  layout.column.assign(columns.size(), {});
  layout.notes.clear();
  std::vector<bool> found(first_columns.size());
  std::unordered_map<std::string_view, std::size_t> number;
  for (std::size_t c = 0; c < first_columns.size(); ++c) number.emplace(first_columns[c], c);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (columns[c].empty()) continue;
    const auto at = number.find(columns[c]);
    if (at == number.end())
      fail("{}: expected the columns of {}, got {} in addition", file, first_file, shown(columns[c]));
    const std::size_t from = at->second;
    found[from] = true;
    layout.column[c] = first.column[from];
  }
  for (std::size_t c = 0; c < first_columns.size(); ++c)
    if (!found[c] && first.column[c].part != ColumnPart::kSkip)
      fail("{}: expected the columns of {}, got {}: missing {}", file, first_file, listed(columns),
           shown(first_columns[c]));
  return layout;
}

}  // namespace remede

#include "remede/schema/roles.h"

#include <algorithm>
#include <charconv>

#include "remede/base/error.h"
#include "remede/base/json.h"
#include "remede/base/text.h"

namespace remede {
namespace {

constexpr std::size_t kMostRolesBytes = std::size_t{1} << 20;  // of a file of roles
constexpr std::pair<std::string_view, char> kSeparators[] = {
    {"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}, {"space", ' '}};

constexpr std::string_view kListed[] = {"target", "ignore", "categorical", "names"};  // roles of several columns

int whole_number(const std::string& name, const std::string& text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0)
    fail("{}: expected a whole number, got {}", name, shown(text));
  return number;
}

std::string separator_name(char separator) {
  for (const auto& [name, c] : kSeparators)
    if (c == separator) return std::string(name);
  return std::string(1, separator);
}

std::string text_of(const nlohmann::ordered_json& value, const std::string& where) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_unsigned()) return value.dump();
  if (value.is_boolean() && value.get<bool>()) return "true";
  fail("{}: expected a text, a whole number, true, or a list of texts", where);
}

}  // namespace

char parse_separator(std::string_view text) {
  for (const auto& [name, c] : kSeparators)
    if (text == name) return c;
  if (text == "\\t") return '\t';
  if (text.size() != 1 || text[0] == '"' || text[0] == '\n' || text[0] == '\r')
    fail("--separator: expected comma, semicolon, tab, space or one character, got {}", shown(text));
  return text[0];
}

char parse_comment(std::string_view text) {
  if (text.size() != 1) fail("--comment: expected one character, got {}", shown(text));
  return text[0];
}

RoleLines role_lines(const Roles& roles) {
  RoleLines lines;
  const auto each = [&](const char* name, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) lines.emplace_back(name, text);
  };
  if (roles.id) lines.emplace_back("id", *roles.id);
  if (roles.time) lines.emplace_back("time", *roles.time);
  each("target", roles.target);
  each("ignore", roles.ignore);
  if (roles.task) lines.emplace_back("task", *roles.task == Task::kRegression ? "regression" : "classification");
  each("categorical", roles.categorical);
  if (roles.weight) lines.emplace_back("weight", *roles.weight);
  if (roles.target_per) lines.emplace_back("target-per", *roles.target_per == TargetPer::kStep ? "step" : "sequence");
  if (roles.horizon) lines.emplace_back("horizon", std::to_string(*roles.horizon));
  if (roles.time_gap) lines.emplace_back("time-gap", "true");
  if (roles.strict_time) lines.emplace_back("strict-time", "true");
  each("names", roles.format.names);
  if (roles.format.separator) lines.emplace_back("separator", separator_name(*roles.format.separator));
  if (roles.format.comment) lines.emplace_back("comment", std::string(1, *roles.format.comment));
  if (roles.format.skip > 0) lines.emplace_back("skip", std::to_string(roles.format.skip));
  return lines;
}

bool take_role_line(const std::string& name, const std::string& text, Roles& roles) {
  const auto one_of = [&](const char* a, const char* b) {
    if (text != a && text != b) fail("{}: expected {} or {}, got {}", name, a, b, shown(text));
    return text == a;
  };
  if (name == "id")
    roles.id = text;
  else if (name == "time")
    roles.time = text;
  else if (name == "target")
    roles.target.push_back(text);
  else if (name == "ignore")
    roles.ignore.push_back(text);
  else if (name == "task")
    roles.task = one_of("regression", "classification") ? Task::kRegression : Task::kClassification;
  else if (name == "categorical")
    roles.categorical.push_back(text);
  else if (name == "weight")
    roles.weight = text;
  else if (name == "target-per")
    roles.target_per = one_of("step", "sequence") ? TargetPer::kStep : TargetPer::kSequence;
  else if (name == "horizon")
    roles.horizon = whole_number(name, text);
  else if (name == "time-gap")
    roles.time_gap = one_of("true", "false");
  else if (name == "strict-time")
    roles.strict_time = one_of("true", "false");
  else if (name == "names")
    roles.format.names.push_back(text);
  else if (name == "separator")
    roles.format.separator = parse_separator(text);
  else if (name == "comment")
    roles.format.comment = parse_comment(text);
  else if (name == "skip")
    roles.format.skip = whole_number(name, text);
  else
    return false;
  return true;
}

// take_role_line(), whose errors do not know the file.
static bool take_said(const std::string& name, const std::string& text, const std::string& path, Roles& roles) {
  try {
    return take_role_line(name, text, roles);
  } catch (const Error& error) {
    fail("{}: {}", path, error.what());
  }
}

void read_roles(const std::string& path, Roles& roles) {
  const nlohmann::ordered_json json = parse_json(read_json_file(path, kMostRolesBytes), path);
  if (!json.is_object()) fail("{}: expected a JSON object of roles, got something else", path);
  Roles said;
  for (const auto& [name, value] : json.items()) {
    const std::string where = fmt::format("{}: {}", path, shown(name));
    if (value.is_boolean() && !value.get<bool>()) continue;
    const bool list = value.is_array();
    if (list && std::find(std::begin(kListed), std::end(kListed), name) == std::end(kListed))
      fail("{}: expected one text, got a list", where);
    for (const nlohmann::ordered_json& item : list ? value : nlohmann::ordered_json::array({value}))
      if (!take_said(name, text_of(item, where), path, said))
        fail("{}: expected the name of a flag for columns (id, time, target, ...), got {}", path, shown(name));
  }
  const auto take = [](auto& to, auto& from, bool given) {
    if (!given) to = std::move(from);
  };
  take(roles.id, said.id, roles.id.has_value());
  take(roles.time, said.time, roles.time.has_value());
  take(roles.target, said.target, !roles.target.empty());
  take(roles.ignore, said.ignore, !roles.ignore.empty());
  take(roles.task, said.task, roles.task.has_value());
  take(roles.categorical, said.categorical, !roles.categorical.empty());
  take(roles.weight, said.weight, roles.weight.has_value());
  take(roles.target_per, said.target_per, roles.target_per.has_value());
  take(roles.horizon, said.horizon, roles.horizon.has_value());
  roles.time_gap = roles.time_gap || said.time_gap;
  roles.strict_time = roles.strict_time || said.strict_time;
  take(roles.format, said.format, roles.format != TableFormat());
}

}  // namespace remede

#include "remede/data/shape.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "remede/base/error.h"
#include "remede/base/text.h"
#include "remede/data/number.h"

namespace remede {
namespace {

// Widens x by one column, whose values `value_of(step)` gives.
template <typename ValueOf>
void add_input(RawDataset& raw, RawInput input, ValueOf value_of) {
  Sequences& s = raw.data.sequences;
  const std::size_t n = raw.inputs.size();
  Column<float> x(s.x.store());
  x.reserve(s.steps() * (n + 1));
  for (std::size_t t = 0; t < s.steps(); ++t) {
    x.insert(x.end(), s.x.begin() + static_cast<std::ptrdiff_t>(t * n),
             s.x.begin() + static_cast<std::ptrdiff_t>((t + 1) * n));
    x.push_back(value_of(t));
  }
  s.x = std::move(x);
  raw.inputs.push_back(std::move(input));
  s.n_x = static_cast<int>(raw.inputs.size());
}

// Days from 1970-01-01 in the Gregorian calendar, for any year.
std::int64_t days_of(std::int64_t year, int month, int day) {
  year -= month <= 2 ? 1 : 0;  // years from March on, so that the leap day is the last one
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

// Takes `digits` digits off the front of the text.
bool take_digits(std::string_view& text, std::size_t digits, int& number) {
  if (text.size() < digits) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, number);
  if (error != std::errc{} || end != text.data() + digits || number < 0) return false;
  text.remove_prefix(digits);
  return true;
}

// One or two digits, at most `most`.
bool take_part(std::string_view& text, int most, int& number) {
  const bool two = text.size() > 1 && text[1] >= '0' && text[1] <= '9';
  return take_digits(text, two ? 2 : 1, number) && number <= most;
}

bool take_one_of(std::string_view& text, std::string_view signs) {
  if (text.empty() || signs.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

bool parse_clock(std::string_view text, double& seconds) {
  int hour = 0;
  int minute = 0;
  if (!take_part(text, 23, hour) || !take_one_of(text, ":") || !take_digits(text, 2, minute) || minute > 59)
    return false;
  seconds = hour * 3600.0 + minute * 60.0;
  int second = 0;
  if (take_one_of(text, ":")) {
    if (!take_digits(text, 2, second) || second > 60) return false;  // 60: a leap second
    seconds += second;
    if (!text.empty() && text.front() == '.') {
      double place = 0.1;
      for (text.remove_prefix(1); !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1)) {
        seconds += place * (text.front() - '0');
        place /= 10.0;
      }
    }
  }
  if (text.empty() || text == "Z") return true;
  const double sign = text.front() == '-' ? 1.0 : -1.0;
  int zone_hour = 0;
  int zone_minute = 0;
  if (!take_one_of(text, "+-") || !take_digits(text, 2, zone_hour)) return false;
  take_one_of(text, ":");
  if (!text.empty() && !take_digits(text, 2, zone_minute)) return false;
  seconds += sign * (zone_hour * 3600.0 + zone_minute * 60.0);
  return text.empty();
}

// Copies the target of one step to another.
void copy_target(Sequences& s, std::size_t from, std::size_t to) {
  if (!s.label.empty()) s.label[to] = s.label[from];
  const auto n_y = static_cast<std::size_t>(s.n_y);
  if (!s.value.empty())
    std::copy_n(s.value.begin() + static_cast<std::ptrdiff_t>(from * n_y), n_y,
                s.value.begin() + static_cast<std::ptrdiff_t>(to * n_y));
  s.weight[to] = s.weight[from];
}

void shift(Sequences& s, std::size_t horizon) {
  for (std::size_t i = 0; i < s.count(); ++i) {
    const auto begin = static_cast<std::size_t>(s.offset[i]);
    const auto end = static_cast<std::size_t>(s.offset[i + 1]);
    for (std::size_t t = begin; t < end; ++t) {
      if (t + horizon < end) {
        copy_target(s, t + horizon, t);
      } else {
        s.weight[t] = 0.0F;
      }
    }
  }
}

void keep_last(Sequences& s) {
  for (std::size_t i = 0; i < s.count(); ++i) {
    const auto begin = static_cast<std::size_t>(s.offset[i]);
    const auto last = static_cast<std::size_t>(s.offset[i + 1]) - 1;
    std::size_t t = last;
    while (t > begin && s.weight[t] == 0.0F) --t;
    copy_target(s, t, last);
    std::fill(s.weight.begin() + static_cast<std::ptrdiff_t>(begin),
              s.weight.begin() + static_cast<std::ptrdiff_t>(last), 0.0F);
  }
}

}  // namespace

bool parse_time(std::string_view text, double& value) {
  text = trim(text);
  if (parse_cell(text, value) == CellKind::kNumber) return std::isfinite(value);
  int year = 0;
  int month = 0;
  int day = 0;
  if (!take_digits(text, 4, year) || !take_one_of(text, "-/.") || !take_part(text, 12, month) ||
      !take_one_of(text, "-/.") || !take_part(text, 31, day) || month < 1 || day < 1 ||
      day > days_of(month == 12 ? year + 1 : year, month % 12 + 1, 1) - days_of(year, month, 1))
    return false;
  double seconds = 0.0;
  if (!text.empty() && (!take_one_of(text, " Tt") || !parse_clock(text, seconds))) return false;
  value = static_cast<double>(days_of(year, month, day)) * 86400.0 + seconds;
  return true;
}

void add_time_gap(RawDataset& raw) {
  const Dataset& data = raw.data;
  if (data.times.empty()) fail("--time-gap: expected a time column, got none: name it with --time");
  Column<float> gap(data.sequences.x.store());
  gap.resize(data.sequences.steps(), kMissingValue);
  for (std::size_t s = 0; s < data.sequences.count(); ++s) {
    double before = 0.0;
    for (auto t = static_cast<std::size_t>(data.sequences.offset[s]);
         t < static_cast<std::size_t>(data.sequences.offset[s + 1]); ++t) {
      double now = 0.0;
      if (!parse_time(data.times[t], now))
        fail("--time-gap: expected times that are numbers or dates as YYYY-MM-DD HH:MM:SS, got {} in column {}",
             shown(data.times[t]), shown(data.schema.time));
      if (t > static_cast<std::size_t>(data.sequences.offset[s])) gap[t] = static_cast<float>(now - before);
      before = now;
    }
  }
  RawInput input;
  input.name = data.schema.time;
  input.gap = true;
  add_input(raw, std::move(input), [&](std::size_t t) { return gap[t]; });
}

void add_history(RawDataset& raw) {
  const Sequences& s = raw.data.sequences;
  const Schema& schema = raw.data.schema;
  if (schema.targets.empty()) fail("--horizon: expected a column to predict, got none: name it with --target");
  const auto n_y = static_cast<std::size_t>(schema.n_y());
  const bool there = s.has_targets();  // a file to predict may have none at all
  if (schema.task == Task::kClassification) {
    RawInput input;
    input.name = schema.targets.at(0);
    input.words = true;
    input.known = schema.classes;
    add_input(raw, std::move(input), [&](std::size_t t) {
      return there && s.weight[t] > 0.0F && s.label[t] >= 0 ? static_cast<float>(s.label[t]) : kMissingValue;
    });
    return;
  }
  for (std::size_t k = 0; k < n_y; ++k) {
    RawInput input;
    input.name = schema.targets[k];
    add_input(raw, std::move(input),
              [&](std::size_t t) { return there && s.weight[t] > 0.0F ? s.value[t * n_y + k] : kMissingValue; });
  }
}

void set_aside_unknown(Dataset& data, const std::vector<std::string>& names, bool needed) {
  constexpr std::size_t kMostNames = 5;
  Sequences& s = data.sequences;
  if (names.empty()) return;
  data.unknown.step = Column<std::int64_t>(s.weight.store());
  data.unknown.step_weight = Column<float>(s.weight.store());
  for (std::size_t t = 0; t < s.label.size(); ++t) {
    if (s.label[t] >= 0) continue;
    if (s.weight[t] > 0.0F) {
      ++data.unknown.count;
      data.unknown.weight += static_cast<double>(s.weight[t]);
      data.unknown.step.push_back(static_cast<std::int64_t>(t));
      data.unknown.step_weight.push_back(s.weight[t]);
    }
    s.label[t] = 0;
    s.weight[t] = 0.0F;
  }
  if (data.unknown.count == 0) return;
  std::string listed;
  for (std::size_t i = 0; i < std::min(kMostNames, names.size()); ++i) listed += (i == 0 ? "" : ", ") + shown(names[i]);
  if (names.size() > kMostNames) listed += ", ...";
  const bool one = data.unknown.count == 1;
  data.unknown.note = fmt::format("{} target{} of a class that was not seen in training ({}): {} as wrong",
                                  data.unknown.count, one ? " is" : "s are", listed, one ? "it counts" : "they count");
  if (needed) data.notes.push_back(data.unknown.note);
  if (needed || std::any_of(s.weight.begin(), s.weight.end(), [](float w) { return w > 0.0F; })) return;
  s.label.clear();
  s.weight.clear();
}

void shape_targets(Dataset& data, bool needed) {
  Sequences& s = data.sequences;
  if (!s.has_targets()) return;
  if (data.schema.horizon > 0) shift(s, static_cast<std::size_t>(data.schema.horizon));
  if (data.schema.target_per == TargetPer::kSequence) keep_last(s);
  if (std::any_of(s.weight.begin(), s.weight.end(), [](float w) { return w > 0.0F; })) return;
  if (!needed) {
    s.label.clear();
    s.value.clear();
    s.weight.clear();
    return;
  }
  if (data.schema.horizon == 0) fail("expected steps with a target and a weight above 0, got none");
  fail("--horizon: expected sequences longer than {} steps, got none with a target so far ahead", data.schema.horizon);
}

}  // namespace remede

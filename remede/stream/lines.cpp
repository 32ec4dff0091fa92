#include "remede/stream/lines.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "remede/base/error.h"
#include "remede/base/text.h"
#include "remede/data/csv.h"
#include "remede/data/number.h"
#include "remede/data/order.h"
#include "remede/data/raw.h"
#include "remede/model/checksum.h"
#include "remede/model/predict.h"

namespace remede {
namespace {

using LineJson = nlohmann::ordered_json;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

std::string chosen_column(const std::optional<std::string>& given, const std::string& of_model) {
  if (!given) return of_model;
  return *given == "none" ? "" : *given;
}

std::string json_text(std::string_view text) {
  return LineJson(text).dump(-1, ' ', false, LineJson::error_handler_t::replace);
}

void append_json_number(float value, std::string& out) {
  if (std::isfinite(value)) {
    append_float(out, value);
  } else {
    out += "null";
  }
}

}  // namespace

LineSession::LineSession(const Model& model, const LineOptions& options)
    : model_(model),
      format_(options.format),
      id_(chosen_column(options.id, model.schema.id)),
      time_(chosen_column(options.time, model.schema.time)),
      checksum_(checksum(model)),
      inputs_(model.schema),
      pool_(model, options.most_ids) {
  every_row_ = id_ == "row";
  if (id_ == "row" || id_ == "file") id_.clear();
  time_may_lack_ = every_row_ && !options.time && !inputs_.needs_time();
  if (time_may_lack_ && format_ == LineFormat::kJson) time_.clear();
  for (const std::string& name : {id_, time_})
    if (!name.empty() && (inputs_.find(name) || id_ == time_))
      fail("expected one role for column {}, got several", shown(name));
  if (inputs_.needs_time() && time_.empty())
    fail("expected the name of the time column (--time NAME), because the time since the previous step is an input");
  if (options.watch) watch_.emplace(model, inputs_);
}

bool LineSession::add_too_long(std::size_t bytes) {
  position_.bytes += bytes;
  ++position_.lines;
  ++position_.malformed;
  problem_ = fmt::format("line {}: expected at most {} bytes, got {}", position_.lines, kMostLine, bytes);
  return false;
}

bool LineSession::add(std::string_view line, std::size_t bytes, std::string& out) {
  position_.bytes += bytes;
  ++position_.lines;
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (position_.lines == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  if (trim(line).empty()) return true;
  if (format_ == LineFormat::kGuess) {
    format_ = trim(line).front() == '{' ? LineFormat::kJson : LineFormat::kCsv;
    if (time_may_lack_ && format_ == LineFormat::kJson) time_.clear();
  }
  if (format_ == LineFormat::kCsv && header_.empty()) {
    read_header(line);
    write_header(out);
    return true;
  }
  const std::size_t before = out.size();
  try {
    if (format_ == LineFormat::kCsv && again_header(line)) return true;
    Row row;
    if (format_ == LineFormat::kCsv) {
      read_csv(line, row);
    } else {
      read_json(line, row);
    }
    answer(row, out);
    ++position_.rows;
    return true;
  } catch (const Error& error) {
    out.resize(before);
    ++position_.malformed;
    problem_ = fmt::format("line {}: {}", position_.lines, error.what());
    return false;
  }
}

// The next cell from `at` on; false behind the last. Quotes are taken off.
bool LineSession::read_cell(std::string_view line, std::size_t& at, std::string_view& cell) {
  if (at > line.size()) return false;
  if (at == line.size() || line[at] != '"') {
    const std::size_t end = std::min(line.find(separator_, at), line.size());
    cell = line.substr(at, end - at);
    at = end + 1;
    return true;
  }
  std::string& text = unquoted_.emplace_back();
  std::size_t i = at + 1;
  for (;; ++i) {
    if (i >= line.size()) fail("expected a quote that ends the cell, got the end of the line");
    if (line[i] != '"') {
      text += line[i];
    } else if (i + 1 < line.size() && line[i + 1] == '"') {
      text += '"';
      ++i;
    } else {
      break;
    }
  }
  if (i + 1 < line.size() && line[i + 1] != separator_)
    fail("expected a separator after a quoted cell, got {}", shown(line.substr(i + 1, 1)));
  at = i + 2;
  cell = text;
  return true;
}

void LineSession::read_header(std::string_view line) {
  bool in_quotes = false;
  std::size_t commas = 0, semicolons = 0, tabs = 0;
  for (const char c : line) {
    in_quotes = in_quotes != (c == '"');
    if (in_quotes) continue;
    commas += c == ',' ? 1 : 0;
    semicolons += c == ';' ? 1 : 0;
    tabs += c == '\t' ? 1 : 0;
  }
  if (commas == 0 && semicolons + tabs > 0) separator_ = semicolons >= tabs ? ';' : '\t';
  const std::vector<std::string> names = cells_of(line);
  const auto expect = [&](const std::string& name, const char* what) {
    const auto count = std::count(names.begin(), names.end(), name);
    if (count != 1)
      fail("header: expected the {} {} once, got {} among the columns {}", what, shown(name),
           count == 0 ? "none" : "several", shown(fmt::format("{}", fmt::join(names, ", "))));
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  if (time_may_lack_ && std::find(names.begin(), names.end(), time_) == names.end()) time_.clear();
  cells_.assign(names.size(), {});
  for (std::size_t c = 0; c < inputs_.columns().size(); ++c)
    cells_[expect(inputs_.columns()[c], "input column")] = {Part::kInput, c};
  if (!time_.empty()) cells_[expect(time_, "time column (--time none: do without)")] = {Part::kTime, 0};
  if (!id_.empty()) cells_[expect(id_, "id column (--id none: one sequence)")] = {Part::kId, 0};
  header_ = line;
  names_ = names;
}

std::vector<std::string> LineSession::cells_of(std::string_view line) {
  std::vector<std::string> cells;
  std::string_view cell;
  unquoted_.clear();
  for (std::size_t at = 0; read_cell(line, at, cell);) cells.emplace_back(trim(cell));
  return cells;
}

// Files one after the other: the names of the columns once more, which may have another order and a byte order mark.
bool LineSession::again_header(std::string_view line) {
  if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  if (line == header_) return true;
  std::string_view first = trim(line.substr(0, line.find(separator_)));
  if (first.size() > 1 && first.front() == '"' && first.back() == '"') first = first.substr(1, first.size() - 2);
  if (std::find(names_.begin(), names_.end(), first) == names_.end()) return false;  // most rows end here
  const std::vector<std::string> cells = cells_of(line);
  if (!std::is_permutation(cells.begin(), cells.end(), names_.begin(), names_.end())) return false;
  read_header(line);
  return true;
}

void LineSession::write_header(std::string& out) const {
  std::vector<std::string> names;
  if (!id_.empty()) names.push_back(id_);
  if (!time_.empty()) names.push_back(time_);
  if (model_.classifies() || model_.schema.targets.size() == 1) names.emplace_back("prediction");
  for (const float q : model_.objective().quantiles) names.push_back(fmt::format("q_{}", q));
  if (model_.classifies()) {
    for (const std::string& c : model_.schema.classes) names.push_back("p_" + c);
  } else if (model_.schema.targets.size() > 1) {
    for (const std::string& target : model_.schema.targets) names.push_back("prediction_" + target);
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += ',';
    append_csv_text(names[i], out);
  }
  out += '\n';
}

void LineSession::read_number_or_text(std::size_t column, std::string_view cell) {
  double value = 0;
  if (!cell.empty() && !inputs_.reads_words(column) &&
      parse_plain_number(cell.data(), value) == cell.data() + cell.size()) {
    inputs_.number(column, value);
  } else {
    inputs_.text(column, cell);
  }
}

void LineSession::read_csv(std::string_view line, Row& row) {
  if (!unquoted_.empty()) unquoted_.clear();
  std::string_view cell;
  std::size_t count = 0;
  for (std::size_t at = 0; read_cell(line, at, cell); ++count) {
    if (count == cells_.size()) fail("expected {} cells, got more", cells_.size());
    switch (cells_[count].part) {
      case Part::kSkip:
        break;
      case Part::kId:
        row.id = cell;
        break;
      case Part::kTime:
        row.time = cell;
        break;
      case Part::kInput:
        read_number_or_text(cells_[count].column, cell);
        break;
    }
  }
  if (count != cells_.size()) fail("expected {} cells, got {}", cells_.size(), count);
}

void LineSession::read_json(std::string_view line, Row& row) {
  std::unordered_set<std::string> keys;
  const auto expect_once = [&](int depth, LineJson::parse_event_t event, LineJson& key) {
    if (event == LineJson::parse_event_t::key && depth == 1 && !keys.insert(key.get<std::string>()).second)
      fail("expected every key once, got {} twice", shown(key.get<std::string>()));
    return true;
  };
  const LineJson object = LineJson::parse(line, expect_once, false);
  if (!object.is_object()) fail("expected a JSON object, got {}", shown(line));
  const auto member = [&](const std::string& name) -> const LineJson& {
    const auto found = object.find(name);
    if (found == object.end()) fail("expected the key {} (null for a missing value), got none", shown(name));
    return *found;
  };
  unquoted_.clear();
  const auto text_of = [&](const LineJson& value, const std::string& name, std::string& json) -> std::string_view {
    if (!value.is_string() && !value.is_number())
      fail("expected a text or a number for {}, got {}", shown(name), shown(value.dump()));
    json = value.dump(-1, ' ', false, LineJson::error_handler_t::replace);
    return unquoted_.emplace_back(value.is_string() ? value.get<std::string>() : json);
  };
  for (std::size_t c = 0; c < inputs_.columns().size(); ++c) {
    const LineJson& value = member(inputs_.columns()[c]);
    if (value.is_null()) {
      inputs_.missing(c);
    } else if (value.is_number()) {
      if (inputs_.reads_words(c)) {
        inputs_.text(c, value.dump());
      } else {
        inputs_.number(c, value.get<double>());
      }
    } else if (value.is_string()) {
      inputs_.text(c, value.get_ref<const std::string&>());
    } else if (value.is_boolean()) {
      inputs_.text(c, value.get<bool>() ? "true" : "false");
    } else {
      fail("expected a number, a text or null for {}, got {}", shown(inputs_.columns()[c]), shown(value.dump()));
    }
  }
  if (!time_.empty()) row.time = text_of(member(time_), time_, row.time_json);
  if (id_.empty()) return;
  const LineJson& id = member(id_);
  constexpr double kInexact = 0x1p53;  // from here on one double stands for several whole numbers
  if (id.is_number_float() && std::fabs(id.get<double>()) >= kInexact)
    fail("expected a whole number of at most 64 bits or a text for the id {}, got {}", shown(id_), id.dump());
  row.id = text_of(id, id_, row.id_json);
}

void LineSession::answer(const Row& row, std::string& out) {
  double now = std::numeric_limits<double>::quiet_NaN();
  if (!id_.empty() && row.id.empty()) fail("column {}: expected the id of a sequence, got an empty cell", shown(id_));
  if (!time_.empty() && parse_cell(row.time, now) == CellKind::kMissing)
    fail("column {}: expected a time, got {}", shown(time_), row.time.empty() ? "an empty cell" : shown(row.time));
  const bool timed = !time_.empty() && parse_time(row.time, now);
  if (inputs_.needs_time() && !timed)
    fail("column {}: expected a number or a date as YYYY-MM-DD HH:MM:SS, got {}", shown(time_), shown(row.time));
  if (!timed) now = std::numeric_limits<double>::quiet_NaN();
  if (every_row_) pool_.clear();
  const StreamPool::Slot slot = pool_.find(row.id);
  const double before = pool_.time(slot);
  const std::string_view last = pool_.time_text(slot);
  if (last.empty() ? now < before : !may_follow(last, row.time))
    fail("column {}: expected times in order within a sequence, got {} after {}", shown(time_), shown(row.time),
         last.empty() ? "a later one" : shown(last));
  const std::span<const float> x = inputs_.finish(now, before);
  if (watch_) watch_->add(x);
  const std::span<const float> y = pool_.step(slot, x);
  if (timed) pool_.set_time(slot, now);
  pool_.set_time_text(slot, row.time);
  last_ = {row.id, x, pool_.state(slot), y};
  if (format_ == LineFormat::kCsv) {
    answer_csv(row, y, out);
  } else {
    answer_json(row, y, out);
  }
}

void LineSession::answer_csv(const Row& row, std::span<const float> y, std::string& out) const {
  if (!id_.empty()) {
    append_csv_text(row.id, out);
    out += ',';
  }
  if (!time_.empty()) {
    append_csv_text(row.time, out);
    out += ',';
  }
  if (model_.classifies()) {
    append_csv_text(model_.schema.classes[static_cast<std::size_t>(arg_max(y))], out);
    out += ',';
  } else if (!model_.objective().quantiles.empty()) {
    append_float(out, y[static_cast<std::size_t>(point_output(model_.objective(), 0))]);
    out += ',';
  }
  for (std::size_t o = 0; o < y.size(); ++o) {
    if (o > 0) out += ',';
    append_float(out, y[o]);
  }
  out += '\n';
}

void LineSession::answer_json(const Row& row, std::span<const float> y, std::string& out) const {
  out += '{';
  if (!id_.empty()) out += fmt::format("{}: {}, ", json_text(id_), row.id_json);
  if (!time_.empty()) out += fmt::format("{}: {}, ", json_text(time_), row.time_json);
  const auto object = [&](const std::vector<std::string>& names) {
    out += '{';
    for (std::size_t o = 0; o < y.size(); ++o) {
      out += (o == 0 ? "" : ", ") + json_text(names[o]) + ": ";
      append_json_number(y[o], out);
    }
    out += '}';
  };
  out += "\"prediction\": ";
  if (model_.classifies()) {
    out += json_text(model_.schema.classes[static_cast<std::size_t>(arg_max(y))]) + ", \"probabilities\": ";
    object(model_.schema.classes);
  } else if (!model_.objective().quantiles.empty()) {
    append_json_number(y[static_cast<std::size_t>(point_output(model_.objective(), 0))], out);
    out += ", \"quantiles\": ";
    std::vector<std::string> names;
    for (const float q : model_.objective().quantiles) names.push_back(fmt::format("{}", q));
    object(names);
  } else if (y.size() == 1) {
    append_json_number(y[0], out);
  } else {
    object(model_.schema.targets);
  }
  out += "}\n";
}

}  // namespace remede

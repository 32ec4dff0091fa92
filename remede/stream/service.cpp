#include "remede/stream/service.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "remede/base/error.h"
#include "remede/base/json.h"
#include "remede/base/text.h"
#include "remede/model/names.h"

namespace remede {
namespace {

using ServiceJson = nlohmann::ordered_json;

std::string compact(const ServiceJson& json) {
  return json.dump(-1, ' ', false, ServiceJson::error_handler_t::replace);
}

LineOptions as_json_rows(LineOptions options) {
  options.format = LineFormat::kJson;
  return options;
}

// The cells of a tree come first in its part of the state; what they release and the last answer may follow.
std::vector<std::size_t> cell_slots(const Model& model) {
  std::vector<std::size_t> slots;
  std::size_t begin = 0;
  for (const Tree& tree : model.trees) {
    for (int k = 0; k < tree.n_m; ++k) slots.push_back(begin + static_cast<std::size_t>(k));
    const bool keeps_answer = tree.form.output_order == OutputOrder::kFirst;
    begin += static_cast<std::size_t>(tree.memory_size() + (keeps_answer ? tree.n_y : 0));
  }
  return slots;
}

ServiceJson finite_or_null(float value) { return std::isfinite(value) ? ServiceJson(value) : ServiceJson(nullptr); }

bool blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

}  // namespace

std::vector<std::string> all_cell_names(const Model& model) {
  std::vector<std::string> names;
  for (std::size_t t = 0; t < model.trees.size(); ++t)
    for (const std::string& name : cell_names(model, model.trees[t]))
      names.push_back(model.trees.size() == 1 ? name : fmt::format("tree {} {}", t + 1, name));
  return names;
}

RowService::RowService(const Model& model, LineOptions options)
    : model_(model), session_(model, as_json_rows(std::move(options))), cells_(cell_slots(model)), kept_(kKeptRows) {}

// One row; the lock is held. False: problem_ says why.
bool RowService::add(std::string_view row, std::string& out) {
  const std::uint64_t before = session_.position().rows;
  if (!session_.add(row, row.size(), out)) {
    problem_ = session_.problem();
    const std::size_t colon = problem_.find(": ");  // "line 17: ...": requests have no lines
    if (problem_.starts_with("line ") && colon != std::string::npos) problem_ = problem_.substr(colon + 2);
    return false;
  }
  if (session_.position().rows == before) {  // a byte order mark alone is a blank line
    problem_ = "expected a JSON object, got nothing";
    return false;
  }
  keep();
  return true;
}

void RowService::keep() {
  const AnsweredRow& last = session_.last();
  Kept& kept = kept_[++rows_ % kKeptRows];
  kept.id = last.id;
  kept.values.assign(last.x.begin(), last.x.end());
  for (const std::size_t slot : cells_) kept.values.push_back(last.state[slot]);
  kept.values.insert(kept.values.end(), last.y.begin(), last.y.end());
}

// answers: of the rows before it, separated by commas.
ServiceReply RowService::refused(std::size_t row, bool batch, std::string answers) const {
  std::string text = fmt::format("{{\"error\": {}", compact(problem_));
  if (batch) text += fmt::format(", \"row\": {}, \"answers\": [{}]", row, answers);
  return {400, text + "}\n"};
}

ServiceReply RowService::predict(std::string_view body) {
  const std::size_t begin = body.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && body[begin] == '[') return predict_array(body);
  if (begin == std::string_view::npos)
    return {400, "{\"error\": \"expected a JSON object or an array of objects, got nothing\"}\n"};
  ServiceReply reply;
  const std::lock_guard lock(mutex_);
  return add(body, reply.text) ? reply : refused(0, false, "");
}

ServiceReply RowService::predict_array(std::string_view body) {
  ServiceJson rows;
  try {
    rows = parse_json(body, "body");
  } catch (const Error& error) {
    return {400, fmt::format("{{\"error\": {}}}\n", compact(error.what()))};
  }
  std::string answers, answer;
  const std::lock_guard lock(mutex_);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    answer.clear();
    if (!add(compact(rows[k]), answer)) return refused(k, true, std::move(answers));
    answer.pop_back();  // the end of the line
    answers += (answers.empty() ? "" : ", ") + answer;
  }
  return {200, "[" + answers + "]\n"};
}

ServiceReply RowService::predict_lines(std::string_view body) {
  ServiceReply reply;
  std::size_t row = 0;
  const std::lock_guard lock(mutex_);
  for (std::size_t begin = 0; begin < body.size();) {
    const std::size_t end = std::min(body.find('\n', begin), body.size());
    const std::string line(body.substr(begin, end - begin));
    begin = end + 1;
    if (blank(line)) continue;
    if (!add(line, reply.text)) {
      std::replace(reply.text.begin(), reply.text.end(), '\n', ',');
      if (!reply.text.empty()) reply.text.pop_back();
      return refused(row, true, std::move(reply.text));
    }
    ++row;
  }
  return reply;
}

ServiceReply RowService::forget(const std::string& id) {
  const std::lock_guard lock(mutex_);
  if (session_.forget(id)) return {200, "{\"forgotten\": " + compact(id) + "}\n"};
  return {404, fmt::format("{{\"error\": {}}}\n",
                           compact("expected the id of a sequence that is remembered, got " + shown(id)))};
}

ServiceReply RowService::status() const {
  const std::lock_guard lock(mutex_);
  const LinePosition& at = session_.position();
  return {200, compact({{"rows", at.rows},
                        {"malformed", at.malformed},
                        {"sequences", session_.pool().size()},
                        {"forgotten", session_.pool().evicted()}}) +
                   "\n"};
}

ServiceReply RowService::recent(std::uint64_t after, std::size_t most) const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t shown_rows = std::min<std::uint64_t>({most, kKeptRows, rows_ - std::min(after, rows_)});
  ServiceJson rows = ServiceJson::array();
  for (std::uint64_t n = rows_ - shown_rows + 1; n <= rows_; ++n) {
    const Kept& kept = kept_[n % kKeptRows];
    ServiceJson values = ServiceJson::array();
    for (const float v : kept.values) values.push_back(finite_or_null(v));
    rows.push_back({{"id", kept.id}, {"values", std::move(values)}});
  }
  return {200, compact({{"last", rows_}, {"rows", std::move(rows)}}) + "\n"};
}

std::string RowService::save() const {
  const std::lock_guard lock(mutex_);
  return session_.save();
}

void RowService::load(std::string_view bytes, const std::string& where) {
  const std::lock_guard lock(mutex_);
  session_.load(bytes, where);
}

LinePosition RowService::position() const {
  const std::lock_guard lock(mutex_);
  return session_.position();
}

}  // namespace remede

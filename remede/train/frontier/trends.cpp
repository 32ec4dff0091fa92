#include "remede/train/frontier/trends.h"

#include <algorithm>
#include <string>

#include "remede/base/error.h"

namespace remede::frontier {
namespace {

using laws::Group;

constexpr double kNeverTested = -1e3;  // index of a feature that no split is to test

bool any_trend(const std::vector<Trend>& trend) {
  return std::any_of(trend.begin(), trend.end(), [](Trend t) { return t != Trend::kAny; });
}

void set_trend(const std::string& name, const char* flag, Trend trend, const Schema& schema, std::vector<Trend>& to) {
  bool found = false;
  for (std::size_t i = 0; i < schema.inputs.size(); ++i) {
    const InputCode* code = schema.code_of(schema.inputs[i]);
    if (schema.inputs[i] != name && (code == nullptr || code->column != name)) continue;
    if (code != nullptr && !code->gap)
      fail("--{}: expected a column of numbers, got '{}', which holds words", flag, name);
    if (to[i] != Trend::kAny) fail("--{}: expected every column once, got '{}' again", flag, name);
    to[i] = trend;
    found = true;
  }
  if (!found) fail("--{}: expected the name of an input, got '{}'", flag, name);
}

}  // namespace

std::vector<Trend> trends_of(const Config& config, const Schema& schema) {
  std::vector<Trend> trend(schema.inputs.size(), Trend::kAny);
  for (const std::string& name : config.increasing.value_or(ColumnNames()).list)
    set_trend(name, "increasing", Trend::kRising, schema, trend);
  for (const std::string& name : config.decreasing.value_or(ColumnNames()).list)
    set_trend(name, "decreasing", Trend::kFalling, schema, trend);
  if (any_trend(trend) && config.objective == Loss::kQuantile)
    fail(
        "--increasing, --decreasing: expected an objective with one output, got quantile: a wider interval may move "
        "one of its ends in the other direction");
  if (any_trend(trend) && schema.task == Task::kClassification && schema.classes.size() != 2)
    fail("--increasing, --decreasing: expected a number or two classes to predict, got {} classes",
         schema.classes.size());
  return trend;
}

bool reads_trends(const std::vector<Trend>& trend, int k, int cells) { return any_trend(trend) && k < (cells + 1) / 2; }

// Classification with two classes: the second class's score rises, and the first class has no score of its own.
std::vector<std::int8_t> signs_of(const std::vector<Trend>& trend, const laws::Shape& s) {
  std::vector<std::int8_t> sign(s.total(), 0);
  if (!any_trend(trend)) return sign;
  const auto n_x = static_cast<std::size_t>(s.n_x), k_n = static_cast<std::size_t>(s.cells());
  const auto n_z = static_cast<std::size_t>(s.n_z());
  for (std::size_t k = 0; k < k_n; ++k)
    for (std::size_t i = 0; i < n_x; ++i) sign[s.at(Group::kInput, k * n_x + i)] = static_cast<std::int8_t>(trend[i]);
  for (std::size_t k = 0; k < k_n; ++k)
    for (std::size_t j = 0; j < k; ++j)
      if (reads_trends(trend, static_cast<int>(j), s.cells())) sign[s.at(Group::kEarlier, k * k_n + j)] = 1;
  const auto answers = [&](std::size_t first) {
    for (std::size_t i = 0; i < n_x; ++i) sign[first + i] = static_cast<std::int8_t>(trend[i]);
    for (std::size_t k = 0; k < k_n; ++k)
      if (reads_trends(trend, static_cast<int>(k), s.cells())) sign[first + n_x + k] = sign[first + n_x + k_n + k] = 1;
  };
  for (std::size_t o = 0; o < static_cast<std::size_t>(s.n_y); ++o) answers(s.at(Group::kLinear, o * n_z));
  for (std::size_t row = 0; row < s.size(Group::kLeafLinear) / std::max<std::size_t>(1, n_z); ++row)
    answers(s.at(Group::kLeafLinear, row * n_z));
  return sign;
}

void forbid(const std::vector<Trend>& trend, laws::Parameters& p) {
  if (!any_trend(trend)) return;
  const laws::Shape& s = p.shape;
  const auto n_x = static_cast<std::size_t>(s.n_x), k_n = static_cast<std::size_t>(s.cells());
  const auto drop = [&](std::size_t at) { p.used[at] = 0, p.values[at] = 0; };
  for (std::size_t k = 0; k < k_n; ++k) {
    const bool reads = reads_trends(trend, static_cast<int>(k), s.cells());
    for (std::size_t i = 0; i < n_x; ++i) {
      if (trend[i] == Trend::kAny) continue;
      drop(s.at(Group::kTapInput, k * n_x + i));  // a tap could speed up or slow down what goes the other way
      if (!reads) drop(s.at(Group::kInput, k * n_x + i));
    }
    if (reads) drop(s.at(Group::kTapLevel, k));
    for (std::size_t j = 0; j < k; ++j)
      if (!reads && reads_trends(trend, static_cast<int>(j), s.cells())) drop(s.at(Group::kEarlier, k * k_n + j));
  }
  for (int node = 0; node < s.nodes(); ++node)
    for (std::size_t f = 0; f < static_cast<std::size_t>(s.n_v()); ++f) {
      const bool tied = f < n_x ? trend[f] != Trend::kAny : reads_trends(trend, static_cast<int>(f - n_x), s.cells());
      if (tied) p[Group::kIndex][static_cast<std::size_t>(node * s.n_v()) + f] = kNeverTested;
    }
}

}  // namespace remede::frontier

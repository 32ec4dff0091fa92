// The data summary of the report.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "remede/base/text.h"
#include "remede/draw/chart.h"
#include "remede/pages/html.h"
#include "remede/pages/report_parts.h"

namespace remede {
namespace {

constexpr std::size_t kBins = 30;
constexpr std::size_t kMaxRows = 200;  // inputs and classes listed

struct Summary {
  std::size_t known = 0, missing = 0;
  double low = std::numeric_limits<double>::infinity(), high = -low, mean = 0, deviation = 0;
};

// Mean and spread in one pass, without the cancellation of sums of squares.
Summary summary(std::span<const float> values) {
  Summary s;
  double sum = 0;
  for (const float value : values) {
    if (std::isnan(value)) {
      ++s.missing;
      continue;
    }
    const auto v = static_cast<double>(value);
    ++s.known;
    s.low = std::min(s.low, v);
    s.high = std::max(s.high, v);
    const double d = v - s.mean;
    s.mean += d / static_cast<double>(s.known);
    sum += d * (v - s.mean);
  }
  if (s.known > 0) s.deviation = std::sqrt(sum / static_cast<double>(s.known));
  return s;
}

std::string count(std::size_t n) { return grouped(static_cast<long long>(n)); }

std::vector<std::string> value_row(const std::string& name, std::span<const float> values, const Ink& ink) {
  const Summary s = summary(values);
  const auto total = static_cast<double>(s.known + s.missing);
  const std::string missing = s.missing == 0 ? "0" : percent(static_cast<double>(s.missing) / total);
  if (s.known == 0) return {xml_escaped(name), missing, "", "", "", "", ""};
  const auto bars = histogram(values, s.low, s.high, kBins);
  return {
      xml_escaped(name),
      missing,
      short_number(s.low, 4),
      short_number(s.mean, 4),
      short_number(s.high, 4),
      short_number(s.deviation, 4),
      small_bars(bars, ink, fmt::format("{} from {} to {}", name, short_number(s.low, 4), short_number(s.high, 4)))};
}

std::vector<float> column(std::span<const float> array, std::size_t width, std::size_t index) {
  std::vector<float> values;
  for (std::size_t at = index; at < array.size(); at += width) values.push_back(array[at]);
  return values;
}

std::string input_table(const Model& model, const Sequences& data) {
  std::vector<std::vector<std::string>> rows;
  const auto n_x = static_cast<std::size_t>(data.n_x);
  for (std::size_t i = 0; i < std::min(n_x, kMaxRows); ++i)
    rows.push_back(value_row(model.schema.inputs[i], column(data.x, n_x, i), ink::kInputLine));
  std::string body = html::table({"input", "missing", "minimum", "mean", "maximum", "sd", ""}, rows);
  if (n_x > kMaxRows) body += html::paragraph(fmt::format("... and {} more inputs.", n_x - kMaxRows));
  return body;
}

std::string class_table(const Model& model, const Sequences& data) {
  std::vector<double> counts(model.schema.classes.size());
  double total = 0, most = 1;
  for (std::size_t t = 0; t < data.steps(); ++t) {
    if (data.weight[t] <= 0) continue;
    most = std::max(most, counts[static_cast<std::size_t>(data.label[t])] += 1);
    total += 1;
  }
  std::vector<std::vector<std::string>> rows;
  for (std::size_t c = 0; c < std::min(counts.size(), kMaxRows); ++c)
    rows.push_back({xml_escaped(model.schema.classes[c]), count(static_cast<std::size_t>(counts[c])),
                    total > 0 ? percent(counts[c] / total) : "-",
                    fmt::format("<span class=\"rail\"><i style=\"width:{:.1f}%;background:var(--rm-{})\"></i></span>",
                                100 * counts[c] / most, class_ink(static_cast<int>(c)).name)});
  return html::table({"class", "steps", "share", ""}, rows);
}

std::string target_table(const Model& model, const Sequences& data) {
  if (!data.has_targets()) return "";
  if (model.classifies()) return class_table(model, data);
  const auto n_y = static_cast<std::size_t>(data.n_y);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t o = 0; o < std::min(n_y, kMaxRows); ++o) {
    std::vector<float> values = column(data.value, n_y, o);
    for (std::size_t t = 0; t < values.size(); ++t)
      if (data.weight[t] <= 0) values[t] = std::numeric_limits<float>::quiet_NaN();
    rows.push_back(value_row(model.schema.targets[o], values, class_ink(0)));
  }
  return html::table({"target", "missing", "minimum", "mean", "maximum", "sd", ""}, rows);
}

}  // namespace

std::string data_section(const Model& model, const Dataset& data) {
  const Sequences& s = data.sequences;
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < s.count(); ++i) lengths.push_back(s.length(i));
  std::sort(lengths.begin(), lengths.end());
  const auto targets =
      static_cast<std::size_t>(std::count_if(s.weight.begin(), s.weight.end(), [](float w) { return w > 0; }));
  const std::string length = lengths.front() == lengths.back()
                                 ? count(lengths.front())
                                 : fmt::format("{} to {}, half of them up to {}", count(lengths.front()),
                                               count(lengths.back()), count(lengths[(lengths.size() - 1) / 2]));
  std::string body = html::table({}, {{"sequences", count(s.count())},
                                      {"steps", count(s.steps())},
                                      {"steps per sequence", length},
                                      {"steps with a target", count(targets)}});
  body += input_table(model, s) + target_table(model, s);
  for (const std::string& note : data.notes) body += html::paragraph(note);
  return html::section("data", "Data", body);
}

}  // namespace remede

#include "remede/draw/chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "remede/base/arithmetic.h"
#include "remede/base/text.h"

namespace remede {
namespace {

constexpr TextStyle kTick{10.5, &ink::kSoft, false, false, Anchor::kEnd};
constexpr TextStyle kTickBelow{10.5, &ink::kSoft, false, false, Anchor::kMiddle};

struct Extent {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();

  void add(double v) {
    if (!std::isfinite(v)) return;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  bool empty() const { return low > high; }
  void widen() {
    if (empty()) low = 0, high = 1;
    if (high - low <= 0) low -= 0.5, high += 0.5;
  }
};

// The plot within a chart, and its scales.
struct Plot {
  double left, top, right, bottom;
  Extent x, y;
  bool logarithmic = false;

  double across(double v) const { return left + (v - x.low) / (x.high - x.low) * (right - left); }
  double up(double v) const {
    const double part =
        logarithmic ? (log(v) - log(y.low)) / (log(y.high) - log(y.low)) : (v - y.low) / (y.high - y.low);
    return bottom - part * (bottom - top);
  }
};

std::string tick_text(double v, bool share) { return share ? percent(v) : short_number(v, 3); }

// 1, 2 and 5 times the powers of ten.
std::vector<double> log_ticks(double low, double high) {
  std::vector<double> ticks;
  double power = 1;
  while (power > low) power /= 10;
  while (power * 10 <= low) power *= 10;
  const bool many = high / low > 300;
  for (; power <= high; power *= 10)
    for (const double factor : {1.0, 2.0, 5.0})
      if (power * factor >= low && power * factor <= high && (factor == 1 || !many)) ticks.push_back(power * factor);
  return ticks;
}

void draw_axes(Canvas& canvas, const Plot& plot, const ChartOptions& options) {
  const auto ticks = plot.logarithmic ? log_ticks(plot.y.low, plot.y.high) : round_ticks(plot.y.low, plot.y.high, 5);
  for (const double v : ticks) {
    canvas.line(plot.left, plot.up(v), plot.right, plot.up(v), ink::kGrid);
    canvas.text(plot.left - 8, plot.up(v) + 3.5, tick_text(v, options.share), kTick);
  }
  for (const double v : round_ticks(plot.x.low, plot.x.high, 8))
    canvas.text(plot.across(v), plot.bottom + 16, short_number(v, 4), kTickBelow);
  canvas.line(plot.left, plot.bottom, plot.right, plot.bottom, ink::kLine);
  if (!options.x_name.empty()) canvas.text((plot.left + plot.right) / 2, plot.bottom + 33, options.x_name, kTickBelow);
}

void draw_series(Canvas& canvas, const Plot& plot, const Series& series, const ChartOptions& options) {
  std::string path;
  bool open = false;
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    const double v = series.values[i];
    if (!std::isfinite(v)) {
      open = false;
      continue;
    }
    const double x = options.first + options.step * static_cast<double>(i);
    path += fmt::format("{}{} {}", open ? "L" : "M", coordinate(plot.across(x)), coordinate(plot.up(v)));
    open = true;
  }
  canvas.path(path, *series.ink, 2, " stroke-linejoin=\"round\"");
  if (series.values.size() == 1 && std::isfinite(series.values[0]))
    canvas.circle(plot.across(options.first), plot.up(series.values[0]), 3.5, *series.ink);
}

}  // namespace

std::vector<double> round_ticks(double low, double high, int count) {
  const double rough = (high - low) / count;
  if (!(rough > 0) || !std::isfinite(rough)) return {low};
  double power = 1;
  while (power > rough) power /= 10;
  while (power * 10 <= rough) power *= 10;
  const double ratio = rough / power * (1 - 1e-9);  // slightly less, so that 0.2 / 0.1 counts as 2
  const double step = ratio > 5 ? 10 * power : ratio > 2 ? 5 * power : ratio > 1 ? 2 * power : power;
  std::vector<double> ticks;
  for (double n = std::ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; n += 1) ticks.push_back(n * step);
  return ticks;
}

std::string line_chart(const std::vector<Series>& series, const ChartOptions& options) {
  Plot plot{56, 30, options.width - 14, options.height - 40, {}, {}, options.logarithmic};
  std::size_t most = 1;
  for (const Series& s : series) {
    most = std::max(most, s.values.size());
    for (const double v : s.values) plot.y.add(v);
  }
  plot.x.add(options.first);
  plot.x.add(options.first + options.step * static_cast<double>(most - 1));
  if (options.from_zero) plot.y.add(0);
  plot.x.widen();
  plot.y.widen();
  if (!options.logarithmic) plot.y.high += 0.04 * (plot.y.high - plot.y.low);
  if (options.share) plot.y.high = std::min(plot.y.high, 1.0);
  Canvas canvas;
  draw_axes(canvas, plot, options);
  double x = plot.left;
  for (const Series& s : series) {
    draw_series(canvas, plot, s, options);
    if (s.name.empty()) continue;
    const TextStyle style{12, &ink::kText, false, false, Anchor::kStart};
    canvas.rect(x, 10, 14, 4, 2, *s.ink);
    canvas.text(x + 20, 16, s.name, style);
    x += 20 + text_width(s.name, style) + 20;
  }
  return canvas.document(options.width, options.height, series.empty() ? "" : series[0].name, false);
}

std::string size_chart(std::span<const SizePoint> points, const ChartOptions& options, const std::string& name) {
  Plot plot{56, 30, options.width - 14, options.height - 40, {}, {}, false};
  for (const SizePoint& p : points) {
    plot.x.add(log(p.size));
    plot.y.add(p.score - p.error);
    plot.y.add(p.score + p.error);
  }
  plot.x.widen();
  plot.y.widen();
  Canvas canvas;
  for (const double v : round_ticks(plot.y.low, plot.y.high, 5)) {
    canvas.line(plot.left, plot.up(v), plot.right, plot.up(v), ink::kGrid);
    canvas.text(plot.left - 8, plot.up(v) + 3.5, tick_text(v, options.share), kTick);
  }
  for (double power = 1; power <= 1e9; power *= 10)
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double x = log(digit * power);
      if (x < plot.x.low || x > plot.x.high) continue;
      canvas.text(plot.across(x), plot.bottom + 16, short_number(digit * power, 4), kTickBelow);
    }
  canvas.line(plot.left, plot.bottom, plot.right, plot.bottom, ink::kLine);
  canvas.text((plot.left + plot.right) / 2, plot.bottom + 33, options.x_name, kTickBelow);
  canvas.text(plot.left, 16, name, {12, &ink::kText, false, false, Anchor::kStart});
  std::string path;
  for (const SizePoint& p : points) {
    const double x = plot.across(log(p.size));
    path += fmt::format("{}{} {}", path.empty() ? "M" : "L", coordinate(x), coordinate(plot.up(p.score)));
    canvas.line(x, plot.up(p.score - p.error), x, plot.up(p.score + p.error), ink::kLine);
  }
  canvas.path(path, class_ink(0), 2, " stroke-linejoin=\"round\"");
  for (const SizePoint& p : points)
    canvas.circle(plot.across(log(p.size)), plot.up(p.score), p.marked ? 6 : 3.5, class_ink(p.marked ? 1 : 0));
  return canvas.document(options.width, options.height, name, false);
}

std::vector<double> histogram(std::span<const float> values, double low, double high, std::size_t bins) {
  std::vector<double> counts(bins);
  if (!(high >= low)) return counts;
  for (const float value : values) {
    const auto v = static_cast<double>(value);
    if (!(v >= low && v <= high)) continue;
    const double part = high > low ? (v - low) / (high - low) : 0.5;
    counts[std::min(bins - 1, static_cast<std::size_t>(part * static_cast<double>(bins)))] += 1;
  }
  return counts;
}

std::string small_bars(std::span<const double> counts, const Ink& ink, const std::string& tip) {
  constexpr double kWidth = 120, kHeight = 26;
  double most = 1;
  for (const double c : counts) most = std::max(most, c);
  Canvas canvas;
  const double column = kWidth / static_cast<double>(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] <= 0) continue;
    const double height = std::max(1.0, counts[i] / most * kHeight);
    canvas.rect(static_cast<double>(i) * column, kHeight - height, std::max(1.0, column - 1), height, 0, ink);
  }
  return canvas.document(kWidth, kHeight, tip, false);
}

std::string scatter_chart(std::span<const float> targets, std::span<const float> answers, const std::string& name) {
  constexpr int kCells = 56;
  Plot plot{56, 14, 366, 324, {}, {}, false};
  for (const auto list : {targets, answers})
    for (const float v : list) plot.x.add(static_cast<double>(v));
  plot.x.widen();
  plot.y = plot.x;
  std::vector<double> counts(kCells * kCells);
  double most = 1;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!std::isfinite(targets[i]) || !std::isfinite(answers[i])) continue;
    const auto cell = [&](float v) {
      return std::min(kCells - 1,
                      static_cast<int>((static_cast<double>(v) - plot.x.low) / (plot.x.high - plot.x.low) * kCells));
    };
    double& count = counts[static_cast<std::size_t>(cell(answers[i]) * kCells + cell(targets[i]))];
    most = std::max(most, count += 1);
  }
  Canvas canvas;
  ChartOptions options;
  options.x_name = "target " + name;
  draw_axes(canvas, plot, options);
  canvas.line(plot.left, plot.bottom, plot.right, plot.top, ink::kLine, 1, " stroke-dasharray=\"4 4\"");
  const double size = (plot.right - plot.left) / kCells;
  for (int r = 0; r < kCells; ++r)
    for (int c = 0; c < kCells; ++c) {
      const double count = counts[static_cast<std::size_t>(r * kCells + c)];
      if (count == 0) continue;
      canvas.rect(plot.left + c * size, plot.bottom - (r + 1) * size, size, size, 0, class_ink(0), ink::kNone, 1,
                  fmt::format(" opacity=\"{:.2f}\"", 0.25 + 0.75 * std::sqrt(count / most)));
    }
  return canvas.document(380, 370, "answers against targets", false);
}

}  // namespace remede

// Small charts for pages, as SVG in the inks of the pictures. Deterministic: no libm.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "remede/draw/canvas.h"

namespace remede {

struct Series {
  std::string name;
  std::vector<double> values;  // NaN: a gap
  const Ink* ink = nullptr;
};

struct ChartOptions {
  double width = 640, height = 260;
  std::string x_name;        // under the axis
  double first = 1;          // what the first value stands for on it ...
  double step = 1;           // ... and the distance to the next
  bool logarithmic = false;  // the upright axis; REQUIRES: positive values
  bool from_zero = false;    // the upright axis begins at 0
  bool share = false;        // values are shares, written as percentages
};

std::string line_chart(const std::vector<Series>& series, const ChartOptions& options);

// Counts of values between low and high in equal parts, the last with its end. REQUIRES: bins > 0
std::vector<double> histogram(std::span<const float> values, double low, double high, std::size_t bins);

// Bars without axes, for a row of a table. tip: what a hover says.
std::string small_bars(std::span<const double> counts, const Ink& ink, const std::string& tip);

// Where answers (upright) stand against targets: darker where there are more.
std::string scatter_chart(std::span<const float> targets, std::span<const float> answers, const std::string& name);

// A score (upright) with its standard error over a size, which grows by the same factor for the same distance.
struct SizePoint {
  double size = 1;  // at least 1
  double score = 0;
  double error = 0;
  bool marked = false;
};
std::string size_chart(std::span<const SizePoint> points, const ChartOptions& options, const std::string& name);

// Round numbers that cover low .. high in about `count` steps.
std::vector<double> round_ticks(double low, double high, int count);

}  // namespace remede

#include "remede/pages/frontier.h"

#include <fmt/format.h>

#include "remede/base/text.h"
#include "remede/draw/chart.h"
#include "remede/draw/svg.h"
#include "remede/pages/html.h"
#include "remede/pages/web.h"

namespace remede {
namespace {

std::string score_cell(const FrontierRow& row, bool share) {
  return share ? fmt::format("{:.4f} ± {:.4f}", row.score, row.standard_error)
               : fmt::format("{:.5g} ± {:.2g}", row.score, row.standard_error);
}

std::string size_words(const Size& size) {
  return fmt::format("{} numbers, {} cells, {} splits", size.numbers, size.cells, size.splits);
}

}  // namespace

std::string frontier_page(const std::vector<FrontierRow>& rows, const FrontierPageOptions& options) {
  std::vector<SizePoint> points;
  std::vector<std::vector<std::string>> cells;
  std::string models;
  for (const FrontierRow& row : rows) {
    points.push_back({static_cast<double>(std::max(1LL, row.size.numbers)), row.score, row.standard_error, row.saved});
    cells.push_back({fmt::format("<a href=\"{0}\">{0}</a>", xml_escaped(row.file)), std::to_string(row.size.numbers),
                     std::to_string(row.size.cells), std::to_string(row.size.splits), score_cell(row, options.share),
                     row.saved ? "saved" : ""});
    models +=
        fmt::format("<details{}><summary>{}: {} {}</summary>\n<pre>{}</pre></details>\n", row.saved ? " open" : "",
                    size_words(row.size), options.score_name, score_cell(row, options.share), xml_escaped(row.words));
  }
  ChartOptions chart;
  chart.x_name = "numbers in the model";
  chart.share = options.share;
  std::string body = html::paragraph(
      "The best model of every size on validation data, with the standard error of its score. The larger mark is the "
      "model that was saved: " +
      options.why + ".");
  body += html::figure(size_chart(points, chart, options.score_name + " on validation data"));
  body += html::table({"model", "numbers", "cells", "splits", options.score_name, ""}, cells);
  body = html::section("frontier", "Score and size", body) + html::section("models", "The models", models);
  return filled_page("report.html",
                     {{"title", xml_escaped(options.title)}, {"inks", svg_style_sheet()}, {"body", body}});
}

}  // namespace remede

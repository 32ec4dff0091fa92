#include "remede/pages/html.h"

#include <fmt/format.h>

#include "remede/base/text.h"

namespace remede::html {

std::string section(std::string_view id, std::string_view heading_text, const std::string& html) {
  if (html.empty()) return "";
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id, xml_escaped(heading_text), html);
}

std::string paragraph(std::string_view text) { return fmt::format("<p>{}</p>\n", xml_escaped(text)); }

std::string table(const std::vector<std::string>& heading_texts,
                  const std::vector<std::vector<std::string>>& html_rows) {
  std::string html = "<div class=\"wide\"><table>\n";
  if (!heading_texts.empty()) {
    html += "<thead><tr>";
    for (const std::string& text : heading_texts) html += fmt::format("<th scope=\"col\">{}</th>", xml_escaped(text));
    html += "</tr></thead>\n";
  }
  html += "<tbody>\n";
  for (const auto& row : html_rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      html += i == 0 ? fmt::format("<th scope=\"row\">{}</th>", row[i]) : fmt::format("<td>{}</td>", row[i]);
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string figure(const std::string& svg) { return fmt::format("<figure>{}</figure>\n", svg); }

std::string figures(const std::vector<Figure>& texts) {
  std::string html = "<dl class=\"figures\">\n";
  for (const Figure& f : texts)
    html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", xml_escaped(f.name), xml_escaped(f.value));
  return html + "</dl>\n";
}

}  // namespace remede::html

// Pieces of HTML for the report. What is called `html` is markup already; what is called `text` is escaped here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace remede::html {

// A part of the page under its heading; empty where there is nothing in it.
std::string section(std::string_view id, std::string_view heading_text, const std::string& html);

std::string paragraph(std::string_view text);

// A table. The first cell of a row is its name; the others are set to the right. Cells are HTML.
std::string table(const std::vector<std::string>& heading_texts,
                  const std::vector<std::vector<std::string>>& html_rows);

// A picture that may be wider than the page: it scrolls within its frame.
std::string figure(const std::string& svg);

// A large number with its name.
struct Figure {
  std::string name, value;
};
std::string figures(const std::vector<Figure>& texts);

}  // namespace remede::html

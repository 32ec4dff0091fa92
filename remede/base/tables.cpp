#include "remede/base/tables.h"

#include <algorithm>
#include <cstddef>

#include "remede/base/text.h"

namespace remede {
namespace {

template <typename Put>
std::string lines_of(const TableRows& rows, const std::string& indent, Put put) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], width(row[i]));
    }
  std::string text;
  for (const auto& row : rows) {
    std::string line = indent;
    for (std::size_t i = 0; i < row.size(); ++i) line += (i == 0 ? "" : "  ") + put(row[i], widths[i], i);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::string table(const TableRows& rows, const std::string& indent) {
  return lines_of(rows, indent, [](const std::string& cell, std::size_t columns, std::size_t i) {
    return i == 0 ? padded(cell, columns) : padded_left(cell, columns);
  });
}

std::string left_table(const TableRows& rows) {
  return lines_of(rows, "",
                  [](const std::string& cell, std::size_t columns, std::size_t) { return padded(cell, columns); });
}

}  // namespace remede

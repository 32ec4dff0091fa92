#include "remede/draw/table.h"

#include <algorithm>

#include <fmt/format.h>

#include "remede/base/text.h"

namespace remede {
namespace {

std::vector<std::string> wrapped(const std::string& text, std::size_t widest) {
  std::vector<std::string> lines = {""};
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t comma = widest == 0 ? std::string::npos : text.find(", ", begin);
    const std::size_t end = comma == std::string::npos ? text.size() : comma + 1;
    const std::string piece = text.substr(begin, end - begin);
    if (lines.back().empty())
      lines.back() = piece;
    else if (width(lines.back()) + 1 + width(piece) <= widest)
      lines.back() += fmt::format(" {}", piece);
    else
      lines.push_back(piece);
    begin = end + (comma == std::string::npos ? 0 : 1);
  }
  return lines;
}

std::string coloured(const std::string& text, const char* code, bool colours) {
  return colours && code[0] != '\0' && !text.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}

void trim_end(std::string& line) {
  while (!line.empty() && line.back() == ' ') line.pop_back();
}

}  // namespace

void Table::add_column(std::string title, Align align, std::size_t widest, const char* code) {
  columns_.push_back({std::move(title), align, widest, code});
}

void Table::add_row(std::vector<std::string> cells, const char* code) {
  Row row{{}, code};
  for (std::size_t c = 0; c < columns_.size(); ++c) row.cells.push_back(wrapped(cells[c], columns_[c].widest));
  rows_.push_back(std::move(row));
}

std::string Table::text(bool colours) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t w = width(columns_[c].title);
    for (const Row& row : rows_)
      for (const std::string& line : row.cells[c]) w = std::max(w, width(line));
    widths.push_back(w);
  }
  const auto aligned = [&](std::size_t c, const std::string& text) {
    return columns_[c].align == Align::kRight ? padded_left(text, widths[c]) : padded(text, widths[c]);
  };
  std::string out;
  for (std::size_t c = 0; c < columns_.size(); ++c)
    out += coloured(aligned(c, columns_[c].title), "1", colours) + (c + 1 < columns_.size() ? "  " : "");
  trim_end(out);
  out += '\n';
  for (const Row& row : rows_) {
    std::size_t lines = 1;
    for (const auto& cell : row.cells) lines = std::max(lines, cell.size());
    for (std::size_t i = 0; i < lines; ++i) {
      std::string line;
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        const std::string text = aligned(c, i < row.cells[c].size() ? row.cells[c][i] : "");
        line += coloured(text, row.code[0] != '\0' ? row.code : columns_[c].code, colours) + "  ";
      }
      trim_end(line);
      out += line + "\n";
    }
  }
  return out;
}

}  // namespace remede

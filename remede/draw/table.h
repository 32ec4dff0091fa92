// A table for the terminal: columns as wide as they need to be, long cells wrapped at commas.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace remede {

class Table {
 public:
  enum class Align { kLeft, kRight };

  // widest: longer cells are wrapped at ", "; 0: never. code: ANSI colour of the column's cells, used only with
  // colours.
  void add_column(std::string title, Align align = Align::kLeft, std::size_t widest = 0, const char* code = "");
  // As many cells as there are columns. code: colour of the whole row instead, or empty.
  void add_row(std::vector<std::string> cells, const char* code = "");
  std::string text(bool colours = false) const;

 private:
  struct Column {
    std::string title;
    Align align;
    std::size_t widest;
    const char* code;
  };
  struct Row {
    std::vector<std::vector<std::string>> cells;  // (columns, lines)
    const char* code;
  };
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace remede

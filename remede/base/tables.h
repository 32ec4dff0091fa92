// Tables for a terminal: columns as wide as their widest cell, two blanks between them.
#pragma once

#include <string>
#include <vector>

namespace remede {

using TableRows = std::vector<std::vector<std::string>>;

// The first column to the left, the others to the right: figures.
std::string table(const TableRows& rows, const std::string& indent);

// All to the left: words.
std::string left_table(const TableRows& rows);

}  // namespace remede

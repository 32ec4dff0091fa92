// Which of a model's classes a cell of its target column means: one rule for files, streams and services.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "remede/data/number.h"

namespace remede {

class KnownClasses {
 public:
  KnownClasses() = default;
  explicit KnownClasses(std::vector<std::string> names);

  // By its text, else by its number: the same classes may be written 1 in one file and 1.0 in another; else as true or
  // false in any case. -1: none of them. `kind` and `value`: of parse_cell(cell). Spaces around the cell belong to it.
  std::int32_t find(std::string_view cell, CellKind kind, double value) const;

  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::vector<double> values_;  // the same as numbers; empty unless all are numbers
};

}  // namespace remede

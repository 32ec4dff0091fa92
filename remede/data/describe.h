// What was understood of a file, before anything is learned from it.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "remede/data/raw.h"

namespace remede {

struct ColumnDescription {
  std::string name;
  std::string role;  // id, time, input, target, weight
  std::string type;  // number, category, yes or no, class, date or text
  std::size_t missing = 0;
  std::size_t distinct = 0;  // of words and classes
  double low = 0.0;          // of numbers; NaN where there are none
  double median = 0.0;
  double high = 0.0;
  std::vector<std::pair<std::string, std::size_t>> words;  // and how often each occurs, the most frequent first
};

struct Description {
  std::size_t sequences = 0;
  std::size_t steps = 0;
  std::size_t shortest = 0;
  std::size_t median_length = 0;
  std::size_t longest = 0;
  std::size_t steps_with_target = 0;
  std::size_t sequences_with_one_target = 0;  // at their last step
  bool has_target = false;
  Task task = Task::kClassification;
  std::vector<ColumnDescription> columns;
  std::vector<std::string> notes;
  std::vector<std::string> suggestions;  // flags worth thinking about, one line each
};

// Every column of tables, whatever its role; for data that cannot be read as asked. Where even the table is damaged,
// what stands before the damage.
struct Survey {
  std::size_t rows = 0;
  std::vector<ColumnDescription> columns;  // roles end in ? or are empty; types: number, category, date, text, mixed
  std::vector<std::string> suggestions;
};
Survey survey(std::vector<TableSource> tables, const TableFormat& format);

// id, time or target, where the name of a column suggests one; else empty.
std::string likely_role(const std::string& name);

// REQUIRES: raw as it was read, before its words were encoded.
Description describe(const RawDataset& raw, const Roles& roles);

}  // namespace remede

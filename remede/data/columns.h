// Which column of a file plays which part: what the caller said, else what the names suggest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "remede/data/dataset.h"

namespace remede {

enum class ColumnPart : std::uint8_t { kSkip, kId, kTime, kInput, kTarget };

struct ColumnLayout {
  struct Column {
    ColumnPart part = ColumnPart::kSkip;
    std::uint32_t slot = 0;  // number of the input or target
  };
  std::vector<Column> column;        // (columns of the file)
  std::string id;                    // name of the id column, "row", or empty
  std::string time;                  // name of the time column, or empty
  std::vector<std::string> inputs;   // (n_x)
  std::vector<std::string> targets;  // those that are in the file
  std::vector<std::string> notes;    // what had to be assumed
};

// For a file whose schema is to be found. Throws Error naming `file` when a column is not there or a guess is not
// clear.
ColumnLayout lay_out(const std::string& file, const std::vector<std::string>& columns, const Roles& roles);

// For a file that must fit a schema.
ColumnLayout lay_out(const std::string& file, const std::vector<std::string>& columns, const Roles& roles,
                     const Schema& schema, bool need_target);

}  // namespace remede

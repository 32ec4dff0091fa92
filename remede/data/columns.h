// Which column of a file has which role: as the caller said, otherwise as the names suggest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "remede/data/dataset.h"

namespace remede {

enum class ColumnPart : std::uint8_t { kSkip, kId, kTime, kInput, kTarget, kWeight, kGroup };

struct ColumnLayout {
  struct Column {
    ColumnPart part = ColumnPart::kSkip;
    std::uint32_t slot = 0;  // number of the input or target
  };
  std::vector<Column> column;        // (columns of the file)
  std::string id;                    // name of the id column, "row", "file", or empty
  std::string time;                  // name of the time column, or empty
  std::vector<std::string> inputs;   // (n_x)
  std::vector<std::string> targets;  // those that are there
  bool folder = false;               // the target is the name of the folder
  bool file = false;                 // the id is the name of the file
  std::vector<std::string> notes;    // what had to be assumed
};

// Those of the columns whose name suggests the part (id, time or target).
std::vector<std::string> usually_called(ColumnPart part, const std::vector<std::string>& columns);

std::string letters_and_digits(std::string_view name);  // of a name, in lower case

// For a file whose schema is to be found. Throws Error naming `file` when a column is not there or a guess is not
// clear.
// `several`: there are more files.
ColumnLayout lay_out(const std::string& file, const std::vector<std::string>& columns, const Roles& roles,
                     bool several);

// For a file that must fit a schema. `inputs`: the columns it must have.
ColumnLayout lay_out(const std::string& file, const std::vector<std::string>& columns, const Roles& roles,
                     const Schema& schema, const std::vector<std::string>& inputs, bool need_target, bool several);

// For a further file: the same columns, in any order.
ColumnLayout lay_out_like(const ColumnLayout& first, const std::string& first_file,
                          const std::vector<std::string>& first_columns, const std::string& file,
                          const std::vector<std::string>& columns);

}  // namespace remede

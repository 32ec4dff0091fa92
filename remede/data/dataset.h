// What a file becomes: sequences, and the words around them (names of columns, of classes, of sequences).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "remede/data/bytes.h"
#include "remede/data/sequences.h"
#include "remede/data/texts.h"
#include "remede/schema/roles.h"
#include "remede/schema/schema.h"

namespace remede {

struct Dataset {
  Schema schema;
  Sequences sequences;
  Texts ids;                        // (sequences) as they stand in the file; empty where it has no id column
  Texts times;                      // (steps) as they stand in the file; empty where it has no time column
  Column<std::int64_t> row;         // (steps) number of the data row the step came from, from 0
  Column<std::int32_t> group;       // (steps) number of the group, where Roles::group names a column
  std::vector<std::string> groups;  // their names
  std::vector<std::string> notes;   // what had to be assumed, one line each, for the caller to show or not
  UnknownTargets unknown;           // where targets were needed; their steps carry no target here
};

// Reads a long-format CSV file or a .ts file ("-": standard input), packed or not, and works out the schema. `path` may
// also be a pattern (data/*.csv) or a list (a.csv,b.csv): then the rows of all files, in the order of their names.
// Throws Error with file, line and column.
Dataset read_dataset(const std::string& path, const Roles& roles);

// Reads a file for a given schema: columns match by name, extra ones are ignored. The target columns may be missing
// unless `need_target`. A class the schema does not know is a step without a target (Dataset::unknown counts them
// where targets are needed). Roles given override the schema's id, time and target columns.
Dataset read_dataset(const std::string& path, const Schema& schema, const Roles& roles, bool need_target);

// The same from any source of bytes (data/csv.h).
Dataset read_dataset(ByteSource source, const Roles& roles);
Dataset read_dataset(ByteSource source, const Schema& schema, const Roles& roles, bool need_target);

// The files that a path, pattern or list stands for, in the order of their names. Throws Error where there are none.
std::vector<std::string> expand_path(const std::string& path);

// Writes a data set as CSV ("-": standard output), in the order of its steps: id, time, inputs, targets, under their
// names. Reading it back with the same roles gives the same bits.
void write_dataset(const std::string& path, const Dataset& dataset);

}  // namespace remede

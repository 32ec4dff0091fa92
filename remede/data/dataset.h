// What a file becomes: sequences, and the words around them (names of columns, of classes, of sequences).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "remede/data/sequences.h"
#include "remede/data/texts.h"

namespace remede {

// Which column plays which part. What is not given is guessed where the guess is unambiguous (docs/data.md).
struct Roles {
  std::optional<std::string>
      id;  // column of the sequence id; "row": every row is its own sequence; "none": one sequence
  std::optional<std::string> time;  // column that orders the steps of a sequence; "none": the order of the rows
  std::vector<std::string> target;  // one column, or several in regression
  std::vector<std::string> ignore;  // columns to leave out
  std::optional<Task> task;         // else: regression when the target is numeric and not a few whole numbers
};

// The words of a model: what its inputs and outputs are called. Reading data for a model starts from here.
struct Schema {
  Task task = Task::kClassification;
  std::vector<std::string> inputs;   // (n_x) names of the input columns, in the order of Sequences::x
  std::vector<std::string> targets;  // names of the target columns: one in classification, n_y in regression
  std::vector<std::string> classes;  // (n_y) labels as they stand in the file; empty in regression
  std::string id;                    // name of the id column, "row", or empty (the file is one sequence)
  std::string time;                  // name of the time column, or empty (the order of the rows)

  int n_x() const { return static_cast<int>(inputs.size()); }
  int n_y() const { return static_cast<int>(task == Task::kClassification ? classes.size() : targets.size()); }
};

struct Dataset {
  Schema schema;
  Sequences sequences;
  Texts ids;                       // (sequences) as they stand in the file; empty where it has no id column
  Texts times;                     // (steps) as they stand in the file; empty where it has no time column
  std::vector<std::int64_t> row;   // (steps) number of the data row the step came from, from 0
  std::vector<std::string> notes;  // what had to be assumed, one line each, for the caller to show or not
};

// Reads a long-format CSV file ("-": standard input) and works out the schema. Throws Error with file, line and column.
Dataset read_dataset(const std::string& path, const Roles& roles);

// Reads a file for a given schema: columns match by name, extra ones are ignored. The target columns may be missing
// unless `need_target`; a class the schema does not know is an error then, and else a step without target. Roles given
// override the schema's id, time and target columns.
Dataset read_dataset(const std::string& path, const Schema& schema, const Roles& roles, bool need_target);

// The same from any source of bytes (data/csv.h).
struct ByteSource;
Dataset read_dataset(ByteSource source, const Roles& roles);
Dataset read_dataset(ByteSource source, const Schema& schema, const Roles& roles, bool need_target);

// Writes a data set as CSV ("-": standard output), in the order of its steps: id, time, inputs, targets, under their
// names. Reading it back with the same roles gives the same bits.
void write_dataset(const std::string& path, const Dataset& dataset);

}  // namespace remede

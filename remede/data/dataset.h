// What a file becomes: sequences, and the words around them (names of columns, of classes, of sequences).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "remede/data/csv.h"
#include "remede/data/sequences.h"
#include "remede/data/texts.h"

namespace remede {

enum class TargetPer : std::uint8_t { kStep, kSequence };

// Which column plays which part. What is not given is guessed where the guess is unambiguous (docs/data.md).
struct Roles {
  // Column of the sequence id; "row": every row is its own sequence; "file": every file is; "none": one sequence.
  std::optional<std::string> id;
  std::optional<std::string> time;       // column that orders the steps of a sequence; "none": the order of the rows
  std::vector<std::string> target;       // one column, or several in regression; "folder": the folder the file is in
  std::vector<std::string> ignore;       // columns to leave out
  std::optional<Task> task;              // else: regression when the target is numeric and not a few whole numbers
  std::vector<std::string> categorical;  // columns of words, even where they look like numbers
  std::optional<std::string> weight;     // column of the weight of each step in loss and scores
  std::optional<std::string> group;      // column that says what must stay together in a split
  std::optional<TargetPer> target_per;   // kSequence: the last target of a sequence, at its last step
  std::optional<int> horizon;            // predict the target so many steps ahead; its present value becomes an input
  bool time_gap = false;                 // the time since the step before becomes an input
  bool need_target = true;               // false: a file without a target is fine
  TableFormat format;
};

// How an input is made from a column of words, or of times. Inputs without one are numbers, as they stand in their
// column.
struct InputCode {
  std::string input;               // name of the input
  std::string column;              // the column it is made from
  bool gap = false;                // the time since the step before, in seconds where times are dates; no words then
  std::vector<std::string> words;  // known words of the column
  std::vector<float> values;       // (words) what each counts as
  std::optional<float> other;      // what all other words count as; nothing: as missing

  bool operator==(const InputCode&) const = default;
};

// The words of a model: what its inputs and outputs are called. Reading data for a model starts from here.
struct Schema {
  Task task = Task::kClassification;
  std::vector<std::string> inputs;   // (n_x) names of the inputs, in the order of Sequences::x
  std::vector<std::string> targets;  // names of the target columns: one in classification, n_y in regression
  std::vector<std::string> classes;  // (n_y) labels as they stand in the file; empty in regression
  std::string id;                    // name of the id column, "row", "file", or empty (the file is one sequence)
  std::string time;                  // name of the time column, or empty (the order of the rows)
  std::vector<InputCode> codes;      // of some inputs; those of inputs that are not there mean nothing
  TargetPer target_per = TargetPer::kStep;
  int horizon = 0;

  int n_x() const { return static_cast<int>(inputs.size()); }
  int n_y() const { return static_cast<int>(task == Task::kClassification ? classes.size() : targets.size()); }
  const InputCode* code_of(const std::string& input) const;  // null: it is a number
};

struct Dataset {
  Schema schema;
  Sequences sequences;
  Texts ids;                        // (sequences) as they stand in the file; empty where it has no id column
  Texts times;                      // (steps) as they stand in the file; empty where it has no time column
  std::vector<std::int64_t> row;    // (steps) number of the data row the step came from, from 0
  std::vector<std::int32_t> group;  // (steps) number of the group, where Roles::group names a column
  std::vector<std::string> groups;  // their names
  std::vector<std::string> notes;   // what had to be assumed, one line each, for the caller to show or not
};

// Reads a long-format CSV file or a .ts file ("-": standard input), packed or not, and works out the schema. `path` may
// also be a pattern (data/*.csv) or a list (a.csv,b.csv): then the rows of all files, in the order of their names.
// Throws Error with file, line and column.
Dataset read_dataset(const std::string& path, const Roles& roles);

// Reads a file for a given schema: columns match by name, extra ones are ignored. The target columns may be missing
// unless `need_target`; a class the schema does not know is an error then, and else a step without target. Roles given
// override the schema's id, time and target columns.
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

// The target columns of a file while they are read: class labels as text, or numbers, whichever they turn out to be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "remede/data/csv.h"
#include "remede/data/dataset.h"

namespace remede {

// One target whose task is not given is undecided at first: its distinct cells are numbered. With more than
// kMostClassNumbers distinct numbers it becomes regression; what is still undecided at the end is regression only when
// some number is not whole.
class TargetReader {
 public:
  static constexpr std::size_t kMostClassNumbers = 20;
  static constexpr std::size_t kMostClasses = 1000;

  // For a schema to be found. `names`: of the target columns.
  TargetReader(std::string file, std::vector<std::string> names, std::optional<Task> task,
               const std::shared_ptr<ColumnStore>& store);
  // For a known schema. strict: a cell that does not fit is an error; else the step has no target.
  TargetReader(std::string file, std::vector<std::string> names, const Schema& schema, bool strict,
               const std::shared_ptr<ColumnStore>& store);

  // For each row: begin_row(), then read() for each target, whose cell in file column `column` is next.
  void begin_row() {
    if (mode_ == Mode::kNumbers) value_.resize(value_.size() + names_.size());
  }
  void read(CsvReader& csv, std::size_t column, std::size_t slot);
  void read_folder(std::string_view folder);  // in place of read(), where the class is the name of the folder
  void begin_file(const std::string& file) { file_ = file; }
  void reserve(std::size_t rows);

  // Sets task and classes (when they are to be found) and the targets of the rows in file order. Leaves the object
  // empty.
  void finish(Schema& schema, Sequences& sequences);

 private:
  enum class Mode : std::uint8_t { kUndecided, kLabels, kNumbers };
  // A distinct cell.
  struct Cell {
    CellKind kind = CellKind::kMissing;
    double value = 0.0;       // where it is a number
    std::int32_t label = -1;  // its class, -1 for none; set at once where the classes are known, else at the end
    std::uint64_t line = 0;   // where it was first seen
    std::string file;
  };

  float read_number(CsvReader& csv, std::size_t column) const;
  void read_label(CsvReader& csv, std::size_t column);
  void add_cell(const std::string& where, std::uint64_t line);
  std::int32_t known_class(const Cell& cell, std::string_view text) const;
  void become_numbers();
  std::vector<std::string> number_classes();
  void finish_labels(Schema& schema, Sequences& sequences);
  void finish_numbers(Schema& schema, Sequences& sequences);

  std::string file_;
  std::vector<std::string> names_;
  Mode mode_ = Mode::kUndecided;
  bool guessed_ = false;  // kNumbers was found out, not given
  bool strict_ = true;
  bool known_ = false;                // the schema is given
  std::vector<std::string> classes_;  // of the given schema
  std::vector<double> class_values_;  // the same as numbers; empty unless all are numbers

  Interner texts_;           // the distinct cells
  std::vector<Cell> cells_;  // (distinct cells)
  std::size_t distinct_numbers_ = 0;
  std::size_t distinct_missing_ = 0;
  std::optional<std::uint32_t> a_text_;  // the first distinct cell that is neither number nor missing
  Column<std::uint32_t> code_;           // (rows) number of the distinct cell; empty in kNumbers
  Column<float> value_;                  // (rows, targets) NaN where missing; empty unless kNumbers
};

}  // namespace remede

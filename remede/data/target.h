// The target columns of a file while they are read: class labels as text, or numbers, whichever they turn out to be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "remede/data/classes.h"
#include "remede/data/csv.h"
#include "remede/data/dataset.h"
#include "remede/data/unknown.h"

namespace remede {

// One target whose task is not given is undecided at first: its distinct cells are numbered. With more than
// kMostClassNumbers distinct numbers it becomes regression; what is still undecided at the end is regression only when
// some number is not whole.
class TargetReader {
 public:
  static constexpr std::size_t kMostClassNumbers = 20;
  static constexpr std::size_t kMostClasses = 1000;
  static constexpr std::size_t kMostUnknown = 6;  // names of classes that the schema does not know, for a note

  // For a schema to be found. `names`: of the target columns.
  TargetReader(std::string file, std::vector<std::string> names, std::optional<Task> task,
               const std::shared_ptr<ColumnStore>& store);
  // For a known schema. strict: a cell that is no number where one is expected is an error, and a class that the schema
  // does not know is kept as kUnknownClass; else the step has no target.
  TargetReader(std::string file, std::vector<std::string> names, const Schema& schema, bool strict,
               const std::shared_ptr<ColumnStore>& store);

  // What is read is a part of the data: one class, or no target at all, is no error.
  void expect_part() { part_ = true; }

  // For each row: begin_row(), then read() for each target, whose cell in file column `column` is next.
  void begin_row() {
    if (mode_ == Mode::kNumbers) value_.resize(value_.size() + names_.size());
  }
  template <typename Rows>  // CsvReader or FrameReader
  void read(Rows& csv, std::size_t column, std::size_t slot);
  void read_folder(std::string_view folder);  // in place of read(), where the class is the name of the folder
  void begin_file(const std::string& file) { file_ = file; }
  void reserve(std::size_t rows);

  // Distinct cells that are none of the known classes, in the order of their first appearance.
  const std::vector<std::string>& unknown() const { return unknown_; }

  // Sets task and classes (when they are to be found) and the targets of the rows in file order. Leaves the object
  // empty.
  void finish(Schema& schema, Sequences& sequences);

 private:
  enum class Mode : std::uint8_t { kUndecided, kLabels, kNumbers };
  // A distinct cell.
  struct Cell {
    CellKind kind = CellKind::kMissing;
    double value = 0.0;  // where it is a number
    std::int32_t label =
        -1;  // its class, -1 for none (or none that is known); set at once where the classes are known, else at the end
    std::string where;  // it was first seen
  };

  template <typename Rows>
  float read_number(Rows& csv, std::size_t column) const;
  template <typename Rows>
  void read_label(Rows& csv, std::size_t column);
  void add_cell(std::string where);
  void refuse_damaged_numbers() const;
  void become_numbers();
  std::vector<std::string> number_classes();
  void finish_labels(Schema& schema, Sequences& sequences);
  void finish_numbers(Schema& schema, Sequences& sequences);

  std::string file_;
  std::vector<std::string> names_;
  Mode mode_ = Mode::kUndecided;
  bool guessed_ = false;  // kNumbers was found out, not given
  bool strict_ = true;
  bool part_ = false;
  bool known_ = false;    // the schema is given
  KnownClasses classes_;  // of the given schema
  std::vector<std::string> unknown_;

  Interner texts_;           // the distinct cells
  std::vector<Cell> cells_;  // (distinct cells)
  std::size_t distinct_numbers_ = 0;
  std::size_t distinct_missing_ = 0;
  std::optional<std::uint32_t> a_text_;  // the first distinct cell that is neither number nor missing
  Column<std::uint32_t> code_;           // (rows) number of the distinct cell; empty in kNumbers
  Column<float> value_;                  // (rows, targets) NaN where missing; empty unless kNumbers
};

}  // namespace remede

// One row of data as the inputs of a model: cells by the names of their columns, as numbers, words, or times from which
// a gap is made. The same rules as for files (docs/data.md). Holds a reference to the schema.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "remede/data/classes.h"
#include "remede/schema/schema.h"

namespace remede {

class RowInputs {
 public:
  explicit RowInputs(const Schema& schema);

  // The columns that a row has to have, beside the time.
  const std::vector<std::string>& columns() const { return names_; }
  std::optional<std::size_t> find(std::string_view column) const;
  // Its cells are words, even where they look like numbers: 1.0 may be the name of a class.
  bool reads_words(std::size_t column) const { return columns_[column].words; }
  bool needs_time() const { return !gaps_.empty(); }

  // For each row: every column once, then finish(). Throw Error naming the column.
  void number(std::size_t column, double value);         // NaN: missing
  void text(std::size_t column, std::string_view cell);  // as in a file: a number, a word, or nothing
  void missing(std::size_t column);

  // Times in seconds where they are dates; NaN before the first step of a sequence.
  std::span<const float> finish(double now, double before);

  // Words that the model does not use, so far: they were not among the training data, or simplification removed their
  // inputs.
  std::uint64_t unknown_words(std::size_t column) const { return columns_[column].unknown; }

 private:
  struct Use {
    std::size_t input = 0;
    const InputCode* code = nullptr;  // null: the number itself
  };
  struct Column {
    std::vector<Use> uses;
    bool words = false;
    bool history = false;  // the value of the target before the one that is predicted
    bool is_missing = false;
    std::uint64_t unknown = 0;
  };
  void word(Column& column, std::string_view text);
  void past_class(Column& column, std::string_view cell);

  KnownClasses classes_;
  std::vector<std::string> names_;
  std::vector<Column> columns_;
  std::vector<std::size_t> gaps_;  // inputs
  std::vector<float> x_;
};

}  // namespace remede

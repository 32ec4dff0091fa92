// The input columns while a file is read: numbers go straight to the table, words are numbered.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "remede/data/csv.h"
#include "remede/data/raw.h"
#include "remede/data/texts.h"

namespace remede {

// What the first value of a column is decides what the column is, unless it was said: a slip in a column of numbers
// must not turn it into categories, nor a number in a column of words pass as one.
class InputReader {
 public:
  // `categorical`: columns of words. `known`: all others are numbers, as a model has it.
  InputReader(const std::vector<std::string>& names, const std::vector<std::string>& categorical, bool known);

  // The next cell, in file column `column`, for input `slot`: its number, or the number of its word; NaN where missing.
  // Rows: CsvReader or FrameReader.
  template <typename Rows>
  float read(Rows& csv, std::size_t column, std::size_t slot) {
    Column& input = columns_[slot];
    if (input.state == State::kWords) return read_word(csv, column, input);
    double value = 0.0;
    if (!csv.number(value)) return read_text(csv, column, input);
    const auto rounded = static_cast<float>(value);
    if (std::isfinite(rounded)) {
      if (input.state == State::kOpen) input.state = State::kNumbers;
      return rounded;
    }
    return read_odd_number(csv, column, value);
  }

  std::vector<RawInput> finish();  // leaves the object empty

 private:
  enum class State : std::uint8_t { kOpen, kNumbers, kWords };
  struct Column {
    State state = State::kOpen;
    bool given = false;  // the state was said, not found
    Interner words;
  };

  template <typename Rows>
  float read_word(Rows& csv, std::size_t column, Column& input);
  template <typename Rows>
  float read_text(Rows& csv, std::size_t column, Column& input);
  template <typename Rows>
  float read_odd_number(const Rows& csv, std::size_t column, double value) const;
  template <typename Rows>
  float number_of(const Rows& csv, std::size_t column, std::string_view word, Column& input);

  std::vector<std::string> names_;
  std::vector<Column> columns_;
  bool known_ = false;
  std::string spelt_;
};

}  // namespace remede

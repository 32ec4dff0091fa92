// Whether live inputs are still like those of the training data. For every input it counts the values outside the range
// in which nine tenths of the training data lay (Model::input_range), and words that the model does not use.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "remede/model/model.h"
#include "remede/stream/row.h"

namespace remede {

class InputWatch {
 public:
  static constexpr std::uint64_t kWindow = 10000;   // rows that are looked at together
  static constexpr std::uint64_t kLeastRows = 100;  // fewer rows are not reported
  static constexpr double kOutside = 0.25;          // a share of values to be reported; 0.1 in the training data

  // Throws Error where the model has no ranges of its inputs.
  InputWatch(const Model& model, const RowInputs& rows);

  void add(std::span<const float> x);  // (n_x)
  bool full() const { return rows_ == kWindow; }
  // What is to be said of the rows since the last call, a line each; begins anew.
  std::vector<std::string> take();

 private:
  struct Input {
    std::size_t at = 0;
    SeenRange range;
    std::uint64_t values = 0, outside = 0;
  };
  const Model& model_;
  const RowInputs& row_inputs_;
  std::vector<Input> inputs_;           // numbers; words have no range
  std::vector<std::uint64_t> unknown_;  // (columns) words before this window
  std::uint64_t rows_ = 0;
  std::uint64_t rows_before_ = 0;
};

}  // namespace remede

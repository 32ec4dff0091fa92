// Small data sets for the tests of pages.
#pragma once

#include <string>
#include <vector>

#include "remede/data/dataset.h"
#include "remede/model/model.h"

namespace remede::test {

// One input, classes 0 and 1; a target at every step. lengths: of the sequences. Inputs and labels count through.
inline Dataset counting_data(const Model& model, const std::vector<int>& lengths) {
  Dataset data;
  data.schema = model.schema;
  Sequences& s = data.sequences;
  s.n_x = model.n_x();
  s.n_y = model.n_y();
  int number = 0;
  for (const int length : lengths) {
    for (int t = 0; t < length; ++t, ++number) {
      for (int i = 0; i < s.n_x; ++i) s.x.push_back(static_cast<float>((number * 7 + i) % 2));
      s.weight.push_back(1);
      if (model.schema.task == Task::kClassification) s.label.push_back(number % s.n_y);
      for (int o = 0; model.schema.task == Task::kRegression && o < s.n_y; ++o)
        s.value.push_back(static_cast<float>(number % 5));
    }
    s.offset.push_back(s.offset.back() + length);
  }
  return data;
}

}  // namespace remede::test

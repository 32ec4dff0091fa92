// A model as ONNX graphs of standard operators (opset 16). Sums, tanh, exp and softmax are chains of single operations
// in the order of model/predict.h, 2^n is looked up, so that a runtime that rounds each operation once gives our bits.
//
// step:     x (inputs), m (state) -> y (outputs), m_next (state)       NaN where an input is missing; m is 0 at first
// sequence: x (T, inputs), m (state) -> y (T, outputs), m_next (state) by Scan
// A model without memory has a state of one float that nothing reads.
#pragma once

#include <string>

#include "remede/model/model.h"

namespace remede {

struct OnnxModels {
  std::string step;
  std::string sequence;
};

OnnxModels to_onnx(const Model& model, const std::string& name);

}  // namespace remede

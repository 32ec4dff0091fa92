// Prediction of many sequences at once: 16 side by side in vector lanes. The same bits as predict() of model/predict.h,
// faster.
#pragma once

#include "remede/model/predict.h"

namespace remede {

Predictions predict_batch(const Model& model, const Sequences& sequences, int threads = 1);

}  // namespace remede

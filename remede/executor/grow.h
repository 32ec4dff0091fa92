// A start that is grown instead of drawn: a tree cut greedily (CART) on the inputs and on moving averages of them, its
// cells set to the averages that its splits use. Gradient descent continues from there.
#pragma once

#include "remede/executor/trainer.h"

namespace remede {

// Whether parameters of this form can hold such a tree: the cells must be able to average, or there are none.
bool can_grow(const Shape& shape);

// Takes the place of what was drawn. Where a node finds nothing to split, what was drawn for it stays, and both sides
// answer the same. REQUIRES: can_grow(parameters.shape).
void grow(const TrainingData& data, const GrowthOptions& options, Parameters<float>& parameters);

}  // namespace remede

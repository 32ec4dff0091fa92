// The reference predictor: the model's arithmetic in its plainest form. Everything that computes a model faster or elsewhere
// (vector kernels, exported C, JavaScript) is tested to give the same bits as this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "remede/model/model.h"

namespace remede {

// The leaf that (x, m) reaches. x: (n_x) NaN where missing, m: (n_m).
int find_leaf(const Tree& tree, const float* x, const float* m);

// One step of one tree: reads x (n_x, NaN where missing), fill (n_x); updates m (n_m) and y (n_y: logits or values; in the
// first order form it holds the previous step's on entry). Returns the leaf. No allocation.
int step(const Tree& tree, const float* x, const float* fill, float* m, float* y);

// Logits to probabilities, in place. The arithmetic of every probability we print.
void softmax(std::span<float> y);

// What a model says of sequences.
struct Predictions {
  std::vector<float> output;        // (steps, n_y) probabilities, or values
  std::vector<std::int32_t> leaf;   // (trees, steps) the leaf each tree reached
};

Predictions predict(const Model& model, const Sequences& sequences);

// The class of the largest probability (the first of equals).
int arg_max(std::span<const float> y);

}  // namespace remede

// The reference predictor: the model's arithmetic in its plainest form. Everything that computes a model faster or
// elsewhere (vector kernels, exported C, JavaScript) is tested to give the same bits as this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "remede/data/sequences.h"
#include "remede/model/model.h"

namespace remede {

// The leaf that (x, m) reaches. x: (n_x) NaN where missing, m: (n_m or more).
int find_leaf(const Tree& tree, const float* x, const float* m);

// What a step that reaches this leaf leaves in the memory m (Tree::memory_size, zero before the first step).
void write_memory(const Tree& tree, int leaf, const float* x, const float* fill, float* m);

// The leaf's part of a step: the answer and what is left in the memory, as step() below computes them.
void act(const Tree& tree, int leaf, const float* x, const float* fill, float* m, float* y);

// One step of one tree: reads x (n_x, NaN where missing), fill (n_x); updates m (Tree::memory_size, zero before the
// first step) and y (n_y: logits or values; in the first order form it holds the previous step's on entry). Returns the
// leaf. No allocation.
int step(const Tree& tree, const float* x, const float* fill, float* m, float* y);

// Number of floats a model carries from step to step: for each tree its memory (Tree::memory_size), then in the
// first-order form its last output.
std::size_t state_size(const Model& model);

// One step of a whole model: updates state (state_size, zero before the first step), assigns y (n_y: probabilities or
// values, averaged over the trees) and leaf (trees). scratch: (n_y). No allocation.
void step(const Model& model, const float* x, float* state, float* scratch, float* y, std::int32_t* leaf);

// What a model says of sequences.
struct Predictions {
  std::vector<float> output;       // (steps, n_y) probabilities, or values
  std::vector<std::int32_t> leaf;  // (trees, steps) the leaf each tree reached
};

// The same bits for any number of threads (0: all of the machine's).
Predictions predict(const Model& model, const Sequences& sequences, int threads = 1);

// The class of the largest probability (the first of equals).
int arg_max(std::span<const float> y);

}  // namespace remede

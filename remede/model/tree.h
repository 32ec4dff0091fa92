// A hard decision tree with memory, of any shape, in structure-of-arrays form. It is what is saved, shown, exported and
// stepped.
//
// Step: v = (x, m), m the memory before the step, zero before the first. From the root, at inner node i with f =
// feature[i]: go right iff v_f >= threshold[i]; a missing (NaN) v_f goes right iff missing_right[i]. At leaf j, with
// x's missing values replaced by the model's `fill`:
//   y  = output[j] (+ linear[j] v)                              first order: y += the previous y
//   u  = tanh(bias[j] + write[j] w), w = x or (x, m)
//   m += u, or m += blend[j] (u - m)                            for the cells with gate[j] = 1
// Sums run in the order written: the constant first, then input 0, 1, ..., then cell 0, 1, ...; each product and each
// sum is rounded to float once (docs/mathematics.md). The reference is model/predict.h.
//
// With form.memory == Memory::kLaws the leaf's part of the step is that of model/cells.h instead: gate, write, bias,
// blend and linear are empty, `cells` says how memory moves and what the answer adds to output[j].
//
// Invariants (checked by check()): inner nodes are numbered so that a child's number is above its parent's, every inner
// node but the root and every leaf has exactly one parent; a tree with no inner node has exactly one leaf; all numbers
// are finite; 0 <= blend <= 1; the arrays have the shapes given.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "remede/model/cells.h"
#include "remede/model/form.h"

namespace remede {

// What values a model met in the data it was trained on: 5% lay below, 5% above. For words and pictures; prediction
// does not read it.
struct SeenRange {
  float low = 0;
  float high = 0;
  bool operator==(const SeenRange&) const = default;
};

struct Tree {
  int n_x = 0;  // inputs
  int n_m = 0;  // memory cells
  int n_y = 0;  // outputs
  LeafForm form;

  // Inner nodes; node 0 is the root.
  std::vector<std::int32_t> feature;        // (inner) below n_x: an input; else memory cell feature - n_x
  std::vector<float> threshold;             // (inner)
  std::vector<std::uint8_t> missing_right;  // (inner) where a missing value goes
  std::vector<std::int32_t> left, right;    // (inner) >= 0: inner node; < 0: leaf ~child

  // Leaves.
  std::vector<float> output;       // (leaves, n_y)
  std::vector<float> linear;       // (leaves, n_y, n_x + n_m); empty where leaves are constant
  std::vector<std::uint8_t> gate;  // (leaves, n_m) 1: the cell is written
  std::vector<float> write;        // (leaves, n_m, n_w)
  std::vector<float> bias;         // (leaves, n_m); empty without bias
  std::vector<float> blend;        // (leaves, n_m) the share of the new value; empty for writes that add

  Cells cells;                         // of trees whose cells have laws
  std::vector<std::string> cell_name;  // (n_m) what people call the cells, or empty: m1, m2, ...

  std::vector<SeenRange> level_range;  // (n_m) of the cells' levels after a step, or empty
  std::vector<SeenRange> share_range;  // (n_m) of the taps' shares, or empty

  bool has_laws() const { return form.memory == Memory::kLaws; }
  // Floats carried from step to step beside the last output: the levels, and a flag where a cell starts at its first
  // value.
  int memory_size() const { return n_m + (has_laws() && cells.any_first() ? 1 : 0); }
  int n_v() const { return n_x + n_m; }
  int n_w() const { return form.write_reads == WriteReads::kInputs ? n_x : n_x + n_m; }
  int inner_count() const { return static_cast<int>(feature.size()); }
  int leaf_count() const { return inner_count() + 1; }
  int node_count() const { return 2 * inner_count() + 1; }  // inner nodes and leaves: the "size" of a tree
  std::int32_t root() const { return feature.empty() ? ~0 : 0; }
};

void check_ranges(const std::vector<SeenRange>& ranges, const char* what, const std::string& where);
// Throws Error naming `where` when an invariant does not hold.
void check(const Tree& tree, const std::string& where);

}  // namespace remede

// A model as flat tables, which exported programs hold as constants. Nodes, leaves, cells and terms of all trees are
// numbered through, and what a step reads has one number (a VALUE): first the inputs, then the floats of the state in
// the order of Stream::state(), then the outputs of the cells of the tree at hand. So no table needs to know its tree.
#pragma once

#include <cstddef>
#include <vector>

#include "remede/model/model.h"

namespace remede {

struct Tables {
  struct Node {
    float threshold = 0;
    int value = 0;  // what is tested
    bool missing_right = false;
    int left = 0, right = 0;  // >= 0: node; < 0: leaf ~child
  };
  struct Term {
    int value = 0;
    float weight = 0;
  };
  struct Write {
    int at = 0;  // place of the cell in the state
    float bias = 0;
    float blend = kAdds;
  };
  struct Cell {  // with a law
    Law law = Law::kStore;
    bool first = false;
    bool fixed = false;  // no leaf and no value moves its tap: `tap` is the share itself
    float bias = 0;
    float tap = 0;
  };
  struct TreeForm {
    int root = 0;  // as a child of a node
    bool laws = false;
    bool first_order = false;
    int state = 0;  // where its memory begins in the state
    int cells = 0;  // cells with laws
    int first_cell = 0;
    int flag = -1;    // place of the float that is 0 before the first step, where a cell needs it
    int last = -1;    // place of the last outputs, in the first-order form
    int offsets = 0;  // where its leaves' rows begin in tap_kind and tap_offset
    int first_leaf = 0;
    int depth = 0;  // most comparisons
  };
  static constexpr float kAdds = -1;  // in place of a blend, for a write that is added

  int inputs = 0, outputs = 0, state = 0;
  std::vector<TreeForm> trees;
  std::vector<Node> nodes;
  std::vector<Term> terms;

  bool linked = false;        // `output` holds answers, not raw outputs: nothing else decides them
  std::vector<float> output;  // (leaves, outputs)
  // Terms of answer (leaf, output) are linear[at] .. linear[at + 1]; those that all leaves of a tree share, of (tree,
  // output), are shared[at] .. shared[at + 1]. Empty where no tree has any.
  std::vector<int> linear, shared;

  std::vector<Write> writes;
  std::vector<int> write_begin;  // (leaves + 1) the writes of each leaf; empty where there are none
  std::vector<int> write_terms;  // (writes + 1) the terms of each write

  std::vector<Cell> cells;
  std::vector<int> cell_terms;  // (2 cells + 1) of each cell: terms of its argument, then of its tap
  // (trees, their leaves, their cells) what a leaf does to a tap. Empty where no leaf does such a thing.
  std::vector<int> tap_kind;  // 0: as it is, 1: closed, 2: open
  std::vector<float> tap_offset;

  int leaves() const { return static_cast<int>(output.size()) / outputs; }
  int most_writes() const;  // of one leaf
  int most_cells() const;   // of one tree, with laws
  int comparisons() const;  // at most, in one step
  bool any_first() const;
  bool any_blend() const;
  bool any_add() const;
  bool any_moving_tap() const;
};

// REQUIRES: a sound model (check()).
Tables make_tables(const Model& model);

}  // namespace remede

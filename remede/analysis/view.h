// The part of a tree that can ever be reached: what is shown, drawn and put into rules leaves the rest out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "remede/model/model.h"
#include "remede/simplify/range.h"

namespace remede {

// Splits of which only one side can be reached are passed through.
struct View {
  struct Node {
    std::int32_t id = 0;  // >= 0: inner node; < 0: leaf ~id
    int parent = -1;      // into nodes; -1: none
    int left = -1, right = -1;
    int depth = 0;

    bool is_leaf() const { return id < 0; }
    int leaf() const { return ~id; }
  };
  std::vector<Node> nodes;              // in pre-order, left before right: a child's number is above its parent's
  std::vector<Range> memory;            // (n_m) what each cell can hold before a step
  std::vector<std::uint8_t> cell_read;  // (n_m) 1: what the cell holds can change what the tree says

  int leaf_count() const { return static_cast<int>(nodes.size() + 1) / 2; }
  // A cell that can hold something and is asked for it.
  bool cell_in_use(int k) const {
    return cell_read[static_cast<std::size_t>(k)] != 0 && !memory[static_cast<std::size_t>(k)].is_zero();
  }
};

// For inputs that are finite or missing. fill: (n_x).
View reachable_view(const Tree& tree, std::span<const float> fill);

// The box (n_v) of feature values that reach node number `node` of the view.
std::vector<Range> box_of(const Tree& tree, const View& view, int node);

}  // namespace remede

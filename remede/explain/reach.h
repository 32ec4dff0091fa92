// Which parts of a tree can ever be reached, by interval arithmetic over inputs and memory: what is shown, drawn and
// put into rules leaves the rest out. Sound: a part called unreachable is never reached, whatever the inputs (short of
// sums that overflow float); not complete.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "remede/model/model.h"

namespace remede {

// The values a feature can have: a closed interval of floats (empty where low > high), and perhaps a missing value.
struct Range {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  bool missing = false;

  bool operator==(const Range&) const = default;
};

// The part of `range` that goes right (v >= threshold), or left, at a split; `missing_right` says where a missing value
// goes.
Range right_part(const Range& range, float threshold, bool missing_right);
Range left_part(const Range& range, float threshold, bool missing_right);
inline bool is_empty(const Range& range) { return !(range.low <= range.high) && !range.missing; }

// The range of what cell k holds after leaf `leaf` was reached with features in `box` (n_v). fill: (n_x).
Range range_after(const Tree& tree, int leaf, int k, std::span<const Range> box, std::span<const float> fill);

// The tree without what cannot be reached: splits of which only one side can be reached are passed through.
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
  std::vector<Range> memory;            // (n_m) what each cell can hold
  std::vector<std::uint8_t> cell_read;  // (n_m) 1: what the cell holds can change what the tree says

  int leaf_count() const { return static_cast<int>(nodes.size() + 1) / 2; }
};

View reachable_view(const Tree& tree, std::span<const float> fill);

// The box (n_v) of feature values that reach node number `node` of the view.
std::vector<Range> box_of(const Tree& tree, const View& view, int node);

}  // namespace remede

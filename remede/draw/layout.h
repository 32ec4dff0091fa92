// Places the boxes of a binary tree: tidy in the sense of Reingold and Tilford (a parent stands over the middle of its
// children, subtrees are as close as their outlines allow), for boxes of any size, growing down or to the right.
#pragma once

#include <vector>

namespace remede {

// A box to place. Children come after their parent in the list.
struct LayoutNode {
  int left = -1, right = -1;  // both or none; -1: none
  int depth = 0;
  double width = 0, height = 0;
};

struct LayoutOptions {
  bool grows_right = false;  // else down
  double sibling_gap = 16;   // between the boxes of neighbours
  double level_gap = 44;     // between a parent and its children
};

struct Corner {
  double x = 0, y = 0;  // the upper left corner
};

struct TreeLayout {
  std::vector<Corner> places;    // (nodes)
  double width = 0, height = 0;  // of all; starts at 0, 0
};

TreeLayout tidy_layout(const std::vector<LayoutNode>& nodes, const LayoutOptions& options);

}  // namespace remede

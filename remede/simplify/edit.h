// Taking a tree apart. While it is edited a tree may hold splits whose two sides are the same child (bypass() makes
// them) and nodes and leaves that no node points to; step() still works, and compact() makes the tree sound again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "remede/model/tree.h"

namespace remede {

// Inner node `node` passes everything on to `child`.
inline void bypass(Tree& tree, std::int32_t node, std::int32_t child) {
  tree.left[static_cast<std::size_t>(node)] = child;
  tree.right[static_cast<std::size_t>(node)] = child;
}

// The child itself, or what stands below it where it is a bypassed node.
inline std::int32_t resolve(const Tree& tree, std::int32_t child) {
  while (child >= 0 && tree.left[static_cast<std::size_t>(child)] == tree.right[static_cast<std::size_t>(child)])
    child = tree.left[static_cast<std::size_t>(child)];
  return child;
}

// Number of nodes (inner and leaves) of the subtree, bypassed ones not counted.
int subtree_size(const Tree& tree, std::int32_t child);

// Appends the subtree's leaves, or its inner nodes from the top down.
void append_leaves(const Tree& tree, std::int32_t child, std::vector<std::int32_t>& leaves);
void append_inner(const Tree& tree, std::int32_t child, std::vector<std::int32_t>& nodes);

// Removes bypassed and orphaned nodes and leaves; numbers what is left from the root down, left before right.
struct Compacted {
  std::vector<std::int32_t> leaf;  // (leaves) its number before
};
Compacted compact(Tree& tree);

// The tree with only these cells and inputs, in this order. Removed ones must not be tested; their writes and weights
// go.
Tree select_features(const Tree& tree, std::span<const int> inputs, std::span<const int> cells);

}  // namespace remede

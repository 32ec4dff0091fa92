// How large a model may be. Far above anything trained, low enough that sizes multiply without overflow and that
// recursion over a tree is safe. check() holds every model to them.
#pragma once

#include "remede/schema/schema.h"

namespace remede {

inline constexpr int kMostInputs = static_cast<int>(kMostInputColumns);
inline constexpr int kMostCells = 4096;     // a step keeps as many floats on the stack
inline constexpr int kMostOutputs = 65536;  // classes, or values
inline constexpr int kMostInner = 1 << 23;  // inner nodes of a tree: 2^24 nodes with the leaves
inline constexpr int kMostDepth = 1000;     // decisions from the root to a leaf
inline constexpr int kMostTrees = 1000;

}  // namespace remede

// What bounds a model file beyond the limits of a model (limits.h) and of any JSON (base/json.h), so that reading one
// never takes memory out of proportion.
#pragma once

#include <algorithm>
#include <cstddef>

#include "remede/base/json.h"
#include "remede/model/model.h"

namespace remede {

inline constexpr int kFileVersion = 3;          // the latest; files say the first version that can read them
inline constexpr int kVersionOfCodes = 2;       // inputs made from words or times, targets per sequence or ahead
inline constexpr int kVersionOfObjectives = 3;  // another objective than the default one of the task

inline constexpr int kVersionOfLaws = 3;   // cells with laws
inline constexpr int kVersionOfRoles = 3;  // columns of categories and columns left out, as training was told

// A file names only the cells a leaf writes, so a few bytes may stand for many zeros: this many in a file of `bytes`,
// over all trees. Small files get little memory, honest large ones what they need, none more than 256 MiB.
inline constexpr std::size_t most_implied_zeros(std::size_t bytes) {
  return std::min(std::size_t{1} << 26, (std::size_t{1} << 22) + 256 * bytes);
}

// The numbers of one cell of one leaf: a weight for everything the write reads, bias and blend.
inline std::size_t numbers_of_write(const Tree& tree) { return static_cast<std::size_t>(tree.n_w()) + 2; }

// All numbers of a tree's laws, zeros included: those that are zero take memory but no bytes of the file.
inline std::size_t numbers_of_laws(const Tree& tree) {
  const auto cells = static_cast<std::size_t>(tree.n_m), inputs = static_cast<std::size_t>(tree.n_x);
  const auto leaves = static_cast<std::size_t>(tree.leaf_count()), outputs = static_cast<std::size_t>(tree.n_y);
  const std::size_t answer = outputs * (inputs + 2 * cells);
  return cells * (2 * inputs + cells + 4) + answer + leaves * cells +
         (tree.cells.leaf_linear.empty() ? 0 : leaves * answer);
}

}  // namespace remede

// The numbers of a model whose cells have laws (model/cells.h), as training sees them: one flat array, of which some
// are in use and the others are zero. The tree is complete, with trainable feature choices as in executor/parameters.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "remede/model/cells.h"
#include "remede/model/tree.h"

namespace remede::laws {

enum class Group : std::uint8_t {
  kIndex,       // (nodes, n_x + K) a split tests the largest
  kThreshold,   // (nodes, n_x + K)
  kBias,        // (K)
  kInput,       // (K, n_x)
  kEarlier,     // (K, K) strictly lower triangle
  kTap,         // (K)
  kTapInput,    // (K, n_x)
  kTapLevel,    // (K)
  kTapLeaf,     // (leaves, K)
  kOutput,      // (leaves, n_y)
  kLinear,      // (n_y, n_x + 2 K) shared by the leaves
  kLeafLinear,  // (leaves, n_y, n_x + 2 K) or empty
};
inline constexpr int kGroups = 12;
const char* name(Group group);

struct Shape {
  int depth = 0;
  int n_x = 1;
  int n_y = 1;
  bool leaf_linear = false;
  std::vector<Law> law;             // (K)
  std::vector<std::uint8_t> first;  // (K) 1: an average that starts at its first value

  int cells() const { return static_cast<int>(law.size()); }
  int nodes() const { return (1 << depth) - 1; }
  int leaves() const { return 1 << depth; }
  int n_v() const { return n_x + cells(); }      // what splits test: inputs, levels before the step
  int n_z() const { return n_x + 2 * cells(); }  // what answers read: inputs, outputs, levels after the step
  std::size_t size(Group group) const;
  std::size_t begin(Group group) const;
  std::size_t total() const;
  std::size_t at(Group group, std::size_t index) const { return begin(group) + index; }
  bool operator==(const Shape&) const = default;
};

inline constexpr int kMostDepth = 3;
inline constexpr int kMostLawCells = 16;

// What a split is in training: free, or removed so that every step goes to one side.
enum class Side : std::uint8_t { kFree, kLeft, kRight };

struct Parameters {
  Shape shape;
  std::vector<double> values;               // (total) zero where not in use
  std::vector<std::uint8_t> used;           // (total)
  std::vector<std::uint8_t> missing_right;  // (nodes)
  std::vector<Side> side;                   // (nodes)

  Parameters() = default;
  explicit Parameters(const Shape& s);
  std::span<double> operator[](Group g) { return {values.data() + shape.begin(g), shape.size(g)}; }
  std::span<const double> operator[](Group g) const { return {values.data() + shape.begin(g), shape.size(g)}; }
  int feature(int node) const;  // the largest index of the node
};

// The hard tree of these parameters, complete or smaller where splits were removed.
Tree harden(const Parameters& parameters);

// The surrogate derivative of a split: SplitGradient::kSoftsign with this slope (docs/mathematics.md).
inline constexpr double kSplitSlope = 4;

}  // namespace remede::laws

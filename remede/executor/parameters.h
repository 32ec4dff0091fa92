// What training moves: the dense parameters of one complete tree of a fixed depth, in one block of memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "remede/model/tree.h"

namespace remede {

// The parts of the block, in their order in memory. Nodes are numbered breadth first: the children of i are 2i+1 and
// 2i+2.
enum class Group : std::uint8_t {
  kIndex,      // (nodes, n_v)         logits of the feature choice
  kThreshold,  // (nodes, n_v)         one threshold per feature
  kOutput,     // (leaves, n_y)
  kGate,       // (leaves, n_m)        the cell is written iff >= 0
  kWrite,      // (leaves, n_m, n_w)
  kBias,       // (leaves, n_m)        or empty
  kRate,       // (leaves, n_m)        or empty; blend = sigmoid(rate)
  kLinear,     // (leaves, n_y, n_v)   or empty
};
inline constexpr int kGroups = 8;
const char* name(Group group);

struct Shape {
  int depth = 6;
  int n_x = 1;
  int n_m = 5;
  int n_y = 3;
  LeafForm form;

  int nodes() const { return (1 << depth) - 1; }
  int leaves() const { return 1 << depth; }
  int n_v() const { return n_x + n_m; }
  int n_w() const { return form.write_reads == WriteReads::kInputs ? n_x : n_x + n_m; }
  std::size_t size(Group group) const;
  std::size_t begin(Group group) const;
  std::size_t total() const;
  bool operator==(const Shape&) const = default;
};

template <typename T>
struct Parameters {
  Shape shape;
  std::vector<T> values;                    // shape.total()
  std::vector<std::uint8_t> missing_right;  // (nodes) where a missing value goes; not trained by gradient

  Parameters() = default;
  explicit Parameters(const Shape& s)
      : shape(s), values(s.total()), missing_right(static_cast<std::size_t>(s.nodes())) {}
  std::span<T> operator[](Group g) { return {values.data() + shape.begin(g), shape.size(g)}; }
  std::span<const T> operator[](Group g) const { return {values.data() + shape.begin(g), shape.size(g)}; }
};

// The hard tree of these parameters: arg max features, rounded gates, sigmoid of the rates. A complete tree of
// 2^depth leaves.
Tree harden(const Parameters<float>& parameters);

}  // namespace remede

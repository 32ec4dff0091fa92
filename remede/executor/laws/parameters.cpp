#include "remede/executor/laws/parameters.h"

#include <algorithm>
#include <numeric>

#include "remede/base/error.h"

namespace remede::laws {

const char* name(Group group) {
  constexpr const char* kNames[kGroups] = {"index",     "threshold", "bias",     "input",  "earlier", "tap",
                                           "tap_input", "tap_level", "tap_leaf", "output", "linear",  "leaf_linear"};
  return kNames[static_cast<int>(group)];
}

std::size_t Shape::size(Group group) const {
  const int k = cells();
  const auto of = [](int a, int b = 1, int c = 1) {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(b) * static_cast<std::size_t>(c);
  };
  switch (group) {
    case Group::kIndex:
    case Group::kThreshold:
      return of(nodes(), n_v());
    case Group::kBias:
    case Group::kTap:
    case Group::kTapLevel:
      return of(k);
    case Group::kInput:
    case Group::kTapInput:
      return of(k, n_x);
    case Group::kEarlier:
      return of(k, k);
    case Group::kTapLeaf:
      return of(leaves(), k);
    case Group::kOutput:
      return of(leaves(), n_y);
    case Group::kLinear:
      return of(n_y, n_z());
    case Group::kLeafLinear:
      return leaf_linear ? of(leaves(), n_y, n_z()) : 0;
  }
  return 0;
}

std::size_t Shape::begin(Group group) const {
  std::size_t at = 0;
  for (int g = 0; g < static_cast<int>(group); ++g) at += size(static_cast<Group>(g));
  return at;
}

std::size_t Shape::total() const { return begin(Group::kLeafLinear) + size(Group::kLeafLinear); }

Parameters::Parameters(const Shape& s)
    : shape(s),
      values(s.total()),
      used(s.total()),
      missing_right(static_cast<std::size_t>(s.nodes())),
      side(static_cast<std::size_t>(s.nodes())) {}

int Parameters::feature(int node) const {
  const auto n_v = static_cast<std::size_t>(shape.n_v());
  const auto row = (*this)[Group::kIndex].subspan(static_cast<std::size_t>(node) * n_v, n_v);
  return static_cast<int>(std::max_element(row.begin(), row.end()) - row.begin());
}

namespace {

// Appends the subtree of the complete tree's node (or leaf, from nodes() on) and returns its number as a child.
std::int32_t append_subtree(const Parameters& p, int node, Tree& tree, std::vector<int>& leaves) {
  const Shape& s = p.shape;
  if (node >= s.nodes()) {
    leaves.push_back(node - s.nodes());
    return ~static_cast<std::int32_t>(leaves.size() - 1);
  }
  const auto at = static_cast<std::size_t>(node);
  if (p.side[at] != Side::kFree) return append_subtree(p, 2 * node + (p.side[at] == Side::kLeft ? 1 : 2), tree, leaves);
  const std::size_t number = tree.feature.size();
  const int f = p.feature(node);
  tree.feature.push_back(f);
  tree.threshold.push_back(static_cast<float>(p[Group::kThreshold][at * static_cast<std::size_t>(s.n_v()) + f]));
  tree.missing_right.push_back(p.missing_right[at]);
  tree.left.push_back(0);
  tree.right.push_back(0);
  const std::int32_t left = append_subtree(p, 2 * node + 1, tree, leaves);
  tree.left[number] = left;
  const std::int32_t right = append_subtree(p, 2 * node + 2, tree, leaves);
  tree.right[number] = right;
  return static_cast<std::int32_t>(number);
}

}  // namespace

Tree harden(const Parameters& p) {
  const Shape& s = p.shape;
  Tree tree;
  tree.n_x = s.n_x;
  tree.n_m = s.cells();
  tree.n_y = s.n_y;
  tree.form.memory = Memory::kLaws;
  std::vector<int> leaves;
  append_subtree(p, 0, tree, leaves);
  const auto copy = [&](Group g) {
    const auto from = p[g];
    return std::vector<float>(from.begin(), from.end());
  };
  const auto copy_leaves = [&](Group g, std::size_t width) {
    std::vector<float> to;
    for (const int l : leaves)
      for (std::size_t k = 0; k < width; ++k)
        to.push_back(static_cast<float>(p[g][static_cast<std::size_t>(l) * width + k]));
    return to;
  };
  Cells& c = tree.cells;
  c.law = s.law;
  c.first = s.first;
  c.bias = copy(Group::kBias);
  c.input = copy(Group::kInput);
  c.earlier = copy(Group::kEarlier);
  c.tap = copy(Group::kTap);
  c.tap_input = copy(Group::kTapInput);
  c.tap_level = copy(Group::kTapLevel);
  c.linear = copy(Group::kLinear);
  c.tap_leaf = copy_leaves(Group::kTapLeaf, static_cast<std::size_t>(s.cells()));
  tree.output = copy_leaves(Group::kOutput, static_cast<std::size_t>(s.n_y));
  if (s.leaf_linear) c.leaf_linear = copy_leaves(Group::kLeafLinear, static_cast<std::size_t>(s.n_y * s.n_z()));
  return tree;
}

}  // namespace remede::laws

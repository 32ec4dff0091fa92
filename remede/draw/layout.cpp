#include "remede/draw/layout.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace remede {
namespace {

// Along the depth axis outlines are kept in slices of this many units.
constexpr double kSliceHeight = 4;
constexpr double kInfiniteDistance = std::numeric_limits<double>::infinity();

// How far a subtree reaches to both sides of its root's middle, slice by slice from the root's level on.
struct Outline {
  std::vector<double> low, high;

  void cover(std::size_t from, std::size_t to, double l, double h) {
    if (low.size() < to) {
      low.resize(to, kInfiniteDistance);
      high.resize(to, -kInfiniteDistance);
    }
    for (std::size_t i = from; i < to; ++i) {
      low[i] = std::min(low[i], l);
      high[i] = std::max(high[i], h);
    }
  }
  void add(const Outline& other, std::size_t from, double shift) {
    for (std::size_t i = 0; i < other.low.size(); ++i)
      if (other.low[i] <= other.high[i]) cover(from + i, from + i + 1, other.low[i] + shift, other.high[i] + shift);
  }
};

// The least distance between the middles of two neighbours at which they stay `gap` apart everywhere.
double distance(const Outline& left, const Outline& right, double gap) {
  double most = 0;
  for (std::size_t i = 0; i < std::min(left.low.size(), right.low.size()); ++i)
    if (left.low[i] <= left.high[i] && right.low[i] <= right.high[i])
      most = std::max(most, left.high[i] - right.low[i] + gap);
  return most;
}

std::size_t slices(double size) { return static_cast<std::size_t>(std::ceil(size / kSliceHeight)); }

// Where each level begins. Only splits push the next level away: a leaf may reach below it, into space its outline
// keeps free.
std::vector<double> level_starts(const std::vector<LayoutNode>& nodes, const LayoutOptions& options) {
  int deepest = 0;
  for (const LayoutNode& n : nodes) deepest = std::max(deepest, n.depth);
  std::vector<double> size(static_cast<std::size_t>(deepest) + 1, 0);
  for (const LayoutNode& n : nodes)
    if (n.left >= 0) {
      double& s = size[static_cast<std::size_t>(n.depth)];
      s = std::max(s, options.grows_right ? n.width : n.height);
    }
  std::vector<double> starts = {0};
  for (std::size_t d = 0; d + 1 < size.size(); ++d) starts.push_back(starts[d] + size[d] + options.level_gap);
  return starts;
}

// (nodes) the middle of each node relative to its parent's.
std::vector<double> shifts(const std::vector<LayoutNode>& nodes, const LayoutOptions& options,
                           const std::vector<double>& starts) {
  std::vector<double> shift(nodes.size(), 0);
  std::vector<Outline> outline(nodes.size());
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const LayoutNode& n = nodes[i];
    const double across = options.grows_right ? n.height : n.width, along = options.grows_right ? n.width : n.height;
    Outline& self = outline[i];
    self.cover(0, slices(along), -across / 2, across / 2);
    if (n.left < 0) continue;
    const auto l = static_cast<std::size_t>(n.left), r = static_cast<std::size_t>(n.right);
    const double apart = distance(outline[l], outline[r], options.sibling_gap);
    shift[l] = -apart / 2;
    shift[r] = apart / 2;
    const auto d = static_cast<std::size_t>(n.depth);
    const std::size_t below = slices(starts[d + 1] - starts[d]);
    self.cover(slices(along), below, shift[l], shift[r]);  // the lines to the children
    self.add(outline[l], below, shift[l]);
    self.add(outline[r], below, shift[r]);
    outline[l] = outline[r] = {};
  }
  return shift;
}

}  // namespace

TreeLayout tidy_layout(const std::vector<LayoutNode>& nodes, const LayoutOptions& options) {
  TreeLayout layout;
  const std::vector<double> starts = level_starts(nodes, options);
  std::vector<double> middle = shifts(nodes, options, starts);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].left < 0) continue;
    middle[static_cast<std::size_t>(nodes[i].left)] += middle[i];
    middle[static_cast<std::size_t>(nodes[i].right)] += middle[i];
  }
  double least = kInfiniteDistance;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    least = std::min(least, middle[i] - (options.grows_right ? nodes[i].height : nodes[i].width) / 2);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const LayoutNode& n = nodes[i];
    const double start = starts[static_cast<std::size_t>(n.depth)];
    const double side = middle[i] - (options.grows_right ? n.height : n.width) / 2 - least;
    const Corner place = options.grows_right ? Corner{start, side} : Corner{side, start};
    layout.width = std::max(layout.width, place.x + n.width);
    layout.height = std::max(layout.height, place.y + n.height);
    layout.places.push_back(place);
  }
  return layout;
}

}  // namespace remede

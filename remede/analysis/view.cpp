#include "remede/analysis/view.h"

#include <utility>

#include "remede/analysis/rows.h"
#include "remede/simplify/reach.h"

namespace remede {
namespace {

// (inner nodes) 1: some leaf below can be reached. A child's number is above its parent's, so one pass from the end
// will do.
std::vector<std::uint8_t> alive_nodes(const Tree& tree, const Reach& reach) {
  std::vector<std::uint8_t> alive(tree.feature.size(), 0);
  const auto is_alive = [&](std::int32_t child) {
    return child < 0 ? reach.leaf_possible(~child) : alive[static_cast<std::size_t>(child)] != 0;
  };
  for (std::size_t i = alive.size(); i-- > 0;) alive[i] = is_alive(tree.left[i]) || is_alive(tree.right[i]) ? 1 : 0;
  return alive;
}

// In pre-order with a stack of our own: a tree in a file may be very deep.
std::vector<View::Node> alive_tree(const Tree& tree, const Reach& reach) {
  struct Entry {
    std::int32_t id;
    int parent;
    bool is_right;
  };
  const std::vector<std::uint8_t> alive = alive_nodes(tree, reach);
  const auto is_alive = [&](std::int32_t child) {
    return child < 0 ? reach.leaf_possible(~child) : alive[static_cast<std::size_t>(child)] != 0;
  };
  std::vector<View::Node> nodes;
  std::vector<Entry> stack = {{tree.root(), -1, false}};
  while (!stack.empty()) {
    Entry e = stack.back();
    stack.pop_back();
    while (e.id >= 0) {  // through splits with one side only
      const auto i = static_cast<std::size_t>(e.id);
      if (is_alive(tree.left[i]) && is_alive(tree.right[i])) break;
      e.id = is_alive(tree.left[i]) ? tree.left[i] : tree.right[i];
    }
    const int self = static_cast<int>(nodes.size());
    View::Node node{e.id, e.parent, -1, -1, 0};
    if (e.parent >= 0) {
      View::Node& above = nodes[static_cast<std::size_t>(e.parent)];
      (e.is_right ? above.right : above.left) = self;
      node.depth = above.depth + 1;
    }
    nodes.push_back(node);
    if (e.id < 0) continue;
    stack.push_back({tree.right[static_cast<std::size_t>(e.id)], self, true});
    stack.push_back({tree.left[static_cast<std::size_t>(e.id)], self, false});
  }
  return nodes;
}

bool any_nonzero(const std::vector<float>& values, std::size_t begin, std::size_t count, std::size_t stride) {
  for (std::size_t i = 0; i < count; ++i)
    if (values[begin + i * stride] != 0) return true;
  return false;
}

// Cells with laws: those whose outputs or levels the answers add.
void mark_cells_in_answers(const Tree& tree, std::vector<std::uint8_t>& read) {
  for (std::size_t k = 0; k < read.size(); ++k)
    for (int leaf = 0; !read[k] && leaf < tree.leaf_count(); ++leaf)
      for (int o = 0; o < tree.n_y; ++o) read[k] |= answer_uses(tree, leaf, o, tree.n_x + static_cast<int>(k)) ? 1 : 0;
}

// Cells that a split tests or a linear leaf adds.
std::vector<std::uint8_t> cells_read_directly(const Tree& tree, const std::vector<View::Node>& nodes) {
  const auto n_m = static_cast<std::size_t>(tree.n_m), n_x = static_cast<std::size_t>(tree.n_x);
  const auto n_v = static_cast<std::size_t>(tree.n_v()), n_y = static_cast<std::size_t>(tree.n_y);
  std::vector<std::uint8_t> read(n_m, 0);
  if (tree.has_laws()) mark_cells_in_answers(tree, read);
  for (const View::Node& node : nodes) {
    if (!node.is_leaf()) {
      const int f = tree.feature[static_cast<std::size_t>(node.id)];
      if (f >= tree.n_x) read[static_cast<std::size_t>(f) - n_x] = 1;
    } else if (!tree.linear.empty()) {
      const std::size_t begin = static_cast<std::size_t>(node.leaf()) * n_y * n_v + n_x;
      for (std::size_t k = 0; k < n_m; ++k) read[k] |= any_nonzero(tree.linear, begin + k, n_y, n_v) ? 1 : 0;
    }
  }
  return read;
}

// ... and those that a write into a cell that is read uses.
std::vector<std::uint8_t> cells_read(const Tree& tree, const std::vector<View::Node>& nodes) {
  const auto n_m = static_cast<std::size_t>(tree.n_m), n_x = static_cast<std::size_t>(tree.n_x);
  const auto n_v = static_cast<std::size_t>(tree.n_v());
  std::vector<std::uint8_t> read = cells_read_directly(tree, nodes);
  for (std::size_t k = n_m; tree.has_laws() && k-- > 0;)  // a law reads earlier cells only
    for (std::size_t c = 0; read[k] && c < k; ++c)
      if (tree.cells.earlier[k * n_m + c] != 0) read[c] = 1;
  for (bool changed = tree.form.write_reads == WriteReads::kInputsAndMemory; changed;) {
    changed = false;
    for (const View::Node& node : nodes)
      for (std::size_t k = 0; node.is_leaf() && k < n_m; ++k) {
        const std::size_t row = static_cast<std::size_t>(node.leaf()) * n_m + k;
        for (std::size_t c = 0; read[k] && tree.gate[row] && c < n_m; ++c)
          if (!read[c] && tree.write[row * n_v + n_x + c] != 0) {
            read[c] = 1;
            changed = true;
          }
      }
  }
  return read;
}

}  // namespace

View reachable_view(const Tree& tree, std::span<const float> fill) {
  ReachOptions options;
  options.finite_inputs = true;
  options.zero_is_none = true;
  const Reach reach(tree, fill, options);
  View view;
  view.nodes = alive_tree(tree, reach);
  for (int k = 0; k < tree.n_m; ++k) view.memory.push_back(reach.cell(k));
  view.cell_read = cells_read(tree, view.nodes);
  return view;
}

std::vector<Range> box_of(const Tree& tree, const View& view, int node) {
  std::vector<Range> box(static_cast<std::size_t>(tree.n_x), Range::all());
  box.insert(box.end(), view.memory.begin(), view.memory.end());
  for (int child = node, i = view.nodes[static_cast<std::size_t>(node)].parent; i >= 0;
       child = i, i = view.nodes[static_cast<std::size_t>(i)].parent) {
    const View::Node& n = view.nodes[static_cast<std::size_t>(i)];
    const auto id = static_cast<std::size_t>(n.id);
    Range& range = box[static_cast<std::size_t>(tree.feature[id])];
    const bool right = n.right == child;
    const bool missing_right = tree.missing_right[id] != 0;
    range = right ? right_part(range, tree.threshold[id], missing_right)
                  : left_part(range, tree.threshold[id], missing_right);
  }
  return box;
}

}  // namespace remede

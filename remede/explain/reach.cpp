#include "remede/explain/reach.h"

#include <algorithm>
#include <cmath>

#include "remede/base/arithmetic.h"

namespace remede {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kBlendLimit = 1.0F + 1e-6F;  // a blend of values within 1 stays there, up to rounding

Range hull(const Range& a, const Range& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), a.missing || b.missing};
}

// The range of bias + weights . values, widened for the rounding of its sums; inputs that may be missing count as
// `fill`.
Range write_sum(const Tree& tree, int leaf, int k, std::span<const Range> box, std::span<const float> fill) {
  const auto n_w = static_cast<std::size_t>(tree.n_w());
  const std::size_t row =
      static_cast<std::size_t>(leaf) * static_cast<std::size_t>(tree.n_m) + static_cast<std::size_t>(k);
  double low = tree.bias.empty() ? 0.0 : static_cast<double>(tree.bias[row]);
  double high = low, low_size = std::abs(low), high_size = low_size;
  bool read_any = false;
  for (std::size_t f = 0; f < n_w; ++f) {
    const auto w = static_cast<double>(tree.write[row * n_w + f]);
    if (w == 0) continue;
    double a = box[f].low, b = box[f].high;
    if (box[f].missing && f < fill.size()) {
      a = std::min(a, static_cast<double>(fill[f]));
      b = std::max(b, static_cast<double>(fill[f]));
    }
    if (a == 0 && b == 0) continue;
    read_any = true;
    if (w < 0) std::swap(a, b);
    low += w * a;
    high += w * b;
    low_size += std::abs(w * a);
    high_size += std::abs(w * b);
  }
  constexpr double kSlack = 1e-5;  // for the roundings to float
  if (read_any) low -= kSlack * low_size, high += kSlack * high_size;
  // inf - inf: nothing is known
  return {std::isnan(low) ? -kInfinity : static_cast<float>(low),
          std::isnan(high) ? kInfinity : static_cast<float>(high), false};
}

// Walks the nodes reachable from inside `box`, in pre-order, without recursion: a tree in a file may be very deep.
// visit(id, parent, is_right, box) is called for every leaf and every split with two reachable sides, and returns its
// number.
template <typename Visit>
void walk(const Tree& tree, std::vector<Range> box, Visit visit) {
  struct Entry {
    std::int32_t id = 0;
    int parent = -1;
    bool is_right = false;
    int restore = -1;  // >= 0: not a node but the order to give this feature `range` back
    int narrow = -1;   // >= 0: the feature that becomes `range` on entering the node
    Range range;
  };
  std::vector<Entry> stack = {{tree.root(), -1, false, -1, -1, {}}};
  while (!stack.empty()) {
    const Entry e = stack.back();
    stack.pop_back();
    if (e.restore >= 0) {
      box[static_cast<std::size_t>(e.restore)] = e.range;
      continue;
    }
    if (e.narrow >= 0) {
      stack.push_back({0, -1, false, e.narrow, -1, box[static_cast<std::size_t>(e.narrow)]});
      box[static_cast<std::size_t>(e.narrow)] = e.range;
    }
    if (e.id < 0) {
      visit(e.id, e.parent, e.is_right, box);
      continue;
    }
    const auto i = static_cast<std::size_t>(e.id);
    const int f = tree.feature[i];
    const Range& now = box[static_cast<std::size_t>(f)];
    const Range left = left_part(now, tree.threshold[i], tree.missing_right[i] != 0);
    const Range right = right_part(now, tree.threshold[i], tree.missing_right[i] != 0);
    if (is_empty(left) || is_empty(right)) {  // one side only: the split decides nothing
      stack.push_back({is_empty(left) ? tree.right[i] : tree.left[i], e.parent, e.is_right, -1, -1, {}});
      continue;
    }
    const int self = visit(e.id, e.parent, e.is_right, box);
    stack.push_back({tree.right[i], self, true, -1, f, right});
    stack.push_back({tree.left[i], self, false, -1, f, left});
  }
}

std::vector<Range> whole_box(const Tree& tree, std::span<const Range> memory) {
  std::vector<Range> box(static_cast<std::size_t>(tree.n_v()));
  for (int f = 0; f < tree.n_v(); ++f)
    box[static_cast<std::size_t>(f)] =
        f < tree.n_x ? Range{-kInfinity, kInfinity, true} : memory[static_cast<std::size_t>(f - tree.n_x)];
  return box;
}

// Grows the ranges of the cells from zero until no leaf leads out of them.
std::vector<Range> memory_ranges(const Tree& tree, std::span<const float> fill) {
  constexpr int kExactRounds = 16;  // then growing ends jump as far as a write can ever bring them
  std::vector<Range> memory(static_cast<std::size_t>(tree.n_m), Range{0, 0, false});
  const float far = tree.form.write_rule == WriteRule::kAdd ? kInfinity : kBlendLimit;
  for (int round = 0;; ++round) {
    std::vector<Range> grown = memory;
    walk(tree, whole_box(tree, memory), [&](std::int32_t id, int, bool, const std::vector<Range>& box) {
      for (int k = 0; id < 0 && k < tree.n_m; ++k)
        grown[static_cast<std::size_t>(k)] =
            hull(grown[static_cast<std::size_t>(k)], range_after(tree, ~id, k, box, fill));
      return 0;
    });
    if (grown == memory) return memory;
    for (std::size_t k = 0; round >= kExactRounds && k < memory.size(); ++k) {
      if (grown[k].low < memory[k].low) grown[k].low = std::min(grown[k].low, -far);
      if (grown[k].high > memory[k].high) grown[k].high = std::max(grown[k].high, far);
    }
    memory = std::move(grown);
  }
}

bool any_nonzero(const std::vector<float>& values, std::size_t begin, std::size_t count, std::size_t stride) {
  for (std::size_t i = 0; i < count; ++i)
    if (values[begin + i * stride] != 0) return true;
  return false;
}

// A cell is read where a split tests it, a linear leaf adds it, or a write into a cell that is read uses it.
std::vector<std::uint8_t> cells_read(const Tree& tree, const View& view) {
  const auto n_m = static_cast<std::size_t>(tree.n_m), n_x = static_cast<std::size_t>(tree.n_x);
  const auto n_v = static_cast<std::size_t>(tree.n_v()), n_y = static_cast<std::size_t>(tree.n_y);
  std::vector<std::uint8_t> read(n_m, 0);
  for (const View::Node& node : view.nodes) {
    if (!node.is_leaf()) {
      const int f = tree.feature[static_cast<std::size_t>(node.id)];
      if (f >= tree.n_x) read[static_cast<std::size_t>(f) - n_x] = 1;
    } else if (!tree.linear.empty()) {
      const std::size_t begin = static_cast<std::size_t>(node.leaf()) * n_y * n_v + n_x;
      for (std::size_t k = 0; k < n_m; ++k) read[k] |= any_nonzero(tree.linear, begin + k, n_y, n_v) ? 1 : 0;
    }
  }
  if (tree.form.write_reads == WriteReads::kInputs) return read;
  for (bool changed = true; changed;) {
    changed = false;
    for (const View::Node& node : view.nodes)
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

Range right_part(const Range& range, float threshold, bool missing_right) {
  return {std::max(range.low, threshold), range.high, range.missing && missing_right};
}

Range left_part(const Range& range, float threshold, bool missing_right) {
  return {range.low, std::min(range.high, std::nextafter(threshold, -kInfinity)), range.missing && !missing_right};
}

Range range_after(const Tree& tree, int leaf, int k, std::span<const Range> box, std::span<const float> fill) {
  const std::size_t row =
      static_cast<std::size_t>(leaf) * static_cast<std::size_t>(tree.n_m) + static_cast<std::size_t>(k);
  const Range& before = box[static_cast<std::size_t>(tree.n_x + k)];
  if (tree.gate[row] == 0) return before;
  const Range sum = write_sum(tree, leaf, k, box, fill);
  constexpr float kSlack = 1e-6F;  // tanh is within 4e-7, and need not be monotone to the last bit
  const bool point = sum.low == sum.high;
  const float low = point ? tanh(sum.low) : std::max(-1.0F, tanh(sum.low) - kSlack);
  const float high = point ? tanh(sum.high) : std::min(1.0F, tanh(sum.high) + kSlack);
  if (tree.form.write_rule == WriteRule::kAdd) return {before.low + low, before.high + high, before.missing};
  const float a = tree.blend[row];
  return {std::max(-kBlendLimit, (1 - a) * before.low + a * low - kSlack),
          std::min(kBlendLimit, (1 - a) * before.high + a * high + kSlack), before.missing};
}

View reachable_view(const Tree& tree, std::span<const float> fill) {
  View view;
  view.memory = memory_ranges(tree, fill);
  walk(tree, whole_box(tree, view.memory), [&](std::int32_t id, int parent, bool is_right, const std::vector<Range>&) {
    const int self = static_cast<int>(view.nodes.size());
    View::Node node{id, parent, -1, -1, 0};
    if (parent >= 0) {
      View::Node& above = view.nodes[static_cast<std::size_t>(parent)];
      (is_right ? above.right : above.left) = self;
      node.depth = above.depth + 1;
    }
    view.nodes.push_back(node);
    return self;
  });
  view.cell_read = cells_read(tree, view);
  return view;
}

std::vector<Range> box_of(const Tree& tree, const View& view, int node) {
  std::vector<Range> box = whole_box(tree, view.memory);
  for (int child = node, i = view.nodes[static_cast<std::size_t>(node)].parent; i >= 0;
       child = i, i = view.nodes[static_cast<std::size_t>(i)].parent) {
    const View::Node& n = view.nodes[static_cast<std::size_t>(i)];
    const auto id = static_cast<std::size_t>(n.id);
    Range& range = box[static_cast<std::size_t>(tree.feature[id])];
    const bool right_missing = tree.missing_right[id] != 0;
    range = n.right == child ? right_part(range, tree.threshold[id], right_missing)
                             : left_part(range, tree.threshold[id], right_missing);
  }
  return box;
}

}  // namespace remede

#include "remede/model/tree.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "remede/base/error.h"
#include "remede/model/limits.h"

namespace remede {
namespace {

void check_range(std::int64_t value, std::int64_t low, std::int64_t high, const char* what, const std::string& where) {
  if (value < low || value > high) fail("{}: expected {} from {} to {}, got {}", where, what, low, high, value);
}

template <typename T>
void check_size(const std::vector<T>& array, std::size_t expected, const char* what, const std::string& where) {
  if (array.size() != expected) fail("{}: expected {} values of {}, got {}", where, expected, what, array.size());
}

void check_finite(const std::vector<float>& array, const char* what, const std::string& where) {
  const auto bad = std::find_if(array.begin(), array.end(), [](float v) { return !std::isfinite(v); });
  if (bad != array.end())
    fail("{}: expected finite values of {}, got {} at {}", where, what, *bad, bad - array.begin());
}

void check_flags(const std::vector<std::uint8_t>& array, const char* what, const std::string& where) {
  const auto bad = std::find_if(array.begin(), array.end(), [](std::uint8_t v) { return v > 1; });
  if (bad != array.end()) fail("{}: expected {} of 0 or 1, got {} at {}", where, what, *bad, bad - array.begin());
}

void check_sizes(const Tree& tree, const std::string& where) {
  check_range(tree.n_x, 0, kMostInputs, "a number of inputs", where);
  check_range(tree.n_m, 0, kMostCells, "a number of memory cells", where);
  check_range(tree.n_y, 1, kMostOutputs, "a number of outputs", where);
  if (tree.feature.size() > static_cast<std::size_t>(kMostInner))
    fail("{}: expected at most {} inner nodes, got {}", where, kMostInner, tree.feature.size());
  const auto inner = tree.feature.size();
  check_size(tree.threshold, inner, "threshold", where);
  check_size(tree.missing_right, inner, "missing_right", where);
  check_size(tree.left, inner, "left", where);
  check_size(tree.right, inner, "right", where);
  const auto leaves = inner + 1;
  const auto n_m = static_cast<std::size_t>(tree.n_m);
  const auto n_y = static_cast<std::size_t>(tree.n_y);
  const auto n_v = static_cast<std::size_t>(tree.n_v());
  const bool linear = tree.form.leaf_output == LeafOutput::kLinear;
  const bool blends = tree.form.write_rule == WriteRule::kBlend;
  check_size(tree.output, leaves * n_y, "output", where);
  check_size(tree.linear, linear ? leaves * n_y * n_v : 0, "linear", where);
  const std::size_t writes = tree.has_laws() ? 0 : leaves * n_m;
  check_size(tree.gate, writes, "gate", where);
  check_size(tree.write, writes * static_cast<std::size_t>(tree.n_w()), "write", where);
  check_size(tree.bias, tree.form.write_bias ? leaves * n_m : 0, "bias", where);
  check_size(tree.blend, blends ? leaves * n_m : 0, "blend", where);
}

// Only one of the two forms of memory is in use.
void check_form(const Tree& tree, const std::string& where) {
  if (tree.has_laws()) {
    LeafForm plain;
    plain.memory = Memory::kLaws;
    plain.output_order = tree.form.output_order;
    if (!(tree.form == plain)) fail("{}: expected no options of leaf writes in a tree whose cells have laws", where);
    check_cells(tree, where);
  } else if (tree.cells.count() > 0) {
    fail("{}: expected no laws of cells in a tree whose leaves write them, got {}", where, tree.cells.count());
  }
}

void check_notes(const Tree& tree, const std::string& where) {
  const auto one_each = [&](std::size_t size, const char* what) {
    if (size != 0 && size != static_cast<std::size_t>(tree.n_m))
      fail("{}: expected {} {}, one per cell, got {}", where, tree.n_m, what, size);
  };
  one_each(tree.cell_name.size(), "cell names");
  one_each(tree.level_range.size(), "ranges of levels");
  one_each(tree.share_range.size(), "ranges of shares");
  check_ranges(tree.level_range, "levels", where);
  check_ranges(tree.share_range, "shares", where);
}

void check_values(const Tree& tree, const std::string& where) {
  check_finite(tree.threshold, "threshold", where);
  check_finite(tree.output, "output", where);
  check_finite(tree.linear, "linear", where);
  check_finite(tree.write, "write", where);
  check_finite(tree.bias, "bias", where);
  check_finite(tree.blend, "blend", where);
  check_flags(tree.missing_right, "missing_right", where);
  check_flags(tree.gate, "gate", where);
  for (const float blend : tree.blend)
    if (blend < 0.0F || blend > 1.0F) fail("{}: expected blend from 0 to 1, got {}", where, blend);
  for (const std::int32_t feature : tree.feature) check_range(feature, 0, tree.n_v() - 1, "a feature", where);
}

// Every inner node but the root and every leaf is a child exactly once, and children come after their parent. Then the
// nodes form one tree: 2 inner children for as many places, so it is enough that no place is taken twice.
void check_links(const Tree& tree, const std::string& where) {
  const int inner = tree.inner_count();
  std::vector<std::uint8_t> inner_taken(static_cast<std::size_t>(inner));
  std::vector<std::uint8_t> leaf_taken(static_cast<std::size_t>(tree.leaf_count()));
  std::vector<std::int32_t> depth(static_cast<std::size_t>(inner));  // decisions above the node
  const auto take = [&](int parent, std::int32_t child) {
    const bool is_leaf = child < 0;
    const std::int32_t number = is_leaf ? ~child : child;
    if (number >= (is_leaf ? inner + 1 : inner) || (!is_leaf && number <= parent))
      fail("{}: node {}: expected a child after it and within the tree, got {} {}", where, parent,
           is_leaf ? "leaf" : "node", number);
    std::uint8_t& taken = (is_leaf ? leaf_taken : inner_taken)[static_cast<std::size_t>(number)];
    if (taken != 0)
      fail("{}: node {}: expected a child without another parent, got {} {}", where, parent, is_leaf ? "leaf" : "node",
           number);
    taken = 1;
    const std::int32_t below = depth[static_cast<std::size_t>(parent)] + 1;
    if (below > kMostDepth) fail("{}: expected a depth of at most {}, got more", where, kMostDepth);
    if (!is_leaf) depth[static_cast<std::size_t>(number)] = below;
  };
  for (int i = 0; i < inner; ++i) {
    take(i, tree.left[static_cast<std::size_t>(i)]);
    take(i, tree.right[static_cast<std::size_t>(i)]);
  }
}

}  // namespace

void check_ranges(const std::vector<SeenRange>& ranges, const char* what, const std::string& where) {
  for (const SeenRange& range : ranges)
    if (!std::isfinite(range.low) || !std::isfinite(range.high) || range.low > range.high)
      fail("{}: expected finite ranges of {}, low before high, got {} and {}", where, what, range.low, range.high);
}

void check(const Tree& tree, const std::string& where) {
  check_sizes(tree, where);
  check_form(tree, where);
  check_notes(tree, where);
  check_values(tree, where);
  check_links(tree, where);
}

}  // namespace remede

#include "remede/simplify/branches.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "remede/simplify/edit.h"

namespace remede {
namespace {

// One walk over a tree, knowing at each node what the tests above let through.
class Walk {
 public:
  Walk(Draft& draft, int t, const Reach& reach) : draft_(draft), tree_(draft.tree(t)), t_(t), reach_(reach) {
    box_.assign(static_cast<std::size_t>(tree_.n_x), Range::all());
    for (int k = 0; k < tree_.n_m; ++k) box_.push_back(reach.cell(k));
  }

 protected:
  Range& tested(std::int32_t node) {
    return box_[static_cast<std::size_t>(tree_.feature[static_cast<std::size_t>(node)])];
  }

  // Calls inside() with the box narrowed to one side of the node's test.
  template <typename Inside>
  auto on_side(std::int32_t node, bool right, const Inside& inside) {
    const auto i = static_cast<std::size_t>(node);
    Range& range = tested(node);
    const Range before = range;
    range = right ? right_part(before, tree_.threshold[i], tree_.missing_right[i] != 0)
                  : left_part(before, tree_.threshold[i], tree_.missing_right[i] != 0);
    auto result = inside();
    range = before;
    return result;
  }

  // Can anything go to this side of the node, given the box?
  bool side_possible(std::int32_t node, bool right) {
    return on_side(node, right, [&] {
      if (tested(node).empty()) return false;
      const bool memory = tree_.feature[static_cast<std::size_t>(node)] >= tree_.n_x;
      return !memory || reach_.possible(std::span(box_).subspan(static_cast<std::size_t>(tree_.n_x)));
    });
  }

  std::int32_t child(std::int32_t node, bool right) const {
    return (right ? tree_.right : tree_.left)[static_cast<std::size_t>(node)];
  }

  Draft& draft_;
  Tree& tree_;
  int t_;
  const Reach& reach_;
  std::vector<Range> box_;  // (n_v)
};

class RemoveImpossible : Walk {
 public:
  using Walk::Walk;

  bool run() {
    visit(tree_.root());
    return changed_;
  }

 private:
  void visit(std::int32_t node) {
    node = resolve(tree_, node);
    if (node < 0) return;
    if (!tested(node).nan)
      tree_.missing_right[static_cast<std::size_t>(node)] = 0;  // canonical value: it has no effect
    for (const bool right : {false, true}) {
      if (!all_dead(child(node, right))) continue;
      const bool contradicted = on_side(node, right, [&] { return tested(node).empty(); });
      remove(node, right, contradicted && contradicted_by_tests(node, right));
      visit(child(node, !right));
      return;
    }
    for (const bool right : {false, true})
      on_side(node, right, [&] {
        visit(child(node, right));
        return 0;
      });
  }

  bool all_dead(std::int32_t below) const {
    std::vector<std::int32_t> leaves;
    append_leaves(tree_, below, leaves);
    return std::none_of(leaves.begin(), leaves.end(), [&](std::int32_t leaf) { return reach_.leaf_possible(leaf); });
  }

  // Would the side be empty even if the cell could hold anything? Then it is for the tests above, not for the writes.
  bool contradicted_by_tests(std::int32_t node, bool right) {
    const std::int32_t f = tree_.feature[static_cast<std::size_t>(node)];
    if (f < tree_.n_x) return true;
    const Range held = reach_.cell(f - tree_.n_x);
    const float threshold = tree_.threshold[static_cast<std::size_t>(node)];
    const bool missing_right = tree_.missing_right[static_cast<std::size_t>(node)] != 0;
    return !(right ? right_part(held, threshold, missing_right) : left_part(held, threshold, missing_right)).empty();
  }

  void remove(std::int32_t node, bool right, bool contradicted) {
    const std::int32_t gone = child(node, right);
    draft_.note(contradicted ? Cause::kContradicted : Cause::kImpossible, t_,
                fmt::format("the {} side of {}", right ? "right" : "left", draft_.test(t_, node)),
                contradicted ? "the tests above it leave no value for it" : "the memory never holds such values there",
                1 + subtree_size(tree_, gone));
    bypass(tree_, node, child(node, !right));
    changed_ = true;
  }

  bool changed_ = false;
};

class MergeAlike : Walk {
 public:
  using Walk::Walk;

  bool run() {
    visit(tree_.root());
    return changed_;
  }

 private:
  int visit(std::int32_t node) {
    node = resolve(tree_, node);
    if (node < 0) return 0;
    for (const bool right : {false, true}) on_side(node, right, [&] { return visit(child(node, right)); });
    for (const bool keep : {false, true})
      if (stands_in(node, keep)) {
        bypass_alike(node, keep);
        return 0;
      }
    share_test(node);
    return 0;
  }

  // Does the side `keep` do what the other does, wherever the other is reached?
  bool stands_in(std::int32_t node, bool keep) {
    work_left_ = kMaxComparedPairs;
    return on_side(node, !keep, [&] { return same(child(node, keep), child(node, !keep)); });
  }

  void bypass_alike(std::int32_t node, bool keep) {
    draft_.note(
        Cause::kAlike, t_, fmt::format("the split {}", draft_.test(t_, node)),
        fmt::format("its {} side does the same as its {} side", keep ? "left" : "right", keep ? "right" : "left"),
        1 + subtree_size(tree_, child(node, !keep)));
    bypass(tree_, node, child(node, keep));
    changed_ = true;
  }

  // Do both subtrees end in equal leaves for everything in the box?
  bool same(std::int32_t a, std::int32_t b) {
    if (work_left_ == 0) return false;
    --work_left_;
    a = resolve(tree_, a);
    b = resolve(tree_, b);
    if (a == b) return true;
    if (a < 0 && b < 0) return same_leaf(~a, ~b);
    if (a < 0) std::swap(a, b);
    for (const bool right : {false, true}) {
      if (!side_possible(a, right)) continue;
      const std::int32_t other = b >= 0 && same_test(a, b) ? child(b, right) : b;
      if (!on_side(a, right, [&] { return same(child(a, right), other); })) return false;
    }
    return true;
  }

  bool same_test(std::int32_t a, std::int32_t b) const {
    const auto i = static_cast<std::size_t>(a);
    const auto j = static_cast<std::size_t>(b);
    return tree_.feature[i] == tree_.feature[j] && tree_.threshold[i] == tree_.threshold[j] &&
           tree_.missing_right[i] == tree_.missing_right[j];
  }

  bool same_leaf(std::int32_t a, std::int32_t b) const {
    const auto n_m = static_cast<std::size_t>(tree_.n_m);
    const auto n_y = static_cast<std::size_t>(tree_.n_y);
    const auto same_row = [a, b](const auto& values, std::size_t width) {
      const auto* data = values.data();
      return values.empty() || std::memcmp(data + static_cast<std::size_t>(a) * width,
                                           data + static_cast<std::size_t>(b) * width, width * sizeof(*data)) == 0;
    };
    return same_row(tree_.output, n_y) && same_row(tree_.linear, n_y * static_cast<std::size_t>(tree_.n_v())) &&
           same_row(tree_.gate, n_m) && same_row(tree_.write, n_m * static_cast<std::size_t>(tree_.n_w())) &&
           same_row(tree_.bias, n_m) && same_row(tree_.blend, n_m) && same_row(tree_.cells.tap_leaf, n_m) &&
           same_row(tree_.cells.leaf_linear, n_y * (static_cast<std::size_t>(tree_.n_x) + 2 * n_m));
  }

  // Both sides begin with the same test, and on one outcome of it they do the same: ask it first, and the node's own
  // question only on the other outcome.
  void share_test(std::int32_t node) {
    const std::int32_t l = resolve(tree_, child(node, false));
    const std::int32_t r = resolve(tree_, child(node, true));
    if (l < 0 || r < 0 || !same_test(l, r)) return;
    for (const bool outcome : {false, true}) {
      work_left_ = kMaxComparedPairs;
      const bool shared = on_side(
          node, true, [&] { return on_side(r, outcome, [&] { return same(child(l, outcome), child(r, outcome)); }); });
      if (!shared) continue;
      draft_.note(Cause::kAlike, t_, fmt::format("a second {}", draft_.test(t_, l)),
                  fmt::format("asked before {}, once is enough", draft_.test(t_, node)),
                  1 + subtree_size(tree_, child(r, outcome)));
      const std::int32_t same_side = child(l, outcome);
      const std::pair<std::int32_t, std::int32_t> differing = {child(l, !outcome), child(r, !outcome)};
      swap_tests(node, l);
      set_children(l, differing.first, differing.second);
      outcome ? set_children(node, l, same_side) : set_children(node, same_side, l);
      changed_ = true;
      return;
    }
  }

  void swap_tests(std::int32_t a, std::int32_t b) {
    const auto i = static_cast<std::size_t>(a);
    const auto j = static_cast<std::size_t>(b);
    std::swap(tree_.feature[i], tree_.feature[j]);
    std::swap(tree_.threshold[i], tree_.threshold[j]);
    std::swap(tree_.missing_right[i], tree_.missing_right[j]);
  }

  void set_children(std::int32_t node, std::int32_t l, std::int32_t r) {
    tree_.left[static_cast<std::size_t>(node)] = l;
    tree_.right[static_cast<std::size_t>(node)] = r;
  }

  static constexpr std::size_t kMaxComparedPairs = 20000;  // pairs of nodes compared before giving up
  std::size_t work_left_ = 0;
  bool changed_ = false;
};

}  // namespace

bool remove_impossible(Draft& draft, int t, const Reach& reach) { return RemoveImpossible(draft, t, reach).run(); }

bool merge_alike(Draft& draft, int t, const Reach& reach) { return MergeAlike(draft, t, reach).run(); }

}  // namespace remede

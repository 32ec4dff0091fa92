#include "remede/export/tables.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "remede/base/arithmetic.h"

namespace remede {
namespace {

int count_of(std::size_t size) { return static_cast<int>(size); }

// Adds trees one by one.
class TableMaker {
 public:
  explicit TableMaker(const Model& model) : model_(model) {
    to_.inputs = model.n_x();
    to_.outputs = model.n_y();
    for (const Tree& tree : model.trees)
      to_.state += tree.memory_size() + (tree.form.output_order == OutputOrder::kFirst ? tree.n_y : 0);
  }

  Tables make() {
    for (const Tree& tree : model_.trees) add(tree);
    finish();
    return std::move(to_);
  }

 private:
  void add(const Tree& tree) {
    Tables::TreeForm form;
    form.laws = tree.has_laws();
    form.first_order = tree.form.output_order == OutputOrder::kFirst;
    form.state = state_;
    form.first_leaf = to_.leaves();
    form.first_cell = count_of(to_.cells.size());
    form.offsets = count_of(to_.tap_kind.size());
    if (form.laws) {
      form.cells = tree.n_m;
      if (tree.cells.any_first()) form.flag = state_ + tree.n_m;
    }
    if (form.first_order) form.last = state_ + tree.memory_size();
    add_nodes(tree, form);
    to_.output.insert(to_.output.end(), tree.output.begin(), tree.output.end());
    if (form.laws) {
      add_laws(tree, form);
    } else {
      add_leaves(tree, form);
    }
    state_ += tree.memory_size() + (form.first_order ? tree.n_y : 0);
    to_.trees.push_back(form);
  }

  void add_nodes(const Tree& tree, Tables::TreeForm& form) {
    const int first = count_of(to_.nodes.size());
    const auto child = [&](int number) { return number >= 0 ? first + number : ~(form.first_leaf + ~number); };
    form.root = child(tree.root());
    std::vector<int> depth(tree.feature.size());
    for (std::size_t i = 0; i < tree.feature.size(); ++i) {
      to_.nodes.push_back({tree.threshold[i], value_of(tree, form, tree.feature[i]), tree.missing_right[i] != 0,
                           child(tree.left[i]), child(tree.right[i])});
      form.depth = std::max(form.depth, depth[i] + 1);
      for (const int below : {tree.left[i], tree.right[i]})
        if (below >= 0) depth[static_cast<std::size_t>(below)] = depth[i] + 1;
    }
  }

  // Of v = (x, m, outputs of cells), as trees number it.
  int value_of(const Tree& tree, const Tables::TreeForm& form, int v) const {
    if (v < tree.n_x) return v;
    if (v < tree.n_x + tree.n_m) return to_.inputs + form.state + (v - tree.n_x);
    return to_.inputs + to_.state + (v - tree.n_x - tree.n_m);
  }

  using Row = std::vector<Tables::Term>;

  // Terms of weight zero stay: the library adds them as well, and infinite inputs show it.
  Row dense(const Tree& tree, const Tables::TreeForm& form, const float* row, std::size_t size) const {
    Row terms;
    for (std::size_t i = 0; i < size; ++i) terms.push_back({value_of(tree, form, count_of(i)), row[i]});
    return terms;
  }

  // Of row (size) the terms whose weight is not zero; its first is value number `from` of v.
  void add_sparse(const Tree& tree, const Tables::TreeForm& form, const float* row, int size, int from, Row& to) const {
    for (int i = 0; i < size; ++i)
      if (row[i] != 0.0F) to.push_back({value_of(tree, form, from + i), row[i]});
  }

  void add_leaves(const Tree& tree, const Tables::TreeForm& form) {
    const auto n_v = static_cast<std::size_t>(tree.n_v()), n_w = static_cast<std::size_t>(tree.n_w());
    const auto n_y = static_cast<std::size_t>(tree.n_y), n_m = static_cast<std::size_t>(tree.n_m);
    shared_.resize(shared_.size() + n_y);
    for (std::size_t leaf = 0; leaf < static_cast<std::size_t>(tree.leaf_count()); ++leaf) {
      for (std::size_t o = 0; o < n_y; ++o)
        linear_.push_back(tree.linear.empty() ? Row()
                                              : dense(tree, form, tree.linear.data() + (leaf * n_y + o) * n_v, n_v));
      to_.write_begin.push_back(count_of(to_.writes.size()));
      for (std::size_t k = 0; k < n_m; ++k) {
        const std::size_t at = leaf * n_m + k;
        if (tree.gate[at] == 0) continue;
        writes_.push_back(dense(tree, form, tree.write.data() + at * n_w, n_w));
        to_.writes.push_back({form.state + count_of(k), tree.form.write_bias ? tree.bias[at] : 0.0F,
                              tree.form.write_rule == WriteRule::kBlend ? tree.blend[at] : Tables::kAdds});
      }
    }
  }

  // Answers number inputs, outputs of the cells, levels; v numbers levels before outputs.
  Row answer(const Tree& tree, const Tables::TreeForm& form, const float* row) const {
    Row terms;
    add_sparse(tree, form, row, tree.n_x, 0, terms);
    add_sparse(tree, form, row + tree.n_x, tree.n_m, tree.n_x + tree.n_m, terms);
    add_sparse(tree, form, row + tree.n_x + tree.n_m, tree.n_m, tree.n_x, terms);
    return terms;
  }

  void add_laws(const Tree& tree, const Tables::TreeForm& form) {
    const Cells& cells = tree.cells;
    const auto n_x = static_cast<std::size_t>(tree.n_x), n_m = static_cast<std::size_t>(tree.n_m);
    for (std::size_t k = 0; k < n_m; ++k) {
      Row argument, tap;
      add_sparse(tree, form, cells.input.data() + k * n_x, tree.n_x, 0, argument);
      add_sparse(tree, form, cells.earlier.data() + k * n_m, count_of(k), tree.n_x + tree.n_m, argument);
      add_sparse(tree, form, cells.tap_input.data() + k * n_x, tree.n_x, 0, tap);
      add_sparse(tree, form, cells.tap_level.data() + k, 1, tree.n_x + count_of(k), tap);
      const bool fixed = tap.empty() && !moved_by_a_leaf(tree, k);
      to_.cells.push_back({cells.law[k], cells.first[k] != 0, fixed, cells.bias[k],
                           fixed ? sigmoid(bounded(cells.tap[k])) : cells.tap[k]});
      cells_.push_back(std::move(argument));
      cells_.push_back(std::move(tap));
    }
    add_leaves_of_laws(tree, form);
  }

  void add_leaves_of_laws(const Tree& tree, const Tables::TreeForm& form) {
    const Cells& cells = tree.cells;
    const auto n_y = static_cast<std::size_t>(tree.n_y), n_m = static_cast<std::size_t>(tree.n_m);
    const std::size_t width = static_cast<std::size_t>(tree.n_x) + 2 * n_m;
    for (std::size_t o = 0; o < n_y; ++o) shared_.push_back(answer(tree, form, cells.linear.data() + o * width));
    for (std::size_t leaf = 0; leaf < static_cast<std::size_t>(tree.leaf_count()); ++leaf) {
      for (std::size_t o = 0; o < n_y; ++o)
        linear_.push_back(cells.leaf_linear.empty()
                              ? Row()
                              : answer(tree, form, cells.leaf_linear.data() + (leaf * n_y + o) * width));
      to_.write_begin.push_back(count_of(to_.writes.size()));
      for (std::size_t k = 0; k < n_m; ++k) {
        const float offset = cells.tap_leaf[leaf * n_m + k];
        to_.tap_kind.push_back(std::isfinite(offset) ? 0 : offset < 0.0F ? 1 : 2);
        to_.tap_offset.push_back(std::isfinite(offset) ? offset : 0.0F);
      }
    }
  }

  static bool moved_by_a_leaf(const Tree& tree, std::size_t k) {
    for (std::size_t at = k; at < tree.cells.tap_leaf.size(); at += static_cast<std::size_t>(tree.n_m))
      if (std::isfinite(tree.cells.tap_leaf[at]) && tree.cells.tap_leaf[at] != 0.0F) return true;
    return false;
  }

  // Appends the terms of all rows; the terms of row i are then begin[i] .. begin[i + 1].
  void flatten(const std::vector<Row>& rows, std::vector<int>& begin) {
    for (const Row& row : rows) {
      begin.push_back(count_of(to_.terms.size()));
      to_.terms.insert(to_.terms.end(), row.begin(), row.end());
    }
    begin.push_back(count_of(to_.terms.size()));
  }

  static bool any_terms(const std::vector<Row>& rows) {
    return std::any_of(rows.begin(), rows.end(), [](const Row& row) { return !row.empty(); });
  }

  void finish() {
    if (any_terms(linear_)) flatten(linear_, to_.linear);
    if (any_terms(shared_)) flatten(shared_, to_.shared);
    if (to_.writes.empty()) {
      to_.write_begin.clear();
    } else {
      to_.write_begin.push_back(count_of(to_.writes.size()));
      flatten(writes_, to_.write_terms);
    }
    if (!to_.cells.empty()) flatten(cells_, to_.cell_terms);
    if (std::all_of(to_.tap_kind.begin(), to_.tap_kind.end(), [](int k) { return k == 0; })) to_.tap_kind.clear();
    if (std::all_of(to_.tap_offset.begin(), to_.tap_offset.end(), [](float v) { return v == 0.0F; }))
      to_.tap_offset.clear();
    link();
  }

  // Answers that depend on nothing but the leaf are made here, as Stream does.
  void link() {
    if (!to_.linear.empty() || !to_.shared.empty()) return;
    for (const Tables::TreeForm& form : to_.trees)
      if (form.first_order) return;
    const auto n_y = static_cast<std::size_t>(to_.outputs);
    for (std::size_t at = 0; at < to_.output.size(); at += n_y)
      apply_link(model_.objective(), {to_.output.data() + at, n_y});
    to_.linked = true;
  }

  const Model& model_;
  Tables to_;
  int state_ = 0;
  std::vector<Row> linear_, shared_, writes_, cells_;
};

template <typename T, typename Test>
bool table_has(const std::vector<T>& all, const Test& test) {
  return std::any_of(all.begin(), all.end(), test);
}

}  // namespace

int Tables::most_writes() const {
  int most = 0;
  for (std::size_t leaf = 1; leaf < write_begin.size(); ++leaf)
    most = std::max(most, write_begin[leaf] - write_begin[leaf - 1]);
  return most;
}

int Tables::most_cells() const {
  int most = 0;
  for (const TreeForm& tree : trees) most = std::max(most, tree.cells);
  return most;
}

int Tables::comparisons() const {
  int sum = 0;
  for (const TreeForm& tree : trees) sum += tree.depth;
  return sum;
}

bool Tables::any_first() const {
  return table_has(cells, [](const Cell& cell) { return cell.first; });
}
bool Tables::any_blend() const {
  return table_has(writes, [](const Write& write) { return write.blend != kAdds; });
}
bool Tables::any_add() const {
  return table_has(writes, [](const Write& write) { return write.blend == kAdds; });
}
bool Tables::any_moving_tap() const {
  return table_has(cells, [](const Cell& cell) { return !cell.fixed; });
}

Tables make_tables(const Model& model) { return TableMaker(model).make(); }

}  // namespace remede

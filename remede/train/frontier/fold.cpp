#include "remede/train/frontier/fold.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "remede/train/frontier/prune.h"

namespace remede::frontier {
namespace {

using laws::Group;

// Weights of the inputs to raw units, and what their shifts contributed out of the constant beside them. A constant not
// in use is exactly 0 then.
void fold_inputs(const Problem& problem, laws::Parameters& p, std::size_t weights, std::size_t constant) {
  double contributed = 0;
  for (std::size_t i = 0; i < problem.x_zero.size(); ++i) {
    contributed += p.values[weights + i] * problem.x_zero[i];
    p.values[weights + i] /= static_cast<double>(problem.scaling.x_scale[i]);
  }
  if (p.used[constant] != 0) p.values[constant] -= contributed;
}

void fold_answers(const Problem& problem, laws::Parameters& p) {
  const laws::Shape& s = p.shape;
  const auto n_y = static_cast<std::size_t>(s.n_y), n_z = static_cast<std::size_t>(s.n_z());
  const auto n_x = static_cast<std::size_t>(s.n_x), leaves = static_cast<std::size_t>(s.leaves());
  for (std::size_t row = 0; row < leaves * n_y; ++row) {
    double& constant = p[Group::kOutput][row];
    if (p.used[s.at(Group::kOutput, row)] == 0) continue;
    for (std::size_t i = 0; i < n_x; ++i) {
      constant -= p[Group::kLinear][row % n_y * n_z + i] * problem.x_zero[i];
      if (s.leaf_linear) constant -= p[Group::kLeafLinear][row * n_z + i] * problem.x_zero[i];
    }
    constant = (constant + problem.y_zero[row % n_y]) * problem.y_scale[row % n_y];
  }
  for (const Group g : {Group::kLinear, Group::kLeafLinear})
    for (std::size_t at = 0; at < s.size(g); ++at) {
      if (at % n_z < n_x) p[g][at] /= static_cast<double>(problem.scaling.x_scale[at % n_z]);
      p[g][at] *= problem.y_scale[at / n_z % n_y];
    }
}

// Measures cell k in other units: its level and output become 1 / by of what they were.
void rescale_cell(laws::Parameters& p, std::size_t k, double by) {
  const laws::Shape& s = p.shape;
  const auto n_x = static_cast<std::size_t>(s.n_x), n_z = static_cast<std::size_t>(s.n_z()), k_n = s.law.size();
  p[Group::kBias][k] /= by;
  for (std::size_t i = 0; i < n_x; ++i) p[Group::kInput][k * n_x + i] /= by;
  for (std::size_t j = 0; j < k_n; ++j) p[Group::kEarlier][k * k_n + j] /= by;
  p[Group::kTapLevel][k] *= by;
  for (std::size_t reader = k + 1; reader < k_n; ++reader) p[Group::kEarlier][reader * k_n + k] *= by;
  for (const Group g : {Group::kLinear, Group::kLeafLinear})
    for (std::size_t row = 0; row * n_z < s.size(g); ++row) {
      p[g][row * n_z + n_x + k] *= by;
      p[g][row * n_z + n_x + k_n + k] *= by;
    }
  for (std::size_t node = 0; node < static_cast<std::size_t>(s.nodes()); ++node)
    p[Group::kThreshold][node * static_cast<std::size_t>(s.n_v()) + n_x + k] /= by;
}

double largest(std::span<const double> values) {
  double most = 0;
  for (const double v : values) most = std::max(most, std::abs(v));
  return most;
}

bool in_use(const laws::Parameters& p, std::size_t k) {
  const laws::Shape& s = p.shape;
  const auto n_x = static_cast<std::size_t>(s.n_x), n_z = static_cast<std::size_t>(s.n_z()), k_n = s.law.size();
  for (std::size_t reader = k + 1; reader < k_n; ++reader)
    if (p.used[s.at(Group::kEarlier, reader * k_n + k)] != 0) return true;
  for (const Group g : {Group::kLinear, Group::kLeafLinear})
    for (std::size_t row = 0; row * n_z < s.size(g); ++row)
      if (p.used[s.at(g, row * n_z + n_x + k)] != 0 || p.used[s.at(g, row * n_z + n_x + k_n + k)] != 0) return true;
  for (int i = 0; i < s.nodes(); ++i)
    if (p.side[static_cast<std::size_t>(i)] == laws::Side::kFree && p.feature(i) == s.n_x + static_cast<int>(k))
      return true;
  return false;
}

// Leaves out the cells that nothing reads. kept: their numbers, rising.
void keep_cells(Tree& tree, const std::vector<std::size_t>& kept) {
  const auto k_n = static_cast<std::size_t>(tree.n_m), n_x = static_cast<std::size_t>(tree.n_x);
  Cells to;
  const Cells& c = tree.cells;
  const std::size_t leaves = c.tap_leaf.size() / std::max<std::size_t>(1, k_n);
  for (const std::size_t k : kept) {
    to.law.push_back(c.law[k]);
    to.first.push_back(c.first[k]);
    to.bias.push_back(c.bias[k]);
    to.tap.push_back(c.tap[k]);
    to.tap_level.push_back(c.tap_level[k]);
    for (std::size_t i = 0; i < n_x; ++i) to.input.push_back(c.input[k * n_x + i]);
    for (std::size_t i = 0; i < n_x; ++i) to.tap_input.push_back(c.tap_input[k * n_x + i]);
    for (const std::size_t j : kept) to.earlier.push_back(c.earlier[k * k_n + j]);
  }
  for (std::size_t l = 0; l < leaves; ++l)
    for (const std::size_t k : kept) to.tap_leaf.push_back(c.tap_leaf[l * k_n + k]);
  const auto rows = [&](const std::vector<float>& from, std::vector<float>& rows_to) {
    for (std::size_t row = 0; row * (n_x + 2 * k_n) < from.size(); ++row) {
      const float* at = from.data() + row * (n_x + 2 * k_n);
      rows_to.insert(rows_to.end(), at, at + n_x);
      for (const std::size_t k : kept) rows_to.push_back(at[n_x + k]);
      for (const std::size_t k : kept) rows_to.push_back(at[n_x + k_n + k]);
    }
  };
  rows(c.linear, to.linear);
  rows(c.leaf_linear, to.leaf_linear);
  for (std::int32_t& f : tree.feature)
    if (f >= tree.n_x)
      f = tree.n_x + static_cast<std::int32_t>(
                         std::find(kept.begin(), kept.end(), static_cast<std::size_t>(f - tree.n_x)) - kept.begin());
  tree.n_m = static_cast<int>(kept.size());
  tree.cells = std::move(to);
}

}  // namespace

Tree fold_tree(const Problem& problem, const laws::Parameters& parameters) {
  laws::Parameters p = parameters;
  const laws::Shape& s = p.shape;
  const auto n_x = static_cast<std::size_t>(s.n_x), k_n = s.law.size();
  for (std::size_t i = s.begin(Group::kBias); i < p.used.size(); ++i)
    if (p.used[i] == 0) p.values[i] = 0;
  fold_answers(problem, p);
  for (std::size_t k = 0; k < k_n; ++k) {
    fold_inputs(problem, p, s.at(Group::kInput, k * n_x), s.at(Group::kBias, k));
    fold_inputs(problem, p, s.at(Group::kTapInput, k * n_x), s.at(Group::kTap, k));
  }
  for (std::size_t node = 0; node < static_cast<std::size_t>(s.nodes()); ++node)
    for (std::size_t f = 0; f < n_x; ++f) {
      double& threshold = p[Group::kThreshold][node * static_cast<std::size_t>(s.n_v()) + f];
      threshold =
          threshold * static_cast<double>(problem.scaling.x_scale[f]) + static_cast<double>(problem.scaling.x_shift[f]);
    }
  for (std::size_t k = 0; k < k_n; ++k) {
    const double unit =
        std::max(largest(p[Group::kInput].subspan(k * n_x, n_x)), largest(p[Group::kEarlier].subspan(k * k_n, k_n)));
    if (unit > 0) rescale_cell(p, k, unit);
  }
  // Inputs of 1e38 may need a number that no float holds. Such a model is judged as it is, and not chosen.
  constexpr double kMost = std::numeric_limits<float>::max();
  for (double& v : p.values) v = std::clamp(v, -kMost, kMost);
  Tree tree = laws::harden(p);
  std::vector<std::size_t> kept;
  for (std::size_t k = 0; k < k_n; ++k)
    if (in_use(p, k)) kept.push_back(k);
  keep_cells(tree, kept);
  if (std::all_of(tree.cells.leaf_linear.begin(), tree.cells.leaf_linear.end(), [](float w) { return w == 0.0F; }))
    tree.cells.leaf_linear.clear();
  return tree;
}

}  // namespace remede::frontier

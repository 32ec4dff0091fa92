#include "remede/simplify/collapse.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "remede/simplify/edit.h"
#include "remede/simplify/tidy.h"

namespace remede {

Judge::Judge(const Model& model, const Sequences* training, const Sequences* validation, const Tolerance& tolerance)
    : stop_(tolerance.stop) {
  replays_.reserve(2);
  double steps = 0;
  for (const Sequences* data : {training, validation}) {
    if (data == nullptr || data->steps() == 0) continue;
    replays_.emplace_back(model, *data, tolerance);
    has_targets_ = has_targets_ || data->has_targets();
    steps += static_cast<double>(data->steps());
  }
  most_steps_ = tolerance.effort * steps;
}

void Judge::restart() {
  for (Replay& replay : replays_) replay.restart();
}

bool Judge::exhausted() const {
  if (stop_ && stop_()) return true;
  double steps = 0;
  for (const Replay& replay : replays_) steps += static_cast<double>(replay.steps_run());
  return steps > most_steps_;
}

bool Judge::visited(int t, int leaf) const {
  return std::any_of(replays_.begin(), replays_.end(),
                     [&](const Replay& replay) { return replay.visits(t, leaf) > 0; });
}

Verdict Judge::judge(int t, const Tree& edited, std::span<const std::uint8_t> touched) {
  Verdict verdict;
  verdict.serial = ++serial_;
  verdict.accepted = has_targets_ && !exhausted() && std::all_of(replays_.begin(), replays_.end(), [&](Replay& replay) {
                       return replay.judge(t, edited, touched, verdict);
                     });
  return verdict;
}

void Judge::commit(int t, const Tree& edited, std::span<const std::uint8_t> touched, const Verdict* verdict) {
  const bool judged = verdict != nullptr && verdict->accepted && verdict->serial == serial_;
  for (Replay& replay : replays_) replay.commit(t, edited, touched, judged);
}

std::vector<double> Judge::feature_sizes(int t, int n_v) const {
  std::vector<double> sizes(static_cast<std::size_t>(n_v));
  double count = 0;
  for (const Replay& replay : replays_) replay.add_squares(t, sizes, count);
  for (double& size : sizes) size = std::sqrt(size / std::max(count, 1.0));
  return sizes;
}

namespace {

// A subtree and the branch of it that would take its place.
struct Candidate {
  std::int32_t node = 0;
  std::int32_t branch = 0;
  int gain = 0;  // nodes that would go
  Verdict verdict = {};
};

class Collapse {
 public:
  Collapse(Draft& draft, int t, Judge& judge) : draft_(draft), tree_(draft.tree(t)), t_(t), judge_(judge) {}

  bool remove_unvisited() {
    const bool changed = remove_unvisited(tree_.root()).second;
    return changed;
  }

  // Largest gain first. After a change the list is made anew and goes on from the gain reached; what was refused before
  // is tried again in the next pass.
  bool collapse_splits() {
    bool changed = false;
    int gain_limit = tree_.node_count();
    for (std::optional<Candidate> found = find(gain_limit); found; found = find(gain_limit)) {
      apply(*found);
      gain_limit = found->gain;
      changed = true;
    }
    return changed;
  }

  // Whole cells first, then leaf by leaf.
  bool close_writes() {
    std::vector<std::int32_t> leaves;
    append_leaves(tree_, tree_.root(), leaves);
    bool changed = false;
    for (int k = 0; k < tree_.n_m; ++k)
      changed = close(open_writes(leaves, k), fmt::format("all writes to {}", draft_.cell(t_, k))) || changed;
    for (const std::int32_t leaf : leaves) changed = close_most(open_writes(leaf)) || changed;
    return changed;
  }

 private:
  // (visited, changed)
  std::pair<bool, bool> remove_unvisited(std::int32_t child) {
    child = resolve(tree_, child);
    if (child < 0) return {judge_.visited(t_, ~child), false};
    const auto i = static_cast<std::size_t>(child);
    const std::int32_t l = tree_.left[i];
    const std::int32_t r = tree_.right[i];
    const auto [left_visited, left_changed] = remove_unvisited(l);
    const auto [right_visited, right_changed] = remove_unvisited(r);
    const bool cut = left_visited != right_visited;
    if (cut) {
      draft_.note(Cause::kUnvisited, t_,
                  fmt::format("the {} side of {}", left_visited ? "right" : "left", draft_.test(t_, child)),
                  "no sequence goes there", 1 + subtree_size(tree_, left_visited ? r : l));
      bypass(tree_, child, left_visited ? l : r);
    }
    return {left_visited || right_visited, left_changed || right_changed || cut};
  }

  std::vector<Candidate> candidates(int gain_limit) const {
    std::vector<Candidate> all;
    std::vector<std::int32_t> nodes;
    append_inner(tree_, tree_.root(), nodes);
    for (const std::int32_t node : nodes) {
      std::vector<std::int32_t> below;
      append_inner(tree_, node, below);
      below.erase(below.begin());
      std::vector<std::int32_t> leaves;
      append_leaves(tree_, node, leaves);
      for (const std::int32_t leaf : leaves) below.push_back(~leaf);
      const int size = subtree_size(tree_, node);
      for (const std::int32_t branch : below) {
        const int gain = size - subtree_size(tree_, branch);
        if (gain <= gain_limit) all.push_back({node, branch, gain});
      }
    }
    std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) { return a.gain > b.gain; });
    return all;
  }

  // The best of the first acceptable ones that remove as many nodes from the same subtree.
  std::optional<Candidate> find(int gain_limit) {
    std::optional<Candidate> best;
    for (Candidate& candidate : candidates(gain_limit)) {
      if (best && (candidate.node != best->node || candidate.gain != best->gain)) break;
      candidate.verdict = try_out(candidate);
      if (candidate.verdict.accepted && (!best || candidate.verdict.better_than(best->verdict))) best = candidate;
    }
    return best;
  }

  // (leaves) those of the subtree that are not of the branch.
  std::vector<std::uint8_t> touched_by(const Candidate& candidate) const {
    std::vector<std::uint8_t> touched(static_cast<std::size_t>(tree_.leaf_count()));
    std::vector<std::int32_t> leaves;
    append_leaves(tree_, candidate.node, leaves);
    for (const std::int32_t leaf : leaves) touched[static_cast<std::size_t>(leaf)] = 1;
    leaves.clear();
    append_leaves(tree_, candidate.branch, leaves);
    for (const std::int32_t leaf : leaves) touched[static_cast<std::size_t>(leaf)] = 0;
    return touched;
  }

  Verdict try_out(const Candidate& candidate) {
    const auto i = static_cast<std::size_t>(candidate.node);
    const std::vector<std::uint8_t> touched = touched_by(candidate);
    const std::pair<std::int32_t, std::int32_t> before = {tree_.left[i], tree_.right[i]};
    bypass(tree_, candidate.node, candidate.branch);
    const Verdict verdict = judge_.judge(t_, tree_, touched);
    std::tie(tree_.left[i], tree_.right[i]) = before;
    return verdict;
  }

  void apply(const Candidate& candidate) {
    const std::vector<std::uint8_t> touched = touched_by(candidate);
    const bool is_side = resolve(tree_, tree_.left[static_cast<std::size_t>(candidate.node)]) == candidate.branch ||
                         resolve(tree_, tree_.right[static_cast<std::size_t>(candidate.node)]) == candidate.branch;
    draft_.note(Cause::kCollapsed, t_,
                fmt::format("{} {}", is_side ? "the split" : "splits from", draft_.test(t_, candidate.node)),
                is_side ? "one side does as well" : "one branch below does as well", candidate.gain);
    bypass(tree_, candidate.node, candidate.branch);
    judge_.commit(t_, tree_, touched, &candidate.verdict);
  }

  using Writes = std::vector<std::size_t>;  // places in tree_.gate

  Writes open_writes(const std::vector<std::int32_t>& leaves, int cell) const {
    Writes open;
    for (const std::int32_t leaf : leaves) {
      const std::size_t at =
          static_cast<std::size_t>(leaf) * static_cast<std::size_t>(tree_.n_m) + static_cast<std::size_t>(cell);
      if (tree_.gate[at] != 0) open.push_back(at);
    }
    return open;
  }

  Writes open_writes(std::int32_t leaf) const {
    Writes open;
    for (int k = 0; k < tree_.n_m; ++k)
      for (const std::size_t at : open_writes({leaf}, k)) open.push_back(at);
    return open;
  }

  // Closes all of a leaf's writes, or tries the same with either half.
  bool close_most(const Writes& writes) {
    std::string cells;
    for (const std::size_t at : writes)
      cells +=
          (cells.empty() ? "" : ", ") + draft_.cell(t_, static_cast<int>(at % static_cast<std::size_t>(tree_.n_m)));
    if (close(writes, fmt::format("a leaf's write to {}", cells))) return true;
    if (writes.size() < 2) return false;
    const auto middle = writes.begin() + static_cast<std::ptrdiff_t>(writes.size() / 2);
    const bool first = close_most(Writes(writes.begin(), middle));
    return close_most(Writes(middle, writes.end())) || first;
  }

  // Closes these writes if the judge accepts it.
  bool close(const Writes& writes, const std::string& what) {
    if (writes.empty()) return false;
    std::vector<std::uint8_t> touched(static_cast<std::size_t>(tree_.leaf_count()));
    for (const std::size_t at : writes) {
      tree_.gate[at] = 0;
      touched[at / static_cast<std::size_t>(tree_.n_m)] = 1;
    }
    const Verdict verdict = judge_.judge(t_, tree_, touched);
    if (!verdict.accepted) {
      for (const std::size_t at : writes) tree_.gate[at] = 1;
      return false;
    }
    judge_.commit(t_, tree_, touched, &verdict);
    draft_.note(Cause::kClosed, t_, what, "the data do not need it", 0);
    return true;
  }

  Draft& draft_;
  Tree& tree_;
  int t_;
  Judge& judge_;
};

}  // namespace

bool collapse(Draft& draft, Judge& judge, bool close_writes) {
  bool changed_ever = false;
  if (!judge.has_data()) return false;
  for (bool changed = true; changed;) {
    changed = false;
    for (int t = 0; t < static_cast<int>(draft.model.trees.size()); ++t) {
      Collapse collapse(draft, t, judge);
      changed = collapse.remove_unvisited() || changed;
      changed = collapse.collapse_splits() || changed;
      if (close_writes && !draft.tree(t).has_laws()) changed = collapse.close_writes() || changed;
    }
    changed_ever = changed_ever || changed;
  }
  for (Tree& tree : draft.model.trees) {
    compact(tree);
    canonicalise(tree);
  }
  judge.restart();
  return changed_ever;
}

}  // namespace remede

#include "remede/simplify/exact.h"

#include <vector>

#include "remede/simplify/branches.h"
#include "remede/simplify/edit.h"
#include "remede/simplify/tidy.h"

namespace remede {
namespace {

// One round over tree t; whether anything was removed.
bool exact_round(Draft& draft, int t, const ReachOptions& options) {
  Tree& tree = draft.tree(t);
  canonicalise(tree);
  Reach reach(tree, draft.model.fill, options);
  bool changed = remove_impossible(draft, t, reach);
  reach.renumber(compact(tree).leaf);
  changed = close_idle_writes(draft, t, reach) || changed;
  changed = zero_idle_weights(draft, t, reach) || changed;
  changed = lower_form(draft, t, reach) || changed;
  if (drop_unread_cells(draft, t, reach)) return true;
  if (merge_alike(draft, t, reach)) {
    compact(tree);
    changed = true;
  }
  return changed;
}

}  // namespace

bool simplify_exactly(Draft& draft, const ExactOptions& options) {
  bool changed = false;
  for (int t = 0; t < static_cast<int>(draft.model.trees.size()); ++t)
    while (exact_round(draft, t, options.reach)) changed = true;
  if (!options.drop_inputs) return changed;
  std::vector<Reach> reach;
  for (const Tree& tree : draft.model.trees) reach.emplace_back(tree, draft.model.fill, options.reach);
  return drop_unused_inputs(draft, reach) || changed;
}

}  // namespace remede

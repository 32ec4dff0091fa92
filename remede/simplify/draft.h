// A model while it is made smaller: the trees, which cells they had, and what was removed so far.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "remede/model/model.h"
#include "remede/simplify/report.h"

namespace remede {

struct Draft {
  Model model;
  std::vector<std::vector<int>> cells;  // (trees) of each cell its number in the model given
  std::vector<int> inputs;              // of each input its number in the model given
  std::vector<Removal> removed;

  explicit Draft(Model given);
  Tree& tree(int t) { return model.trees[static_cast<std::size_t>(t)]; }
  const Tree& tree(int t) const { return model.trees[static_cast<std::size_t>(t)]; }

  // Notes a removal from tree t; `what` gets the tree's number in front where there are several.
  void note(Cause cause, int t, const std::string& what, std::string why, int nodes);
  std::string test(int t, std::int32_t node) const;
  std::string cell(int t, int k) const;
};

}  // namespace remede

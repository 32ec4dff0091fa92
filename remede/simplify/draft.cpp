#include "remede/simplify/draft.h"

#include <numeric>

#include <fmt/format.h>

namespace remede {

Draft::Draft(Model given) : model(std::move(given)), inputs(static_cast<std::size_t>(model.n_x())) {
  std::iota(inputs.begin(), inputs.end(), 0);
  for (const Tree& tree : model.trees) {
    cells.emplace_back(static_cast<std::size_t>(tree.n_m));
    std::iota(cells.back().begin(), cells.back().end(), 0);
  }
}

void Draft::note(Cause cause, int t, const std::string& what, std::string why, int nodes) {
  removed.push_back({cause, tree_prefix(model, t) + what, std::move(why), nodes});
}

std::string Draft::test(int t, std::int32_t node) const {
  return test_text(tree(t), model.schema, cells[static_cast<std::size_t>(t)], node);
}

std::string Draft::cell(int t, int k) const {
  const Tree& of = tree(t);
  if (!of.cell_name.empty()) return of.cell_name[static_cast<std::size_t>(k)];
  return fmt::format("m{}", cells[static_cast<std::size_t>(t)][static_cast<std::size_t>(k)] + 1);
}

}  // namespace remede

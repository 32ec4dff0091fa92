// What the cells of a model are called, wherever it is shown.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "remede/model/model.h"

namespace remede {

// (n_m) The names given, else m1, m2, ... (mem1, cell1, ... where an input is called m1 or the like).
std::vector<std::string> cell_names(const Model& model, const Tree& tree);

// Renames cells, all at once: pairs of the name a cell has now and the new one. In a forest a cell of tree t is
// "t.name", t from 1; the tree may be left out where the name is that of one tree's cell only. Throws Error when no
// cell has the old name, or a new name is empty, not UTF-8, that of an input, or given twice in a tree.
void rename_cells(Model& model, const std::vector<std::pair<std::string, std::string>>& names);

}  // namespace remede

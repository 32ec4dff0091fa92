// Which model of the frontier is saved.
#pragma once

#include <string>
#include <vector>

#include "remede/train/frontier/pool.h"

namespace remede::frontier {

// By size; each does better than all before it.
std::vector<const Entry*> best_of_each_size(const std::vector<Entry>& entries);

// As the configuration asks: the most accurate; the best with so many numbers; else the number of cells first, the
// fewest whose best model is as good as the best of all, then the smallest that is as good as that one. As good: no
// worse by more than one standard error of the paired differences, nor by more than a small share of the distance to
// the constant answer, whose merit is `constant`; or by no more than a very small share for each halving of the size.
// Where the task is solved, the first candidate. Throws Error where none is small enough.
const Entry* choose_entry(const std::vector<Entry>& entries, const Config& config, bool solved, double constant,
                          std::string& why);

}  // namespace remede::frontier

// What `remede train` says about models of other sizes, and where it keeps them.
#pragma once

#include <string>

#include "remede/train/fit.h"

namespace remede {

// A short table: numbers, cells, splits, score with its standard error, the saved one marked, and why it was saved.
// Empty where there was no choice.
std::string frontier_table(const Fit& fit);

// Before the training, so that it does not end in "cannot make the folder". Throws Error.
void make_frontier_folder(const std::string& folder);

// Whether the path is in this folder and has the name of a file that save_frontier may write.
bool is_frontier_file(const std::string& folder, const std::string& path);

// Writes every model of the frontier into the folder, and a page with their curve. Throws Error.
void save_frontier(const Fit& fit, const std::string& folder);

}  // namespace remede

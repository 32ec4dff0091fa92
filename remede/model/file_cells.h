// Cells with laws in the model file: reading and writing what docs/file-format.md calls `cells`, `answer` and `taps`.
// Weights of zero are not written. Used by file_read.cpp and file_write.cpp only.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "remede/model/file_values.h"
#include "remede/model/tree.h"
#include "remede/schema/schema.h"

namespace remede {

// json: the tree. REQUIRES: n_x, n_m, n_y, nodes and outputs of the tree are read.
void read_cells(const nlohmann::ordered_json& json, const model_file::Place& at, const model_file::InputNumbers& inputs,
                std::size_t& zeros_left, Tree& tree);
// Optional in either form.
void read_names_and_ranges(const nlohmann::ordered_json& json, const model_file::Place& at, Tree& tree);

std::vector<std::string> cell_entries(const Tree& tree, const Schema& schema, const std::string& indent);
std::vector<std::string> name_and_range_entries(const Tree& tree);
// The leaf's taps and its own answer weights, each after a comma.
std::string leaf_cell_entries(const Tree& tree, const Schema& schema, std::size_t leaf, const std::string& indent);
std::size_t written_numbers_of_laws(const Tree& tree);

}  // namespace remede

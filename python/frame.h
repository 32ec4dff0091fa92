// A table on its way from Python to the reader of the library.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "remede/data/raw.h"
#include "remede/schema/roles.h"

namespace remede::python {

// Columns of NumPy arrays are read in place: the frame's owners keep them. The last copy of a frame must be destroyed
// by a thread that holds the interpreter's lock: that of this object.
struct PythonFrame {
  Frame frame;
};

// Frames, and paths of files, in this order. The frames must live until they are read.
std::vector<TableSource> sources_of(const nanobind::list& tables);

// The tables read for a schema, with words as what they count as there.
Dataset read_for(const Schema& schema, const nanobind::list& tables, const RoleLines& lines, bool need_target);

// A column of words for each input that is made of it, with the words that training saw.
using WordsOfColumns = std::vector<std::pair<std::string, std::vector<std::string>>>;
WordsOfColumns words_of_columns(const Schema& schema);

// Roles by the names of the program's flags without their dashes.
Roles roles_of(const RoleLines& lines, bool guess);

}  // namespace remede::python

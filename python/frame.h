// A table on its way from Python to the reader of the library.
#pragma once

#include <vector>

#include <nanobind/nanobind.h>

#include "remede/data/raw.h"
#include "remede/schema/roles.h"

namespace remede::python {

// Columns of NumPy arrays are read in place: `kept` keeps them.
struct PythonFrame {
  Frame frame;
  std::vector<nanobind::object> kept;
};

// Frames, and paths of files, in this order. The frames must live until they are read.
std::vector<TableSource> sources_of(const nanobind::list& tables);

// The tables read for a schema, with words as what they count as there.
Dataset read_for(const Schema& schema, const nanobind::list& tables, const RoleLines& lines, bool need_target);

// Roles by the names of the program's flags without their dashes.
Roles roles_of(const RoleLines& lines, bool guess);

}  // namespace remede::python

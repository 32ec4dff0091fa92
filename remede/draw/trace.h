// A trace as a table, as JSON and as a picture.
#pragma once

#include <string>

#include "remede/analysis/trace.h"

namespace remede {

std::string trace_table(const Model& model, const Trace& trace, bool colours = false);
std::string trace_json(const Model& model, const Trace& trace);
// Steps as columns: inputs, the tree with the path lit, the cells, and the answer, with a line from each write to its
// reads.
std::string trace_svg(const Model& model, const Trace& trace, bool style = true);

}  // namespace remede

// The lanes of a run-through figure: steps as columns, one lane under the other. Used by trace_svg.
#pragma once

#include <string>
#include <vector>

#include "remede/analysis/trace.h"
#include "remede/analysis/wording.h"
#include "remede/draw/canvas.h"

namespace remede {

struct Lanes {
  const Trace* trace = nullptr;
  const Model* model = nullptr;
  double left = 0;    // where the first column begins; names stand before it
  double column = 0;  // width of a column
  double y = 0;       // where the next lane begins
  bool wide = false;  // columns hold text; else lanes are charts

  double middle(std::size_t step) const { return left + (static_cast<double>(step) + 0.5) * column; }
  double right() const { return left + static_cast<double>(trace->steps.size()) * column; }
};

void lane_name(Canvas& canvas, const Lanes& lanes, double y, const std::string& name, const Ink& ink = ink::kSoft);

// Each draws one lane and moves lanes.y below it.
void draw_step_names(Canvas& canvas, Lanes& lanes);
void draw_input_lane(Canvas& canvas, Lanes& lanes, int input, const std::string& name);
void draw_paths(Canvas& canvas, Lanes& lanes, const Wording& words, std::size_t tree);
void draw_cell_lane(Canvas& canvas, Lanes& lanes, const Wording& words, std::size_t tree, int k);
void draw_answers(Canvas& canvas, Lanes& lanes);

// Width of a column that the small trees of draw_paths need.
double small_tree_width(const Wording& words);

}  // namespace remede

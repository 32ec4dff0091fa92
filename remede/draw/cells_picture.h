// Cells with laws as a picture: each a tank with its level, its inputs on the left, in words what it does, and lines to
// the cells and the answer that read it.
#pragma once

#include "remede/analysis/wording.h"
#include "remede/draw/canvas.h"

namespace remede {

struct PictureSize {
  double width = 0, height = 0;
};

// Draws the cells in use of the tree with the upper left corner at (x, y); nothing where its cells have no laws. Tanks
// are groups of class "tank" with data-cell; in each a rectangle of class "level", which a page may move.
PictureSize draw_cells(Canvas& canvas, const Wording& words, double x, double y);

}  // namespace remede

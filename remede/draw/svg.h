// A model as an SVG picture. Drawing needs no other program; the picture fits light and dark pages, and every box
// carries its full text as a tooltip and its number as data-node.
#pragma once

#include <string>

#include "remede/analysis/observe.h"
#include "remede/draw/tree_picture.h"
#include "remede/model/model.h"

namespace remede {

struct SvgOptions {
  int terms = -1;  // longest sum written out; 0: no limit; -1: usual_terms()
  PictureOptions::Growth growth = PictureOptions::Growth::kAuto;
  const Observations* seen = nullptr;  // counts and scores at the leaves
  bool heading = true;
  bool style = true;  // with the style sheet; a page that has it (svg_style_sheet) leaves it out
};

// The trees of the model, one under the other. Throws Error for trees of more nodes than a picture can hold.
std::string to_svg(const Model& model, const SvgOptions& options = {});
// One of them.
std::string tree_to_svg(const Model& model, std::size_t tree, const SvgOptions& options = {});

}  // namespace remede

// One tree as boxes and lines: planned first (so that its size is known), then drawn at a place of a canvas.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "remede/analysis/observe.h"
#include "remede/analysis/wording.h"
#include "remede/draw/canvas.h"
#include "remede/draw/layout.h"

namespace remede {

struct CardLine {
  enum class Kind : std::uint8_t { kTest, kSay, kScore, kBar, kWrite, kCount };
  Kind kind = Kind::kSay;
  std::string text;
};

// What stands in one box.
struct Card {
  std::vector<CardLine> lines;
  std::vector<float> probabilities;  // (n_y), empty where they are not fixed
  std::string tooltip;               // the same with every term
  double width = 0, height = 0;
};

struct PictureOptions {
  enum class Growth : std::uint8_t { kAuto, kDown, kRight };
  Growth growth = Growth::kAuto;                   // automatic: down while that is narrow enough for a page
  const std::vector<LeafCount>* counts = nullptr;  // (leaves)
};

// Refers to `words`, which must outlive it.
struct TreePicture {
  const Wording* words = nullptr;
  std::vector<Card> cards;  // (nodes of the view)
  TreeLayout layout;
  bool grows_right = false;
};

TreePicture plan_tree(const Wording& words, const PictureOptions& options);

// lit: (nodes of the view) 1: on the active path; empty: no path is highlighted.
// Every box is a group with data-node (its number in the tree: leaves are ~leaf, below 0), every line one with
// data-parent and data-side.
void draw_tree(Canvas& canvas, const TreePicture& picture, double x, double y,
               const std::vector<std::uint8_t>& lit = {});

}  // namespace remede

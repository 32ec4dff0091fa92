#include "remede/draw/svg.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "remede/base/error.h"
#include "remede/base/text.h"
#include "remede/draw/cells_picture.h"
#include "remede/draw/text.h"

namespace remede {
namespace {

constexpr std::size_t kMaxNodes = 4000;

// A coloured dot and a name for each class, and what the colours of the tests mean.
double draw_legend(Canvas& canvas, const Wording& words, double x, double y) {
  const TextStyle style{11.5, &ink::kSoft, false, false, Anchor::kStart};
  const auto item = [&](const Ink& fill, const Ink& stroke, const std::string& text) {
    canvas.rect(x, y - 9, 11, 11, 3, fill, stroke);
    canvas.text(x + 16, y, text, style);
    x += 16 + text_width(text, style) + 16;
  };
  bool cells = false, writing = false;
  if (words.view.nodes.size() > 1) item(ink::kInput, ink::kInputLine, "asks an input");
  for (const View::Node& n : words.view.nodes) {
    if (n.is_leaf())
      writing = writing || !write_texts(words, n.leaf()).empty();
    else
      cells = cells || words.is_cell(words.tree->feature[static_cast<std::size_t>(n.id)]);
  }
  if (cells) item(ink::kCell, ink::kCellLine, "asks the memory");
  if (writing) item(ink::kWrite, ink::kWriteText, words.tree->has_laws() ? "sets taps" : "writes to the memory");
  for (std::size_t c = 0; c < words.classes.size() && c < 10; ++c)
    item(class_ink(static_cast<int>(c)), ink::kNone, clipped(words.classes[c], 16));
  return x;
}

// A long title takes two lines: what the model does, and how large it is.
std::vector<std::string> title_lines(const std::string& title, const TextStyle& style) {
  constexpr double kWidest = 700;  // of one line, as wide as a picture of cells
  const std::size_t colon = title.rfind(": ");
  if (text_width(title, style) <= kWidest || colon == std::string::npos) return {title};
  return {title.substr(0, colon), title.substr(colon + 2)};
}

std::string draw(const Model& model, std::size_t first, std::size_t count, const SvgOptions& options) {
  Canvas canvas;
  double y = kMargin, widest = 0;
  const std::string title = title_text(model);
  if (options.heading) {
    const TextStyle style{15, &ink::kText, true, false, Anchor::kStart};
    for (const std::string& line : title_lines(title, style)) {
      canvas.text(kMargin, y + 12, line, style);
      widest = std::max(widest, text_width(line, style));
      y += 24;
    }
  }
  for (std::size_t t = first; t < first + count; ++t) {
    WordOptions word_options;
    word_options.terms = options.terms < 0 ? usual_terms(model) : options.terms;
    word_options.symbols = true;
    if (options.seen) word_options.scale = options.seen->scale[t];
    const Wording words = make_wording(model, t, std::move(word_options));
    if (words.view.nodes.size() > kMaxNodes)
      fail("expected a tree of at most {} nodes for a picture, got {}; use --format text", kMaxNodes,
           words.view.nodes.size());
    PictureOptions picture_options{options.growth, options.seen ? &options.seen->leaves[t] : nullptr};
    const TreePicture picture = plan_tree(words, picture_options);
    if (options.heading && t == first)
      widest = std::max(widest, draw_legend(canvas, words, kMargin, y + 11) - kMargin), y += 34;
    canvas.open_group("tree", fmt::format(" data-tree=\"{}\"", t));
    if (model.trees.size() > 1 && options.heading) {
      canvas.text(kMargin, y + 12, fmt::format("Tree {} of {}", t + 1, model.trees.size()),
                  {13, &ink::kSoft, true, false, Anchor::kStart});
      y += 28;
    }
    const PictureSize cells = draw_cells(canvas, words, kMargin, y);
    if (cells.height > 0) y += cells.height + kMargin;
    widest = std::max(widest, cells.width);
    if (cells.height == 0 || words.view.nodes.size() > 1) {  // a tree of one leaf says nothing that the cells do not
      draw_tree(canvas, picture, kMargin, y);
      widest = std::max(widest, picture.layout.width);
      y += picture.layout.height + kMargin;
    }
    canvas.close_group();
  }
  return canvas.document(widest + 2 * kMargin, y, title, options.style);
}

}  // namespace

std::string to_svg(const Model& model, const SvgOptions& options) {
  return draw(model, 0, model.trees.size(), options);
}

std::string tree_to_svg(const Model& model, std::size_t tree, const SvgOptions& options) {
  return draw(model, tree, 1, options);
}

}  // namespace remede

#include <algorithm>

#include <fmt/format.h>

#include "remede/base/text.h"
#include "remede/draw/lanes.h"
#include "remede/draw/trace.h"
#include "remede/draw/tree_picture.h"

namespace remede {
namespace {

constexpr double kNameColumnWidth = 96;  // room for the names of the lanes
constexpr std::size_t kMaxWideSteps = 24;
constexpr std::size_t kMaxDrawnNodes = 31;
constexpr std::size_t kMaxSteps = 2000;  // of a figure
constexpr int kMaxInputRows = 8;

// Columns that hold text and small trees, while both are few; else charts.
void choose_columns(Lanes& lanes, const std::vector<Wording>& words) {
  const std::size_t steps = std::max<std::size_t>(lanes.trace->steps.size(), 1);
  bool small = true;
  double widest = 62;
  for (const Wording& w : words) {
    small = small && w.view.nodes.size() <= kMaxDrawnNodes;
    if (small) widest = std::max(widest, small_tree_width(w) + 14);
  }
  for (const std::string& c : lanes.model->schema.classes)
    widest = std::max(widest,
                      std::min(text_width(printable(c), {11.5, &ink::kText, true, false, Anchor::kStart}), 110.0) + 30);
  for (const Wording& w : words)
    for (int k = 0; k < w.tree->n_m; ++k)
      if (w.view.cell_in_use(k)) widest = std::max(widest, 92.0);
  lanes.wide = small && steps <= kMaxWideSteps && lanes.model->schema.task == Task::kClassification;
  lanes.column = lanes.wide ? widest : std::clamp(1000.0 / static_cast<double>(steps), 1.0, 28.0);
}

double draw_tree_block(Canvas& canvas, Lanes& lanes, const Wording& words, std::size_t tree) {
  const TreePicture picture = plan_tree(words, {});
  if (lanes.model->trees.size() > 1) {
    canvas.text(kMargin, lanes.y + 12, fmt::format("Tree {}", tree + 1),
                {13, &ink::kText, true, false, Anchor::kStart});
    lanes.y += 22;
  }
  const double room = lanes.right() - kMargin, x = kMargin + std::max(0.0, (room - picture.layout.width) / 2);
  draw_tree(canvas, picture, x, lanes.y);
  lanes.y += picture.layout.height + 28;
  return x + picture.layout.width;
}

void draw_lanes(Canvas& canvas, Lanes& lanes, const Wording& words, std::size_t tree, bool inputs) {
  draw_step_names(canvas, lanes);
  for (int f = 0; inputs && f < std::min(lanes.model->n_x(), kMaxInputRows); ++f)
    draw_input_lane(canvas, lanes, f, words.feature[static_cast<std::size_t>(f)]);
  draw_paths(canvas, lanes, words, tree);
  for (int k = 0; k < words.tree->n_m; ++k)
    if (words.view.cell_in_use(k)) draw_cell_lane(canvas, lanes, words, tree, k);
}

}  // namespace

std::string trace_svg(const Model& model, const Trace& whole, bool style) {
  Trace trace = whole;
  if (trace.steps.size() > kMaxSteps) trace.steps.resize(kMaxSteps);
  std::vector<Wording> words;
  WordOptions options;
  options.symbols = true;
  for (std::size_t t = 0; t < model.trees.size(); ++t) words.push_back(make_wording(model, t, options));
  Lanes lanes;
  lanes.trace = &trace;
  lanes.model = &model;
  lanes.left = kMargin + kNameColumnWidth;
  lanes.y = kMargin;
  choose_columns(lanes, words);
  Canvas canvas;
  const std::string title =
      fmt::format("Sequence {}, {}{} steps", printable(whole.id),
                  trace.steps.size() < whole.steps.size() ? fmt::format("the first {} of ", kMaxSteps) : "",
                  grouped(static_cast<long long>(whole.steps.size())));
  canvas.text(kMargin, lanes.y + 12, title, {15, &ink::kText, true, false, Anchor::kStart});
  lanes.y += 36;
  double right = std::max(lanes.right() + (lanes.wide ? 0 : 44), kMargin + 400);
  for (std::size_t t = 0; t < words.size(); ++t) {
    right = std::max(right, draw_tree_block(canvas, lanes, words[t], t));
    draw_lanes(canvas, lanes, words[t], t, t == 0);
  }
  draw_answers(canvas, lanes);
  return canvas.document(right + kMargin, lanes.y + kMargin / 2, title, style);
}

}  // namespace remede

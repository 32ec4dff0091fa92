#include "remede/draw/lanes.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "remede/base/text.h"
#include "remede/draw/layout.h"
#include "remede/model/predict.h"

namespace remede {
namespace {

constexpr double kChartHeight = 54;
constexpr double kGap = 12;
const TextStyle kValue{11.5, &ink::kText, false, false, Anchor::kMiddle};

// Low and high of a chart; never empty.
struct Scale {
  double low = 0, high = 0;
  bool any = false;

  void add(double v) {
    if (!std::isfinite(v)) return;
    low = any ? std::min(low, v) : v;
    high = any ? std::max(high, v) : v;
    any = true;
  }
  double place(double v, double top) const {
    const double span = high - low;
    return span > 0 ? top + kChartHeight - 4 - (v - low) / span * (kChartHeight - 8) : top + kChartHeight / 2;
  }
};

void draw_frame(Canvas& canvas, const Lanes& lanes, const Scale& scale, const std::string& name, const Ink& name_ink) {
  canvas.rect(lanes.left, lanes.y, lanes.right() - lanes.left, kChartHeight, 3, ink::kCard);
  lane_name(canvas, lanes, lanes.y + kChartHeight / 2 + 4, name, name_ink);
  const TextStyle small{9.5, &ink::kSoft, false, false, Anchor::kStart};
  canvas.text(lanes.right() + 5, lanes.y + 9, short_number(scale.high), small);
  if (scale.high > scale.low)
    canvas.text(lanes.right() + 5, lanes.y + kChartHeight - 1, short_number(scale.low), small);
}

// A line through the values; gaps where they are missing.
void draw_line(Canvas& canvas, const Lanes& lanes, const Scale& scale, const std::function<double(std::size_t)>& value,
               const Ink& ink, double stroke, const char* attributes = "") {
  std::string d;
  bool down = false;
  for (std::size_t t = 0; t < lanes.trace->steps.size(); ++t) {
    const double v = value(t);
    if (std::isfinite(v))
      d += fmt::format("{}{} {}", down ? "L" : "M", coordinate(lanes.middle(t)), coordinate(scale.place(v, lanes.y)));
    down = std::isfinite(v);
  }
  if (!d.empty()) canvas.path(d, ink, stroke, attributes);
}

void draw_chart(Canvas& canvas, Lanes& lanes, const std::string& name, const Ink& name_ink,
                const std::function<double(std::size_t)>& value, const Ink& ink) {
  Scale scale;
  for (std::size_t t = 0; t < lanes.trace->steps.size(); ++t) scale.add(value(t));
  draw_frame(canvas, lanes, scale, name, name_ink);
  draw_line(canvas, lanes, scale, value, ink, 1.5);
}

std::vector<LayoutNode> small_nodes(const View& view) {
  std::vector<LayoutNode> nodes;
  for (const View::Node& n : view.nodes)
    nodes.push_back({n.left, n.right, n.depth, n.is_leaf() ? 10.0 : 9.0, n.is_leaf() ? 10.0 : 9.0});
  return nodes;
}

TreeLayout small_layout(const View& view) {
  LayoutOptions options;
  options.sibling_gap = 6;
  options.level_gap = 12;
  return tidy_layout(small_nodes(view), options);
}

// (nodes of the view) 1: on the path of this step.
std::vector<std::uint8_t> lit_nodes(const View& view, const TreeStep& step) {
  std::vector<std::uint8_t> lit(view.nodes.size(), 0);
  for (std::size_t i = 0; i < view.nodes.size(); ++i)
    if (view.nodes[i].is_leaf() && view.nodes[i].leaf() == step.leaf)
      for (int n = static_cast<int>(i); n >= 0; n = view.nodes[static_cast<std::size_t>(n)].parent)
        lit[static_cast<std::size_t>(n)] = 1;
  return lit;
}

const Ink& leaf_ink(const Wording& words, int leaf) {
  const std::vector<float> p = leaf_probabilities(words, leaf);
  return p.empty() ? ink::kLine : class_ink(arg_max(p));
}

void draw_small_tree(Canvas& canvas, const Wording& words, const TreeLayout& layout, const TreeStep& step, double x,
                     double y) {
  const View& view = words.view;
  const std::vector<std::uint8_t> lit = lit_nodes(view, step);
  const auto middle = [&](std::size_t i) {
    const double half = view.nodes[i].is_leaf() ? 5 : 4.5;
    return Corner{x + layout.places[i].x + half, y + layout.places[i].y + half};
  };
  for (const bool pass : {false, true})
    for (std::size_t i = 1; i < view.nodes.size(); ++i) {
      if ((lit[i] != 0) != pass) continue;
      const Corner a = middle(static_cast<std::size_t>(view.nodes[i].parent)), b = middle(i);
      canvas.line(a.x, a.y, b.x, b.y, pass ? ink::kLit : ink::kLine, pass ? 2.6 : 1);
    }
  for (std::size_t i = 0; i < view.nodes.size(); ++i) {
    const Corner at = middle(i);
    const bool on = lit[i] != 0;
    if (view.nodes[i].is_leaf()) {
      const Ink& fill = leaf_ink(words, view.nodes[i].leaf());
      canvas.rect(at.x - 5, at.y - 5, 10, 10, 2.5, on ? fill : ink::kPaper, on ? ink::kLit : fill, on ? 2 : 1.4);
    } else {
      const bool cell = words.is_cell(words.tree->feature[static_cast<std::size_t>(view.nodes[i].id)]);
      canvas.circle(at.x, at.y, 4.5, cell ? ink::kCell : ink::kInput,
                    on     ? ink::kLit
                    : cell ? ink::kCellLine
                           : ink::kInputLine,
                    on ? 2 : 1);
    }
  }
}

// For long sequences: a dot per step in the row of its leaf, leaves in their order in the tree.
void draw_leaf_roll(Canvas& canvas, Lanes& lanes, const Wording& words, std::size_t tree) {
  std::vector<int> row(static_cast<std::size_t>(words.tree->leaf_count()), -1);
  int rows = 0;
  for (const View::Node& n : words.view.nodes)
    if (n.is_leaf()) row[static_cast<std::size_t>(n.leaf())] = rows++;
  const double pitch = std::clamp(120.0 / std::max(rows, 1), 3.0, 12.0), height = pitch * std::max(rows, 1) + 4;
  canvas.rect(lanes.left, lanes.y, lanes.right() - lanes.left, height, 3, ink::kCard);
  lane_name(canvas, lanes, lanes.y + height / 2 + 4, "leaf");
  for (std::size_t t = 0; t < lanes.trace->steps.size(); ++t) {
    const int leaf = lanes.trace->steps[t].trees[tree].leaf;
    if (row[static_cast<std::size_t>(leaf)] < 0) continue;
    canvas.rect(lanes.middle(t) - lanes.column / 2, lanes.y + 2 + row[static_cast<std::size_t>(leaf)] * pitch,
                std::max(lanes.column - 0.5, 1.0), pitch - 1, 0, leaf_ink(words, leaf));
  }
  lanes.y += height + kGap;
}

// From the write to each read on which the prediction depended, above the cell's row.
void draw_links(Canvas& canvas, const Lanes& lanes, const Wording& words, std::size_t tree, int k, double y) {
  for (std::size_t t = 0; t < lanes.trace->steps.size(); ++t) {
    int from = -1;
    for (const PathTest& test : lanes.trace->steps[t].trees[tree].path)
      if (test.pivotal && test.feature == words.tree->n_x + k) from = test.written_at;
    if (from < 0) continue;
    const double a = lanes.middle(static_cast<std::size_t>(from)), b = lanes.middle(t);
    const double rise = std::min(8 + (b - a) * 0.04, 22.0);
    canvas.path(fmt::format("M{0} {2} C{0} {3} {1} {3} {1} {2}", coordinate(a), coordinate(b), coordinate(y),
                            coordinate(y - rise)),
                ink::kLit, 1.6);
    canvas.path(fmt::format("M{} {}l3.5 -5h-7z", coordinate(b), coordinate(y + 1)), ink::kNone, 0, "", ink::kLit);
  }
}

}  // namespace

void lane_name(Canvas& canvas, const Lanes& lanes, double y, const std::string& name, const Ink& ink) {
  const TextStyle style{12, &ink, true, false, Anchor::kEnd};
  canvas.text(lanes.left - 10, y, fitted(name, style, lanes.left - 24), style);
}

double small_tree_width(const Wording& words) { return small_layout(words.view).width; }

void draw_step_names(Canvas& canvas, Lanes& lanes) {
  lane_name(canvas, lanes, lanes.y + 11, lanes.trace->step_name);
  const TextStyle style{11, &ink::kSoft, lanes.wide, false, Anchor::kMiddle};
  double widest = 0;
  for (const TraceStep& s : lanes.trace->steps) widest = std::max(widest, text_width(s.name, style) + 8);
  std::size_t stride = 1;  // 1, 2, 5, 10, 20, ...: as many names as have room
  for (std::size_t i = 0; static_cast<double>(stride) * lanes.column < widest; ++i)
    stride = i % 3 == 1 ? stride / 2 * 5 : stride * 2;
  for (std::size_t t = 0; t < lanes.trace->steps.size(); t += stride)
    canvas.text(lanes.middle(t), lanes.y + 11, lanes.trace->steps[t].name, style);
  lanes.y += 18 + (lanes.wide ? 2 : 0);
}

void draw_input_lane(Canvas& canvas, Lanes& lanes, int input, const std::string& name) {
  const auto value = [&](std::size_t t) {
    return static_cast<double>(lanes.trace->steps[t].x[static_cast<std::size_t>(input)]);
  };
  if (!lanes.wide) {
    draw_chart(canvas, lanes, name, ink::kInputLine, value, ink::kInputLine);
    lanes.y += kChartHeight + kGap;
    return;
  }
  lane_name(canvas, lanes, lanes.y + 15, name, ink::kInputLine);
  for (std::size_t t = 0; t < lanes.trace->steps.size(); ++t) {
    canvas.rect(lanes.middle(t) - lanes.column / 2 + 3, lanes.y, lanes.column - 6, 22, 4, ink::kInput);
    canvas.text(lanes.middle(t), lanes.y + 15, fitted(short_number(value(t)), kValue, lanes.column - 8), kValue);
  }
  lanes.y += 22 + kGap;
}

void draw_paths(Canvas& canvas, Lanes& lanes, const Wording& words, std::size_t tree) {
  if (!lanes.wide) {
    draw_leaf_roll(canvas, lanes, words, tree);
    return;
  }
  const TreeLayout layout = small_layout(words.view);
  lane_name(canvas, lanes, lanes.y + layout.height / 2 + 4, "path");
  for (std::size_t t = 0; t < lanes.trace->steps.size(); ++t) {
    const TreeStep& step = lanes.trace->steps[t].trees[tree];
    canvas.open_group("path-of-step", fmt::format(" data-step=\"{}\" data-leaf=\"{}\"", t, step.leaf));
    draw_small_tree(canvas, words, layout, step, lanes.middle(t) - layout.width / 2, lanes.y);
    canvas.close_group();
  }
  lanes.y += layout.height + kGap + 4;
}

void draw_cell_lane(Canvas& canvas, Lanes& lanes, const Wording& words, std::size_t tree, int k) {
  const auto cell = static_cast<std::size_t>(k);
  const std::string& name = words.feature[static_cast<std::size_t>(words.tree->n_x + k)];
  const auto step = [&](std::size_t t) -> const TreeStep& { return lanes.trace->steps[t].trees[tree]; };
  const auto after = [&](std::size_t t) { return static_cast<double>(step(t).after[cell]); };
  if (!lanes.wide) {
    draw_chart(canvas, lanes, name, ink::kCellLine, after, ink::kCellLine);
    for (std::size_t t = 0; t < lanes.trace->steps.size(); ++t)
      if (step(t).written[cell]) canvas.rect(lanes.middle(t) - 1, lanes.y + kChartHeight - 5, 2, 4, 0, ink::kWriteText);
    lanes.y += kChartHeight + kGap;
    return;
  }
  lanes.y += 20;  // for the links
  draw_links(canvas, lanes, words, tree, k, lanes.y - 1);
  lane_name(canvas, lanes, lanes.y + 15, name, ink::kCellLine);
  for (std::size_t t = 0; t < lanes.trace->steps.size(); ++t) {
    const bool written = step(t).written[cell] != 0;
    const std::string text =
        written ? fmt::format("{} → {}", short_number(step(t).before[cell], 2), short_number(after(t), 2))
                : short_number(after(t));
    const TextStyle style{11.5, written ? &ink::kWriteText : &ink::kText, written, false, Anchor::kMiddle};
    canvas.rect(lanes.middle(t) - lanes.column / 2 + 3, lanes.y, lanes.column - 6, 22, 4,
                written ? ink::kWrite : ink::kCell, written ? ink::kWriteText : ink::kNone, 1);
    canvas.text(lanes.middle(t), lanes.y + 15, fitted(text, style, lanes.column - 8), style);
  }
  lanes.y += 22 + kGap;
}

namespace {

void draw_class(Canvas& canvas, const Lanes& lanes, std::size_t t, int number, const std::string& text, bool filled) {
  const double x = lanes.middle(t) - lanes.column / 2;
  if (!lanes.wide) {
    canvas.rect(x, lanes.y, std::max(lanes.column - (lanes.column > 4 ? 1 : 0), 0.8), 14, 0, class_ink(number));
    return;
  }
  canvas.rect(x + 3, lanes.y, lanes.column - 6, 22, 4, ink::kCard, class_ink(number), filled ? 1.8 : 1);
  canvas.rect(x + 7, lanes.y + 6, 10, 10, 2, filled ? class_ink(number) : ink::kPaper, class_ink(number), 1.4);
  const TextStyle style{11.5, &ink::kText, filled, false, Anchor::kStart};
  canvas.text(x + 22, lanes.y + 15, fitted(text, style, lanes.column - 28), style);
}

void draw_class_answers(Canvas& canvas, Lanes& lanes) {
  const double height = lanes.wide ? 22 : 14;
  const auto& steps = lanes.trace->steps;
  const auto label = [&](int c) { return printable(lanes.model->schema.classes[static_cast<std::size_t>(c)]); };
  lane_name(canvas, lanes, lanes.y + height / 2 + 4, "says");
  for (std::size_t t = 0; t < steps.size(); ++t)
    draw_class(canvas, lanes, t, arg_max(steps[t].output), label(arg_max(steps[t].output)), true);
  lanes.y += height + 6;
  if (std::none_of(steps.begin(), steps.end(), [](const TraceStep& s) { return s.has_target; })) return;
  lane_name(canvas, lanes, lanes.y + height / 2 + 4, "target");
  for (std::size_t t = 0; t < steps.size(); ++t) {
    if (!steps[t].has_target) continue;
    draw_class(canvas, lanes, t, steps[t].label, label(steps[t].label), false);
    if (!is_wrong(steps[t])) continue;
    const double x = lanes.middle(t), y = lanes.y + height + 9;
    canvas.path(fmt::format("M{} {}l7 7m0 -7l-7 7", coordinate(x - 3.5), coordinate(y - 3.5)), ink::kWrong, 2,
                " data-wrong=\"1\"");
  }
  lanes.y += height + 18;
}

void draw_value_answers(Canvas& canvas, Lanes& lanes) {
  const auto& steps = lanes.trace->steps;
  const std::vector<std::string> names = lanes.model->output_names();
  for (std::size_t o = 0; o < steps.front().output.size(); ++o) {
    const auto said = [&](std::size_t t) { return static_cast<double>(steps[t].output[o]); };
    const auto of = static_cast<std::size_t>(target_of(lanes.model->objective(), static_cast<int>(o)));
    const auto target = [&](std::size_t t) {
      return steps[t].has_target && !steps[t].value.empty() ? static_cast<double>(steps[t].value[of]) : std::nan("");
    };
    Scale scale;
    for (std::size_t t = 0; t < steps.size(); ++t) scale.add(said(t)), scale.add(target(t));
    draw_frame(canvas, lanes, scale, printable(names[o]), ink::kText);
    draw_line(canvas, lanes, scale, target, ink::kSoft, 1.4, " stroke-dasharray=\"3 3\"");
    draw_line(canvas, lanes, scale, said, ink::kLit, 1.8);
    lanes.y += kChartHeight + kGap;
  }
  canvas.text(lanes.left, lanes.y + 6, "line: what the model says; dashed: the target",
              {11, &ink::kSoft, false, false, Anchor::kStart});
  lanes.y += 16;
}

}  // namespace

void draw_answers(Canvas& canvas, Lanes& lanes) {
  if (lanes.trace->steps.empty()) return;
  if (lanes.model->schema.task == Task::kClassification)
    draw_class_answers(canvas, lanes);
  else
    draw_value_answers(canvas, lanes);
}

}  // namespace remede

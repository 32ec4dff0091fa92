// The machine as a picture: states in columns by their distance from the beginning, ways between them as curves.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "remede/base/text.h"
#include "remede/draw/canvas.h"
#include "remede/draw/machine.h"

namespace remede {
namespace {

constexpr double kLine = 15;                   // height of a line of a label
constexpr std::size_t kMaxLabelledStates = 9;  // with more, a list under the picture says what the ways mean
constexpr std::size_t kMaxLabelLines = 4;
const TextStyle kLabel{11, &ink::kText, false, false, Anchor::kMiddle};
const TextStyle kName{14, &ink::kText, true, false, Anchor::kStart};
const TextStyle kMemory{11, &ink::kSoft, false, false, Anchor::kStart};

struct Box {
  int state = 0;
  int level = 0;
  double x = 0, y = 0, width = 0, height = 0;
  double above = 0, below = 0;  // room for the loop above it and the end below it
  std::vector<std::string> lines;

  double middle_x() const { return x + width / 2; }
  double middle_y() const { return y + height / 2; }
};

// All ways from one state to another are one curve with several lines.
struct Way {
  int from = 0, to = 0;  // into boxes; to -1: the end
  std::vector<std::string> lines;
  int output = 0;  // of the most frequent
  std::int64_t count = 0;

  double width() const {
    double w = 0;
    for (const std::string& l : lines) w = std::max(w, text_width(l, kLabel));
    return w + 12;
  }
  double height() const { return static_cast<double>(lines.size()) * kLine + 4; }
};

struct Picture {
  std::vector<Box> boxes;
  std::vector<Way> ways;
  bool labelled = true;
  double right = 0, bottom = 0;
};

// A list of words at commas, in lines of at most `widest`.
std::vector<std::string> lines_of(const std::string& text, double widest) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t comma = text.find(", ", begin);
    const std::string piece = text.substr(begin, comma == std::string::npos ? std::string::npos : comma - begin);
    if (!lines.empty() && text_width(lines.back() + ", " + piece, kMemory) <= widest)
      lines.back() += fmt::format(", {}", piece);
    else
      lines.push_back(piece);
    begin = comma == std::string::npos ? text.size() : comma + 2;
  }
  return lines;
}

void add_ways(Picture& picture, const Machine& machine, const std::map<int, int>& box_of_state) {
  for (const auto& [state, from] : box_of_state)
    for (const MachineTransition* t : shown_transitions(machine, state)) {
      const auto found = box_of_state.find(t->to);
      if (t->to >= 0 && found == box_of_state.end()) continue;
      const int to = t->to < 0 ? -1 : found->second;
      auto way = std::find_if(picture.ways.begin(), picture.ways.end(),
                              [&, f = from](const Way& w) { return w.from == f && w.to == to; });
      if (way == picture.ways.end()) way = picture.ways.insert(way, {from, to, {}, t->output, -1});
      if (t->count > way->count) way->output = t->output;
      way->count = std::max(way->count, t->count);
      way->lines.push_back(fmt::format("{} / {}", condition_text(machine, *t, true),
                                       machine.outputs[static_cast<std::size_t>(t->output)]));
    }
  for (Way& w : picture.ways) {
    if (w.lines.size() > kMaxLabelLines) {
      w.lines.resize(kMaxLabelLines);
      w.lines.back() = "…";
    }
    for (std::string& l : w.lines) l = fitted(l, kLabel, 260);
    if (!picture.labelled) w.lines.clear();
  }
}

// Distance from the beginning.
void set_levels(Picture& picture) {
  std::vector<int> order = {0};
  for (Box& b : picture.boxes) b.level = -1;
  picture.boxes[0].level = 0;
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const Way& w : picture.ways)
      if (w.from == order[i] && w.to >= 0 && picture.boxes[static_cast<std::size_t>(w.to)].level < 0) {
        picture.boxes[static_cast<std::size_t>(w.to)].level = picture.boxes[static_cast<std::size_t>(w.from)].level + 1;
        order.push_back(w.to);
      }
  for (Box& b : picture.boxes) b.level = std::max(b.level, 0);
}

void measure(Picture& picture, const Machine& machine) {
  for (Box& b : picture.boxes) {
    const MachineState& s = machine.states[static_cast<std::size_t>(b.state)];
    b.lines = lines_of(s.memory, 190);
    if (machine.steps > 0)
      b.lines.push_back(
          fmt::format("{} of the steps", percent(static_cast<double>(s.steps) / static_cast<double>(machine.steps))));
    if (machine.kind == MachineKind::kRegions)
      b.lines.push_back(
          fmt::format("stays {} steps, at most {}", short_number(s.mean_stay, 2), grouped(s.longest_stay)));
    b.width = 74;
    for (const std::string& l : b.lines) b.width = std::max(b.width, text_width(l, kMemory) + 24);
    b.height = 32 + static_cast<double>(b.lines.size()) * 14;
  }
  for (const Way& w : picture.ways) {
    Box& b = picture.boxes[static_cast<std::size_t>(w.from)];
    if (w.to == w.from) b.above = 34 + w.height();
    if (w.to < 0) b.below = 26 + w.height();
  }
}

// Columns from left to right with room for the labels between them; boxes of a column under each other, the column
// centred.
void place(Picture& picture) {
  int levels = 0;
  for (const Box& b : picture.boxes) levels = std::max(levels, b.level + 1);
  std::vector<double> column(static_cast<std::size_t>(levels), 0), gap(static_cast<std::size_t>(levels), 60),
      height(static_cast<std::size_t>(levels), 0);
  for (const Box& b : picture.boxes) {
    double half = b.width;
    for (const Way& w : picture.ways)
      if (&picture.boxes[static_cast<std::size_t>(w.from)] == &b && (w.to == w.from || w.to < 0))
        half = std::max(half, w.width());
    column[static_cast<std::size_t>(b.level)] = std::max(column[static_cast<std::size_t>(b.level)], half);
    height[static_cast<std::size_t>(b.level)] += b.height + b.above + b.below + 46;
  }
  for (const Way& w : picture.ways) {
    if (w.to < 0 || w.to == w.from) continue;
    const int a = picture.boxes[static_cast<std::size_t>(w.from)].level,
              b = picture.boxes[static_cast<std::size_t>(w.to)].level;
    if (std::abs(a - b) <= 1)
      gap[static_cast<std::size_t>(std::min(a, b))] =
          std::max(gap[static_cast<std::size_t>(std::min(a, b))], w.width() + 70);
  }
  const double tallest = *std::max_element(height.begin(), height.end());
  double x = 0;
  for (int level = 0; level < levels; ++level) {
    const auto l = static_cast<std::size_t>(level);
    double y = (tallest - height[l]) / 2;
    for (Box& b : picture.boxes) {
      if (b.level != level) continue;
      b.x = x + (column[l] - b.width) / 2;
      b.y = y + b.above + 23;
      y += b.height + b.above + b.below + 46;
      picture.bottom = std::max(picture.bottom, b.y + b.height + b.below);
    }
    x += column[l];
    picture.right = std::max(picture.right, x);
    x += gap[l];
  }
}

struct Rectangle {
  double x, y, width, height;

  bool meets(const Rectangle& o) const {
    return x < o.x + o.width && o.x < x + width && y < o.y + o.height && o.y < y + height;
  }
};

Point on_curve(const Point p[4], double t) {
  const double s = 1 - t, a = s * s * s, b = 3 * s * s * t, c = 3 * s * t * t, d = t * t * t;
  return {a * p[0].x + b * p[1].x + c * p[2].x + d * p[3].x, a * p[0].y + b * p[1].y + c * p[2].y + d * p[3].y};
}

class Drawer {
 public:
  Drawer(Canvas& canvas, Picture& picture, double dx, double dy)
      : canvas_(&canvas), picture_(&picture), dx_(dx), dy_(dy) {
    for (const Box& b : picture.boxes) taken_.push_back({b.x - 4, b.y - 4, b.width + 8, b.height + 8});
  }

  void draw(const Machine& machine) {
    // Loops and ends have their room reserved; what runs between states gives way to them.
    for (const Way& w : picture_->ways)
      if (w.to == w.from)
        loop(w);
      else if (w.to < 0)
        ending(w);
    for (const Way& w : picture_->ways)
      if (w.to >= 0 && w.to != w.from) between(w);
    begin();
    for (const Box& b : picture_->boxes) box(b, machine);
    for (const auto& [way, at] : labels_) label(*way, at);
  }

 private:
  std::string at(Point p) const { return fmt::format("{} {}", coordinate(p.x + dx_), coordinate(p.y + dy_)); }

  // What has been drawn on, for the size of the picture.
  void cover(double right, double top, double bottom) {
    right_ = std::max(right_, right);
    top_ = std::min(top_, top);
    bottom_ = std::max(bottom_, bottom);
  }

  void curve(const Way& w, const Point p[4]) {
    for (int i = 0; i <= 8; ++i) {
      const Point q = on_curve(p, i / 8.0);
      cover(q.x + 4, q.y - 4, q.y + 4);
    }
    canvas_->path(fmt::format("M{} C{} {} {}", at(p[0]), at(p[1]), at(p[2]), at(p[3])), ink::kSoft, 1.5,
                  fmt::format(" data-from=\"{}\" data-to=\"{}\"", w.from, w.to));
    arrow(p[2], p[3]);
  }
  void arrow(Point from, Point to) {
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    if (length == 0) return;
    const double ux = (to.x - from.x) / length, uy = (to.y - from.y) / length;
    const Point a{to.x - 9 * ux + 4 * uy, to.y - 9 * uy - 4 * ux}, b{to.x - 9 * ux - 4 * uy, to.y - 9 * uy + 4 * ux};
    canvas_->path(fmt::format("M{} L{} L{} Z", at(to), at(a), at(b)), ink::kNone, 0, "", ink::kSoft);
  }

  void loop(const Way& w) {
    const Box& b = picture_->boxes[static_cast<std::size_t>(w.from)];
    const Point p[4] = {{b.middle_x() - 16, b.y},
                        {b.middle_x() - 30, b.y - 36},
                        {b.middle_x() + 30, b.y - 36},
                        {b.middle_x() + 16, b.y}};
    curve(w, p);
    keep(w, {b.middle_x(), b.y - 34 - w.height() / 2});
  }
  void ending(const Way& w) {
    const Box& b = picture_->boxes[static_cast<std::size_t>(w.from)];
    const Point from{b.middle_x(), b.y + b.height}, to{b.middle_x(), b.y + b.height + 18};
    canvas_->path(fmt::format("M{} L{}", at(from), at(to)), ink::kSoft, 1.5,
                  fmt::format(" data-from=\"{}\" data-to=\"end\"", w.from));
    canvas_->rect(to.x + dx_ - 8, to.y + dy_, 16, 3, 1.5, ink::kSoft);
    keep(w, {b.middle_x(), to.y + 8 + w.height() / 2});
  }
  void begin() {
    const Box& b = picture_->boxes[0];
    const Point from{b.x - 26, b.middle_y()}, to{b.x, b.middle_y()};
    canvas_->circle(from.x + dx_, from.y + dy_, 4, ink::kText);
    canvas_->path(fmt::format("M{} L{}", at(from), at(to)), ink::kSoft, 1.5);
    arrow(from, to);
  }

  // To the right, back to the left (lower, and only as far down as needed), or within a column around its right side.
  void between(const Way& w) {
    const Box &a = picture_->boxes[static_cast<std::size_t>(w.from)],
              &b = picture_->boxes[static_cast<std::size_t>(w.to)];
    const bool both = std::any_of(picture_->ways.begin(), picture_->ways.end(),
                                  [&](const Way& o) { return o.from == w.to && o.to == w.from; });
    const double shift = both ? std::min(a.height, b.height) * 0.22 : 0;
    if (b.level == a.level) {
      const double side = std::max(a.x + a.width, b.x + b.width) + 46 + std::abs(a.y - b.y) * 0.1;
      const Point p[4] = {{a.x + a.width, a.middle_y() + shift},
                          {side, a.middle_y() + shift},
                          {side, b.middle_y() + shift},
                          {b.x + b.width, b.middle_y() + shift}};
      return drawn(w, p);
    }
    const bool right = b.level > a.level;
    const double bend = std::max(50.0, std::abs(b.x - a.x) * 0.4);
    if (right) {
      const Point p[4] = {{a.x + a.width, a.middle_y() - shift},
                          {a.x + a.width + bend, a.middle_y() - shift},
                          {b.x - bend, b.middle_y() - shift},
                          {b.x, b.middle_y() - shift}};
      return drawn(w, p);
    }
    if (a.level - b.level == 1) {
      const Point p[4] = {{a.x, a.middle_y() + shift},
                          {a.x - bend, a.middle_y() + shift},
                          {b.x + b.width + bend, b.middle_y() + shift},
                          {b.x + b.width, b.middle_y() + shift}};
      return drawn(w, p);
    }
    around(w, a, b);
  }

  // Far back: under everything or, where other boxes stand under the target, over everything.
  void around(const Way& w, const Box& a, const Box& b) {
    const auto stands = [&](bool below) {
      return std::any_of(picture_->boxes.begin(), picture_->boxes.end(),
                         [&](const Box& o) { return o.level == b.level && (below ? o.y > b.y : o.y < b.y); });
    };
    const bool over = stands(true) && !stands(false);
    double& room = over ? over_ : under_;
    room += 26 + w.height();
    // The middle of the curve lies at three quarters of the way to its control points.
    const double level = over ? -room : picture_->bottom + room;
    const Point from{a.middle_x() + (over ? 0.32 * a.width : 0), over ? a.y : a.y + a.height};
    const Point to{b.middle_x() + (over ? 0.32 * b.width : 0), over ? b.y : b.y + b.height};
    const Point p[4] = {from, {from.x, level + (level - from.y) / 3}, {to.x, level + (level - to.y) / 3}, to};
    drawn(w, p);
  }

  void drawn(const Way& w, const Point p[4]) {
    curve(w, p);
    if (w.lines.empty()) return;
    Point best = on_curve(p, 0.5);
    for (const double t : {0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82}) {
      const Point q = on_curve(p, t);
      if (free({q.x - w.width() / 2, q.y - w.height() / 2, w.width(), w.height()})) {
        best = q;
        break;
      }
    }
    keep(w, best);
  }

  bool free(const Rectangle& r) const {
    return std::none_of(taken_.begin(), taken_.end(), [&](const Rectangle& o) { return o.meets(r); });
  }
  void keep(const Way& w, Point middle) {
    cover(middle.x + w.width() / 2, middle.y - w.height() / 2, middle.y + w.height() / 2);
    if (w.lines.empty()) return;
    taken_.push_back({middle.x - w.width() / 2, middle.y - w.height() / 2, w.width(), w.height()});
    labels_.emplace_back(&w, middle);
  }
  void label(const Way& w, Point middle) {
    canvas_->rect(middle.x + dx_ - w.width() / 2, middle.y + dy_ - w.height() / 2, w.width(), w.height(), 4,
                  ink::kPaper);
    for (std::size_t i = 0; i < w.lines.size(); ++i)
      canvas_->text(middle.x + dx_, middle.y + dy_ - w.height() / 2 + 13 + static_cast<double>(i) * kLine, w.lines[i],
                    kLabel);
  }

  void box(const Box& b, const Machine& machine) {
    canvas_->open_group("state", fmt::format(" data-state=\"{}\"", b.state));
    canvas_->rect(b.x + dx_, b.y + dy_, b.width, b.height, 10, ink::kCell, ink::kCellLine, b.state == 0 ? 2.2 : 1.2);
    canvas_->text(b.x + dx_ + 12, b.y + dy_ + 20, machine.states[static_cast<std::size_t>(b.state)].name, kName);
    for (std::size_t i = 0; i < b.lines.size(); ++i)
      canvas_->text(b.x + dx_ + 12, b.y + dy_ + 35 + static_cast<double>(i) * 14, b.lines[i], kMemory);
    canvas_->close_group();
  }

 public:
  double right() const { return right_; }
  double top() const { return top_; }
  double bottom() const { return bottom_; }

 private:
  Canvas* canvas_;
  Picture* picture_;
  double dx_, dy_;
  double over_ = 0, under_ = 0;
  double right_ = 0, top_ = 0, bottom_ = 0;
  std::vector<Rectangle> taken_;
  std::vector<std::pair<const Way*, Point>> labels_;
};

// For machines with many states: every transition as a line of text.
double draw_list(Canvas& canvas, const Machine& machine, double y, double& right) {
  for (const int s : shown_states(machine))
    for (const MachineTransition* t : shown_transitions(machine, s)) {
      const std::string to = t->to < 0 ? "the end" : machine.states[static_cast<std::size_t>(t->to)].name;
      const std::string line =
          fmt::format("{} → {}   {}: says {}", machine.states[static_cast<std::size_t>(s)].name, to,
                      condition_text(machine, *t, true), machine.outputs[static_cast<std::size_t>(t->output)]);
      const TextStyle style{11, &ink::kText, false, true, Anchor::kStart};
      canvas.text(kMargin, y + 12, line, style);
      right = std::max(right, text_width(line, style));
      y += 17;
    }
  return y;
}

}  // namespace

std::string machine_svg(const Machine& machine, bool style) {
  Picture picture;
  std::map<int, int> box_of_state;
  for (const int s : shown_states(machine)) {
    box_of_state[s] = static_cast<int>(picture.boxes.size());
    picture.boxes.emplace_back();
    picture.boxes.back().state = s;
  }
  picture.labelled = picture.boxes.size() <= kMaxLabelledStates;
  add_ways(picture, machine, box_of_state);
  set_levels(picture);
  measure(picture, machine);
  place(picture);
  Canvas canvas;
  const TextStyle heading{14, &ink::kText, true, false, Anchor::kStart};
  const std::string title = machine_summary(machine);
  double y = kMargin;
  canvas.text(kMargin, y + 12, title, heading);
  y += 24;
  double right = text_width(title, heading);
  for (const std::string& note : machine.notes) {
    canvas.text(kMargin, y + 10, note, kMemory);
    right = std::max(right, text_width(note, kMemory));
    y += 16;
  }
  canvas.text(kMargin, y + 10, "On the ways: inputs / what is said.", kMemory);
  y += 22;
  // Ways over the top need room that is known only once they are drawn: draw twice; the first drawing is discarded.
  Canvas air;
  Drawer trial(air, picture, 0, 0);
  trial.draw(machine);
  y -= trial.top();
  Drawer drawer(canvas, picture, kMargin + 30, y);
  drawer.draw(machine);
  right = std::max(right, std::max(picture.right, drawer.right()) + 40);
  y += std::max(picture.bottom, drawer.bottom()) + 30;
  if (!picture.labelled) y = draw_list(canvas, machine, y, right);
  return canvas.document(right + 2 * kMargin, y + kMargin / 2, title, style);
}

}  // namespace remede

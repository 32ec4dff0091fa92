#include "remede/draw/tree_picture.h"

#include <algorithm>

#include <fmt/format.h>

#include "remede/base/text.h"

namespace remede {
namespace {

using Kind = CardLine::Kind;

constexpr double kPadX = 12, kPadY = 9;
constexpr double kMaxLineWidth = 390;  // longer ones end in an ellipsis; the tooltip has all
constexpr double kMaxPageWidth = 1250;
constexpr std::size_t kMaxOutputLines = 5;

TextStyle style_of(Kind kind) {
  switch (kind) {
    case Kind::kTest:
      return {13, &ink::kText, true, false, Anchor::kMiddle};
    case Kind::kSay:
      return {13, &ink::kText, true, false, Anchor::kStart};
    case Kind::kScore:
      return {11.5, &ink::kText, false, true, Anchor::kStart};
    case Kind::kWrite:
      return {11.5, &ink::kWriteText, false, true, Anchor::kStart};
    default:
      return {11, &ink::kSoft, false, false, Anchor::kStart};
  }
}

double height_of(Kind kind) {
  switch (kind) {
    case Kind::kBar:
      return 8;
    case Kind::kWrite:
      return 21;
    case Kind::kCount:
      return 15;
    default:
      return 17;
  }
}

double width_of(const CardLine& line) {
  if (line.kind == Kind::kBar) return 60;
  return text_width(line.text, style_of(line.kind)) + (line.kind == Kind::kWrite ? 12 : 0);
}

void measure(Card& card) {
  card.width = 44;
  card.height = 2 * kPadY - 3;
  for (CardLine& line : card.lines) {
    line.text = fitted(line.text, style_of(line.kind), kMaxLineWidth);
    card.width = std::max(card.width, width_of(line) + 2 * kPadX);
    card.height += height_of(line.kind);
  }
}

std::string without_say(const std::string& text) { return text.starts_with("say ") ? text.substr(4) : text; }

// As many digits and terms as fit into the widest line, up to those asked for.
template <typename Texts>
std::vector<std::string> shortened(Wording& words, Kind kind, Texts texts) {
  const WordOptions asked = words.options;
  std::vector<std::string> lines = texts(words);
  const auto too_wide = [&](const std::string& line) { return text_width(line, style_of(kind)) > kMaxLineWidth; };
  for (int terms = asked.terms == 0 ? 4 : asked.terms; terms >= 1 && std::any_of(lines.begin(), lines.end(), too_wide);
       --terms) {
    words.options.terms = terms;
    words.options.digits = 2;
    const std::vector<std::string> shorter = texts(words);
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (too_wide(lines[i])) lines[i] = shorter[i];
  }
  words.options = asked;
  return lines;
}

Card leaf_card(Wording& words, const Wording& unabridged, int leaf, const PictureOptions& options) {
  Card card;
  card.probabilities = leaf_probabilities(words, leaf);
  const Kind kind = words.tree->n_y > 1 && card.probabilities.empty() ? Kind::kScore : Kind::kSay;
  std::vector<std::string> says = shortened(words, kind, [&](const Wording& w) { return say_texts(w, leaf); });
  if (says.size() > kMaxOutputLines) {
    const std::size_t more = says.size() - kMaxOutputLines;
    says.resize(kMaxOutputLines);
    says.push_back(fmt::format("  … {} more", more));
  }
  for (std::size_t i = 0; i < says.size(); ++i)
    card.lines.push_back({says.size() > 1 && i > 0 ? Kind::kScore : Kind::kSay, without_say(says[i])});
  if (!card.probabilities.empty()) card.lines.push_back({Kind::kBar, ""});
  for (const std::string& w : shortened(words, Kind::kWrite, [&](const Wording& v) { return write_texts(v, leaf); }))
    card.lines.push_back({Kind::kWrite, w});
  std::vector<std::string> all = say_texts(unabridged, leaf);
  for (const std::string& w : write_texts(unabridged, leaf)) all.push_back(w);
  if (options.counts) {
    const std::string count = count_text((*options.counts)[static_cast<std::size_t>(leaf)], words.model->schema.task);
    card.lines.push_back({Kind::kCount, count});
    all.push_back(count);
  }
  card.tooltip = fmt::format("{}", fmt::join(all, "\n"));
  return card;
}

TreeLayout lay_out(const TreePicture& picture, const View& view, bool grows_right) {
  std::vector<LayoutNode> nodes;
  for (std::size_t i = 0; i < view.nodes.size(); ++i) {
    const View::Node& n = view.nodes[i];
    nodes.push_back({n.left, n.right, n.depth, picture.cards[i].width, picture.cards[i].height});
  }
  LayoutOptions options;
  options.grows_right = grows_right;
  options.sibling_gap = grows_right ? 10 : 18;
  options.level_gap = grows_right ? 52 : 46;
  return tidy_layout(nodes, options);
}

void draw_bar(Canvas& canvas, double x, double y, double width, const std::vector<float>& probabilities) {
  double at = x;
  for (std::size_t c = 0; c < probabilities.size(); ++c) {
    const double part = width * static_cast<double>(probabilities[c]);
    if (part >= 0.5) canvas.rect(at, y, part, 4, 0, class_ink(static_cast<int>(c)));
    at += part;
  }
}

void draw_leaf(Canvas& canvas, const Card& card, double x, double y, bool lit) {
  canvas.rect(x, y, card.width, card.height, 5, ink::kCard, lit ? ink::kLit : ink::kLine, lit ? 2.5 : 1);
  if (!card.probabilities.empty()) {
    const auto best =
        std::max_element(card.probabilities.begin(), card.probabilities.end()) - card.probabilities.begin();
    canvas.rect(x + 3, y + 5, 3.5, card.height - 10, 1.5, class_ink(static_cast<int>(best)));
  }
  double at = y + kPadY;
  for (const CardLine& line : card.lines) {
    if (line.kind == Kind::kBar) draw_bar(canvas, x + kPadX, at, card.width - 2 * kPadX, card.probabilities);
    if (line.kind == Kind::kWrite)
      canvas.rect(x + kPadX - 2, at, text_width(line.text, style_of(line.kind)) + 12, 18, 9, ink::kWrite);
    if (line.kind == Kind::kWrite)
      canvas.text(x + kPadX + 4, at + 13, line.text, style_of(line.kind));
    else if (line.kind != Kind::kBar)
      canvas.text(x + kPadX, at + 11, line.text, style_of(line.kind));
    at += height_of(line.kind);
  }
}

void draw_split(Canvas& canvas, const Card& card, double x, double y, bool cell, bool lit) {
  canvas.rect(x, y, card.width, card.height, card.height / 2, cell ? ink::kCell : ink::kInput,
              lit    ? ink::kLit
              : cell ? ink::kCellLine
                     : ink::kInputLine,
              lit ? 2.5 : 1.2);
  canvas.text(x + card.width / 2, y + card.height / 2 + 4.6, card.lines[0].text, style_of(Kind::kTest));
}

// From the middle of the parent's lower (right) side to the middle of the child's upper (left) side.
void draw_edge(Canvas& canvas, const TreePicture& p, Point offset, int parent, int child, bool right, bool lit) {
  const auto i = static_cast<std::size_t>(parent), j = static_cast<std::size_t>(child);
  const Corner a = p.layout.places[i], b = p.layout.places[j];
  const Card &above = p.cards[i], &below = p.cards[j];
  const Point from = p.grows_right ? Point{a.x + above.width, a.y + above.height / 2}
                                   : Point{a.x + above.width / 2, a.y + above.height};
  const Point to = p.grows_right ? Point{b.x, b.y + below.height / 2} : Point{b.x + below.width / 2, b.y};
  const double bend = p.grows_right ? (to.x - from.x) * 0.5 : (to.y - from.y) * 0.5;
  const auto at = [&](double x, double y) {
    return fmt::format("{} {}", coordinate(x + offset.x), coordinate(y + offset.y));
  };
  const std::string curve = p.grows_right ? fmt::format("M{} C{} {} {}", at(from.x, from.y), at(from.x + bend, from.y),
                                                        at(to.x - bend, to.y), at(to.x, to.y))
                                          : fmt::format("M{} C{} {} {}", at(from.x, from.y), at(from.x, from.y + bend),
                                                        at(to.x, to.y - bend), at(to.x, to.y));
  const View& view = p.words->view;
  canvas.open_group(lit ? "edge lit" : "edge", fmt::format(" data-parent=\"{}\" data-child=\"{}\" data-side=\"{}\"",
                                                           view.nodes[i].id, view.nodes[j].id, right ? "yes" : "no"));
  canvas.path(curve, lit ? ink::kLit : ink::kLine, lit ? 3 : 1.4);
  const TextStyle style{11, lit ? &ink::kLit : &ink::kSoft, lit, false, Anchor::kMiddle};
  const Point label =
      p.grows_right ? Point{to.x - 17, to.y + (right ? 3 : 4)} : Point{to.x + (to.x - from.x) * -0.12, to.y - 9};
  canvas.text(label.x + offset.x, label.y + offset.y, right ? "yes" : "no", style, true);
  canvas.close_group();
}

}  // namespace

TreePicture plan_tree(const Wording& words, const PictureOptions& options) {
  TreePicture picture;
  picture.words = &words;
  Wording abridged = words, unabridged = words;
  unabridged.options.terms = 0;
  for (const View::Node& node : words.view.nodes) {
    Card card;
    if (node.is_leaf()) {
      card = leaf_card(abridged, unabridged, node.leaf(), options);
    } else {
      card.lines = {{Kind::kTest, test_text(words, node.id)}};
      card.tooltip = card.lines[0].text;
    }
    measure(card);
    picture.cards.push_back(std::move(card));
  }
  picture.grows_right = options.growth == PictureOptions::Growth::kRight;
  picture.layout = lay_out(picture, words.view, picture.grows_right);
  if (options.growth == PictureOptions::Growth::kAuto && picture.layout.width > kMaxPageWidth) {
    picture.grows_right = true;
    picture.layout = lay_out(picture, words.view, true);
  }
  return picture;
}

void draw_tree(Canvas& canvas, const TreePicture& picture, double x, double y, const std::vector<std::uint8_t>& lit) {
  const View& view = picture.words->view;
  const auto is_lit = [&](int node) { return !lit.empty() && lit[static_cast<std::size_t>(node)] != 0; };
  for (const bool pass : {false, true})  // lit lines last, on top
    for (std::size_t i = 0; i < view.nodes.size(); ++i)
      for (const bool right : {false, true}) {
        const int child = right ? view.nodes[i].right : view.nodes[i].left;
        if (child >= 0 && is_lit(child) == pass)
          draw_edge(canvas, picture, {x, y}, static_cast<int>(i), child, right, is_lit(child));
      }
  for (std::size_t i = 0; i < view.nodes.size(); ++i) {
    const View::Node& node = view.nodes[i];
    const Card& card = picture.cards[i];
    const Corner at = picture.layout.places[i];
    const bool on = is_lit(static_cast<int>(i));
    canvas.open_group(fmt::format("node {}{}", node.is_leaf() ? "leaf" : "split", on ? " lit" : ""),
                      fmt::format(" data-node=\"{}\"", node.id));
    canvas.tooltip(card.tooltip);
    if (node.is_leaf())
      draw_leaf(canvas, card, x + at.x, y + at.y, on);
    else
      draw_split(canvas, card, x + at.x, y + at.y,
                 picture.words->is_cell(picture.words->tree->feature[static_cast<std::size_t>(node.id)]), on);
    canvas.close_group();
  }
}

}  // namespace remede

#include "remede/draw/cells_picture.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "remede/analysis/cells.h"
#include "remede/analysis/rows.h"
#include "remede/base/text.h"

namespace remede {
namespace {

constexpr double kPillColumn = 170;  // inputs, on the left
constexpr double kCardWidth = 520;
constexpr double kTankWidth = 44, kTankHeight = 58;
constexpr double kTextLine = 17;  // of text
constexpr double kCellGap = 22;   // between cards
constexpr double kWay = 16;       // between the lines on the right
constexpr std::size_t kMostPills = 5;
const TextStyle kCellWords{12.5, &ink::kText, false, false, Anchor::kStart};
const TextStyle kCellFacts{11.5, &ink::kSoft, false, false, Anchor::kStart};

// The text in lines that fit.
std::vector<std::string> wrapped_lines(const std::string& text, const TextStyle& style, double most) {
  std::vector<std::string> lines(1);
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = text.find(' ', begin);
    end = end == std::string::npos ? text.size() : end;
    const std::string word = text.substr(begin, end - begin);
    const std::string longer = lines.back().empty() ? word : lines.back() + " " + word;
    if (lines.back().empty() || text_width(longer, style) <= most)
      lines.back() = longer;
    else
      lines.push_back(word);
    begin = end + 1;
  }
  for (std::string& line : lines) line = fitted(line, style, most);
  return lines;
}

struct InputPill {
  std::string text;
  bool tap = false;  // drives the tap, not what comes in
};

struct CellCard {
  CellStory story;
  std::vector<std::string> words, facts;
  std::vector<InputPill> pills;
  double y = 0, height = 0;
};

// The first ones, and how many more there are.
std::vector<InputPill> at_most(std::vector<InputPill> pills, std::size_t most) {
  if (pills.size() <= most) return pills;
  const std::size_t left = pills.size() - most + 1;
  pills.resize(most - 1);
  pills.push_back({fmt::format("{} more", left), false});
  return pills;
}

double height_of(const std::vector<InputPill>& pills) { return 14 + 24 * static_cast<double>(pills.size()); }

// The strongest inputs of a law, by sign: "rain +", "temp −"; those of the tap in words.
std::vector<InputPill> pills_of(const Wording& words, int k) {
  const Tree& tree = *words.tree;
  const auto n_x = static_cast<std::size_t>(tree.n_x), cell = static_cast<std::size_t>(k);
  std::vector<InputPill> pills;
  const auto add = [&](const std::vector<float>& weights, bool tap) {
    const std::span<const float> of_cell = std::span(weights).subspan(cell * n_x, n_x);
    for (const std::size_t i : strongest_inputs(words, of_cell))
      pills.push_back({fmt::format("{} {}", words.feature[i], of_cell[i] > 0 ? "+" : "−"), tap});
  };
  add(tree.cells.input, false);
  add(tree.cells.tap_input, true);
  return at_most(std::move(pills), kMostPills);
}

class CellsPicture {
 public:
  CellsPicture(Canvas& canvas, const Wording& words, double x, double y)
      : canvas_(canvas), words_(words), x_(x), y_(y), card_x_(x + kPillColumn) {
    for (CellStory& story : cell_stories(words)) {
      CellCard card;
      const double room = kCardWidth - kTankWidth - 44;
      card.words = wrapped_lines(story.words, kCellWords, room);
      if (!story.facts.empty()) card.facts = wrapped_lines(story.facts, kCellFacts, room);
      card.pills = pills_of(words, story.cell);
      card.height =
          std::max({kTankHeight + 40, 38 + kTextLine * static_cast<double>(card.words.size() + card.facts.size()),
                    height_of(card.pills)});
      card.story = std::move(story);
      cards_.push_back(std::move(card));
    }
  }

  PictureSize draw() {
    if (cards_.empty()) return {};
    double y = y_;
    for (CellCard& card : cards_) {
      card.y = y;
      y += card.height + kCellGap;
    }
    const double answer_y = y;
    const std::size_t ways = draw_ways(answer_y);
    for (const CellCard& card : cards_) draw_card(card);
    const double end = draw_answer(answer_y);
    return {kPillColumn + kCardWidth + 24 + kWay * static_cast<double>(ways), end - y_};
  }

 private:
  void draw_card(const CellCard& card) {
    canvas_.open_group("cell", fmt::format(" data-cell=\"{}\"", card.story.cell));
    canvas_.tooltip(fmt::format("{}\n{}: {}\nshare: {}", story_line(card.story),
                                card.story.kind == "store" ? "in" : "towards", card.story.gain, card.story.share));
    canvas_.rect(card_x_, card.y, kCardWidth, card.height, 10, ink::kCard, ink::kCellLine, 1.2);
    draw_tank(card);
    const double text_x = card_x_ + kTankWidth + 30;
    double y = card.y + 22;
    const TextStyle name{14, &ink::kText, true, false, Anchor::kStart};
    canvas_.text(text_x, y, card.story.name, name);
    canvas_.text(text_x + text_width(card.story.name, name) + 8, y, card.story.kind, kCellFacts);
    for (const std::string& line : card.words) canvas_.text(text_x, y += kTextLine, line, kCellWords);
    for (const std::string& line : card.facts) canvas_.text(text_x, y += kTextLine, line, kCellFacts);
    draw_pills(card.pills, card.y + card.height / 2);
    canvas_.close_group();
  }

  void draw_pills(const std::vector<InputPill>& pills, double middle) {
    double y = middle - 12 * static_cast<double>(pills.size()) + 12;
    for (const InputPill& pill : pills) {
      draw_pill(pill, y);
      y += 24;
    }
  }

  // A store is open above and has a tap below; an average is a gauge.
  void draw_tank(const CellCard& card) {
    const bool store = card.story.kind == "store";
    const double x = card_x_ + 14, y = card.y + 12, bottom = y + kTankHeight;
    const double level = kTankHeight * 0.45;
    canvas_.open_group("tank", fmt::format(" data-cell=\"{}\" data-top=\"{}\" data-height=\"{}\"", card.story.cell,
                                           coordinate(y), coordinate(kTankHeight)));
    canvas_.rect(x + 1, y, kTankWidth - 2, kTankHeight, store ? 3 : 8, ink::kPaper);
    canvas_.rect(x + 1, bottom - level, kTankWidth - 2, level, store ? 2 : 7, ink::kCellLine, ink::kNone, 1,
                 " fill-opacity=\"0.55\" data-part=\"level\"");
    if (store) {
      canvas_.path(fmt::format("M{0} {1}V{2}H{3}V{1}", coordinate(x), coordinate(y - 3), coordinate(bottom),
                               coordinate(x + kTankWidth)),
                   ink::kCellLine, 2);
      canvas_.path(fmt::format("M{0} {1}v6", coordinate(x + kTankWidth / 2), coordinate(bottom)), ink::kCellLine, 4);
    } else {
      canvas_.rect(x, y, kTankWidth, kTankHeight, 8, ink::kNone, ink::kCellLine, 2);
    }
    canvas_.close_group();
  }

  void draw_pill(const InputPill& pill, double y) {
    const TextStyle style{11.5, &ink::kText, false, false, Anchor::kStart};
    const std::string text = fitted(pill.tap ? pill.text + " tap" : pill.text, style, kPillColumn - 52);
    const double wide = text_width(text, style) + 16, right = card_x_ - 24;
    canvas_.rect(right - wide, y - 10, wide, 20, 10, pill.tap ? ink::kWrite : ink::kInput,
                 pill.tap ? ink::kWriteText : ink::kInputLine);
    canvas_.text(right - wide + 8, y + 4, text, style);
    arrow(right, y, card_x_ - 3, pill.tap ? ink::kWriteText : ink::kInputLine);
  }

  void arrow(double from, double y, double to, const Ink& ink) {
    canvas_.line(from, y, to - 5, y, ink, 1.4);
    canvas_.path(fmt::format("M{0} {1}l-6 -3.5v7z", coordinate(to), coordinate(y)), ink, 1, "", ink);
  }

  // Lines on the right from a cell down to who reads it. Returns how many ways there are.
  std::size_t draw_ways(double answer_y) {
    const Tree& tree = *words_.tree;
    std::size_t way = 0;
    for (std::size_t i = 0; i < cards_.size(); ++i) {
      std::vector<double> ends;
      for (std::size_t j = i + 1; j < cards_.size(); ++j)
        if (law_uses(tree, cards_[j].story.cell, tree.n_x + cards_[i].story.cell))
          ends.push_back(cards_[j].y + 18 + 6 * static_cast<double>(i % 4));
      if (answer_reads(cards_[i].story.cell)) ends.push_back(answer_y + 14 + 6 * static_cast<double>(i % 4));
      if (ends.empty()) continue;
      ++way;
      const double right = card_x_ + kCardWidth, at = right + 10 + kWay * static_cast<double>(way - 1);
      const double from = cards_[i].y + cards_[i].height - 16;
      canvas_.path(
          fmt::format("M{} {}H{}V{}", coordinate(right), coordinate(from), coordinate(at), coordinate(ends.back())),
          ink::kCellLine, 1.6);
      for (const double end : ends) {
        canvas_.line(at, end, right + 7, end, ink::kCellLine, 1.6);
        canvas_.path(fmt::format("M{} {}l7 -4v8z", coordinate(right + 1), coordinate(end)), ink::kCellLine, 1, "",
                     ink::kCellLine);
      }
    }
    return way;
  }

  // source: an input, or after them a cell.
  bool answer_reads_source(int source) const {
    for (const View::Node& node : words_.view.nodes)
      for (int o = 0; node.is_leaf() && o < words_.tree->n_y; ++o)
        if (answer_uses(*words_.tree, node.leaf(), o, source)) return true;
    return false;
  }
  bool answer_reads(int cell) const { return answer_reads_source(words_.tree->n_x + cell); }

  // The inputs that the answer reads itself; those of a split stand at the split.
  std::vector<InputPill> answer_pills() const {
    std::vector<InputPill> pills;
    for (int i = 0; i < words_.tree->n_x; ++i)
      if (answer_reads_source(i)) pills.push_back({words_.feature[static_cast<std::size_t>(i)], false});
    return pills;
  }

  // Without splits the answer is one formula; with them the tree below gives it.
  double draw_answer(double y) {
    std::vector<std::string> lines;
    if (words_.view.nodes.size() == 1)
      for (const std::string& say : say_texts(words_, words_.view.nodes[0].leaf()))
        for (std::string& line : wrapped_lines(say, kCellWords, kCardWidth - 40)) lines.push_back(std::move(line));
    else
      lines = {"The tree below gives the answer from inputs and cells."};
    const double of_text = 20 + kTextLine * static_cast<double>(lines.size());
    const auto fit = static_cast<std::size_t>(of_text / 24);
    const std::vector<InputPill> pills = at_most(answer_pills(), std::max(kMostPills, fit));
    const double height = std::max(of_text, pills.empty() ? 0.0 : height_of(pills));
    canvas_.open_group("answer");
    canvas_.rect(card_x_, y, kCardWidth, height, 10, ink::kInput, ink::kInputLine, 1.2);
    draw_pills(pills, y + height / 2);
    double line_y = y + 8;
    for (const std::string& line : lines) canvas_.text(card_x_ + 16, line_y += kTextLine, line, kCellWords);
    canvas_.close_group();
    return y + height;
  }

  Canvas& canvas_;
  const Wording& words_;
  double x_, y_, card_x_;
  std::vector<CellCard> cards_;
};

}  // namespace

PictureSize draw_cells(Canvas& canvas, const Wording& words, double x, double y) {
  return CellsPicture(canvas, words, x, y).draw();
}

}  // namespace remede

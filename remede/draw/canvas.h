// Writes SVG. Colours are named inks with a light and a dark value: every element carries the light one as an
// attribute, for readers that know no CSS variables, and a class whose variable follows the reader's light or dark
// mode.
#pragma once

#include <string>
#include <string_view>

namespace remede {

struct Ink {
  const char* name;  // of the CSS variable --rm-NAME
  const char* light;
  const char* dark;
};

namespace ink {
inline constexpr Ink kNone{"", "none", "none"};
inline constexpr Ink kPaper{"paper", "#ffffff", "#14171c"};
inline constexpr Ink kText{"text", "#1d2330", "#e6e9ef"};
inline constexpr Ink kSoft{"soft", "#667085", "#98a2b3"};
inline constexpr Ink kLine{"line", "#b9c0cc", "#4b5563"};
inline constexpr Ink kGrid{"grid", "#e7eaf0", "#262b33"};
inline constexpr Ink kCard{"card", "#f6f7fa", "#1f242c"};
inline constexpr Ink kInput{"input", "#e9eefb", "#22304f"};  // tests of inputs
inline constexpr Ink kInputLine{"input-line", "#7c93cf", "#7f9be0"};
inline constexpr Ink kCell{"cell", "#dff3ef", "#123c38"};  // tests of memory
inline constexpr Ink kCellLine{"cell-line", "#3a9c8c", "#4fc0ae"};
inline constexpr Ink kWrite{"write", "#f4ebfb", "#372448"};  // writes to memory
inline constexpr Ink kWriteText{"write-text", "#6b2fa0", "#d3aef2"};
inline constexpr Ink kLit{"lit", "#e8590c", "#ff9a4d"};  // the active path
inline constexpr Ink kWrong{"wrong", "#d92d20", "#ff6b5e"};
}  // namespace ink

// The colour of a class: ten, then again from the first.
const Ink& class_ink(int number);

inline constexpr double kMargin = 24;  // around a picture

struct Point {
  double x, y;
};

enum class Anchor { kStart, kMiddle, kEnd };

struct TextStyle {
  double size = 13;
  const Ink* ink = &ink::kText;
  bool bold = false;
  bool mono = false;
  Anchor anchor = Anchor::kStart;
};

// An estimate that errs on the wide side, so that text stays inside its box in any of the fonts named.
double text_width(std::string_view text, const TextStyle& style);
// The text, shortened by an ellipsis where it is wider than `most`.
std::string fitted(std::string_view text, const TextStyle& style, double most);

class Canvas {
 public:
  // attributes: further XML attributes, escaped by the caller, beginning with a space.
  void open_group(std::string_view classes, std::string_view attributes = "");
  void close_group();
  void tooltip(std::string_view text);  // of the group that is open
  void rect(double x, double y, double width, double height, double radius, const Ink& fill,
            const Ink& stroke = ink::kNone, double stroke_width = 1, std::string_view attributes = "");
  void circle(double x, double y, double radius, const Ink& fill, const Ink& stroke = ink::kNone,
              double stroke_width = 1, std::string_view attributes = "");
  void path(std::string_view d, const Ink& stroke, double stroke_width, std::string_view attributes = "",
            const Ink& fill = ink::kNone);
  void line(double x1, double y1, double x2, double y2, const Ink& stroke, double stroke_width = 1,
            std::string_view attributes = "");
  // y is the base line. halo: paper-coloured edge that keeps text legible on lines.
  void text(double x, double y, std::string_view text, const TextStyle& style, bool halo = false);

  // The whole document. style: with the style sheet of the inks (a host page that has it already leaves it out).
  std::string document(double width, double height, std::string_view title, bool style = true) const;

 private:
  std::string body_;
};

// The style sheet: variables for light and dark, and a class per ink. For host pages.
std::string svg_style_sheet();

// A coordinate with one decimal at most.
std::string coordinate(double value);

}  // namespace remede

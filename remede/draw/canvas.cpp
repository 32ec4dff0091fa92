#include "remede/draw/canvas.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "remede/base/text.h"

namespace remede {
namespace {

constexpr std::array<Ink, 10> kClassInks = {{{"c0", "#4c78a8", "#7aa6d8"},
                                             {"c1", "#e2891f", "#f3a953"},
                                             {"c2", "#4f9d53", "#7cc67f"},
                                             {"c3", "#d6494b", "#f07a7b"},
                                             {"c4", "#3aa6a0", "#6fd0ca"},
                                             {"c5", "#c9a227", "#e6c85a"},
                                             {"c6", "#9467bd", "#b997dd"},
                                             {"c7", "#d3679f", "#ee97c4"},
                                             {"c8", "#8c6d58", "#b8967e"},
                                             {"c9", "#7f8794", "#a9b1bd"}}};

constexpr std::array kInks = {ink::kPaper, ink::kText,      ink::kSoft,      ink::kLine, ink::kGrid,
                              ink::kCard,  ink::kInput,     ink::kInputLine, ink::kCell, ink::kCellLine,
                              ink::kWrite, ink::kWriteText, ink::kLit,       ink::kWrong};

constexpr const char* kSans =
    "Inter,system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'DejaVu Sans',sans-serif";
constexpr const char* kMono = "ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace";

// Advance widths of ' ' .. '~' in hundredths of the size, in DejaVu Sans: the widest of the fonts named.
constexpr std::array<unsigned char, 95> kAdvance = {
    32, 40, 46, 84, 64, 95, 78, 27, 39,  39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79,
    60, 79, 69, 63, 61, 73, 68, 99, 69,  61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63,
    63, 28, 28, 58, 28, 97, 63, 61, 63,  63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84};

std::string painted(const char* property, char prefix, const Ink& ink) {
  if (ink.name[0] == '\0') return fmt::format(" {}=\"none\"", property);
  return fmt::format(" {}=\"{}\" class=\"{}-{}\"", property, ink.light, prefix, ink.name);
}

// Fill and stroke share one class attribute.
std::string painted(const Ink& fill, const Ink& stroke, double stroke_width) {
  if (stroke.name[0] == '\0') return painted("fill", 'f', fill);
  const std::string width = fmt::format(" stroke-width=\"{}\"", coordinate(stroke_width));
  if (fill.name[0] == '\0') return painted("stroke", 's', stroke) + " fill=\"none\"" + width;
  return fmt::format(" fill=\"{}\" stroke=\"{}\" class=\"f-{} s-{}\"{}", fill.light, stroke.light, fill.name,
                     stroke.name, width);
}

// Hundredths of the size that the character beginning with this byte takes.
int advance(unsigned char byte) {
  if (byte >= 32 && byte < 127) return kAdvance[byte - 32U];
  return byte >= 0xE3 ? 100 : 84;  // from U+3000 on mostly full width
}

template <typename Each>
void for_each_ink(Each each) {
  for (const Ink& i : kInks) each(i);
  for (const Ink& i : kClassInks) each(i);
}

}  // namespace

const Ink& class_ink(int number) { return kClassInks[static_cast<std::size_t>(number) % kClassInks.size()]; }

std::string coordinate(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

double text_width(std::string_view text, const TextStyle& style) {
  double sum = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0U) == 0x80U) continue;  // goes on with the character before
    sum += style.mono ? (byte >= 0xE3 ? 120 : 60.5) : advance(byte);
  }
  return sum / 100 * style.size * (style.bold && !style.mono ? 1.1 : 1.0);
}

std::string fitted(std::string_view text, const TextStyle& style, double most) {
  std::size_t columns = width(text);
  std::string kept(text);
  while (columns > 1 && text_width(kept, style) > most) kept = clipped(text, --columns);
  return kept;
}

void Canvas::open_group(std::string_view classes, std::string_view attributes) {
  body_ += fmt::format("<g class=\"{}\"{}>\n", classes, attributes);
}

void Canvas::close_group() { body_ += "</g>\n"; }

void Canvas::tooltip(std::string_view text) {
  std::string escaped;
  std::size_t begin = 0;
  for (std::size_t end = 0; begin <= text.size();
       begin = end + 1) {  // line by line: line breaks are fine, other control characters not
    end = std::min(text.find('\n', begin), text.size());
    if (begin > 0) escaped += '\n';
    escaped += xml_escaped(text.substr(begin, end - begin));
  }
  body_ += fmt::format("<title>{}</title>\n", escaped);
}

void Canvas::rect(double x, double y, double width, double height, double radius, const Ink& fill, const Ink& stroke,
                  double stroke_width, std::string_view attributes) {
  const std::string round = radius > 0 ? fmt::format(" rx=\"{}\"", coordinate(radius)) : "";
  body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}{}{}/>\n", coordinate(x), coordinate(y),
                       coordinate(width), coordinate(height), round, painted(fill, stroke, stroke_width), attributes);
}

void Canvas::circle(double x, double y, double radius, const Ink& fill, const Ink& stroke, double stroke_width,
                    std::string_view attributes) {
  body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}{}/>\n", coordinate(x), coordinate(y), coordinate(radius),
                       painted(fill, stroke, stroke_width), attributes);
}

void Canvas::path(std::string_view d, const Ink& stroke, double stroke_width, std::string_view attributes,
                  const Ink& fill) {
  body_ += fmt::format("<path d=\"{}\"{}{}/>\n", d, painted(fill, stroke, stroke_width), attributes);
}

void Canvas::line(double x1, double y1, double x2, double y2, const Ink& stroke, double stroke_width,
                  std::string_view attributes) {
  body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"{} stroke-width=\"{}\"{}/>\n", coordinate(x1),
                       coordinate(y1), coordinate(x2), coordinate(y2), painted("stroke", 's', stroke),
                       coordinate(stroke_width), attributes);
}

void Canvas::text(double x, double y, std::string_view text, const TextStyle& style, bool halo) {
  const char* const anchor = style.anchor == Anchor::kMiddle ? " text-anchor=\"middle\""
                             : style.anchor == Anchor::kEnd  ? " text-anchor=\"end\""
                                                             : "";
  std::string paint = fmt::format(" fill=\"{}\" class=\"f-{}{}{}\"", style.ink->light, style.ink->name,
                                  style.mono ? " rm-mono" : "", halo ? " s-paper" : "");
  if (halo)
    paint += fmt::format(" stroke=\"{}\" stroke-width=\"4\" stroke-linejoin=\"round\" paint-order=\"stroke\"",
                         ink::kPaper.light);
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\"{}{}{}{}>{}</text>\n", coordinate(x), coordinate(y),
                       coordinate(style.size), style.bold ? " font-weight=\"600\"" : "",
                       style.mono ? fmt::format(" font-family=\"{}\"", kMono) : "", anchor, paint, xml_escaped(text));
}

std::string svg_style_sheet() {
  std::string light, dark, classes;
  for_each_ink([&](const Ink& i) {
    light += fmt::format("--rm-{}:{};", i.name, i.light);
    dark += fmt::format("--rm-{}:{};", i.name, i.dark);
    classes += fmt::format(".remede .f-{0}{{fill:var(--rm-{0})}}.remede .s-{0}{{stroke:var(--rm-{0})}}\n", i.name);
  });
  return fmt::format(".remede{{{}}}\n@media (prefers-color-scheme:dark){{.remede{{{}}}}}\n{}", light, dark, classes);
}

// For files of their own: every element has its light colour as an attribute, so only the dark ones are said, as plain
// colours. Programs that know no CSS variables or no media queries draw it light.
static std::string file_style_sheet() {
  std::string dark;
  for_each_ink([&](const Ink& i) {
    dark += fmt::format(".remede .f-{0}{{fill:{1}}}.remede .s-{0}{{stroke:{1}}}\n", i.name, i.dark);
  });
  return fmt::format("@media (prefers-color-scheme:dark){{\n{}}}\n", dark);
}

std::string Canvas::document(double width, double height, std::string_view title, bool style) const {
  const std::string w = coordinate(std::ceil(width)), h = coordinate(std::ceil(height));
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"remede\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"{2}\" role=\"img\">\n<title>{3}</title>\n",
      w, h, kSans, xml_escaped(title));
  if (style) text += fmt::format("<style>\n{}</style>\n", file_style_sheet());
  text += fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"{}\" class=\"f-{}\"/>\n", w, h, ink::kPaper.light,
                      ink::kPaper.name);
  return text + body_ + "</svg>\n";
}

}  // namespace remede

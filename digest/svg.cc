#include "digest/svg.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "digest/html_text.h"

namespace rapideye::digest {
namespace {

constexpr int kLabelHeight = 16;

bool StartsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

// Bytes of the first `count` characters.
size_t BytesOf(std::string_view text, size_t count) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (StartsCharacter(text[at]) && count-- == 0) break;
  }
  return at;
}

// The best place to break a line that may take `fits` bytes.
size_t BreakAt(std::string_view text, size_t fits) {
  if (const size_t space = text.rfind(' ', fits); space != std::string_view::npos && space > 0) {
    return space;
  }
  constexpr std::string_view kAfter = "-._/,:";
  const size_t joint = text.find_last_of(kAfter, fits - 1);
  return joint != std::string_view::npos && joint > 0 ? joint + 1 : fits;
}

}  // namespace

std::vector<std::string> WrapText(std::string_view text, size_t columns, size_t max_lines) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t fits = BytesOf(text, columns);
    if (fits == text.size()) {
      lines.emplace_back(text);
      break;
    }
    if (lines.size() + 1 == max_lines) {
      lines.push_back(std::string(text.substr(0, BytesOf(text, columns - 1))) + "…");
      break;
    }
    const size_t end = BreakAt(text, fits);
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  return lines;
}

void Svg::Line(int x1, int y1, int x2, int y2, const char* css_class) {
  absl::StrAppend(&lines_, "<line x1=\"", x1, "\" y1=\"", y1, "\" x2=\"", x2, "\" y2=\"", y2,
                  "\" class=\"", css_class, "\"></line>\n");
}

void Svg::Path(const std::string& data, const char* css_class) {
  absl::StrAppend(&lines_, "<path d=\"", data, "\" class=\"", css_class, "\"></path>\n");
}

void Svg::Place(int x, int y, int width, int height, const std::string& html) {
  absl::StrAppend(&texts_, "<foreignObject x=\"", x, "\" y=\"", y, "\" width=\"", width,
                  "\" height=\"", height, "\">", html, "</foreignObject>\n");
}

void Svg::Label(int x, int y, int width, std::string_view text, const char* css_class,
                Anchor anchor, std::string_view title) {
  if (text.empty() || width <= 0) return;
  const char* align = anchor == Anchor::kStart ? "" : anchor == Anchor::kEnd ? " end" : " middle";
  const int left = anchor == Anchor::kStart ? x
                   : anchor == Anchor::kEnd ? x - width
                                            : x - width / 2;
  Place(left, y - kLabelHeight / 2, width, kLabelHeight,
        absl::StrCat("<div class=\"l", align, "\"><span class=\"", css_class, "\"",
                     title.empty() ? "" : absl::StrCat(" title=\"", Html(title), "\""), ">",
                     Html(text), "</span></div>"));
}

std::string Svg::Finish(int height) && {
  return absl::StrCat("<div class=\"drawing ", class_, "\" role=\"img\" aria-label=\"",
                      Html(label_), "\">\n<svg aria-hidden=\"true\" viewBox=\"0 0 ", width_, " ",
                      height, "\" width=\"", width_, "\" height=\"", height, "\">\n", lines_,
                      texts_, "</svg></div>\n");
}

}  // namespace rapideye::digest

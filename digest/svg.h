// Svg writes the elements of a drawing: lines, boxes and text that is wrapped to a width.
#ifndef RAPIDEYE_DIGEST_SVG_H_
#define RAPIDEYE_DIGEST_SVG_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rapideye::digest {

// `text` in lines of at most `columns` characters, broken at spaces, else after "-._/,:"; at most
// `max_lines`, the last one cut with "…". `columns` >= 4, `max_lines` >= 1.
std::vector<std::string> WrapText(std::string_view text, size_t columns, size_t max_lines);

// The point of a label that stands at its x.
enum class Anchor { kStart, kMiddle, kEnd };

// Collects elements; units are CSS pixels. Text is escaped here, classes are not: they are ours.
// Text is HTML on an opaque ground above all lines, so that what it stands out from is known.
class Svg {
 public:
  Svg(int width, const char* css_class, std::string label)
      : width_(width), class_(css_class), label_(std::move(label)) {}

  void Line(int x1, int y1, int x2, int y2, const char* css_class);
  void Path(const std::string& data, const char* css_class);
  // `html` in a place of its own; it must be balanced, and escaped.
  void Place(int x, int y, int width, int height, const std::string& html);
  // One line of text around the height `y`, in at most `width`. `title`: the whole of what `text`
  // is cut from; empty: nothing was cut.
  void Label(int x, int y, int width, std::string_view text, const char* css_class,
             Anchor anchor = Anchor::kStart, std::string_view title = "");

  // The drawing, `height` high, in an element of the class; its label is its alternative text.
  std::string Finish(int height) &&;

 private:
  int width_;
  std::string class_;
  std::string label_;
  std::string lines_;
  std::string texts_;
};

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_SVG_H_

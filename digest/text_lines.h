// TextLines builds the lines of a digest: indented, escaped by the caller, each of bounded size.
#ifndef RAPIDEYE_DIGEST_TEXT_LINES_H_
#define RAPIDEYE_DIGEST_TEXT_LINES_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::digest {

// Columns before the lines of a digest, its sections, and what they list.
inline constexpr size_t kFirstIndent = 2;
inline constexpr size_t kIndent = 4;
inline constexpr size_t kItemIndent = 6;

// 0.934 as "0.93", in any locale.
inline std::string TwoPlaces(double share) {
  const auto percent = static_cast<int>(std::lround(share * 100));
  return absl::StrCat(percent / 100, ".", absl::Dec(percent % 100, absl::kZeroPad2));
}

class TextLines {
 public:
  // One line. `text` must be valid UTF-8 without newlines; what exceeds a line
  // is cut.
  void Add(size_t indent, std::string_view text) {
    lines_ += std::string(indent, ' ');
    lines_ += text::CutText(std::string(text), Room(indent));
    lines_ += '\n';
  }

  // `prefix`, the items as far as the line holds them, `suffix`.
  void AddList(size_t indent, const std::string& prefix, const std::vector<text::ListItem>& items,
               const std::string& suffix = "") {
    const size_t room = Room(indent) - prefix.size() - suffix.size();
    Add(indent, absl::StrCat(prefix, text::JoinBounded(items, room), suffix));
  }

  // Adds a line for each element, at most `limit`; one more says how many are left out.
  template <typename List, typename ToLine>
  void AddEach(size_t indent, const List& list, size_t limit, ToLine to_line) {
    const size_t shown = std::min(list.size(), limit);
    for (size_t i = 0; i < shown; ++i) Add(indent, to_line(list[i]));
    AddMore(indent, list.size() - shown, "");
  }

  // "… and 3 more<what>"; nothing for none.
  void AddMore(size_t indent, size_t count, const std::string& what) {
    if (count > 0) Add(indent, absl::StrCat("… and ", count, " more", what));
  }

  std::string Take() { return std::move(lines_); }

 private:
  static constexpr size_t Room(size_t indent) { return text::kMaxLineBytes - 1 - indent; }

  std::string lines_;
};

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_TEXT_LINES_H_

// Searches text of std::string_view, which Debian's absl does not take.
#ifndef RAPIDEYE_PROTO_COMMON_TEXT_SEARCH_H_
#define RAPIDEYE_PROTO_COMMON_TEXT_SEARCH_H_

#include <algorithm>
#include <string_view>

#include "absl/strings/ascii.h"

namespace rapideye::text {

inline bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// ASCII only.
inline bool ContainsIgnoreCase(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), [](char a, char b) {
           return absl::ascii_tolower(static_cast<unsigned char>(a)) ==
                  absl::ascii_tolower(static_cast<unsigned char>(b));
         }) != text.end();
}

}  // namespace rapideye::text

#endif  // RAPIDEYE_PROTO_COMMON_TEXT_SEARCH_H_

#include "proto/common/text/pattern.h"

#include <cstddef>

#include "absl/strings/ascii.h"

namespace rapideye::text {

bool MatchesPattern(absl::string_view text, absl::string_view pattern, LetterCase letter_case) {
  const auto equal = [letter_case](char a, char b) {
    return letter_case == LetterCase::kExact
               ? a == b
               : absl::ascii_tolower(static_cast<unsigned char>(a)) ==
                     absl::ascii_tolower(static_cast<unsigned char>(b));
  };
  size_t t = 0;
  size_t p = 0;
  // The place of the last `*`, and the part of the text that it may give back.
  size_t star = absl::string_view::npos;
  size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || equal(pattern[p], text[t]))) {
      ++t;
      ++p;
    } else if (star != absl::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.substr(p).find_first_not_of('*') == absl::string_view::npos;
}

}  // namespace rapideye::text

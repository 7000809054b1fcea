// MatchesPattern compares a text with a pattern, byte by byte and in any locale.
#ifndef RAPIDEYE_PROTO_COMMON_TEXT_PATTERN_H_
#define RAPIDEYE_PROTO_COMMON_TEXT_PATTERN_H_

#include "absl/strings/string_view.h"

namespace rapideye::text {

enum class LetterCase { kExact, kIgnored };

// `*` stands for any text, `?` for one byte, everything else for itself. Takes time in proportion
// to the product of the two lengths at worst.
bool MatchesPattern(absl::string_view text, absl::string_view pattern,
                    LetterCase letter_case = LetterCase::kExact);

}  // namespace rapideye::text

#endif  // RAPIDEYE_PROTO_COMMON_TEXT_PATTERN_H_

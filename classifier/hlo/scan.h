// Skips strings, comments and brackets of HLO text.
#ifndef RAPIDEYE_CLASSIFIER_HLO_SCAN_H_
#define RAPIDEYE_CLASSIFIER_HLO_SCAN_H_

#include <array>
#include <cstddef>
#include <string_view>

namespace rapideye::classifier {

enum class HloCharacter : unsigned char { kOther, kOpens, kCloses, kQuote, kSlash };

constexpr std::array<HloCharacter, 256> HloCharacters() {
  std::array<HloCharacter, 256> kinds{};
  for (const char c : {'(', '[', '{'}) kinds[static_cast<unsigned char>(c)] = HloCharacter::kOpens;
  for (const char c : {')', ']', '}'}) kinds[static_cast<unsigned char>(c)] = HloCharacter::kCloses;
  kinds['"'] = HloCharacter::kQuote;
  kinds['/'] = HloCharacter::kSlash;
  return kinds;
}
inline constexpr std::array<HloCharacter, 256> kHloCharacters = HloCharacters();
inline HloCharacter KindOf(char c) { return kHloCharacters[static_cast<unsigned char>(c)]; }

// The position behind the string whose quotation mark stands at `at`; the text's size if it is
// not closed.
size_t EndOfHloString(std::string_view text, size_t at);

// The first position from `at` on, outside strings, comments and brackets, at which one of
// `ends` stands; the text's size if there is none. A closing bracket that was not opened ends
// it, too.
size_t EndOfHloPart(std::string_view text, size_t at, std::string_view ends);

// The text between the bracket at the beginning of `text` and the bracket that closes it; all
// of the rest if no bracket does. Empty if the text begins with no bracket.
std::string_view InHloBrackets(std::string_view text);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HLO_SCAN_H_

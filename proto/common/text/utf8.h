// Decodes UTF-8 from text that may hold anything.
#ifndef RAPIDEYE_PROTO_COMMON_TEXT_UTF8_H_
#define RAPIDEYE_PROTO_COMMON_TEXT_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rapideye::text {

// Stands for a byte that belongs to no character.
inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Takes the first character off `text`, which must not be empty. Absent, and one byte
// taken: no well-formed character begins there (Unicode, table 3-7).
std::optional<uint32_t> TakeCharacter(std::string_view& text);

// True of a byte that continues a character, and begins none.
constexpr bool ContinuesCharacter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// The front of `text`, cut at a character to at most `max_bytes`.
std::string_view Front(std::string_view text, size_t max_bytes);

// `text` with one U+FFFD for each byte that belongs to no character, cut at a character
// to at most `max_bytes`.
std::string CutToUtf8(std::string_view text, size_t max_bytes);

}  // namespace rapideye::text

#endif  // RAPIDEYE_PROTO_COMMON_TEXT_UTF8_H_

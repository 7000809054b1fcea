// IsUnsafe tells which characters make a text look like another text.
#ifndef RAPIDEYE_PROTO_COMMON_TEXT_UNSAFE_H_
#define RAPIDEYE_PROTO_COMMON_TEXT_UNSAFE_H_

#include <cstdint>

namespace rapideye::text {

// True of characters that end a line, move the cursor, reorder or hide text.
constexpr bool IsUnsafe(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0xAD || c == 0x61C ||
         (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xE0000 && c <= 0xE007F);
}

}  // namespace rapideye::text

#endif  // RAPIDEYE_PROTO_COMMON_TEXT_UNSAFE_H_

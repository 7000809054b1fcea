#include "proto/common/text/utf8.h"

#include <utf8.h>

#include <algorithm>

namespace rapideye::text {

std::optional<uint32_t> TakeCharacter(std::string_view& text) {
  const char* next = text.data();
  const auto lead = static_cast<unsigned char>(*next);
  if (lead < 0x80) {
    text.remove_prefix(1);
    return lead;
  }
  // utf8::next would throw; a peer's junk is no exception.
  constexpr size_t kLongest = 4;
  if (utf8::find_invalid(next, next + std::min(text.size(), kLongest)) == next) {
    text.remove_prefix(1);
    return std::nullopt;
  }
  const uint32_t character = utf8::unchecked::next(next);
  text.remove_prefix(static_cast<size_t>(next - text.data()));
  return character;
}

std::string_view Front(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  size_t end = max_bytes;
  while (end > 0 && ContinuesCharacter(text[end])) --end;
  return text.substr(0, end);
}

std::string CutToUtf8(std::string_view text, size_t max_bytes) {
  std::string out;
  out.reserve(std::min(text.size(), max_bytes));
  while (!text.empty()) {
    const char* begin = text.data();
    const bool good = TakeCharacter(text).has_value();
    const std::string_view piece =
        good ? std::string_view(begin, static_cast<size_t>(text.data() - begin)) : kReplacement;
    if (out.size() + piece.size() > max_bytes) break;
    out += piece;
  }
  return out;
}

}  // namespace rapideye::text

// Strings on their way out: always UTF-8, never longer than a reader takes.

#include <algorithm>
#include <string>
#include <string_view>

#include "proto/wire/field_scope.h"
#include "proto/wire/limits.h"

namespace rapideye::wire {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

bool IsContinuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// Length of the well-formed UTF-8 sequence at `at` (Unicode, table 3-7), or 0.
size_t SequenceLength(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) -> unsigned char {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
  };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  if (lead < 0xE0) return IsContinuation(byte(1)) ? 2 : 0;
  // Over-long forms, surrogates and what lies beyond U+10FFFF show in the
  // second byte.
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  if (byte(1) < low || byte(1) > high || !IsContinuation(byte(2))) return 0;
  if (lead < 0xF0) return 3;
  return IsContinuation(byte(3)) ? 4 : 0;
}

// Well-formed UTF-8 of at most `limit` bytes; one U+FFFD for each bad byte.
std::string Sanitise(const std::string& value, size_t limit) {
  std::string out;
  out.reserve(std::min(value.size(), limit));
  for (size_t at = 0; at < value.size();) {
    const size_t length = SequenceLength(value, at);
    const std::string_view piece =
        length == 0 ? kReplacement : std::string_view(value).substr(at, length);
    if (out.size() + piece.size() > limit) break;
    out += piece;
    at += length == 0 ? 1 : length;
  }
  return out;
}

}  // namespace

std::string WireName(const std::string& value) { return Sanitise(value, kMaxNameBytes); }
std::string WireText(const std::string& value) { return Sanitise(value, kMaxTextBytes); }

}  // namespace rapideye::wire

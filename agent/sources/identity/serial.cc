#include "agent/sources/identity/serial.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace rapideye::agent {
namespace {

// Placeholders of new boards, as part of the text and in any case.
constexpr std::array<absl::string_view, 9> kPlaceholders = {
    "filled by", "default",   "not specified", "not applicable", "none",
    "serial",    "123456789", "unknown",       "invalid"};
constexpr size_t kShortest = 5;
constexpr size_t kLongest = 128;

}  // namespace

std::optional<std::string> ParseSerial(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (text.size() < kShortest || text.size() > kLongest) return std::nullopt;
  if (!std::all_of(text.begin(), text.end(), absl::ascii_isprint)) return std::nullopt;
  // A placeholder repeats a single character: all zeros, all dots.
  if (text.find_first_not_of(text[0]) == absl::string_view::npos) return std::nullopt;
  const std::string lower = absl::AsciiStrToLower(text);
  for (const absl::string_view placeholder : kPlaceholders) {
    if (absl::StrContains(lower, placeholder)) return std::nullopt;
  }
  return std::string(text);
}

}  // namespace rapideye::agent

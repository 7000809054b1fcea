// Makes text of workers safe to print: valid UTF-8, bounded, unable to forge a line. Pure.
#ifndef RAPIDEYE_PROTO_COMMON_TEXT_SAFE_TEXT_H_
#define RAPIDEYE_PROTO_COMMON_TEXT_SAFE_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rapideye::text {

// A line of the digest with its newline: container log drivers split above.
inline constexpr size_t kMaxLineBytes = 8192;
// Longest name (host, job, module, HLO) shown: a DNS name has at most 253 bytes.
inline constexpr size_t kMaxNameBytes = 256;
// Longest sentence shown (evidence, reasons, error texts).
inline constexpr size_t kMaxSentenceBytes = 1024;

// `text` with every invalid UTF-8 sequence replaced by U+FFFD, cut at a
// character to at most `max_bytes` with "…" at its end if it was longer.
// `max_bytes` >= 3.
std::string ValidUtf8(std::string_view text, size_t max_bytes);

// Like ValidUtf8, and in one line: control characters, line separators, and
// characters that reorder or hide text become \n, \x1b, \u202e; a backslash
// becomes two, so that the original can be told.
std::string EscapeText(std::string_view text, size_t max_bytes);

// Like EscapeText, for an element of a list: spaces and commas are escaped as well,
// so that one name cannot pose as two. An empty name is "?".
std::string EscapeName(std::string_view name);

// Like EscapeText, and never markup: for the content of an HTML element, or of an
// attribute in quotes.
std::string EscapeHtml(std::string_view text, size_t max_bytes);

// An entry of a list and how many things it stands for.
struct ListItem {
  std::string text;
  size_t count = 1;
};

// "a, b, … and 3 more": as many of `items` as `max_bytes` hold, the note about
// the things left out included. "" for no items. `max_bytes` must hold the note.
std::string JoinBounded(const std::vector<ListItem>& items, size_t max_bytes);

// `line` cut at a character to `max_bytes`, with "…" if it was longer. `line`
// must be valid UTF-8.
std::string CutText(std::string line, size_t max_bytes);

}  // namespace rapideye::text

#endif  // RAPIDEYE_PROTO_COMMON_TEXT_SAFE_TEXT_H_

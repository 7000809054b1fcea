#include "classifier/hlo/instruction.h"

#include <algorithm>

#include "absl/strings/ascii.h"

namespace rapideye::classifier {
namespace {

bool IsOfName(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
}

}  // namespace

HloParts ParseHloInstruction(std::string_view text) {
  HloParts parts;
  const size_t shape = EndOfHloPart(text, 0, " ");
  if (shape >= text.size()) return parts;
  const size_t opcode = shape + 1;
  size_t end = opcode;
  while (end < text.size() && IsOfName(text[end])) ++end;
  if (end == opcode || end >= text.size() || text[end] != '(') return parts;
  parts.shape = text.substr(0, shape);
  parts.opcode = text.substr(opcode, end - opcode);
  parts.operands = InHloBrackets(text.substr(end));
  parts.attributes = text.substr(std::min(end + parts.operands.size() + 2, text.size()));
  return parts;
}

std::string_view NextHloName(std::string_view& rest) {
  while (!rest.empty()) {
    const size_t end = EndOfHloPart(rest, 0, ",");
    std::string_view one = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    // Takes the last word: a shape may stand before the name.
    while (!one.empty() && !IsOfName(one.back())) one.remove_suffix(1);
    size_t begin = one.size();
    while (begin > 0 && IsOfName(one[begin - 1])) --begin;
    if (begin < one.size()) return one.substr(begin);
  }
  return "";
}

std::string_view QuotedHloValue(std::string_view text, std::string_view key) {
  size_t at = 0;
  while ((at = text.find(key, at)) != std::string_view::npos) {
    at += key.size();
    while (at < text.size() && text[at] == '"') ++at;  // "key":"value"
    if (at + 1 >= text.size() || (text[at] != '=' && text[at] != ':')) continue;
    ++at;
    while (at < text.size() && text[at] == ' ') ++at;
    if (at >= text.size() || text[at] != '"') continue;
    const size_t end = EndOfHloString(text, at);
    return text.substr(at + 1, end - at - 2);
  }
  return "";
}

}  // namespace rapideye::classifier

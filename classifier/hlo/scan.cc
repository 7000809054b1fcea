#include "classifier/hlo/scan.h"

namespace rapideye::classifier {

size_t EndOfHloString(std::string_view text, size_t at) {
  for (size_t from = at + 1;;) {
    const size_t quote = text.find('"', from);
    if (quote == std::string_view::npos) return text.size();
    size_t slashes = 0;
    while (quote - slashes > from && text[quote - slashes - 1] == '\\') ++slashes;
    from = quote + 1;
    if (slashes % 2 == 0) return from;
  }
}

size_t EndOfHloPart(std::string_view text, size_t at, std::string_view ends) {
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (depth == 0 && ends.find(c) != std::string_view::npos) return at;
    switch (KindOf(c)) {
      case HloCharacter::kQuote:
        at = EndOfHloString(text, at);
        continue;
      case HloCharacter::kSlash:
        if (text.substr(at, 2) == "/*") {
          const size_t close = text.find("*/", at + 2);
          at = close == std::string_view::npos ? text.size() : close + 2;
          continue;
        }
        break;
      case HloCharacter::kOpens:
        ++depth;
        break;
      case HloCharacter::kCloses:
        if (--depth < 0) return at;
        break;
      case HloCharacter::kOther:
        break;
    }
    ++at;
  }
  return text.size();
}

std::string_view InHloBrackets(std::string_view text) {
  if (text.empty() || KindOf(text.front()) != HloCharacter::kOpens) return "";
  return text.substr(1, EndOfHloPart(text, 1, "") - 1);
}

}  // namespace rapideye::classifier

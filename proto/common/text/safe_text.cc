#include "proto/common/text/safe_text.h"

#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "proto/common/text/unsafe.h"
#include "proto/common/text/utf8.h"

namespace rapideye::text {
namespace {

constexpr char kEllipsis[] = "…";
constexpr size_t kEllipsisBytes = sizeof(kEllipsis) - 1;
constexpr size_t kMoreNoteBytes = 48;  // ", … and 18446744073709551615 more"

std::string Escaped(uint32_t c) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '\\':
      return "\\\\";
    default:
      break;
  }
  if (c < 0x100) return absl::StrCat("\\x", absl::Hex(c, absl::kZeroPad2));
  if (c < 0x10000) return absl::StrCat("\\u", absl::Hex(c, absl::kZeroPad4));
  return absl::StrCat("\\U", absl::Hex(c, absl::kZeroPad8));
}

enum class Escape { kNothing, kText, kName };

std::string Clean(std::string_view text, size_t max_bytes, Escape escape) {
  std::string out;
  // The place to cut if the whole does not fit: the last boundary that leaves room for the
  // ellipsis.
  size_t cut = 0;
  while (!text.empty()) {
    const std::string_view rest = text;
    const std::optional<uint32_t> c = TakeCharacter(text);
    if (!c) {
      out += kReplacement;
    } else if (escape != Escape::kNothing &&
               (IsUnsafe(*c) || *c == '\\' ||
                (escape == Escape::kName && (*c == ' ' || *c == ',' || *c == 0xA0)))) {
      out += Escaped(*c);
    } else {
      out += rest.substr(0, rest.size() - text.size());
    }
    if (out.size() > max_bytes) {
      out.resize(cut);
      out += kEllipsis;
      return out;
    }
    if (out.size() + kEllipsisBytes <= max_bytes) cut = out.size();
  }
  return out;
}

}  // namespace

std::string ValidUtf8(std::string_view text, size_t max_bytes) {
  return Clean(text, max_bytes, Escape::kNothing);
}

std::string EscapeText(std::string_view text, size_t max_bytes) {
  return Clean(text, max_bytes, Escape::kText);
}

std::string EscapeHtml(std::string_view text, size_t max_bytes) {
  std::string out;
  for (char c : EscapeText(text, max_bytes)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string EscapeName(std::string_view name) {
  return name.empty() ? "?" : Clean(name, kMaxNameBytes, Escape::kName);
}

std::string JoinBounded(const std::vector<ListItem>& items, size_t max_bytes) {
  std::string out;
  for (size_t i = 0; i < items.size(); ++i) {
    const bool last = i + 1 == items.size();
    const size_t reserve = last ? 0 : kMoreNoteBytes;
    if (out.size() + 2 + items[i].text.size() + reserve > max_bytes) {
      size_t rest = 0;
      for (size_t j = i; j < items.size(); ++j) rest += items[j].count;
      absl::StrAppend(&out, out.empty() ? "" : ", ", kEllipsis, " and ", rest, " more");
      return out;
    }
    absl::StrAppend(&out, out.empty() ? "" : ", ", items[i].text);
  }
  return out;
}

std::string CutText(std::string line, size_t max_bytes) {
  if (line.size() <= max_bytes) return line;
  line.resize(Front(line, max_bytes - kEllipsisBytes).size());
  line += kEllipsis;
  return line;
}

}  // namespace rapideye::text

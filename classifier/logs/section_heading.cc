#include "classifier/logs/section_heading.h"

#include <re2/re2.h>

#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace rapideye::logs {
namespace {

constexpr size_t kMaxSectionLineBytes = 300;

}  // namespace

absl::string_view SectionName(absl::string_view line) {
  line = absl::StripAsciiWhitespace(line);
  if (line.empty() || line.size() > kMaxSectionLineBytes) return "";
  const bool marked = absl::StrContains("=#*-", line.front());
  if (!marked && line.back() != ':') return "";
  static const RE2* const kOfTail = new RE2("==> (.*\\d.*) <==");
  static const RE2* const kOfWorker = new RE2(
      "(?i)(?:[=#*-]+ *)?(?:logs?(?: of| for| from)? )?"
      "((?:pod[ /:]+)?(?:[a-z0-9.-]*-)?"
      "(?:rank|worker|host|node|process|task|replica|pod|slice|w)s?[ _=#-]{0,2}\\d[a-z0-9.-]*|"
      "pod[ /:]+[a-z0-9.-]*\\d[a-z0-9.-]*)"
      "(?: \\([^()]*\\))? *(?::|[=#*-]+)?");
  const re2::StringPiece text(line.data(), line.size());
  re2::StringPiece name;
  if (!RE2::FullMatch(text, *kOfTail, &name) && !RE2::FullMatch(text, *kOfWorker, &name)) return "";
  return {name.data(), name.size()};
}

bool HasSections(const std::vector<absl::string_view>& lines) {
  bool above_nothing = false;
  bool seen = false;
  for (absl::string_view line : lines) {
    if (absl::StartsWith(line, "Process ") || absl::StartsWith(line, "$ ")) return false;
    const bool heading = !SectionName(line).empty();
    if (!seen && !heading) return false;
    if (heading && above_nothing) return false;
    above_nothing = heading;
    seen = true;
  }
  return seen && !above_nothing;
}

}  // namespace rapideye::logs

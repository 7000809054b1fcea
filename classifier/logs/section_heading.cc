#include "classifier/logs/section_heading.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

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

std::string NameInHeading(absl::string_view heading) {
  static const RE2* const kNumbered =
      new RE2("(?i)\\b(rank|worker|host|node|process|task|replica|pod|slice|w)[ _=:#-]*(\\d+)\\b");
  constexpr absl::string_view kMarks = "=#*+-<>:,$";
  const auto has_number = [](absl::string_view part) {
    return std::any_of(part.begin(), part.end(), absl::ascii_isdigit);
  };
  std::vector<absl::string_view> numbered;
  std::vector<absl::string_view> words;
  for (absl::string_view part : absl::StrSplit(heading, ' ', absl::SkipEmpty())) {
    while (!part.empty() && absl::StrContains(kMarks, part.front())) part.remove_prefix(1);
    while (!part.empty() && absl::StrContains(kMarks, part.back())) part.remove_suffix(1);
    if (part.empty()) continue;
    words.push_back(part);
    if (has_number(part)) numbered.push_back(part);
  }
  if (numbered.size() == 1) {
    const absl::string_view one = numbered.front();
    if (!std::all_of(one.begin(), one.end(), absl::ascii_isdigit)) return std::string(one);
    std::string word;
    std::string number;
    if (RE2::PartialMatch({heading.data(), heading.size()}, *kNumbered, &word, &number)) {
      return absl::StrCat(absl::AsciiStrToLower(word), "-", number);
    }
  }
  return absl::StrJoin(words, "-");
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

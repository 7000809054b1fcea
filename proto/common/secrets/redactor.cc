#include "proto/common/secrets/redactor.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/common/secrets/forms.h"

namespace rapideye::secrets {
namespace {

// A shorter text holds no secret that a form would find ("pwd=x").
constexpr size_t kShortestText = 5;
// Memory for the automatons of one form: a text that needs more is matched in the same time, by a
// slower machine. Most forms never match, and take none of it.
constexpr int64_t kMemoryOfForm = int64_t{2} * 1024 * 1024;
constexpr int64_t kMemoryOfSet = int64_t{16} * 1024 * 1024;
constexpr int kMaxGroups = 8;
// A longer text that a form takes for a value is redacted without its judge: it is no word, number
// or path. This bounds how often a byte is judged.
constexpr size_t kMaxJudgedBytes = 128;
// A name in front of a value is looked for so far back.
constexpr size_t kMaxNameBytes = 64;

struct Span {
  size_t begin = 0;
  size_t end = 0;
};

RE2::Options OptionsOf(bool bytes, int64_t memory) {
  RE2::Options options;
  options.set_log_errors(false);
  if (bytes) options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_max_mem(memory);
  return options;
}

absl::string_view View(const re2::StringPiece& piece) { return {piece.data(), piece.size()}; }

void Find(const RE2& pattern, Judge judge, const std::string& text, std::vector<Span>& found) {
  const int groups = std::min(pattern.NumberOfCapturingGroups(), kMaxGroups - 1);
  re2::StringPiece parts[kMaxGroups];
  const re2::StringPiece whole(text);
  size_t at = 0;
  while (at <= text.size() &&
         pattern.Match(whole, at, text.size(), RE2::UNANCHORED, parts, groups + 1)) {
    const auto begin = static_cast<size_t>(parts[0].data() - text.data());
    const size_t end = begin + parts[0].size();
    size_t next = std::max(end, at + 1);
    for (int i = groups == 0 ? 0 : 1; i <= groups; ++i) {
      if (parts[i].data() == nullptr || parts[i].empty()) continue;
      const auto value = static_cast<size_t>(parts[i].data() - text.data());
      const size_t name = std::max(begin, value - std::min(value, kMaxNameBytes));
      const absl::string_view before(text.data() + name, value - name);
      // Text that an earlier pass redacted stays as it is.
      if (absl::StartsWith(View(parts[i]), kRedacted.substr(0, kRedacted.size() - 1))) continue;
      if (parts[i].size() > kMaxJudgedBytes || IsSecret(judge, before, View(parts[i]))) {
        found.push_back({value, value + parts[i].size()});
      } else {
        // A value that is no secret may hold another form's secret.
        next = std::min(next, std::max(value, at + 1));
      }
    }
    at = next;
  }
}

std::string Blotted(const std::string& text, std::vector<Span>& spans) {
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::string out;
  size_t copied = 0;
  size_t covered = 0;  // up to here the text is redacted
  for (const Span& span : spans) {
    if (span.begin >= covered) {
      out.append(text, copied, span.begin - copied);
      absl::StrAppend(&out, kRedacted);
    }
    covered = std::max(covered, span.end);
    copied = covered;
  }
  out.append(text, copied);
  return out;
}

}  // namespace

struct Redactor::Compiled {
  struct Matcher {
    std::unique_ptr<const RE2> pattern;
    Judge judge = Judge::kSecret;

    void FindIn(const std::string& text, std::vector<Span>& found) const {
      Find(*pattern, judge, text, found);
    }
  };

  Compiled() : set(OptionsOf(true, kMemoryOfSet), RE2::UNANCHORED) {
    for (const Form& form : BuiltInForms()) {
      const re2::StringPiece pattern(form.pattern.data(), form.pattern.size());
      set.Add(pattern, nullptr);
      built_in.push_back(
          {std::make_unique<const RE2>(pattern, OptionsOf(true, kMemoryOfForm)), form.judge});
    }
    set.Compile();
  }

  RE2::Set set;  // one pass tells which forms deserve a pass of their own
  std::vector<Matcher> built_in;
  std::vector<Matcher> own;
};

Redactor::Redactor() : Redactor(std::make_shared<const Compiled>()) {}

Redactor::Redactor(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}

absl::StatusOr<Redactor> Redactor::Create(const std::vector<std::string>& own) {
  if (own.size() > kMaxOwnPatterns) {
    return absl::InvalidArgumentError(absl::StrCat(own.size(), " patterns are more than ",
                                                   kMaxOwnPatterns, "; join some of them with |"));
  }
  auto compiled = std::make_shared<Compiled>();
  for (const std::string& text : own) {
    const auto refuse = [&text](absl::string_view why) {
      return absl::InvalidArgumentError(absl::StrCat("the pattern '", text, "' ", why));
    };
    if (text.size() > kMaxOwnPatternBytes) {
      return absl::InvalidArgumentError(absl::StrCat("a pattern of ", text.size(),
                                                     " bytes is longer than ", kMaxOwnPatternBytes,
                                                     "; split it into several"));
    }
    auto pattern = std::make_unique<const RE2>(text, OptionsOf(false, kMemoryOfForm));
    if (!pattern->ok()) return refuse(absl::StrCat("is no RE2: ", pattern->error()));
    if (RE2::FullMatch("", *pattern)) {
      return refuse("matches the empty text; it has to name what is secret");
    }
    if (pattern->NumberOfCapturingGroups() >= kMaxGroups) {
      return refuse("has more groups than 7; use (?:...) for those that are not secret");
    }
    compiled->own.push_back({std::move(pattern), Judge::kSecret});
  }
  return Redactor(std::move(compiled));
}

bool Redactor::Redact(std::string& text) const {
  std::vector<Span> spans;
  if (text.size() >= kShortestText) {
    std::vector<int> possible;
    RE2::Set::ErrorInfo error{RE2::Set::kNoError};
    if (compiled_->set.Match(text, &possible, &error)) {
      for (const int i : possible) compiled_->built_in[static_cast<size_t>(i)].FindIn(text, spans);
    } else if (error.kind != RE2::Set::kNoError) {
      // The automaton of all forms outgrew its memory: each form by itself, then.
      for (const auto& matcher : compiled_->built_in) matcher.FindIn(text, spans);
    }
  }
  for (const auto& matcher : compiled_->own) matcher.FindIn(text, spans);
  if (spans.empty()) return false;
  text = Blotted(text, spans);
  return true;
}

}  // namespace rapideye::secrets

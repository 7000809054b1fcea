#include "classifier/logs/signatures.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "classifier/logs/limits.h"

namespace rapideye::logs {
namespace {

using Words = std::vector<std::string>;

constexpr absl::string_view kAnyCase = "any-case";

bool Fits(absl::string_view line, const Signature& signature) {
  const auto holds = [line](const std::string& words) { return absl::StrContains(line, words); };
  return std::all_of(signature.all_of.begin(), signature.all_of.end(), [&](const Words& group) {
    return std::any_of(group.begin(), group.end(), holds);
  });
}

size_t ShortestText(const Words& group) {
  return std::min_element(group.begin(), group.end(),
                          [](const auto& a, const auto& b) { return a.size() < b.size(); })
      ->size();
}

// The group whose texts are likely to appear in the fewest lines.
const Words& Rarest(const Signature& signature) {
  return *std::max_element(
      signature.all_of.begin(), signature.all_of.end(),
      [](const Words& a, const Words& b) { return ShortestText(a) < ShortestText(b); });
}

// Takes a text in quotes off the beginning of `rest`.
absl::StatusOr<std::string> TakeText(absl::string_view& rest) {
  if (!absl::ConsumePrefix(&rest, "\"")) {
    return absl::InvalidArgumentError("expected a text in double quotes");
  }
  std::string text;
  while (!absl::ConsumePrefix(&rest, "\"")) {
    if (absl::ConsumePrefix(&rest, "\\") && !absl::StartsWith(rest, "\"") &&
        !absl::StartsWith(rest, "\\")) {
      return absl::InvalidArgumentError("in a text, only \\\" and \\\\ begin with a backslash");
    }
    if (rest.empty()) return absl::InvalidArgumentError("a text has no closing quotation mark");
    text.push_back(rest.front());
    rest.remove_prefix(1);
  }
  if (text.empty()) return absl::InvalidArgumentError("an empty text fits every line");
  return text;
}

// Takes "a"|"b" off the beginning of `rest`, with the blanks behind it.
absl::StatusOr<Words> TakeGroup(absl::string_view& rest) {
  Words group;
  do {
    absl::StatusOr<std::string> text = TakeText(rest);
    if (!text.ok()) return text.status();
    group.push_back(*std::move(text));
  } while (absl::ConsumePrefix(&rest, "|"));
  if (!rest.empty() && !absl::ascii_isblank(static_cast<unsigned char>(rest.front()))) {
    return absl::InvalidArgumentError("after a text comes a blank, |\"another text\", or nothing");
  }
  rest = absl::StripLeadingAsciiWhitespace(rest);
  return group;
}

absl::StatusOr<LogKind> ParseKind(absl::string_view name) {
  const std::optional<LogKind> kind = LogKindNamed({name.data(), name.size()});
  if (kind.has_value() && *kind != LogKind::kUnspecified) return *kind;
  std::vector<std::string> known;
  for (int i = 1; !NameOf(static_cast<LogKind>(i)).empty(); ++i) {
    known.emplace_back(NameOf(static_cast<LogKind>(i)));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a line begins with a kind; there are ", absl::StrJoin(known, ", ")));
}

absl::StatusOr<Signature> ParseSignature(absl::string_view line) {
  const absl::string_view name = line.substr(0, line.find_first_of(" \t\""));
  const absl::StatusOr<LogKind> kind = ParseKind(name);
  if (!kind.ok()) return kind.status();
  Signature signature;
  signature.kind = *kind;
  absl::string_view rest = absl::StripLeadingAsciiWhitespace(line.substr(name.size()));
  if (absl::ConsumePrefix(&rest, kAnyCase)) {
    signature.any_case = true;
    rest = absl::StripLeadingAsciiWhitespace(rest);
  }
  do {
    absl::StatusOr<Words> group = TakeGroup(rest);
    if (!group.ok()) return group.status();
    if (signature.any_case) {
      for (std::string& text : *group) absl::AsciiStrToLower(&text);
    }
    signature.all_of.push_back(*std::move(group));
  } while (!rest.empty());
  if (ShortestText(Rarest(signature)) < kMinSignatureBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("it fits too many lines: one group must consist of texts of at least ",
                     kMinSignatureBytes, " bytes"));
  }
  return signature;
}

const std::vector<Signature>& BuiltInList() {
  // The table is part of the program: a test fails if it cannot be parsed.
  static const std::vector<Signature> list = ParseSignatures(kBuiltInSignatures).value();
  return list;
}

// Place of a kind in the built-in table.
size_t Rank(LogKind kind) {
  const std::vector<Signature>& list = BuiltInList();
  return static_cast<size_t>(
      std::find_if(list.begin(), list.end(), [kind](const auto& s) { return s.kind == kind; }) -
      list.begin());
}

// A pattern that matches every line that the signature fits.
std::string PatternOf(const Signature& signature) {
  std::string pattern;
  for (const std::string& text : Rarest(signature)) {
    absl::StrAppend(&pattern, pattern.empty() ? "" : "|", re2::RE2::QuoteMeta(text));
  }
  return absl::StrCat(signature.any_case ? "(?i:" : "(?:", pattern, ")");
}

re2::RE2::Options AutomatonOptions() {
  re2::RE2::Options options;
  // A log may hold any bytes.
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  options.set_max_mem(kSignatureAutomatonBytes);
  return options;
}

std::shared_ptr<const re2::RE2> AnyOf(const std::vector<Signature>& signatures) {
  std::vector<std::string> patterns;
  for (const Signature& signature : signatures) patterns.push_back(PatternOf(signature));
  return std::make_shared<const re2::RE2>(absl::StrJoin(patterns, "|"), AutomatonOptions());
}

}  // namespace

absl::StatusOr<std::vector<Signature>> ParseSignatures(absl::string_view text) {
  std::vector<Signature> signatures;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line.front() == '#') continue;
    absl::StatusOr<Signature> signature = ParseSignature(line);
    if (signature.ok() && signatures.size() == kMaxSignatures) {
      signature = absl::InvalidArgumentError(
          absl::StrCat("there may be no more than ", kMaxSignatures, " signatures"));
    }
    if (!signature.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, ": ", std::string(signature.status().message())));
    }
    signatures.push_back(*std::move(signature));
  }
  return signatures;
}

struct SignatureTable::Candidates {
  explicit Candidates(const std::vector<Signature>& signatures)
      : set(AutomatonOptions(), re2::RE2::UNANCHORED) {
    works = std::all_of(signatures.begin(), signatures.end(), [this](const Signature& signature) {
      return set.Add(PatternOf(signature), nullptr) >= 0;
    });
    works = works && set.Compile();
  }

  // Places in the table, sorted; the places of all signatures if the automaton gives up.
  std::vector<int> Find(absl::string_view line, size_t all) const {
    std::vector<int> found;
    re2::RE2::Set::ErrorInfo error{};
    const bool matched =
        works && set.Match(re2::StringPiece(line.data(), line.size()), &found, &error);
    if (!works || (!matched && error.kind != re2::RE2::Set::kNoError)) {
      found.resize(all);
      std::iota(found.begin(), found.end(), 0);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  re2::RE2::Set set;
  bool works = false;
};

SignatureTable::SignatureTable(std::vector<Signature> signatures)
    : signatures_(std::make_shared<const std::vector<Signature>>(std::move(signatures))),
      any_(AnyOf(*signatures_)),
      candidates_(std::make_shared<const Candidates>(*signatures_)) {}

const SignatureTable& SignatureTable::BuiltIn() {
  static const SignatureTable table(BuiltInList());
  return table;
}

const SignatureTable& SignatureTable::Families() {
  static const SignatureTable table(ParseSignatures(kBuiltInFamilies).value());
  return table;
}

const SignatureTable& SignatureTable::Outcomes() {
  static const SignatureTable table(ParseSignatures(kBuiltInOutcomes).value());
  return table;
}

SignatureTable SignatureTable::With(std::vector<Signature> added) {
  added.insert(added.end(), BuiltInList().begin(), BuiltInList().end());
  std::stable_sort(added.begin(), added.end(), [](const Signature& a, const Signature& b) {
    return Rank(a.kind) < Rank(b.kind);
  });
  return SignatureTable(std::move(added));
}

const Signature* SignatureTable::Find(absl::string_view line, bool kernel) const {
  // If the automaton could not be built, every line is matched without it.
  if (any_->ok() && !re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *any_)) {
    return nullptr;
  }
  const std::string lower = absl::AsciiStrToLower(line);
  for (const int place : candidates_->Find(line, signatures_->size())) {
    const Signature& signature = (*signatures_)[static_cast<size_t>(place)];
    if (signature.kind == LogKind::kKernelHardware && !kernel) continue;
    if (Fits(signature.any_case ? absl::string_view(lower) : line, signature)) return &signature;
  }
  return nullptr;
}

bool IsToldApartByText(LogKind kind) {
  return kind == LogKind::kNicFault || kind == LogKind::kCopyFailed ||
         kind == LogKind::kKernelHardware || kind == LogKind::kRuntimeVerdict ||
         kind == LogKind::kHostOom || kind == LogKind::kHostCrash;
}

}  // namespace rapideye::logs

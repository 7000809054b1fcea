#include "classifier/hlo/token.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"

namespace rapideye::classifier {
namespace {

// Attributes that tell the source of an instruction, and its name before optimisation.
constexpr std::array<std::string_view, 3> kOfNoMeaning = {"metadata={", "original_value={",
                                                          "origin={"};
// Attributes of the backend's choice (autotuning, kernels with the paths of their sources), and
// notes for tools.
constexpr std::array<std::string_view, 3> kOfTheBackend = {"backend_config={", "backend_config=\"",
                                                           "frontend_attributes={"};

bool IsWord(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' ||
         c == '$' || c == '@';
}

bool IsSeparator(char c) { return c == ',' || absl::ascii_isspace(static_cast<unsigned char>(c)); }

// The position behind the string that begins here.
size_t EndOfString(std::string_view text, size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

}  // namespace

HloToken HloTokens::Next() {
  Skip();
  if (at_ >= text_.size()) return {{}, text_.size(), false};
  if (text_[at_] == '"') return TakeString();
  if (text_[at_] == '%' || IsWord(text_[at_])) return TakeWord();
  return {text_.substr(at_++, 1), at_ - 1, false};
}

void HloTokens::Skip() {
  for (;;) {
    while (at_ < text_.size() && IsSeparator(text_[at_])) ++at_;
    if (!SkipComment() && !SkipAttribute()) return;
  }
}

bool HloTokens::SkipComment() {
  if (text_.substr(at_, 2) != "/*") return false;
  const size_t end = text_.find("*/", at_ + 2);
  at_ = end == std::string_view::npos ? text_.size() : end + 2;
  return true;
}

bool HloTokens::SkipAttribute() {
  const std::string_view rest = text_.substr(at_);
  const auto begins = [rest](std::string_view prefix) { return rest.starts_with(prefix); };
  const auto* found = std::find_if(kOfNoMeaning.begin(), kOfNoMeaning.end(), begins);
  if (found == kOfNoMeaning.end()) {
    if (skipped_ != Skipped::kHowAsWell) return false;
    found = std::find_if(kOfTheBackend.begin(), kOfTheBackend.end(), begins);
    if (found == kOfTheBackend.end()) return false;
  }
  at_ += found->size() - 1;
  if (text_[at_] == '"') {
    at_ = EndOfString(text_, at_);
  } else {
    SkipBraces();
  }
  return true;
}

void HloTokens::SkipBraces() {
  ++at_;
  for (int depth = 1; depth > 0 && at_ < text_.size();) {
    if (text_[at_] == '"') {
      at_ = EndOfString(text_, at_);
      continue;
    }
    if (text_[at_] == '{') ++depth;
    if (text_[at_] == '}') --depth;
    ++at_;
  }
}

HloToken HloTokens::TakeString() {
  const size_t begin = at_;
  at_ = EndOfString(text_, at_);
  return {text_.substr(begin, at_ - begin), begin, false};
}

HloToken HloTokens::TakeWord() {
  const size_t begin = at_;
  const bool marked = text_[at_] == '%';
  if (marked) ++at_;
  const size_t word = at_;
  while (at_ < text_.size() && IsWord(text_[at_])) ++at_;
  const std::string_view name = text_.substr(word, at_ - word);
  if (name.empty()) return {text_.substr(begin, 1), begin, false};  // a percent sign alone
  const char next = at_ < text_.size() ? text_[at_] : '\0';
  const bool number = absl::ascii_isdigit(static_cast<unsigned char>(name.front())) != 0;
  return {name, begin, marked || (!number && next != '(' && next != '=')};
}

}  // namespace rapideye::classifier

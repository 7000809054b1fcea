// HloTokens splits an HLO instruction into words.
#ifndef RAPIDEYE_CLASSIFIER_HLO_TOKEN_H_
#define RAPIDEYE_CLASSIFIER_HLO_TOKEN_H_

#include <cstddef>
#include <string_view>

namespace rapideye::classifier {

struct HloToken {
  std::string_view text;  // empty: the end
  size_t begin = 0;       // in the instruction
  // True if the word may name an instruction or a computation: it is neither an opcode nor the name
  // of an attribute. A percent sign in front is not part of `text`.
  bool reference = false;
};

// Reads an instruction word by word. Leaves out spaces, commas, comments, and the
// attributes that tell the source of an instruction rather than its work.
class HloTokens {
 public:
  enum class Skipped {
    kWhereFrom,
    // Also attributes of the backend's choice, and notes of frontends and tools.
    kHowAsWell,
  };
  explicit HloTokens(std::string_view text, Skipped skipped = Skipped::kWhereFrom)
      : text_(text), skipped_(skipped) {}

  HloToken Next();

 private:
  // Skips spaces, commas, comments and attributes that name source lines.
  void Skip();
  bool SkipComment();
  bool SkipAttribute();
  void SkipBraces();
  HloToken TakeString();
  HloToken TakeWord();

  const std::string_view text_;
  const Skipped skipped_;
  size_t at_ = 0;
};

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HLO_TOKEN_H_
